"""A library: books at three levels over one engine, published whole or not at all.

A new version of a book is written beside the old one and stays hidden until it is complete; one
write of the library's state then shows it and hides the old one, which is deleted after that.
Whatever stops a writer, readers see the one or the other, and the next writer tidies up.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from types import TracebackType
from typing import TypeVar

import numpy as np

from nlb_retriever.errors import LibraryBusy, StoreError
from nlb_retriever.records import LEVELS, Book, BookRecord, Level, Passage, PassageRecord, SectionRecord
from nlb_retriever.store import points
from nlb_retriever.store.engine import Engine, PayloadKeys, SectionVectors, StoredPoint
from nlb_retriever.store.failpoint import failpoint
from nlb_retriever.store.filters import And, Condition, Filter, Not, all_of, check_metadata, matches
from nlb_retriever.store.lock import WriterLock
from nlb_retriever.store.lookup import find_book
from nlb_retriever.store.points import BookVectors, State
from nlb_retriever.store.query import Candidate, StoreQuery, prepare, run

COMPACT_EVERY = 25_000
"""Passages published in one run between two tidyings: what is not tidied lies in memory when open."""
_READ_TRIES = 5
_BOOKS: tuple[Level, ...] = ("book",)
_TEXTS: tuple[Level, ...] = ("section", "passage")
_BOOKS_ONLY = Condition("kind", "eq", "book")

T = TypeVar("T")


class LibraryStore:
    """The books of a library. Several threads may use one; `close` it, or use it in `with`."""

    def __init__(self, engine: Engine, *, writer: bool = False, lock: WriterLock | None = None) -> None:
        """Over an engine whose collections exist; `open_store` is the way to get one."""
        self._engine = engine
        self._lock = lock
        self._writer = uuid.uuid4().hex if writer else None
        self._unsettled = 0
        self._known: tuple[tuple[int, str], list[BookRecord]] = ((-1, ""), [])
        with engine.session():
            state = self._state()
            self.manifest = state.manifest
            if writer:
                self._write(state, ours=True)
                self._mend()

    @property
    def place(self) -> str:
        """Folder or address."""
        return self._engine.place

    def session(self) -> AbstractContextManager[None]:
        """For calls that belong together: an embedded library changes only before or after them.

        They also wait only once where a writer is at work; so may nobody else while it lasts: be quick.
        """
        return self._engine.session()

    # -- reading --------------------------------------------------------------------------------

    def books(self) -> list[BookRecord]:
        """All published books, by title."""
        return sorted(self._read(self._books), key=lambda book: (book.title.casefold(), book.id))

    def find_book(self, name: str) -> BookRecord:
        """The book with this id, unique start of an id (4 digits or more), file, title or part of a title.

        Raises:
            QueryError: no book fits, or several do; it names similar titles.
        """
        return find_book(name, self.books(), self.place)

    def count(self, level: Level) -> int:
        def count(state: State) -> int:
            return self._engine.count(level, self._visible(level, state))

        return self._read(count)

    def sections(self, book_id: str) -> list[SectionRecord]:
        """A book's sections in reading order; none for an unknown book."""
        return list(map(points.to_section_record, self._ordered("section", book_id, 0, None)))

    def passages(self, book_id: str, first: int = 0, last: int | None = None) -> list[PassageRecord]:
        """A book's passages from ordinal `first` to before `last`, in reading order."""
        return list(map(points.to_passage_record, self._ordered("passage", book_id, first, last)))

    def book_text(self, book_id: str) -> str:
        """A book's whole text."""
        return "".join(section.text for section in self.sections(book_id))

    def read_book(self, record: BookRecord) -> Book | None:
        """A book as it was given to `publish`; None where it has been removed or changed meanwhile."""
        sections = self.sections(record.id)
        whole = len(sections) == record.sections and all(part.version == record.version for part in sections)
        return points.to_book(record, sections) if whole else None

    def get_books(self, uuids: Sequence[str]) -> list[BookRecord]:
        """Books by the UUIDs of their points, in that order; those that are not there are left out."""
        return list(map(points.to_book_record, self._retrieve("book", uuids)))

    def get_sections(self, ids: Sequence[str]) -> list[SectionRecord]:
        """Sections by id, in that order; those that are not there are left out."""
        return list(map(points.to_section_record, self._retrieve("section", ids)))

    def get_passages(self, ids: Sequence[str]) -> list[PassageRecord]:
        """Passages by id, in that order; those that are not there are left out."""
        return list(map(points.to_passage_record, self._retrieve("passage", ids)))

    def existing(self, level: Level, ids: Sequence[str]) -> set[str]:
        """Those of some points' ids that are there."""
        return {point.id for point in self._retrieve(level, ids, payload=False)}

    def section_vectors(self, ids: Sequence[str], *, most: int) -> list[SectionVectors]:
        """Sections with the vectors of their passages, in the order of `ids`; those without passages are left out.

        Args:
            ids: of sections.
            most: of a section with more passages so many are read, evenly spread.
        """
        sections = self._retrieve("section", ids, payload=("book_id", "version", "passages"), vectors=True)
        wanted = []
        for section in sections:
            first, last = section.payload["passages"]
            ordinals = np.unique(np.linspace(first, last - 1, min(most, last - first)).round().astype(int))
            book_id, version = section.payload["book_id"], section.payload["version"]
            wanted.append([points.point_id(book_id, version, "passage", int(ordinal)) for ordinal in ordinals])
        everything = self._retrieve("passage", [point for own in wanted for point in own], payload=False, vectors=True)
        vectors = {point.id: point.dense for point in everything}
        result = []
        for section, own in zip(sections, wanted, strict=True):
            rows = [vector for point in own if (vector := vectors.get(point)) is not None]
            if rows and section.dense is not None:
                result.append(SectionVectors(id=section.id, section=section.dense, passages=np.stack(rows)))
        return result

    def search(self, queries: Sequence[StoreQuery]) -> list[list[Candidate]]:
        """Answer several searches at once, each best first.

        Raises:
            QueryError: a vector that does not fit, or a metadata key that no book has.
        """
        prepared = [prepare(query, self.manifest.dims) for query in queries]

        def search(state: State) -> list[list[Candidate]]:
            visible = {level: self._visible(level, state, searching=True) for level in LEVELS}

            def find_books(where: Filter) -> list[str]:
                books = self._books(state)
                check_metadata(where, map(vars, books))
                return [book.id for book in books if matches(where, vars(book))]

            return run(self._engine, prepared, visible, find_books)

        return self._read(search)

    # -- writing --------------------------------------------------------------------------------

    def publish(self, book: Book, passages: Sequence[Passage], vectors: BookVectors) -> None:
        """Add a book, or replace its older version; readers see it whole or not at all.

        Raises:
            StoreError: the vectors are wrong or it cannot be written; what was published stays.
        """
        points.check_vectors(book, passages, vectors, self.manifest.dims)
        size = sum(passage.end - passage.start for passage in passages) + len(book.text)
        self._engine.require_space(8 * size + 8 * vectors.passages.nbytes)
        with self._engine.session():
            state = self._mend()
            old = self._versions(book.id)
            version = points.version_of(book, self.manifest, old[0] if old else None)
            state = self._write(replace(state, hidden=((book.id, version),)))
            failpoint("marked")
            self._engine.upsert("passage", points.passage_points(book, version, passages, vectors))
            failpoint("passages")
            self._engine.upsert("section", points.section_points(book, version, passages, vectors))
            failpoint("sections")
            self._engine.upsert("book", [points.book_point(book, version, passages, vectors)])
            failpoint("book")
            # what a state relies on must outlast a power cut before that state does
            self._engine.flush(_TEXTS)
            failpoint("flushed")
            self._write(replace(state, hidden=tuple((book.id, each) for each in old)))
            failpoint("published")
            self._mend()
        self._unsettled += len(passages)
        if self._unsettled >= COMPACT_EVERY:
            self.optimize()

    def remove(self, book_id: str) -> None:
        """Take a book out, at once for all readers; an unknown one is no error."""
        with self._engine.session():
            state = self._mend()
            hidden = tuple((book_id, version) for version in self._versions(book_id))
            if hidden:
                self._write(replace(state, hidden=hidden))
                failpoint("removing")
                self._mend()

    def rename(self, book_id: str, source: str) -> None:
        """Note that a book's file now lies elsewhere."""
        with self._engine.session():
            state = self._mend()
            self._write(replace(state, renaming=(book_id, source)))
            failpoint("renaming")
            self._mend()

    def optimize(self) -> bool:
        """Rearrange for speed where worthwhile, as at the end of a run; readers go on meanwhile."""
        self._require_writer()
        self._unsettled = 0
        return self._engine.optimize(self.manifest.dim)

    def _mend(self) -> State:
        """Finish or undo what a writer left unfinished; returns the state, with nothing pending."""
        self._require_writer()
        state = self._state()
        if state.writer != self._writer:
            raise LibraryBusy(f"library {self.place} is being written by another process: wait for it or stop it")
        if state.renaming:
            book_id, source = state.renaming
            for level in LEVELS:
                self._engine.set_payload(level, Condition("book_id", "eq", book_id), {"source": source})
                failpoint(f"renamed-{level}")
        if state.hidden:
            self._engine.flush(_BOOKS)
            for pair in state.hidden:
                for level in reversed(LEVELS):
                    self._engine.delete(level, _version(*pair))
                    failpoint(f"deleted-{level}")
        if not state.renaming and not state.hidden:
            return state
        self._engine.flush(_TEXTS)
        return self._write(replace(state, hidden=(), renaming=None))

    def _write(self, state: State, *, ours: bool = False) -> State:
        state = replace(state, generation=state.generation + 1)
        if ours:
            state = replace(state, writer=self._writer or "")
        self._engine.upsert("book", [state.to_point()])
        return state

    def _require_writer(self) -> None:
        if self._writer is None:
            raise StoreError(f"library {self.place} was opened for reading: open it with writer=True")

    # -- what both need ---------------------------------------------------------------------------

    def _state(self) -> State:
        found = self._engine.retrieve("book", [points.STATE_ID])
        if not found:
            raise StoreError(
                f"library {self.place} is damaged (it has lost its manifest): run `nlb index --rebuild` on your books"
            )
        return State.from_payload(found[0].payload)

    def _read(self, read: Callable[[State], T]) -> T:
        """Read under one state: again where a writer changed it meanwhile."""
        with self._engine.session():
            for _ in range(_READ_TRIES):
                state = self._state()
                if state.manifest != self.manifest:
                    raise StoreError(f"library {self.place} was rebuilt with other encoders meanwhile: open it again")
                result = read(state)
                if self._engine.isolated or self._state().generation == state.generation:
                    break
            return result

    def _visible(self, level: Level, state: State, *, searching: bool = False) -> Filter | None:
        """What readers may see; the state itself is no book, and has no vector by which to be found."""
        hidden = Not(tuple(_version(*pair) for pair in state.hidden)) if state.hidden else None
        return all_of(_BOOKS_ONLY if level == "book" and not searching else None, hidden)

    def _books(self, state: State) -> list[BookRecord]:
        """The visible books."""
        seen, books = self._known
        if seen != (state.generation, state.writer):
            found = self._engine.scroll("book", self._visible("book", state))
            books = [points.to_book_record(self._renamed(point, state)) for point in found]
            self._known = (state.generation, state.writer), books
        return books

    def _ordered(self, level: Level, book_id: str, first: int, last: int | None) -> list[StoredPoint]:
        """A book's sections or passages in reading order."""

        def read(state: State) -> list[StoredPoint]:
            for book in self._books(state):
                if book.id == book_id:
                    wanted = range(book.sections if level == "section" else book.passages)[max(first, 0) : last]
                    ids = [points.point_id(book_id, book.version, level, ordinal) for ordinal in wanted]
                    return [self._renamed(point, state) for point in self._engine.retrieve(level, ids)]
            return []

        return self._read(read)

    def _retrieve(
        self, level: Level, ids: Sequence[str], *, payload: PayloadKeys = True, vectors: bool = False
    ) -> list[StoredPoint]:
        """Points by id, in that order, with their dense vectors if wanted; those that are not there are left out."""

        def retrieve(state: State) -> list[StoredPoint]:
            keys: PayloadKeys = payload
            if state.hidden and not isinstance(payload, bool):
                keys = tuple({*payload, "book_id", "version"})
            found = self._engine.retrieve(level, ids, payload=keys or bool(state.hidden), vectors=vectors)
            hidden = set(state.hidden)
            return [
                self._renamed(point, state)
                for point in found
                if (point.payload.get("book_id"), point.payload.get("version")) not in hidden
            ]

        return self._read(retrieve)

    def _versions(self, book_id: str) -> list[str]:
        """The versions of a book that are there while nothing is pending: one, or none."""
        where = And((Condition("book_id", "eq", book_id), _BOOKS_ONLY))
        return [point.payload["version"] for point in self._engine.scroll("book", where, payload=("version",))]

    def _renamed(self, point: StoredPoint, state: State) -> StoredPoint:
        if not state.renaming or point.payload.get("book_id") != state.renaming[0] or "source" not in point.payload:
            return point
        return replace(point, payload={**point.payload, "source": state.renaming[1]})

    # -- life -----------------------------------------------------------------------------------

    def verify(self) -> list[str]:
        """Problems, one line each; none where all is well. Reads every point."""
        from nlb_retriever.store.doctor import find_problems

        return self._read(lambda state: find_problems(self._engine, state))

    def repair(self) -> list[str]:
        """Delete what belongs to no whole book, so that the next index run makes it anew; says what."""
        from nlb_retriever.store.doctor import mend_books

        with self._engine.session():
            state = self._mend()
            done = mend_books(self._engine, state)
            if done:
                self._write(state)
            return done

    def close(self) -> None:
        """Let go of the library."""
        try:
            self._engine.close()
        finally:
            if self._lock is not None:
                self._lock.release()

    def __enter__(self) -> LibraryStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _version(book_id: str, version: str) -> Filter:
    return And((Condition("book_id", "eq", book_id), Condition("version", "eq", version)))
