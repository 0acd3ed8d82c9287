"""What happens in a chapter: the sentences of it that tell most, one of each part, in order."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile

from nlb_retriever.encoding import ChunkEncoder
from nlb_retriever.errors import QueryError
from nlb_retriever.records import Answer, BookRecord, Citation, Confidence, Hit, ShortAnswer
from nlb_retriever.search.answers.book_parts import (
    ENDS,
    NTH_TALE,
    choose_tale,
    find_beginning,
    find_chapters,
    find_titled_sections,
    quote_end,
    without_exercises,
)
from nlb_retriever.search.answers.digest_forms import KINDS, NUMBERED_PART, read_digest_question
from nlb_retriever.search.answers.naming import find_titled
from nlb_retriever.search.answers.quotes import (
    NOT_FOUND,
    Quote,
    cite,
    find_sentences,
    first_quotes,
    is_prose,
    make_answer,
)
from nlb_retriever.search.answers.telling import SENTENCES, WORDS, choose_telling
from nlb_retriever.search.forms import NUMBER, TALE
from nlb_retriever.search.hits import read_book
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.scope import Scope, books_of, choose_parts, resolve_scope, sections_with
from nlb_retriever.store import LibraryStore
from nlb_retriever.store.lookup import find_chapter_of, find_sections, is_of_part, read_number

_IN_PART = re.compile(rf"(?P<title>.+?),? (?P<part>{NUMBERED_PART})", re.IGNORECASE)
_EACH = re.compile(rf"(?:the )?(?P<kind>{KINDS})s (?P<numbers>.+)", re.IGNORECASE)
_UP_TO = re.compile(r"to|[-–]")
_NAMED_PART = re.compile(r"(?:the )?[a-z]+", re.IGNORECASE)
"""A part without a number, whose title is no answer."""
_LAST = re.compile(rf"the (?:last|final) (?!lesson|unit|module){KINDS}", re.IGNORECASE)
_COUNTED = frozenset("volume part book act chapter canto".split())
"""Kinds of sections that a book has, if at all, under headings: there may be a second letter without one."""
_NUMBERED = frozenset("section scene article amendment clause".split())
"""Kinds of which a book has each number up to the last, if it has the first."""
BEST = 20
"""Sections by their words whose books are looked at for one of a number."""
_OF_FEW = frozenset("article amendment annex schedule lecture lesson unit module canto letter".split())
"""Kinds of sections by which a law, a course, an epic or letters are known among other books."""
_OF_LAW = re.compile(r"\b(?:article|amendment|clause|annex|schedule)\b", re.IGNORECASE)
"""Of a part that is quoted as it stands, from its beginning."""
_STORY = re.compile(
    rf"^(?:the )?(?:(?:book|gospel|story|tale) of|(?:story|{TALE})(?: called| titled)?) ", re.IGNORECASE
)
_VERSES = re.compile(r"(?P<chapter>\d{1,3}):(?P<first>\d{1,3})(?: ?[-–] ?(?P<last>\d{1,3}))?$")
"""Behind the name of a part: "John 3:16", "Matthew 5:3-10"."""
_VERSE = re.compile(
    r"^[^\w\n]*(?:(?:\w[\w ]{0,40} )?0*(?P<chapter>\d{1,3}):)?0*(?P<number>\d{1,3})(?![\d:])", re.MULTILINE
)
"""What a verse begins with: "3:16", "John 3:16", or in a chapter of such only "16"."""
_ARTICLE = re.compile(r"the\s+", re.IGNORECASE)


def answer_digest(
    request: SearchRequest,
    store: LibraryStore,
    load_encoder: Callable[[], ChunkEncoder] | None,
    limit: int | None = None,
) -> Answer | None:
    """What a question on a chapter as a whole asks: "What happens in chapter 3 of Emma?", "Emma chapter 3 summary".

    Args:
        request: of the question. Where it is limited to a section or book, "What happens here?" is such a one, too.
        store: the library.
        load_encoder: gives the chunk encoder; None to quote the chapter's beginning.
        limit: at most so many sentences.

    Returns:
        Sentences in the order of the book, without a short answer; none where the book has no chapter of that number,
        which the text says, or not in the request's scope. None for other questions, and where it is not clear which
        book is meant.
    """
    question = read_digest_question(request.query)
    limited = request.section or (request.book and "here" in request.query.lower())  # "this chapter" of a book is any
    if not question or (question[0] == "this" and not limited):
        return None
    kind, match = question
    words = match.groupdict()
    missing = NOT_FOUND
    with store.session():
        scope = resolve_scope(request, store)
        try:
            hits = read_whole(kind, words, scope, store)
        except QueryError as error:
            hits, missing = [], f"{str(error)[:1].upper()}{str(error)[1:]}."
    if hits is None:
        return None
    if verses := _VERSES.search(words.get("named") or ""):
        return _answer(request, _cite_verses(verses, hits), missing=missing)
    if kind == "called" and hits and not _NAMED_PART.fullmatch(words["part"]):
        shared = takewhile(lambda titles: len({*titles}) == 1, zip(*(hit.section for hit in hits), strict=False))
        path = [titles[0] for titles in shared] or hits[0].section
        title = ShortAnswer(text=" › ".join(path), citation=0)
        citations = find_beginning(hits, one=True)
        return _answer(request, citations, (title,) if citations else ())
    if kind in ENDS:
        shorts, quoted = quote_end(hits, kind)
        return _answer(request, quoted[:limit], shorts[:limit], missing)
    if load_encoder is None:
        citations = find_beginning(hits)
    elif _OF_LAW.search(words.get("part") or ""):
        prose = [quote for quote in find_sentences(hits) if is_prose(hits[quote.hit], quote.start, quote.end)]
        citations = cite(hits, first_quotes(hits, prose, limit or SENTENCES, WORDS)) or find_beginning(hits)
    else:
        hits = [*without_exercises(hits)]
        telling = choose_telling(hits, load_encoder(), SENTENCES if limit is None else limit)
        citations = cite(hits, telling) or find_beginning(hits)  # of a law of one long sentence
    return _answer(request, citations[:limit], missing=missing)


def read_whole(kind: str, words: dict[str, str], scope: Scope, store: LibraryStore) -> list[Hit] | None:
    """The passages in a scope of what a question is on; None where it is not clear what that is.

    Raises:
        QueryError: a book has no part of that number.
    """
    if kind == "named":
        name = words["named"]
        return (
            _read_titled(name, scope, store)
            or _read_titled(_STORY.sub("", name), scope, store)
            or _read_chapter_of(name, scope, store)
        )
    title = words.get("title")
    books, part = _find_book(title, words.get("part"), scope, store)
    is_part = kind != "called" or title is not None  # "What is Section 9?" may ask for something else
    hits = _read_parts(books[0], part, scope, store, is_part=is_part) if len(books) == 1 else None
    if hits is None and not books and title:
        return _read_chapter_of(f"{title}, {part}", scope, store)
    return _read_article(part, scope, store) if hits is None and part else hits


def _answer(
    request: SearchRequest,
    citations: Sequence[Citation],
    shorts: Sequence[ShortAnswer] = (),
    missing: str = NOT_FOUND,
) -> Answer:
    confidence: Confidence | None = ("sure" if shorts else "likely") if citations else None
    return make_answer(request.query, citations, shorts, confidence, missing=missing)


def _find_book(
    title: str | None, part: str | None, scope: Scope, store: LibraryStore
) -> tuple[list[BookRecord], str | None]:
    """The books of a title, and the part of them: of "Frankenstein vol 2" and "chapter 5", the chapter in that."""
    books = find_titled(title, scope, store) or find_titled((title or "").upper(), scope, store)
    if not books and title and part and (match := _IN_PART.fullmatch(title)):
        return find_titled(match["title"], scope, store), f"{match['part']}, {part}"
    return books, part


def _read_parts(
    book: BookRecord, part: str | None, scope: Scope, store: LibraryStore, *, is_part: bool
) -> list[Hit] | None:
    """What `_read_part` gives, of each of several parts: "chapters 3 and 4", "chapters 3 to 5"."""
    match = _EACH.fullmatch(part or "")
    if not match:
        return _read_part(book, part, scope, store, is_part=is_part)
    kind, named = match["kind"].title(), re.findall(NUMBER, match["numbers"], re.IGNORECASE)
    numbers: Sequence[int] = [read_number(f"{kind} {each}")[1] for each in named]
    if len(numbers) == 2 and _UP_TO.search(match["numbers"]):
        numbers = range(numbers[0], numbers[1] + 1)
    parts = (_read_part(book, f"{kind} {each}", scope, store, is_part=is_part) for each in numbers)
    return [hit for hits in parts for hit in hits or ()] or None


def _read_part(
    book: BookRecord, part: str | None, scope: Scope, store: LibraryStore, *, is_part: bool
) -> list[Hit] | None:
    """The passages in a scope of the part of a book that is named; None where it has no part of that name.

    Raises:
        QueryError: it has none of that number, but others of that kind; only if the name is surely a part's.
    """
    if part is None:
        return read_book(book, scope, store)
    name = _ARTICLE.sub("", part)
    if _LAST.fullmatch(part):
        hits = read_book(book, scope, store)
        if own := choose_tale(name, hits):
            return own
        if not (last := (find_chapters(hits) or hits)[-1:]):
            return []
        book = store.find_book(last[0].book_id)
        return _read_sections(book, [last[0].metadata["section"]], scope, store)
    try:
        return _read_sections(book, find_sections(name, store.sections(book.id), book), scope, store)
    except QueryError:
        if NTH_TALE.fullmatch(name) and (own := choose_tale(name, read_book(book, scope, store))):
            return own
        kind, _, _ = read_number(name.capitalize())
        kinds = {kind, *" ".join(re.findall(NUMBERED_PART, name, re.IGNORECASE)).lower().split()}
        if kinds & _COUNTED or (is_part and any(_has_first(each, book, store) for each in kinds & _NUMBERED)):
            raise
        return None


def _has_first(kind: str, book: BookRecord, store: LibraryStore) -> bool:
    sections = store.sections(book.id)
    with suppress(QueryError):
        titles = [title for number in find_sections(f"{kind} 1", sections, book) for title in sections[number].path]
        return kind != "article" or any(read_number(title)[0] == kind for title in titles)  # the text may be on a law
    return False


def _read_titled(name: str, scope: Scope, store: LibraryStore) -> list[Hit] | None:
    """The passages in a scope of the sections that have a title; None where there are none."""
    titled = find_titled_sections(name, scope, store)
    if not titled:
        return None
    book = store.find_book(titled[0].book_id)
    numbers = sorted(section.section for section in titled if section.book_id == book.id)
    return _read_sections(book, numbers, scope, store) or None


def _read_chapter_of(name: str, scope: Scope, store: LibraryStore) -> list[Hit] | None:
    """The passages in a scope of a chapter that is named with its part: "Genesis 7", "Psalm 23:1"; None without one.

    Raises:
        QueryError: a book has that part, and none has a chapter of that number in it.
    """
    name = _VERSES.sub(r"\g<chapter>", name)
    books = _find_books(name, scope, store)
    for book in books:
        if numbers := find_chapter_of(name, store.sections(book.id)):
            return _read_sections(book, numbers, scope, store) or None
    for book in books:
        if is_of_part(name, sections := store.sections(book.id)):
            return _read_sections(book, find_sections(name, sections, book), scope, store)
    return None


def _read_article(part: str, scope: Scope, store: LibraryStore) -> list[Hit] | None:
    """The passages in a scope of an article or a lesson of the one book that has one of that number; else None."""
    name = _ARTICLE.sub("", part)
    if _OF_FEW.isdisjoint(name.lower().split()):
        return None
    found = []
    for book in _find_books(name, scope, store):
        with suppress(QueryError):
            found.append((book, find_sections(name, store.sections(book.id), book)))
    return _read_sections(*found[0], scope, store) or None if len(found) == 1 else None


def _find_books(name: str, scope: Scope, store: LibraryStore) -> list[BookRecord]:
    """The books whose sections have words of a name, the best first; only the scope's, where it has one."""
    return [scope.book] if scope.book else books_of(sections_with(name, scope, store, BEST), store)


def _cite_verses(verses: re.Match[str], hits: Sequence[Hit]) -> tuple[Citation, ...]:
    """The verses of some numbers ("3:16", "5:3-10") among the passages of a chapter."""
    chapter, first, last = (int(verses[group] or verses["first"]) for group in ("chapter", "first", "last"))
    quotes = []
    for index, hit in enumerate(hits):
        begin = [*_VERSE.finditer(hit.text)]
        begin = [verse for verse in begin if verse["chapter"]] or begin
        ends = [*(verse.start() for verse in begin[1:]), len(hit.text)]
        quotes += [
            Quote(hit=index, order=order, start=verse.start(), end=len(hit.text[:end].rstrip()))
            for order, (verse, end) in enumerate(zip(begin, ends, strict=False))
            if int(verse["chapter"] or chapter) == chapter and first <= int(verse["number"]) <= last
        ]
    return cite(hits, quotes[: 1 + last - first])


def _read_sections(book: BookRecord, numbers: Sequence[int], scope: Scope, store: LibraryStore) -> list[Hit]:
    """The passages in a scope of the first of some sections and of those that follow it without a gap."""
    run = takewhile(lambda pair: pair[1] == numbers[0] + pair[0], enumerate(numbers))
    kept = [section for _, section in run if book.parts or scope.holds(section)]
    book, own = choose_parts(book, kept, store.sections(book.id) if book.parts else ())
    return read_book(book, replace(scope, book=book, sections=own), store) if kept else []
