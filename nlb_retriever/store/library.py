"""A library: books at three levels over one backend, published whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TypeVar

import numpy as np

from nlb_retriever.config import Manifest
from nlb_retriever.errors import LibraryRebuilt, StoreError
from nlb_retriever.records import Book, BookRecord, Level, Passage, PassageRecord, SectionRecord
from nlb_retriever.store import points
from nlb_retriever.store.backends import rebuild
from nlb_retriever.store.backends.base import (
    Backend,
    NewVersion,
    PassageTerms,
    PayloadKeys,
    SectionVectors,
    StoredPoint,
    View,
)
from nlb_retriever.store.backends.folder import FolderBackend
from nlb_retriever.store.filters import Filter, resolve
from nlb_retriever.store.integrity import drop_broken, find_problems
from nlb_retriever.store.lock import WriterLock
from nlb_retriever.store.lookup import find_book, find_work
from nlb_retriever.store.points import BookVectors, KnownBooks
from nlb_retriever.store.query import Candidate, StoreQuery, prepare, run
from nlb_retriever.store.works import below_chapter, find_works, name_chapters
from nlb_retriever.text.languages import ENGLISH, UNKNOWN, find_language, is_marked

T = TypeVar("T")


class LibraryStore:
    """The books of a library. Several threads may use one; `close` it, or use it in `with`."""

    def __init__(self, backend: Backend, *, lock: WriterLock | None = None) -> None:
        """Over an open backend; `open_store` is the way to get one.

        Args:
            backend: where the library is.
            lock: released by `close`.
        """
        self._backend = backend
        self._lock = lock
        self._known: KnownBooks | None = None
        self.manifest: Manifest = backend.read(lambda view: view.manifest)

    @property
    def location(self) -> str:
        """Folder or address."""
        return self._backend.location

    def session(self) -> AbstractContextManager[None]:
        """For calls that belong together: in a folder, they see the library as it is at the first of them."""
        return self._backend.session()

    # -- reading --------------------------------------------------------------------------------

    def is_current(self) -> bool:
        """Whether the library still has the settings that it was opened with; else it is to be opened again."""
        return self._backend.read(lambda view: view.manifest) == self.manifest

    def books(self, where: Filter | None = None) -> list[BookRecord]:
        """All published books, or those that fit a filter (checked for books), by title.

        Raises:
            QueryError: a metadata key that no book has.
        """
        known = self._read(self._know)
        return [*(known.books if where is None else known.fitting(where))]

    def works(self, where: Filter | None = None) -> list[BookRecord]:
        """What `books` gives, with those that are chapters of a work (store/works.py) as one."""
        known = self._read(self._know)
        return [*known.works] if where is None else find_works(known.fitting(where))

    def languages(self) -> tuple[str, ...]:
        """In which languages its books' words were counted (`text.languages`), each once."""
        return self._read(lambda view: self._know(view).languages)

    def find_book(self, name: str) -> BookRecord:
        """The book with this id, unique start of an id (4 digits or more), file, title or part of a title.

        A work's title, a part of it, or its folder goes before those of its chapters.

        Raises:
            QueryError: no book fits, or several do; it names similar titles.
        """
        known = self._read(self._know)
        found = known.by_id.get(name) or find_work(name, known.works, self.location)
        return found or find_book(name, known.books, self.location)

    def count(self, level: Level, where: Filter | None = None) -> int:
        """How many there are, or fit a filter (checked for the level, `is_searched` in all conditions).

        Raises:
            QueryError: a metadata key that no book has.
        """
        return self._read(lambda view: view.count(level, where and resolve(where, self._find_books(view))))

    def sections(self, book_id: str) -> list[SectionRecord]:
        """A book's sections in reading order, or a work's, with spans in all its text; none for an unknown book."""
        work = next((work for work in self.works() if work.parts and work.id == book_id), None)
        if work is None:
            return self._records(points.to_section_record, self._ordered("section", book_id, 0, None))
        chapters = name_chapters(work.parts)
        found: list[SectionRecord] = []
        offset = 0
        for part in work.parts:
            for own in self.sections(part.id):
                section = replace(own, ordinal=len(found), start=offset + own.start, end=offset + own.end)
                found.append(below_chapter(section, chapters))
            offset += part.chars
        return found

    def passages(self, book_id: str, first: int = 0, last: int | None = None) -> list[PassageRecord]:
        """A book's passages from ordinal `first` to before `last`, in reading order."""
        return self._records(points.to_passage_record, self._ordered("passage", book_id, first, last))

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
        return self._records(points.to_section_record, self._retrieve("section", ids))

    def get_passages(self, ids: Sequence[str]) -> list[PassageRecord]:
        """Passages by id, in that order; those that are not there are left out."""
        return self._records(points.to_passage_record, self._retrieve("passage", ids))

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
            rows = {point: vector for point in own if (vector := vectors.get(point)) is not None}
            if rows and section.dense is not None:
                stacked = np.stack(list(rows.values()))
                result.append(SectionVectors(id=section.id, section=section.dense, passages=stacked, ids=tuple(rows)))
        return result

    def search(self, queries: Sequence[StoreQuery]) -> list[list[Candidate]]:
        """Answer several searches at once, each best first.

        Raises:
            QueryError: a vector that does not fit, or a metadata key that no book has.
        """

        def answer(view: View) -> list[list[Candidate]]:
            has_text = any(query.text is not None for query in queries)
            languages = self._know(view).languages if has_text else ()
            prepared = [prepare(query, self.manifest.dims, languages) for query in queries]
            return run(view, prepared, self._find_books(view))

        return self._read(answer)

    def terms(self, passages: Sequence[str]) -> PassageTerms:
        """The terms of some passages, in any order; those without are left out."""
        return self._read(lambda view: view.terms(passages))

    def warm(self) -> None:
        """Open all levels and read their vectors once, as the first search else does."""
        for level, dim in self.manifest.dims.items():
            self.search([StoreQuery(level=level, dense=np.eye(1, dim, dtype=np.float32)[0], limit=1)])

    # -- writing --------------------------------------------------------------------------------

    def publish(self, book: Book, passages: Sequence[Passage], vectors: BookVectors) -> None:
        """Add a book, or replace its older version; readers see it whole or not at all.

        Its words are counted as its language inflects them (`text.languages`). Where it names none, it gets that; also
        where it names English, as programs do by themselves, and is in another.

        Raises:
            StoreError: the vectors are wrong or it cannot be written; what was published stays.
        """
        points.check_vectors(book, passages, vectors, self.manifest.dims)
        found = find_language(book.text)
        language = found or ENGLISH
        if language == ENGLISH and is_marked(book.text):
            language = UNKNOWN
        if not book.language or (found not in {None, ENGLISH} and book.language.partition("-")[0].lower() == ENGLISH):
            book = replace(book, language=found)

        def compose(current: str | None) -> NewVersion:
            version = points.version_of(book, self.manifest, current)
            return NewVersion(
                book_id=book.id,
                version=version,
                text=book.text,
                points={
                    "book": [points.book_point(book, version, passages, vectors, language)],
                    "section": list(points.section_points(book, version, passages, vectors, language)),
                    "passage": list(points.passage_points(book, version, passages, vectors, language)),
                },
            )

        self._backend.publish(book.id, compose)

    def remove(self, *book_ids: str) -> None:
        """Take books out, each at once for all readers; an unknown one is no error.

        Their text may stay in the library's files for a while, where nothing shows it: see `optimize`.
        """
        self._backend.remove(*book_ids)

    def rename(self, sources: Mapping[str, str]) -> None:
        """Note the new sources of books, by their ids."""
        self._backend.rename(sources)

    def optimize(self, *, purge: bool = False) -> bool:
        """Rearrange for speed where worthwhile, as at the end of a run; readers go on meanwhile.

        Args:
            purge: delete every trace of what was removed or replaced (a server does so in its own time).
        """
        return self._backend.optimize(purge=purge)

    # -- rebuilding -----------------------------------------------------------------------------

    def start_rebuild(self, manifest: Manifest) -> LibraryStore:
        """A library that is to replace this one: empty, or as far as an interrupted rebuild came.

        What an interrupted rebuild left is used only where this library has not changed since, and the manifest is
        the same.

        Raises:
            StoreError: this one is on a server, or open for reading.
        """
        backend = self._folder()
        if backend.lock is None:
            raise StoreError(f"library {self.location} was opened for reading: open it with writer=True")
        replaces = backend.head.library, backend.head.serial
        return LibraryStore(rebuild.start(backend.folder, backend.lock, manifest, replaces=replaces))

    def take_over(self) -> None:
        """Let this rebuilt library replace the old one, in one step; readers see it from then on."""
        rebuild.finish(self._folder())

    def _folder(self) -> FolderBackend:
        if not isinstance(self._backend, FolderBackend):
            raise StoreError(f"{self.location} is on a server: index under another name there, then drop this one")
        return self._backend

    # -- what both need -------------------------------------------------------------------------

    def _read(self, work: Callable[[View], T]) -> T:
        def checked(view: View) -> T:
            if view.manifest != self.manifest:
                raise LibraryRebuilt(
                    f"library {self.location} was rebuilt with other settings meanwhile: open it again"
                )
            return work(view)

        return self._backend.read(checked)

    def _know(self, view: View) -> KnownBooks:
        known = self._known
        if known is None or known.view is not view:
            self._known = known = KnownBooks.of(view)
        return known

    def _records(self, make: Callable[[StoredPoint, str | None], T], found: Sequence[StoredPoint]) -> list[T]:
        books = self._read(self._know).by_id
        return [make(point, book.work if (book := books.get(point.payload["book_id"])) else None) for point in found]

    def _find_books(self, view: View) -> Callable[[Filter], list[str]]:
        return lambda where: [book.id for book in self._know(view).fitting(where)]

    def _ordered(self, level: Level, book_id: str, first: int, last: int | None) -> list[StoredPoint]:
        """A book's sections or passages in reading order."""

        def read(view: View) -> list[StoredPoint]:
            book = self._know(view).by_id.get(book_id)
            if book is None:
                return []
            wanted = range(book.sections if level == "section" else book.passages)[max(first, 0) : last]
            return view.retrieve(level, [points.point_id(book_id, book.version, level, ordinal) for ordinal in wanted])

        return self._read(read)

    def _retrieve(
        self, level: Level, ids: Sequence[str], *, payload: PayloadKeys = True, vectors: bool = False
    ) -> list[StoredPoint]:
        """Points by id, in that order, with their dense vectors if wanted; those that are not there are left out."""
        return self._read(lambda view: view.retrieve(level, ids, payload=payload, vectors=vectors))

    # -- life -----------------------------------------------------------------------------------

    def verify(self) -> list[str]:
        """Problems, one line each; none where all is well. Reads everything."""
        return find_problems(self._backend, self.manifest)

    def repair(self) -> list[str]:
        """Delete what belongs to no whole book, so that the next index run makes it anew; says what.

        Raises:
            LibraryDamaged: not all of it can be read: see `RescuedLibrary`.
        """
        return drop_broken(self._backend, self.manifest)

    def close(self) -> None:
        """Let go of the library."""
        self._known = None
        try:
            self._backend.close()
        finally:
            if self._lock is not None:
                self._lock.release()

    def __enter__(self) -> LibraryStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
