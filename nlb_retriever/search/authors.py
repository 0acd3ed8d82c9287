"""Who wrote a book: the one question that a library answers itself, since few books say so in a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nlb_retriever.records import Answer, BookRecord, Citation, ShortAnswer
from nlb_retriever.search.hits import to_hit
from nlb_retriever.search.quotes import LEAST_WORDS, Quote, cite, is_prose, join_quotes
from nlb_retriever.search.run import SearchResult
from nlb_retriever.search.titles import is_titled
from nlb_retriever.store import Condition, LibraryStore, all_of, at_level
from nlb_retriever.text.sentences import sentence_spans

_ASKED = re.compile(
    r"\s*who(?: wrote|(?:['’]s| is| was) the (?:author|writer) of)\s+"
    r"(?:the (?:book|novel|story|play|poem) (?:called |titled )?)?(?P<title>.+?)[\s?.!]*",
    re.IGNORECASE,
)
_THIS = re.compile(r"(?:it|this|(?:this|the) (?:book|novel|story|play|poem))", re.IGNORECASE)
_OUTER = " _*\"'“”‘’«»"
TITLE_PAGE = 3
"""First passages of a book that are read for its author's name."""


def answer_author(result: SearchResult, store: LibraryStore) -> Answer | None:
    """The author of the book that a question asks for: "Who wrote Moby Dick?", "Who is the author of this book?"

    Args:
        result: of the question, in whose scope the book must be.
        store: the library.

    Returns:
        The author as the library names them, with the line of the title page that does so, too, or else the book's
        first sentence; two where two books have that title. None where the question is another one, no book has the
        title, or its author is not known.
    """
    with store.session():
        written = {(book.author or "").casefold(): book for book in _find_asked(result, store) if book.author}
        citations = [citation for book in written.values() for citation in _cite(book, store)]
    if not citations:
        return None
    authors = {citation.hit.author or "": number for number, citation in reversed([*enumerate(citations)])}
    shorts = tuple(ShortAnswer(text=author, citation=number) for author, number in reversed(authors.items()))
    return Answer(
        question=result.request.query,
        found=True,
        text=join_quotes(citations),
        citations=tuple(citations),
        shorts=shorts,
        confidence="sure",
    )


def _find_asked(result: SearchResult, store: LibraryStore) -> Iterator[BookRecord]:
    """The books in a request's scope whose author it asks for."""
    request = result.request
    match = _ASKED.fullmatch(request.query)
    if match is None:
        return
    title = match["title"].strip(_OUTER)
    named = store.find_book(request.book).id if request.book is not None else None
    is_this = named is not None and _THIS.fullmatch(title)
    for book in store.books():
        if named in (None, book.id) and (is_this or is_titled(book, title)):
            where = at_level(request.where, "book")
            if where is None or store.count("book", all_of(where, Condition("book_id", "eq", book.id))):
                yield book


def _cite(book: BookRecord, store: LibraryStore) -> tuple[Citation, ...]:
    """The line of a book's first passages that has its author's name, or else its first sentence."""
    hits = [to_hit(passage) for passage in store.passages(book.id, 0, TITLE_PAGE)]
    name = re.compile(rf"\b{re.escape((book.author or '').split()[-1])}\b", re.IGNORECASE)
    quotes: list[Quote] = []
    for index, hit in enumerate(hits):
        for order, (start, end) in enumerate(sentence_spans(hit.text)):
            if found := name.search(hit.text, start, end):
                first = max(start, hit.text.rfind("\n", start, found.start()) + 1)
                last = hit.text.find("\n", found.end(), end)
                return cite(hits, [Quote(hit=index, order=order, start=first, end=end if last < 0 else last)])
            if is_prose(hit, start, end) and len(hit.text[start:end].split()) >= LEAST_WORDS:
                quotes.append(Quote(hit=index, order=order, start=start, end=end))
    return cite(hits, quotes[:1])
