"""Is every book whole? For `nlb doctor`."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np

from nlb_retriever.config import Manifest
from nlb_retriever.errors import LibraryDamaged, counted
from nlb_retriever.records import LEVELS, BookRecord, Level
from nlb_retriever.store.backends.base import Backend, Floats
from nlb_retriever.store.points import to_book_record

_PLACE = ("book_id", "version", "ordinal", "start", "end")
_UNIT = 1e-3

Version = tuple[str, str]


@dataclass
class _Found:
    """What the points of one book and version are like."""

    ordinals: dict[Level, list[int]] = field(default_factory=lambda: defaultdict(list))
    spans: list[tuple[int, int]] = field(default_factory=list)
    bad: Counter[Level] = field(default_factory=Counter)


def find_problems(backend: Backend, manifest: Manifest) -> list[str]:
    """One line for each thing that is not as it should be."""
    lines = backend.verify()
    if lines:  # what cannot be read cannot be looked at closely
        return lines
    books, found = _survey(backend, manifest)
    for pair, book in books.items():
        lines += [f"book {book.id} ({book.title}): {fault}" for fault in _faults(book, found[pair])]
    for pair in found.keys() - books.keys():
        counts = ", ".join(counted(len(each), level) for level, each in found[pair].ordinals.items())
        lines.append(f"{counts} belong to no book (id {pair[0]}, version {pair[1]})")
    return sorted(lines)


def drop_broken(backend: Backend, manifest: Manifest) -> list[str]:
    """Delete the points of every version that is not a whole book; says which.

    Raises:
        LibraryDamaged: not all of it can be read.
    """
    if lines := backend.verify():
        raise LibraryDamaged(f"library {backend.location} is damaged ({lines[0]})")
    books, found = _survey(backend, manifest)
    done = []
    for pair in books.keys() | found.keys():
        book = books.get(pair)
        if book is not None and not _faults(book, found[pair]):
            continue
        backend.drop(*pair)
        title = f"book {pair[0]} ({book.title}), which was not whole" if book else f"points of no book (id {pair[0]})"
        done.append(f"removed {title}: index it again")
    return sorted(done)


def _survey(backend: Backend, manifest: Manifest) -> tuple[dict[Version, BookRecord], dict[Version, _Found]]:
    books = {(book.id, book.version): book for book in map(to_book_record, backend.scan("book"))}
    found: dict[Version, _Found] = defaultdict(_Found)
    for level in LEVELS:
        for point in backend.scan(level, payload=_PLACE):
            own = found[(point.payload["book_id"], point.payload["version"])]
            own.ordinals[level].append(point.payload.get("ordinal", 0))
            if level == "section":
                own.spans.append((point.payload["start"], point.payload["end"]))
            if not _is_sound(point.dense, manifest.dims[level], manifest.dim):
                own.bad[level] += 1
    return books, found


def _is_sound(vector: Floats | None, size: int, unit: int) -> bool:
    """Whether a vector has so many numbers, the first of them a unit vector."""
    if vector is None or vector.shape != (size,) or not np.isfinite(vector).all():
        return False
    return bool(abs(np.linalg.norm(vector[:unit]) - 1) < _UNIT)


def _faults(book: BookRecord, found: _Found) -> list[str]:
    faults = []
    sizes: dict[Level, int] = {"section": book.sections, "passage": book.passages}
    for level, expected in sizes.items():
        ordinals = sorted(found.ordinals[level])
        if ordinals != list(range(expected)):
            faults.append(f"has {counted(len(ordinals), level)} instead of {expected:,}")
    spans = sorted(found.spans)
    borders = [0, *(end for _, end in spans)]
    if [start for start, _ in spans] != borders[:-1] or borders[-1] != book.chars:
        faults.append("has gaps in its text")
    faults += [f"has {counted(bad, f'damaged {level} vector')}" for level, bad in found.bad.items()]
    return [f"{fault}: repair the library, then index the book again" for fault in faults]
