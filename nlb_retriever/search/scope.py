"""Where a question is asked: filters by book, section and metadata, as conditions of each level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nlb_retriever.errors import QueryError
from nlb_retriever.records import Level
from nlb_retriever.store import Condition, Filter, LibraryStore, StoredPoint, all_of, at_level


@dataclass(frozen=True, kw_only=True)
class Scope:
    """A checked choice of books and sections."""

    book_id: str | None = None
    passages: int | None = None
    """How many passages that book has."""
    where: Filter | None = None
    sections: tuple[int, ...] | None = None
    """Only these sections of the book, by number from 0."""
    before: int | None = None
    """Only sections of the book with a lower number."""

    def at(self, level: Level) -> Scope:
        """The same scope for another level, without conditions on what that level has not."""
        return replace(self, where=at_level(self.where, level))

    def filter(self, level: Level) -> Filter | None:
        """The scope as a condition on the points of one level; books stay as a whole."""
        parts: list[Filter | None] = [self.where]
        if self.book_id is not None:
            parts.append(Condition("book_id", "eq", self.book_id))
        if level != "book":
            if self.sections is not None:
                parts.append(Condition("section", "in", self.sections))
            if self.before is not None:
                parts.append(Condition("section", "lt", self.before))
        return all_of(*parts)


def make_scope(
    store: LibraryStore,
    *,
    book: str | None,
    section: str | None,
    before: str | None,
    where: Filter | None,
) -> Scope:
    """Look up what a user named.

    Args:
        store: the library.
        book: id, title or path of a book.
        section: number (from 1), id or title of a section of it, or of a part: then all of its sections.
        before: likewise; leaves what comes before it.
        where: further conditions.

    Raises:
        QueryError: there is no such book or section, or a section is named without a book.
    """
    if book is None:
        if section is not None or before is not None:
            raise QueryError("a section is looked up in a book: name the book too (--book)")
        return Scope(where=where)
    entry = store.find_book(book)
    sections = store.sections(entry.id) if section is not None or before is not None else []
    return Scope(
        book_id=entry.id,
        passages=entry.passages,
        where=where,
        sections=find_sections(sections, section, entry.title) if section is not None else None,
        before=find_sections(sections, before, entry.title)[0] if before is not None else None,
    )


def find_sections(sections: Sequence[StoredPoint], name: str, title: str) -> tuple[int, ...]:
    """Numbers (from 0) of the sections that a user means.

    Raises:
        QueryError: none is.
    """
    wanted = name.strip().casefold()
    if wanted.isdecimal():
        if 1 <= int(wanted) <= len(sections):
            return (int(wanted) - 1,)
        raise QueryError(f"{title} has {len(sections)} sections, no number {name}: see `nlb show`")
    paths = [[part.casefold() for part in section.payload["section_path"]] for section in sections]
    for found in (
        [index for index, section in enumerate(sections) if section.id == wanted],
        [index for index, path in enumerate(paths) if wanted in path],
        [index for index, path in enumerate(paths) if any(part.startswith(wanted) for part in path)],
        [index for index, path in enumerate(paths) if any(wanted in part for part in path)],
    ):
        if found and wanted:
            return tuple(found)
    raise QueryError(f"{title} has no section {name!r}: see `nlb show` for its sections and their numbers")
