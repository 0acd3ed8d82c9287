"""Questions on what stands before or behind a chapter or tale: "Which story comes after The Speckled Band?"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress

from nlb_retriever.errors import QueryError
from nlb_retriever.records import Answer, BookRecord, Hit, ShortAnswer
from nlb_retriever.search.answers.book_parts import find_beginning, find_parts
from nlb_retriever.search.answers.naming import find_piece, find_titled
from nlb_retriever.search.answers.quotes import NOT_FOUND, make_answer
from nlb_retriever.search.forms import SORT, TALE, compile_forms, match_form
from nlb_retriever.search.hits import read_book
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.scope import Scope, resolve_scope
from nlb_retriever.store import LibraryStore
from nlb_retriever.store.lookup import find_sections

_PART = rf"{SORT}(?P<part>chapter|story|letter|lecture|lesson|{TALE})"
_NEXT = r"(?:(?:directly|right|immediately|just|next) )?"
_QUESTIONS = compile_forms(
    (
        ("after", rf"(?:which|what) {_PART} (?:comes|is|stands) {_NEXT}after (?P<title>.+?)"),
        ("after", rf"(?:which|what) {_PART} {_NEXT}follows (?P<title>.+?)"),
        ("after", rf"what(?:['’]s| is) the next {_PART} after (?P<title>.+?)"),
        ("before", rf"(?:which|what) {_PART} (?:comes|is|stands) {_NEXT}before (?P<title>.+?)"),
        ("before", rf"(?:which|what) {_PART} {_NEXT}precedes (?P<title>.+?)"),
        ("before", rf"what(?:['’]s| is) the (?:previous|last) {_PART} before (?P<title>.+?)"),
    )
)
_OF = re.compile(" (?:of|in) ", re.IGNORECASE)


def answer_neighbour(request: SearchRequest, store: LibraryStore) -> Answer | None:
    """The title of the chapter or tale next to one that a question names, with its first sentence.

    Args:
        request: of the question; the tale is looked for in its scope.
        store: the library.

    Returns:
        Not found, which the text says, is what stands before the first or behind the last one. None for other
        questions, and where it is not clear which chapter or tale is named.
    """
    question = match_form(request.query, _QUESTIONS)
    if not question:
        return None
    way, match = question
    part = match["part"].lower()
    with store.session():
        scope = resolve_scope(request, store)
        book, named = _find_named(match["title"], scope, store)
        hits = read_book(book, scope, store) if book else []
    parts = find_parts("stories" if part == "story" else f"{part}s", hits)
    if not book or not parts or [*named] != [*range(named[0], named[-1] + 1)]:
        return None
    sections = [_section(hit) for _, hit in parts]
    beside = (
        [at for at, section in enumerate(sections) if section > named[-1]][:1]
        if way == "after"
        else [at for at, section in enumerate(sections) if section < named[0]][-1:]
    )
    if not beside:
        end = "last" if way == "after" else "first"
        is_whole = scope.before is None and scope.sections is None
        missing = f"That is the {end} {part} of {book.title}." if is_whole else NOT_FOUND
        return make_answer(request.query, (), missing=missing)
    title, first = parts[beside[0]]
    following = [hit for hit in hits if _section(hit) >= _section(first)]
    citations = find_beginning(following, one=True)
    return make_answer(request.query, citations, [ShortAnswer(text=title, citation=0)], "likely") if citations else None


def _find_named(title: str, scope: Scope, store: LibraryStore) -> tuple[BookRecord | None, Sequence[int]]:
    """The book and the numbers of the sections of a chapter or tale, by its title or its number."""
    books, piece = find_piece(title, scope, store)
    if books:
        return books[0], piece.sections or ()
    splits = [(title[: match.start()], title[match.end() :]) for match in _OF.finditer(title)]
    for name, of in ((title, None), *splits):
        if len(books := find_titled(of, scope, store)) == 1:
            with suppress(QueryError):
                return books[0], find_sections(name, store.sections(books[0].id), books[0])
    return None, ()


def _section(hit: Hit) -> int:
    number: int = hit.metadata["section"]
    return number
