"""Questions put to what they name: "What does she say in Act V?" to the sections of that act, "What happened on 3 March
1665?" to the section, or book, whose title has that date."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from nlb_retriever.errors import QueryError
from nlb_retriever.records import BookRecord
from nlb_retriever.search.answers.digest_forms import NUMBERED_PART, read_digest_question
from nlb_retriever.search.answers.naming import find_titled
from nlb_retriever.search.question import find_names
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.scope import Scope, books_in, passages_with, resolve_scope, sections_with
from nlb_retriever.search.titles import is_titled, main_title, title_words, without_copies
from nlb_retriever.store import LibraryStore
from nlb_retriever.store.lookup import find_sections
from nlb_retriever.text.folding import fold

FOUND = 200
"""Best sections by the words of a date among which its heading is looked for in the whole library."""
_MONTHS = "January February March April May June July August September October November December".split()
_NUMBERS = {month[:3].casefold(): number for number, month in enumerate(_MONTHS, 1)}
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|d)?\b"
_YEAR = r"(?:,? (?P<year>\d{4})\b)?"
_DATES = [
    re.compile(form, re.IGNORECASE)
    for form in (
        r"\b(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])-(?P<day>\d\d)\b",
        rf"\b{_DAY}(?: day)?(?: of)? {_MONTH}{_YEAR}",
        rf"\b{_MONTH} (?:the )?{_DAY}{_YEAR}",
    )
]
_NAMED_DAYS = [
    (re.compile(rf"\b{name}\b{_YEAR}", re.IGNORECASE), month, day)
    for name, month, day in (
        ("christmas day", 12, 25),
        ("christmas eve", 12, 24),
        ("new year['’]?s day", 1, 1),
        ("new year['’]?s eve", 12, 31),
    )
]
_LONE_YEAR = re.compile(r"\b1\d{3}\b|\b20\d\d\b")
_BEFORE = re.compile(
    r",?(?:(?:^| )(?:on|of|for|from|in|dated|the|(?:sun|mon|tues|wednes|thurs|fri|satur)day,?)){0,4} ?$", re.IGNORECASE
)
"""The small words before a date in a question."""
_DID = re.compile(r"what did (?:[\w.’'-]+ ){1,3}(?:do|write)$", re.IGNORECASE)
_WORD = re.compile(r"\w")
_PART = rf"(?P<part>{NUMBERED_PART}(?:,? {NUMBERED_PART})?)(?: (?:of|in|from) (?P<title>[^,]+))?"
_IN_PART = [
    re.compile(form, re.IGNORECASE) for form in (rf"(?P<rest>.+),? in {_PART}", rf"in {_PART},? (?P<rest>\w.+)")
]
_NAME = re.compile(r"\b[^\W\d_a-z]\w+")
_SMALL_WORDS = frozenset({"and", "or", "of", "the", "a", "an"})


def narrow_to_part(request: SearchRequest, store: LibraryStore) -> SearchRequest:
    """A question that ends with "in" and a part of a book, its number or title, put to that part.

    One with a number may be at the beginning, and the book's title behind it or among the question's names ("What does
    Lady Macbeth say in Act 5?"). One without has several sections, and the request a book: a chapter "London" is not
    all that a novel has of that city.
    """
    query = request.query.rstrip(" ?.")
    numbered = next(filter(None, (form.fullmatch(query) for form in _IN_PART)), None)
    rest, _, name = (numbered["rest"], "", numbered["part"]) if numbered else query.rpartition(" in ")
    if not rest or request.section is not None or (request.book is None and (not numbered or request.where)):
        return request
    with store.session():
        scope = resolve_scope(request, store)
        named = [scope.book] if scope.book else []
        if numbered and not named:
            title = numbered["title"]
            named = find_titled(title, scope, store) if title else _with_names(query, scope, store)
        if len(named) != 1:
            return request
        sections = store.sections(named[0].id)
        if not numbered and not any(fold(name) in map(fold, section.path[:-1]) for section in sections):
            return request
        try:
            found = find_sections(name, sections, named[0])
        except QueryError:
            return request
    is_part = numbered or len(found) > 1
    return replace(request, book=named[0].id, section=name, query=f"{rest}?") if is_part else request


def _with_names(query: str, scope: Scope, store: LibraryStore) -> list[BookRecord]:
    """The books of which all words of the title are among the names in a question."""
    names = {name.casefold() for name in _NAME.findall(query)}
    titled = ((book, {*main_title(book.title)} - _SMALL_WORDS) for book in books_in(scope, store))
    return without_copies(book for book, words in titled if words and words <= names)


class Date(NamedTuple):
    """A day of a year, or of any year."""

    year: int | None
    month: int
    day: int


def read_dates(text: str) -> list[tuple[Date, tuple[int, int]]]:
    """The dates in a text ("2024-03-12", "3rd of March 1665", "March 3", "Christmas Day") with their spans."""
    found = []
    for match in (match for form in _DATES for match in form.finditer(text)):
        month = match["month"]
        number = int(month) if month.isdecimal() else _NUMBERS[month[:3].casefold()]
        year = int(match["year"]) if match["year"] else None
        found.append((Date(year, number, int(match["day"])), match.span()))
    for form, number, day in _NAMED_DAYS:
        for match in form.finditer(text):
            found.append((Date(int(match["year"]) if match["year"] else None, number, day), match.span()))
    return found


def narrow_to_date(request: SearchRequest, store: LibraryStore) -> SearchRequest:
    """A question with a date, put to the only section of the request's scope whose heading has it, or else to the only
    book whose title has it, as a daily note's.

    "What was decided on 12 March 2024?" is "What was decided?" in it; "What happened on 12 March?", "What happened in
    Dracula on 8 August?" and "What did Mina write on 12 March?" are "What happened here?". A question without a
    year is put to the only such day of any year, one whose names are in other books alone is not put to it.
    """
    dates = read_dates(request.query)
    if len(dates) != 1 or request.section is not None:
        return request
    [(date, (start, end))] = dates
    with store.session():
        scope = resolve_scope(request, store)
        if scope.book:
            sections = [section for section in store.sections(scope.book.id) if scope.holds(section.section)]
        else:
            sections = sections_with(_words(date), scope, store, FOUND)
    dated: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for section in sections:
        for depth, heading in enumerate(section.path, 1):
            if _is_of(date, heading, (*reversed(section.path[: depth - 1]), section.title)):
                dated[section.book_id, *section.path[:depth]].append(section.section)
    put = _put_there(request.query, start, end)
    if not dated and len(days := _find_days(date, scope, store)) == 1:
        return replace(request, book=days[0], query=put)
    if len(dated) != 1:
        return request
    [((book, *path), numbers)] = dated.items()
    if not scope.book and _names_another(f"{request.query[:start]} {request.query[end:]}", book, scope, store):
        return request
    where = str(numbers[0] + 1) if len(numbers) == 1 else path[-1]
    form = read_digest_question(put.rstrip(" ?."))
    if form and form[0] == "named" and is_titled(store.find_book(book), form[1]["named"]):
        put = "What happened here?"
    return replace(request, book=book, section=where, query=put)


def _names_another(question: str, book_id: str, scope: Scope, store: LibraryStore) -> bool:
    """Whether none of a question's names is in a book, and one is in another: "What did Mina do on 3 March?"."""
    names = find_names(question)
    with store.session():
        book = store.find_book(book_id)
        own = {*title_words(f"{book.title} {book.author or ''}")}
        within = replace(scope, book=book)
        if any(name.casefold() in own or passages_with(name, within, store, 1) for name in names):
            return False
        return any(passages_with(name, scope, store, 1) for name in names)


def _find_days(date: Date, scope: Scope, store: LibraryStore) -> list[str]:
    """The ids of the books of a scope whose titles have a date."""
    days = [book for book in store.books() if _is_of(date, book.title, ())]
    return [day.id for day in days if (scope.book or day) == day and books_in(replace(scope, book=day), store)]


def _words(date: Date) -> str:
    """A date as headings write it."""
    year = date.year or ""
    month = _MONTHS[date.month - 1]
    days = " ".join(f"{date.day}{ending}" for ending in ("", "st", "nd", "rd", "th", "d"))
    return f"{days} {month} {month[:3]} {year} {year}-{date.month:02}-{date.day:02}"


def _is_of(date: Date, heading: str, above: Sequence[str]) -> bool:
    """Whether a heading has a date, whose year may stand in the nearest heading above that has one."""
    years = next(filter(None, map(_LONE_YEAR.findall, above)), [])[-1:]  # "JANUARY 1665-1666"
    return any(
        own[1:] == date[1:] and (date.year is None or [str(date.year)] == ([str(own.year)] if own.year else years))
        for own, _ in read_dates(heading)
    )


def _put_there(question: str, start: int, end: int) -> str:
    """A question without its date; a date alone stays."""
    before, behind = _BEFORE.sub("", question[:start]), question[end:]
    here = f"{_DID.sub('What happened', before)} here{behind}"
    form = read_digest_question(here.rstrip(" ?."))
    if form and form[0] == "this":
        return here
    return f"{before}{behind}".lstrip(" ,") if _WORD.search(before + behind) else question
