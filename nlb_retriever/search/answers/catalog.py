"""Questions on the library itself: which books and authors it has, how many, of which years, and the longest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nlb_retriever.records import Answer, BookRecord, Citation, SectionRecord, ShortAnswer
from nlb_retriever.search.answers.book_parts import find_beginning
from nlb_retriever.search.answers.imprint import find_pieces
from nlb_retriever.search.answers.quotes import SENTENCES, join_names, make_answer
from nlb_retriever.search.forms import TALE, WORKS, compile_forms, match_form
from nlb_retriever.search.hits import read_book
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.scope import Scope, books_in, resolve_scope
from nlb_retriever.search.titles import (
    is_in_title,
    is_named,
    is_titled,
    is_titled_by,
    name_words,
    split_byline,
    without_copies,
)
from nlb_retriever.store import LibraryStore
from nlb_retriever.store.lookup import read_number

NAMED = 20
"""Most titles or authors that are named."""
LAST_YEAR = 9999
FIRST = 3
"""First passages of a book, of which a sentence is quoted."""
_BOOKS = rf"(?:{WORKS}|works?|plays?|titles?|notes?|book|novel|document|file)"
_PIECES = rf"(?:(?:{TALE})s?|story|stories)"
_HAVE = r"(?: (?:do (?:you|i|we) have|are there|are|is|have (?:you|i|we)(?: got)?))?"
_HERE = r"(?: (?:here|(?:are )?in (?:the|my|your|our|this) (?:library|collection)))?"
_AUTHOR = r"(?P<author>(?:(?! (?:do|have|are|is|did) )[^?])+?)"
_BY = rf"(?:(?: are)?(?: written)? (?:by|from) {_AUTHOR})"
_LIST = r"(?:list|show|name|give me|show me|tell me|what are|which are)(?: all)?(?: of)?(?: the| my| your| our)? "
_WHICH = r"(?:what|which)(?: of (?:the|my|your|our|these))?"
_HAS = r"(?:(?:do (?:i|we|you)|does (?:the|my|our|your|this) library) (?:have|contain)|have (?:i|we|you) got)"
_MADE = r"(?:,? (?:that |which )?(?:are|were|was|come|came))?(?: (?:written|published|printed|out))?"
_YEARS = (
    r"(?:from )?(?P<when>in|from|during|before|after|since|until|between)(?: the)?(?: years?)?"
    r" (?:(?P<century>[1-9]\d?(?:st|nd|rd|th)|[ivx]+|first|second|third|[a-z]+th) century"
    r"|(?P<first>\d{3,4})(?P<decade>s)?(?:(?: and | to |[-–])(?P<last>\d{3,4}))?)"
)
_MOST = {
    "longest": "longest",
    "shortest": "shortest",
    "oldest": "oldest|earliest",
    "newest": "newest|latest|most recent",
}
_DATED = frozenset({"oldest", "newest", "years"})
"""Kinds of questions that the books' years answer."""
_SMALL = frozenset("a an and by for in of on or the to de la von".split())
"""Words of a name that are not written with a capital."""
_QUESTIONS = compile_forms(
    (
        ("years", rf"(?:{_LIST}|(?:what|which|how many) ){_BOOKS}{_HAVE}{_HERE}{_MADE} {_YEARS}{_HERE}"),
        ("count", rf"how many {_BOOKS}{_HAVE}{_HERE}{_BY}?"),
        ("count", rf"how many {_BOOKS}{_BY}{_HAVE}{_HERE}"),
        ("count", rf"how many {_BOOKS} (?:did|has|have) {_AUTHOR} (?:write|written|published?)"),
        *(
            (kind, form)
            for kind, word in (("books", _BOOKS), ("pieces", _PIECES))
            for form in (
                rf"(?:{_LIST}|{_WHICH} ){word}{_HAVE}{_HERE}{_BY}",
                rf"(?:what|which) {word}{_BY}{_HAVE}{_HERE}",
                rf"{_WHICH} {word} (?:did|has|have) {_AUTHOR} (?:write|written|published?)",
            )
        ),
        ("books", rf"what(?: else)? (?:did|has|have) {_AUTHOR} (?:write|written)"),
        ("books", rf"{_BOOKS} by {_AUTHOR}"),
        ("books", rf"(?:what|which) {_BOOKS} (?:do (?:you|i|we) have|are there|have (?:you|i|we)(?: got)?){_HERE}"),
        ("books", rf"(?:what|which) {_BOOKS} are in (?:the|my|your|our|this) (?:library|collection)"),
        ("books", rf"{_LIST}{_BOOKS}{_HERE}"),
        ("books", r"what(?:['’]s| is) in (?:my|your|our|this) (?:library|collection)"),
        ("books", r"what can i ask(?: you)?(?: about)?"),
        ("pieces", rf"(?:{_HAS}|(?:is|are) there)(?: (?:any|some|an?))? {_PIECES}{_BY}{_HERE}"),
        *(
            (kind, form)
            for kind, word in _MOST.items()
            for form in (
                rf"(?:(?:which|what)(?:['’]s| is) )?(?:the|my|our) (?:{word}) {_BOOKS}{_HERE}",
                rf"(?:which|what)(?: of (?:my|our|the))? {_BOOKS} is (?:the )?(?:{word}){_HERE}",
            )
        ),
        ("has by", rf"(?:{_HAS}|(?:is|are) there)(?: (?:any|some|a))? (?:{_BOOKS}|anything){_BY}{_HERE}"),
        ("has", rf"{_HAS}(?: (?:any|some) {_BOOKS} (?:called|titled))? (?P<name>(?-i:(?!an? )).+?){_HERE}"),
        ("has", r"(?:is|are) (?P<name>.+?) in (?P<whose>the|my|your|our|this) (?:library|collection)"),
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
        Titles, authors or a number, with the first sentences of the first books. Not found, which the text says, is
        what the library is said to have and does not. None for other questions, and where no book is by the author who
        is named.
    """
    question = match_form(request.query, _QUESTIONS)
    if not question:
        return None
    kind, match = question
    found = match.groupdict()
    if request.book and kind in {"count", "books"} and " are there" in request.query.lower():
        return None  # on those that this book has or tells of
    with store.session():
        scope = resolve_scope(request, store)
        books = books_in(scope, store)
        files = _choose(kind, found, books)
        chosen = without_copies(files)
        if (author := found.get("author")) and (kind == "pieces" or not chosen):
            pieces = find_pieces(author, scope, store)
            if pieces:
                return _name_pieces(request, pieces, limit, store)
        if not chosen:
            text = _deny(kind, found)
            return make_answer(request.query, (), missing=text) if text else None
        beginnings = (find_beginning(read_book(book, scope, store, FIRST), one=True) for book in chosen[:SENTENCES])
        citations = [citation for each in beginnings for citation in each][:limit]
    if not citations:
        return None
    is_count = request.query.lower().lstrip().startswith("how many")
    text = _name(kind, chosen, is_count=is_count)
    number = sum(len(book.parts) or 1 for book in files)
    if is_count and number > len(chosen):
        text += f" (in {number:,} files)"
    undated = sum(book.year is None for book in without_copies(books)) if kind in _DATED else 0
    if undated:
        text += f" ({undated:,} more without a year)"
    shorts = [ShortAnswer(text=text, citation=0)] if text else []
    return make_answer(request.query, citations, shorts, "likely" if undated else "sure")


def _name_pieces(
    request: SearchRequest, pieces: Sequence[SectionRecord], limit: int | None, store: LibraryStore
) -> Answer | None:
    """The titles of pieces of collections, each with that of its book, and the first sentences of the first ones."""
    titles = {(piece.book_id, split_byline(piece.path[-1])[0]): piece for piece in pieces}
    citations: list[Citation] = []
    for piece in [*titles.values()][:SENTENCES]:
        book = store.find_book(piece.book_id)
        scope = Scope(level="passage", book=book, sections=(piece.section,))
        citations += find_beginning(read_book(book, scope, store, FIRST), one=True)
    text = join_names([f"{title} ({piece.title})" for (_, title), piece in titles.items()], NAMED)
    shorts = [ShortAnswer(text=text, citation=0)]
    return make_answer(request.query, citations[:limit], shorts, "sure") if citations[:limit] else None


def _choose(kind: str, found: Mapping[str, str | None], books: Sequence[BookRecord]) -> list[BookRecord]:
    """The books that answer a question."""
    if author := found.get("author"):
        return [book for book in books if is_named(author, book.author)]
    if name := found.get("name"):
        named = [book for book in books if is_titled(book, name) or is_titled_by(book, name)]
        return named or [book for book in books if is_named(name, book.author) or is_in_title(book, name)]
    if kind in {"longest", "shortest"}:
        return sorted(books, key=lambda book: book.chars, reverse=kind == "longest")[:1]
    if kind in {"oldest", "newest"}:
        years = [book.year for book in books if book.year is not None]
        year = (min if kind == "oldest" else max)(years, default=None)
        return [book for book in books if year is not None and book.year == year]
    if kind == "years":
        first, last = _read_years(found)
        return [book for book in books if book.year is not None and first <= book.year <= last]
    return [*books]


def _read_years(found: Mapping[str, str | None]) -> tuple[int, int]:
    """The first and the last year of "in the 19th century", "before 1900", "in the 1850s", "between 1850 and 1900"."""
    if found["century"]:
        first = 100 * read_number(f"Chapter {found['century']}".title())[1] - 100
        last = first + 99
    else:
        first = int(found["first"] or 0)
        many = 99 if first % 100 == 0 else 9  # "the 1800s" are a century
        last = int(found["last"] or first + many * bool(found["decade"]))
    return {
        "before": (0, first - 1),
        "until": (0, last),
        "after": (last + 1, LAST_YEAR),
        "since": (first, LAST_YEAR),
    }.get((found["when"] or "").lower(), (first, last))


def _deny(kind: str, found: Mapping[str, str | None]) -> str | None:
    """What is said where the library has no such book; None where the question may be on something else."""
    name, whose = found.get("name"), (found.get("whose") or "").lower()
    is_name = all(word[0].isupper() or word in _SMALL for word in (name or "").split())
    if name and whose != "the" and (whose or is_name):
        return f"{name} is not in your library."
    if kind == "has by":
        return f"No book by {found['author']} is in your library."
    return "No book in your library is known to be of these years." if kind == "years" else None


def _name(kind: str, books: Sequence[BookRecord], *, is_count: bool) -> str:
    """The titles of books, or their authors or number, as a question wants them."""
    if is_count:
        return f"{len(books):,}"
    if kind == "authors":  # each once, in whatever order the name is written
        written = {frozenset(name_words(book.author)): book.author for book in reversed(books) if book.author}
        return join_names([*reversed(written.values())], NAMED)
    titles = join_names([f"{book.title} ({book.year})" if kind in _DATED else book.title for book in books], NAMED)
    return f"Yes: {titles}" if kind in {"has", "has by"} else titles
