"""Which book, or which of its tales, poems and parts, a question names."""

from __future__ import annotations

import re
from dataclasses import replace

from nlb_retriever.errors import QueryError
from nlb_retriever.records import BookRecord
from nlb_retriever.search.answers.book_parts import find_titled_sections
from nlb_retriever.search.forms import NUMBER, TALE, WORK
from nlb_retriever.search.scope import Scope, books_in, books_of, choose_parts
from nlb_retriever.search.titles import is_in_title, is_titled, is_titled_by, name_words, title_words, without_copies
from nlb_retriever.store import LibraryStore
from nlb_retriever.store.lookup import find_sections, is_short_for
from nlb_retriever.text.folding import fold

A_WORK = rf"(?:{WORK}|article|story|tale|play|poem)"
_THIS = re.compile(rf"it|this|(?:this|the) {A_WORK}", re.IGNORECASE)
_MAY_BE_IN_IT = re.compile(rf"the (?!(?:book|novel)$)(?:{WORK}|article)", re.IGNORECASE)
"""What a novel may tell of: "Who wrote the report?"."""
LONG_BOOK = 30_000
"""Tokens from which on a book without pages is a novel rather than a paper, a report or a contract."""
_CALLED = re.compile(rf"the (?:{A_WORK}|{TALE}) (?:called |titled )?", re.IGNORECASE)
_LAW = re.compile(
    r"the (?P<kind>act|agreement|by-?laws|charter|code|constitution|contract|convention|directive|licen[cs]e|policy"
    r"|regulations?|rules|statutes?|terms|treaty)",
    re.IGNORECASE,
)
"""A law or contract by its kind alone."""
_KIND = re.compile(rf" (?:{A_WORK}|licen[cs]e|handbook|guide)$", re.IGNORECASE)
"""Behind a title: "the Artistic license"."""
AROUND = " _*\"'“”‘’«»"
_OUTER = "(?:part|volume|book|act|canto|section)"
_PART_OF = re.compile(
    rf"(?:the )?(?P<part>{_OUTER} {NUMBER}|{NUMBER} {_OUTER})"
    r"(?: (?:of|in) (?P<title>.+))?",
    re.IGNORECASE,
)
"""A part by its number: "the third volume of Emma"."""


def find_titled(title: str | None, scope: Scope, store: LibraryStore, *, in_part: bool = True) -> list[BookRecord]:
    """The books in a scope that have a title, or the only one where none is said.

    Args:
        title: "The Jungle", "the novel called The Jungle", "this book".
        scope: of the request.
        store: the library.
        in_part: the one book whose title has these words ("Huckleberry Finn") or that they are short for ("the GPL"),
            where none is called so.
    """
    title = (title or "").strip(AROUND)
    bare = _CALLED.sub("", title, count=1).strip(AROUND) if _CALLED.match(title) else title
    books = books_in(scope, store)
    names = {title, bare, _KIND.sub("", title)}
    for among in (books, [part for book in books for part in book.parts]):
        titled = without_copies(
            book for book in among if any(is_titled(book, name) for name in names) or is_titled_by(book, bare)
        )
        if titled:
            break
    if not titled and (law := _LAW.fullmatch(title)):
        titled = without_copies(book for book in books if fold(law["kind"]) in name_words(book.title))
    if not titled and (not title or _THIS.fullmatch(title)):
        books = without_copies(books)
        return books if len(books) == 1 and not (_MAY_BE_IN_IT.fullmatch(title) and _is_novel(books[0], store)) else []
    if titled or not in_part:
        return titled
    titled = without_copies(book for book in books if is_in_title(book, bare))
    if not titled and (short := " ".join(title_words(bare))) and not any(map(str.islower, bare.split()[-1])):
        titled = without_copies(book for book in books if is_short_for(short, book))
    return titled if len(titled) == 1 else []


def find_piece(title: str, scope: Scope, store: LibraryStore) -> tuple[list[BookRecord], Scope]:
    """The book that has a tale, poem or chapter of a title, or the part of a number, and the scope of that.

    One that the title is a part of ("The Lamp and Other Tales") has it only under just this title.
    """
    title = title.strip(AROUND)
    bare = _CALLED.sub("", title)
    titled = find_titled_sections(title, scope, store) or find_titled_sections(bare, scope, store)
    titled = [section for section in titled if scope.holds(section.section)]
    books = books_of(titled, store)
    if find_titled(title, scope, store):
        own = [title_words(each) for section in titled for each in section.path]
        books = books if title_words(title) in own or title_words(bare) in own else []
    if len(books) != 1:
        return _find_part(title, scope, store)
    return books, replace(scope, book=books[0], sections=tuple(section.section for section in titled))


def names_work(title: str) -> bool:
    """Whether a question says that it asks about a text: "this article", "the poem Lycidas", "it"."""
    return bool(_THIS.fullmatch(title) or _CALLED.match(title))


def _is_novel(book: BookRecord, store: LibraryStore) -> bool:
    """Whether a book is long and has no pages, as papers and reports mostly have."""
    return book.tokens >= LONG_BOOK and not any(section.page for section in store.sections(book.id))


def _find_part(name: str, scope: Scope, store: LibraryStore) -> tuple[list[BookRecord], Scope]:
    """The book that has a part of several sections ("part two of The Mill"), and the scope of these; none else."""
    match = _PART_OF.fullmatch(name)
    books = find_titled(match["title"], scope, store) if match else []
    if not match or len(books) != 1:
        return [], scope
    try:
        sections = store.sections(books[0].id)
        found = find_sections(match["part"], sections, books[0])
    except QueryError:
        return [], scope
    found = tuple(filter(scope.holds, found))
    book, own = choose_parts(books[0], found, sections)
    return ([book], replace(scope, book=book, sections=own)) if len(found) > 1 else ([], scope)
