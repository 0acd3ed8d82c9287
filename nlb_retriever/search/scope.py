"""The part of a library that a request searches: books, sections and metadata as conditions of each level."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nlb_retriever.errors import QueryError
from nlb_retriever.records import BookRecord, Level, PassageRecord, SectionRecord
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.titles import without_copies
from nlb_retriever.store import Condition, Filter, LibraryStore, StoreQuery, all_of, at_level
from nlb_retriever.store.lookup import find_book, find_sections
from nlb_retriever.store.works import join_parts


@dataclass(frozen=True, kw_only=True)
class Scope:
    """A request's book, sections and filter, looked up in a library."""

    level: Level
    """The request's, in whose keys `where` is."""
    book: BookRecord | None = None
    where: Filter | None = None
    sections: tuple[int, ...] | None = None
    """Only these sections of the book, by number from 0."""
    before: int | None = None
    """Only sections of the book with a lower number."""

    def filter(self, level: Level) -> Filter | None:
        """The scope as a condition on the points of a level; books are searched as a whole."""
        where = self.where if level == self.level else at_level(self.where, level)
        conditions: list[Filter | None] = [where]
        if self.book is not None:
            ids = tuple(part.id for part in self.book.parts)
            conditions.append(Condition("book_id", "in", ids) if ids else Condition("book_id", "eq", self.book.id))
        if level != "book":
            if self.sections is not None:
                conditions.append(Condition("section", "in", self.sections))
            if self.before is not None:
                conditions.append(Condition("section", "lt", self.before))
        return all_of(*conditions)

    def holds(self, section: int) -> bool:
        """Whether a section of its book is in it, by number from 0."""
        return (self.sections is None or section in self.sections) and (self.before is None or section < self.before)


def resolve_scope(request: SearchRequest, store: LibraryStore) -> Scope:
    """Look up the book and sections that a request names.

    Raises:
        QueryError: there is no such book or section, or a section is named without a book.
    """
    if request.book is None:
        if request.section is not None or request.before is not None:
            raise QueryError("a section is looked up in a book: name the book too (--book)")
        return Scope(level=request.level, where=request.where)
    book = _find_book(str(request.book), store)
    named = request.section is not None or request.before is not None
    sections = store.sections(book.id) if named else []
    chosen = find_sections(str(request.section), sections, book) if request.section is not None else None
    before = find_sections(str(request.before), sections, book)[0] if request.before is not None else None
    if book.parts and named:
        numbers = range(len(sections)) if chosen is None else chosen
        read = [number for number in numbers if before is None or number < before]
        book, chosen = choose_parts(book, read, sections)
        before = None
    return Scope(level=request.level, book=book, where=request.where, sections=chosen, before=before)


def choose_parts(
    book: BookRecord, numbers: Sequence[int], sections: Sequence[SectionRecord]
) -> tuple[BookRecord, tuple[int, ...] | None]:
    """A book and the numbers of some of its sections; of a work the chapters that these are in.

    Of one chapter its own numbers of the sections are given, of several none, for all of them are meant.
    """
    if not book.parts:
        return book, tuple(numbers)
    chosen = [sections[number] for number in numbers]
    ids = {section.book_id for section in chosen}
    parts = [part for part in book.parts if part.id in ids]
    return join_parts(book, parts), tuple(section.section for section in chosen) if len(parts) < 2 else None


def _find_book(name: str, store: LibraryStore) -> BookRecord:
    """The book that a name fits; of copies of one, the one that `without_copies` keeps."""
    try:
        return store.find_book(name)
    except QueryError:
        books = store.books()
        if len(distinct := without_copies(books)) == len(books):
            raise
        return find_book(name, distinct, store.location)


def work_of(book_id: str, store: LibraryStore) -> BookRecord:
    """The work, or else the book, that a hit is in."""
    works = (work for work in store.works() if any(part.id == book_id for part in work.parts))
    return next(works, None) or store.find_book(book_id)


def books_in(scope: Scope, store: LibraryStore) -> list[BookRecord]:
    """The books of a scope, works as one."""
    return [scope.book] if scope.book and scope.book.parts else store.works(scope.filter("book"))


def books_of(records: Iterable[SectionRecord | PassageRecord], store: LibraryStore) -> list[BookRecord]:
    """The books of some sections or passages, each once, in their order."""
    return [store.find_book(each) for each in dict.fromkeys(record.book_id for record in records)]


def sections_with(words: str, scope: Scope, store: LibraryStore, count: int) -> list[SectionRecord]:
    """The sections of a scope with most of some words, the best first."""
    found = store.search([StoreQuery(level="section", text=words, where=scope.filter("section"), limit=count)])[0]
    return store.get_sections([each.id for each in found])


def passages_with(words: str, scope: Scope, store: LibraryStore, count: int) -> list[PassageRecord]:
    """The passages of a scope with most of some words, the best first."""
    found = store.search([StoreQuery(level="passage", text=words, where=scope.filter("passage"), limit=count)])[0]
    return store.get_passages([each.id for each in found])
