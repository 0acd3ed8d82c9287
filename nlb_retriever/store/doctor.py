"""Is every book whole? For `nlb doctor`."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np

from nlb_retriever.config import Manifest
from nlb_retriever.records import LEVELS, BookRecord, Level
from nlb_retriever.store.engine import Engine, Floats
from nlb_retriever.store.filters import And, Condition
from nlb_retriever.store.points import STATE_ID, State, to_book_record

_PLACE = ("book_id", "version", "ordinal", "start", "end")
_UNIT = 1e-3

Version = tuple[str, str]


@dataclass
class _Found:
    """What the points of one book and version are like."""

    ordinals: dict[Level, list[int]] = field(default_factory=lambda: defaultdict(list))
    spans: list[tuple[int, int]] = field(default_factory=list)
    bad: Counter[Level] = field(default_factory=Counter)


def find_problems(engine: Engine, state: State) -> list[str]:
    """One line for each thing that is not as it should be."""
    entries, found = _survey(engine, state.manifest)
    lines = [
        f"an interrupted run left {sum(map(len, found[pair].ordinals.values()))} points of book {pair[0]}: "
        "the next `nlb index` removes them"
        for pair in state.hidden
        if pair in found
    ]
    if state.renaming:
        lines.append(f"an interrupted run left book {state.renaming[0]} half renamed: the next `nlb index` finishes it")
    for pair, entry in entries.items():
        if pair not in state.hidden:
            lines += [f"book {entry.id} ({entry.title}): {wrong}" for wrong in _wrongs(entry, found[pair])]
    for pair in found.keys() - entries.keys() - set(state.hidden):
        counts = ", ".join(f"{len(each)} {level}s" for level, each in found[pair].ordinals.items())
        lines.append(f"{counts} belong to no book (id {pair[0]}, version {pair[1]})")
    return sorted(lines)


def mend_books(engine: Engine, state: State) -> list[str]:
    """Delete the points of every version that is not a whole book; says which."""
    entries, found = _survey(engine, state.manifest)
    done = []
    for pair in entries.keys() | found.keys():
        entry = entries.get(pair)
        if entry is not None and not _wrongs(entry, found[pair]):
            continue
        for level in LEVELS:
            engine.delete(level, And((Condition("book_id", "eq", pair[0]), Condition("version", "eq", pair[1]))))
        title = f"book {pair[0]} ({entry.title}), which was not whole" if entry else f"points of no book (id {pair[0]})"
        done.append(f"removed {title}: index it again")
    engine.flush(LEVELS)
    return sorted(done)


def _survey(engine: Engine, manifest: Manifest) -> tuple[dict[Version, BookRecord], dict[Version, _Found]]:
    books = (point for point in engine.scroll("book", Condition("kind", "eq", "book")))
    entries = {(entry.id, entry.version): entry for entry in (to_book_record(point) for point in books)}
    found: dict[Version, _Found] = defaultdict(_Found)
    for level in LEVELS:
        for point in engine.scroll(level, payload=_PLACE, vectors=True):
            if point.id == STATE_ID:
                continue
            book = found[(point.payload["book_id"], point.payload["version"])]
            book.ordinals[level].append(point.payload.get("ordinal", 0))
            if level == "section":
                book.spans.append((point.payload["start"], point.payload["end"]))
            if not _is_sound(point.dense, manifest.dims[level], manifest.dim):
                book.bad[level] += 1
    return entries, found


def _is_sound(vector: Floats | None, size: int, unit: int) -> bool:
    """Whether a vector has so many numbers, the first of them a unit vector."""
    if vector is None or vector.shape != (size,) or not np.isfinite(vector).all():
        return False
    return bool(abs(np.linalg.norm(vector[:unit]) - 1) < _UNIT)


def _wrongs(entry: BookRecord, found: _Found) -> list[str]:
    wrongs = []
    sizes: dict[Level, int] = {"section": entry.sections, "passage": entry.passages}
    for level, expected in sizes.items():
        ordinals = sorted(found.ordinals[level])
        if ordinals != list(range(expected)):
            wrongs.append(f"has {len(ordinals)} {level}s instead of {expected}")
    spans = sorted(found.spans)
    borders = [0, *(end for _, end in spans)]
    if [start for start, _ in spans] != borders[:-1] or borders[-1] != entry.chars:
        wrongs.append("has gaps in its text")
    wrongs += [f"has {bad} damaged {level} vectors" for level, bad in found.bad.items()]
    return [f"{wrong}: repair the library, then index the book again" for wrong in wrongs]
