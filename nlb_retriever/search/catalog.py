"""Questions on the library itself: which books and authors it has, how many, and the longest."""

from __future__ import annotations

from collections.abc import Sequence

from nlb_retriever.records import Answer, BookRecord, ShortAnswer
from nlb_retriever.search.book_parts import find_beginning
from nlb_retriever.search.forms import compile_forms, match_form
from nlb_retriever.search.hits import read_book
from nlb_retriever.search.quotes import SENTENCES, join_quotes
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.scope import books_in, resolve_scope
from nlb_retriever.search.titles import name_words
from nlb_retriever.store import LibraryStore

NAMED = 20
"""Most titles or authors that are named."""
FIRST = 3
"""First passages of a book, of which a sentence is quoted."""
_BOOKS = r"(?:books?|novels?|works?|plays?|titles?|documents?|files?)"
_HAVE = r"(?: (?:do (?:you|i|we) have|are there|are|is|have (?:you|i|we)(?: got)?))?"
_HERE = r"(?: (?:here|(?:are )?in (?:the|my|your|our|this) (?:library|collection)))?"
_AUTHOR = r"(?P<author>(?:(?! (?:do|have|are|is|did) )[^?])+?)"
_BY = rf"(?:(?: are)?(?: written)? (?:by|from) {_AUTHOR})"
_LIST = r"(?:list|show|name|give me|show me|tell me|what are|which are)(?: all)?(?: of)?(?: the| my| your| our)? "
_QUESTIONS = compile_forms(
    (
        ("count", rf"how many {_BOOKS}{_HAVE}{_HERE}{_BY}?"),
        ("count", rf"how many {_BOOKS}{_BY}{_HAVE}{_HERE}"),
        ("count", rf"how many {_BOOKS} (?:did|has|have) {_AUTHOR} (?:write|written|published?)"),
        ("books", rf"(?:{_LIST}|(?:what|which) ){_BOOKS}{_HAVE}{_HERE}{_BY}"),
        ("books", rf"(?:what|which) {_BOOKS}{_BY}{_HAVE}{_HERE}"),
        ("books", rf"(?:what|which) {_BOOKS} (?:did|has|have) {_AUTHOR} (?:write|written|published?)"),
        ("books", rf"{_BOOKS} by {_AUTHOR}"),
        ("books", rf"(?:what|which) {_BOOKS} (?:do (?:you|i|we) have|are there|have (?:you|i|we)(?: got)?){_HERE}"),
        ("books", rf"(?:what|which) {_BOOKS} are in (?:the|my|your|our|this) (?:library|collection)"),
        ("books", rf"{_LIST}{_BOOKS}{_HERE}"),
        ("books", r"what(?:['’]s| is) in (?:my|your|our|this) (?:library|collection)"),
        ("books", r"what(?:['’]s| is) (?:the|my|your|our|this) (?:library|collection) about"),
        ("books", r"what can i ask(?: you)?(?: about)?"),
        ("longest", rf"(?:(?:which|what)(?:['’]s| is) )?the longest {_BOOKS}{_HERE}"),
        ("longest", rf"(?:which|what) {_BOOKS} is (?:the )?longest"),
        ("shortest", rf"(?:(?:which|what)(?:['’]s| is) )?the shortest {_BOOKS}{_HERE}"),
        ("shortest", rf"(?:which|what) {_BOOKS} is (?:the )?shortest"),
        ("authors", rf"(?:what|which) (?:authors|writers){_HAVE}{_HERE}"),
        ("authors", rf"(?:who are|list(?: all)?|name) (?:the|my|all) (?:authors|writers){_HERE}"),
    )
)


def answer_catalog(request: SearchRequest, store: LibraryStore, limit: int | None = None) -> Answer | None:
    """What a question on the library itself asks: "Which books by Jules Verne do you have?", "Who are the authors?".

    Args:
        request: of the question; only books in its scope count.
        store: the library.
        limit: at most so many sentences are quoted.

    Returns:
        Titles, authors or a number, with the first sentences of the first books. None for other questions, and where
        no book is by the author who is named.
    """
    question = match_form(request.query, _QUESTIONS)
    if not question:
        return None
    kind, match = question
    author = match.groupdict().get("author")
    with store.session():
        scope = resolve_scope(request, store)
        books = [book for book in books_in(scope, store) if author is None or is_by(book, author)]
        if kind in {"longest", "shortest"}:
            books = sorted(books, key=lambda book: book.chars, reverse=kind == "longest")[:1]
        beginnings = (find_beginning(read_book(book, scope, store, FIRST), one=True) for book in books[:SENTENCES])
        citations = [citation for each in beginnings for citation in each][:limit]
    if not citations:
        return None
    names = [book.title for book in books]
    if kind == "authors":
        written = {" ".join(sorted(name_words(book.author))): book.author for book in reversed(books) if book.author}
        names = [*written.values()][::-1]
    text = f"{len(books):,}" if kind == "count" else _join(names)
    return Answer(
        question=request.query,
        found=True,
        text=join_quotes(citations),
        citations=tuple(citations),
        shorts=(ShortAnswer(text=text, citation=0),) if text else (),
        confidence="sure",
    )


def is_by(book: BookRecord, author: str) -> bool:
    """Whether a book is by an author, who may be named by the last name alone."""
    wanted, own = name_words(author), name_words(book.author or "")
    return bool(wanted) and bool(own) and set(wanted) <= set(own) and (wanted[-1] == own[-1] or len(wanted) == len(own))


def _join(names: Sequence[str]) -> str:
    rest = len(names) - NAMED
    return "; ".join([*names[:NAMED], *([f"and {rest:,} more"] if rest > 0 else [])])
