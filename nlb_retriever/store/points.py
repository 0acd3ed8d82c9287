"""Books as points, and points as books again: ids, versions and payloads of every level."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID, uuid5

import numpy as np

from nlb_retriever.config import Manifest
from nlb_retriever.errors import StoreError
from nlb_retriever.records import Book, Level, Page, Passage, Section
from nlb_retriever.store.engine import Floats, Point, StoredPoint
from nlb_retriever.text.words import book_words, passage_words, section_words, weigh_document

NAMESPACE = UUID("6ba3b2a6-8d0e-5d5c-9a51-3a9f0e7c1b42")
STATE_ID = str(uuid5(NAMESPACE, "state"))


class BookVectors(Protocol):
    """Unit vectors of a book, float32."""

    @property
    def passages(self) -> Floats: ...  # (n, D)
    @property
    def sections(self) -> Floats: ...  # (s, D)
    @property
    def book(self) -> Floats: ...  # (D,)


@dataclass(frozen=True, kw_only=True)
class BookRecord:
    """A published book, without its text."""

    id: str
    title: str
    author: str | None
    language: str | None
    year: int | None
    source: str
    content_hash: str
    version: str
    """Changes with the content and with what the vectors are made with."""
    sections: int
    passages: int
    chars: int
    tokens: int
    warnings: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    from_file: bool = True

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> BookRecord:
        return cls(
            metadata=payload.get("metadata", {}),
            from_file=payload.get("from_file", True),
            id=payload["book_id"],
            sections=payload["n_sections"],
            passages=payload["n_passages"],
            warnings=tuple(payload["warnings"]),
            **{
                key: payload[key]
                for key in (
                    "title",
                    "author",
                    "language",
                    "year",
                    "source",
                    "content_hash",
                    "version",
                    "chars",
                    "tokens",
                )
            },
        )


@dataclass(frozen=True, kw_only=True)
class State:
    """What a library says about itself: one point without vectors among its books.

    It is written whole, so a change of it is what publishes a book: until then the new version is
    hidden, from then on the old one.
    """

    manifest: Manifest
    generation: int = 0
    """Grows with every change."""
    hidden: tuple[tuple[str, str], ...] = ()
    """Books' ids with versions that no reader may see, and the next writer deletes."""
    renaming: tuple[str, str] | None = None
    """A book's id and its new source, while not all of its points have it."""
    writer: str = ""
    """Who wrote it last; a stranger's name stops a writer on a server."""

    def to_point(self) -> Point:
        payload = {
            "kind": "state",
            "manifest": self.manifest.to_dict(),
            "generation": self.generation,
            "hidden": [list(pair) for pair in self.hidden],
            "renaming": list(self.renaming) if self.renaming else None,
            "writer": self.writer,
        }
        return Point(id=STATE_ID, payload=payload)

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> State:
        renaming = payload["renaming"]
        return cls(
            manifest=Manifest.from_dict(payload["manifest"]),
            generation=payload["generation"],
            hidden=tuple((book, version) for book, version in payload["hidden"]),
            renaming=(renaming[0], renaming[1]) if renaming else None,
            writer=payload["writer"],
        )


def version_of(book: Book, manifest: Manifest, current: str | None) -> str:
    """The version that a book's points get: another one than `current`, whose points are still there."""
    version = hashlib.sha256(f"{book.content_hash}{manifest.fingerprint()}".encode()).hexdigest()[:16]
    return version if version != current else hashlib.sha256(version.encode()).hexdigest()[:16]


def point_id(book_id: str, version: str, level: Level, ordinal: int) -> str:
    return str(uuid5(NAMESPACE, f"{book_id}/{version}/{level}/{ordinal}"))


def check_vectors(book: Book, passages: Sequence[Passage], vectors: BookVectors, dims: Mapping[Level, int]) -> None:
    """Refuse vectors that the engines would take silently.

    Raises:
        StoreError: naming the book and the ordinal.
    """
    rows: dict[Level, tuple[Floats, int]] = {
        "passage": (vectors.passages, len(passages)),
        "section": (vectors.sections, len(book.sections)),
        "book": (np.asarray(vectors.book)[None, :] if np.ndim(vectors.book) == 1 else vectors.book, 1),
    }
    for level, (matrix, expected) in rows.items():
        if matrix.shape != (expected, dims[level]):
            raise StoreError(
                f"book {book.id} ({book.title}): its {level} vectors have shape {tuple(matrix.shape)}, "
                f"the library needs {(expected, dims[level])}: was it encoded with another encoder?"
            )
        bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1) | ~np.asarray(matrix).any(axis=1))
        if bad.size:
            what = "is zero" if np.isfinite(matrix[bad[0]]).all() else "is not finite"
            raise StoreError(
                f"book {book.id} ({book.title}): the vector of its {level} {bad[0]} {what}: "
                "the encoder or its checkpoint is broken"
            )


def book_point(book: Book, version: str, passages: Sequence[Passage], vectors: BookVectors) -> Point:
    payload = {
        **_common(book, version),
        "kind": "book",
        "content_hash": book.content_hash,
        "warnings": list(book.warnings),
        "n_sections": len(book.sections),
        "n_passages": len(passages),
        "chars": len(book.text),
        "tokens": sum(passage.tokens for passage in passages),
        **({} if book.from_file else {"from_file": False}),
    }
    return Point(
        id=point_id(book.id, version, "book", 0),
        payload=payload,
        dense=vectors.book,
        sparse=weigh_document("book", book_words(book)),
    )


def section_points(book: Book, version: str, passages: Sequence[Passage], vectors: BookVectors) -> Iterator[Point]:
    common = _common(book, version)
    firsts = [passage.section for passage in passages]
    for ordinal, section in enumerate(book.sections):
        identifier = point_id(book.id, version, "section", ordinal)
        payload = {
            **common,
            **_place(book, ordinal, identifier, section.start, section.end),
            "ordinal": ordinal,
            "passages": [bisect_right(firsts, ordinal - 1), bisect_right(firsts, ordinal)],
            "text": book.text[section.start : section.end],
            **_pages_in(book.pages, section),
        }
        yield Point(
            id=identifier,
            payload=payload,
            dense=vectors.sections[ordinal],
            sparse=weigh_document("section", section_words(book, section)),
        )


def passage_points(book: Book, version: str, passages: Sequence[Passage], vectors: BookVectors) -> Iterator[Point]:
    common = _common(book, version)
    for ordinal, passage in enumerate(passages):
        section_id = point_id(book.id, version, "section", passage.section)
        payload = {
            **common,
            **_place(book, passage.section, section_id, passage.start, passage.end),
            "ordinal": ordinal,
            "tokens": passage.tokens,
            "text": book.text[passage.start : passage.end],
        }
        yield Point(
            id=point_id(book.id, version, "passage", ordinal),
            payload=payload,
            dense=vectors.passages[ordinal],
            sparse=weigh_document("passage", passage_words(book, passage)),
        )


def _common(book: Book, version: str) -> dict[str, Any]:
    return {
        "book_id": book.id,
        "version": version,
        "title": book.title,
        "author": book.author,
        "language": book.language,
        "year": book.year,
        "source": book.source,
        **({"metadata": dict(book.metadata)} if book.metadata else {}),
    }


def _pages_in(pages: Sequence[Page], section: Section) -> dict[str, Any]:
    """The pages that begin in a section, so that a book can be read back."""
    first, last = (bisect_left(pages, offset, key=lambda page: page.start) for offset in (section.start, section.end))
    return {"pages": [[page.start, page.number, page.label] for page in pages[first:last]]} if first < last else {}


def to_book(entry: BookRecord, sections: Sequence[StoredPoint]) -> Book:
    """A book as it was given, from its entry and all of its sections."""
    parts = [section.payload for section in sections]
    return Book(
        id=entry.id,
        content_hash=entry.content_hash,
        title=entry.title,
        author=entry.author,
        language=entry.language,
        year=entry.year,
        source=entry.source,
        text="".join(part["text"] for part in parts),
        sections=tuple(
            Section(path=tuple(part["section_path"]), start=part["start"], end=part["end"]) for part in parts
        ),
        pages=tuple(
            Page(start=start, number=number, label=label)
            for part in parts
            for start, number, label in part.get("pages", ())
        ),
        warnings=entry.warnings,
        metadata=entry.metadata,
        from_file=entry.from_file,
    )


def _place(book: Book, section: int, section_id: str, start: int, end: int) -> dict[str, Any]:
    page = _page_at(book.pages, start)
    return {
        "section": section,
        "section_id": section_id,
        "section_path": list(book.sections[section].path),
        "start": start,
        "end": end,
        "page": page.label if page else None,
        "page_number": page.number if page else None,
    }


def _page_at(pages: Sequence[Page], offset: int) -> Page | None:
    """The page that a character stands on."""
    index = bisect_right(pages, offset, key=lambda page: page.start)
    return pages[index - 1] if index else None
