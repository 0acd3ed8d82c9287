"""Books as points and points as records: ids, versions and payloads of every level."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple, Protocol
from uuid import UUID, uuid5

import numpy as np

from nlb_retriever.config import Manifest
from nlb_retriever.encoding.packing import Packed
from nlb_retriever.errors import StoreError
from nlb_retriever.records import Book, BookRecord, Level, Page, Passage, PassageRecord, Section, SectionRecord
from nlb_retriever.store.backends.base import Floats, PassagePart, Point, StoredPoint, View
from nlb_retriever.store.filters import Filter, check_metadata, matches
from nlb_retriever.store.works import by_title, find_works
from nlb_retriever.text.languages import ENGLISH
from nlb_retriever.text.words import book_words, passage_words, section_words, weigh_document

WORDS_LANGUAGE = "words_language"
"""Key of books whose words are not counted as English ones."""
_FILTERS = 8
"""Whose books are remembered."""
NAMESPACE = UUID("6ba3b2a6-8d0e-5d5c-9a51-3a9f0e7c1b42")
_TEXT_KEYS = (
    "book_id", "version", "title", "author", "language", "year", "source",
    "section", "section_id", "ordinal", "start", "end", "page", "page_number", "text",
)  # fmt: skip


class BookVectors(Protocol):
    """Unit vectors of a book, float32."""

    @property
    def passages(self) -> Floats: ...  # (n, D)
    @property
    def sections(self) -> Floats: ...  # (s, D)
    @property
    def book(self) -> Floats: ...  # (D,)
    @property
    def spans(self) -> Sequence[Packed]: ...  # of each passage, or none
    @property
    def terms(self) -> Sequence[Packed]: ...  # likewise


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
    for part, packed in (("spans", vectors.spans), ("terms", vectors.terms)):
        if len(packed) not in (0, len(passages)):
            raise StoreError(f"book {book.id} ({book.title}): {len(packed)} of {len(passages)} passages have {part}")


def book_point(
    book: Book, version: str, passages: Sequence[Passage], vectors: BookVectors, language: str = ENGLISH
) -> Point:
    payload = {
        **_common(book, version),
        "kind": "book",
        "content_hash": book.content_hash,
        "warnings": list(book.warnings),
        "n_sections": len(book.sections),
        "n_passages": len(passages),
        "chars": len(book.text),
        "tokens": sum(passage.tokens for passage in passages),
        **({"description": book.description} if book.description else {}),
        **({} if book.from_file else {"from_file": False}),
        **({} if language == ENGLISH else {WORDS_LANGUAGE: language}),
    }
    return Point(
        id=point_id(book.id, version, "book", 0),
        payload=payload,
        dense=vectors.book,
        sparse=weigh_document("book", book_words(book), language),
    )


def section_points(
    book: Book, version: str, passages: Sequence[Passage], vectors: BookVectors, language: str = ENGLISH
) -> Iterator[Point]:
    common = _common(book, version)
    firsts = [passage.section for passage in passages]
    for ordinal, section in enumerate(book.sections):
        identifier = point_id(book.id, version, "section", ordinal)
        payload = {
            **common,
            **_metadata(book, ordinal),
            **_span(book, ordinal, identifier, section.start, section.end),
            "ordinal": ordinal,
            "passages": [bisect_right(firsts, ordinal - 1), bisect_right(firsts, ordinal)],
            "text": book.text[section.start : section.end],
            **_pages_in(book, section),
        }
        yield Point(
            id=identifier,
            payload=payload,
            dense=vectors.sections[ordinal],
            sparse=weigh_document("section", section_words(book, section), language),
        )


def passage_points(
    book: Book, version: str, passages: Sequence[Passage], vectors: BookVectors, language: str = ENGLISH
) -> Iterator[Point]:
    common = _common(book, version)
    parts: dict[PassagePart, Sequence[Packed]] = {"span": vectors.spans, "term": vectors.terms}
    for ordinal, passage in enumerate(passages):
        section_id = point_id(book.id, version, "section", passage.section)
        payload = {
            **common,
            **_metadata(book, passage.section),
            **_span(book, passage.section, section_id, passage.start, passage.end),
            "ordinal": ordinal,
            "tokens": passage.tokens,
            "text": book.text[passage.start : passage.end],
        }
        yield Point(
            id=point_id(book.id, version, "passage", ordinal),
            payload=payload,
            dense=vectors.passages[ordinal],
            sparse=weigh_document("passage", passage_words(book, passage), language),
            parts={part: packed[ordinal] for part, packed in parts.items() if packed},
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


def _metadata(book: Book, section: int) -> dict[str, Any]:
    """A section's further values, with the book's."""
    own = book.sections[section].metadata
    return {"metadata": {**book.metadata, **own}} if own else {}


def _pages_in(book: Book, section: Section) -> dict[str, Any]:
    """The pages that begin in a section, so that a book can be read back."""
    end = section.end + (section is book.sections[-1])  # a blank last page begins where the text ends
    first, last = (bisect_left(book.pages, offset, key=lambda page: page.start) for offset in (section.start, end))
    found = book.pages[first:last]
    return {"pages": [[page.start, page.number, page.label] for page in found]} if found else {}


class KnownBooks(NamedTuple):
    """The books of a view."""

    view: View
    books: list[BookRecord]
    """By title."""
    by_id: dict[str, BookRecord]
    languages: tuple[str, ...]
    """In which their words were counted, each once."""
    fit: Callable[[Filter], Sequence[BookRecord]]
    """Gives those that fit a filter; remembers the last ones."""
    works: list[BookRecord]
    """The books with those that are a work's chapters as one."""

    @classmethod
    def of(cls, view: View) -> KnownBooks:
        found = view.books()
        works = find_works(map(to_book_record, found))
        books = by_title(part for work in works for part in work.parts or (work,))
        languages = tuple(sorted({*map(_words_language, found)}))
        fit = lru_cache(maxsize=_FILTERS)(partial(_find_fitting, view, books))  # a question searches many times
        return cls(view, books, {book.id: book for book in books}, languages, fit, works)

    def fitting(self, where: Filter) -> Sequence[BookRecord]:
        """The books that fit a filter (checked for books), by title.

        Raises:
            QueryError: a metadata key that no book has.
        """
        try:
            hash(where)
        except TypeError:  # it has a list, which may change
            return _find_fitting(self.view, self.books, where)
        return self.fit(where)


def _find_fitting(view: View, books: Sequence[BookRecord], where: Filter) -> Sequence[BookRecord]:
    payloads = {point.id: point.payload for point in view.books()}
    check_metadata(where, payloads.values())
    return [book for book in books if matches(where, {**payloads[book.uuid], "work": book.work})]


def _words_language(point: StoredPoint) -> str:
    """In which language a book's words were counted, from its point."""
    language: str = point.payload.get(WORDS_LANGUAGE, ENGLISH)
    return language


def to_book_record(point: StoredPoint) -> BookRecord:
    """A book's point, with its whole payload, as a record."""
    payload = point.payload
    return BookRecord(
        id=payload["book_id"],
        uuid=point.id,
        version=payload["version"],
        title=payload["title"],
        author=payload["author"],
        language=payload["language"],
        year=payload["year"],
        source=payload["source"],
        content_hash=payload["content_hash"],
        sections=payload["n_sections"],
        passages=payload["n_passages"],
        chars=payload["chars"],
        tokens=payload["tokens"],
        warnings=tuple(payload["warnings"]),
        description=payload.get("description"),
        metadata=payload.get("metadata", {}),
        from_file=payload.get("from_file", True),
    )


def to_section_record(point: StoredPoint, work: str | None = None) -> SectionRecord:
    """A section's point, with its whole payload, as a record, in a work of this title."""
    first, last = point.payload["passages"]
    pages = (Page(start=start, number=number, label=label) for start, number, label in point.payload.get("pages", ()))
    return SectionRecord(**_text_fields(point), work=work, passages=(first, last), pages=tuple(pages))


def to_passage_record(point: StoredPoint, work: str | None = None) -> PassageRecord:
    """A passage's point, with its whole payload, as a record, in a work of this title."""
    return PassageRecord(**_text_fields(point), work=work, tokens=point.payload["tokens"])


def _text_fields(point: StoredPoint) -> dict[str, Any]:
    payload = point.payload
    return {
        "id": point.id,
        "path": tuple(payload["section_path"]),
        "metadata": payload.get("metadata", {}),
        **{key: payload[key] for key in _TEXT_KEYS},
    }


def to_book(record: BookRecord, sections: Sequence[SectionRecord]) -> Book:
    """A book as it was published, from its record and all of its sections."""
    return Book(
        id=record.id,
        content_hash=record.content_hash,
        title=record.title,
        author=record.author,
        language=record.language,
        year=record.year,
        source=record.source,
        text="".join(section.text for section in sections),
        sections=tuple(
            Section(path=section.path, start=section.start, end=section.end, metadata=_own_of(section, record))
            for section in sections
        ),
        pages=tuple(page for section in sections for page in section.pages),
        warnings=record.warnings,
        description=record.description,
        metadata=record.metadata,
        from_file=record.from_file,
    )


def _own_of(section: SectionRecord, book: BookRecord) -> dict[str, Any]:
    """The values that a section has not from its book."""
    return {key: value for key, value in section.metadata.items() if book.metadata.get(key) != value}


def _span(book: Book, section: int, section_id: str, start: int, end: int) -> dict[str, Any]:
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
