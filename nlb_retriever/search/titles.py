"""Books that a query names by title, author or both: "The Ambassadors", "Henry James", "Emma by Jane Austen"."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePath

from nlb_retriever.records import BookRecord
from nlb_retriever.search.forms import LONGEST
from nlb_retriever.search.question import asks_about_name
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.store import LibraryStore
from nlb_retriever.store.lookup import is_short_for
from nlb_retriever.text.folding import fold

_WORD = re.compile(r"\w+")
_DASH = re.compile(r" [-–—] ")
_SUBTITLE = re.compile(r"[:;(]|,? or,")
_TITLE_BY = re.compile(r"(.+),? by (.+)", re.IGNORECASE)
_POSSESSIVE = re.compile(r"(.+?)(?:['’]s|(?<=s)['’]) (.+)")
INITIALS = 3
"""Least letters of what is called by its initials."""
SAME_LENGTH = 0.1
"""Share by which the lengths of two copies of a book differ at most: licenses, notes, indexes."""
_BYLINE = re.compile(r"(?P<title>.*\w[\"'”’)]*)\s*[.,:;!?—–-]+[\s_]*(?:by|BY|By)\s+(?P<author>[^\W\d_a-z][^\n]{2,60})")
"""A heading and who wrote what is below it: "The Lamp. By Ada Writer"."""
_NAMES = re.compile(r"[,;&]|\sand\s")
"""Between the names of several authors, and between a last name and the first."""
_NO_AUTHOR = re.compile(r"(?:the|an?|his|her|their|my|our|way|means|order|reason|virtue)\b", re.IGNORECASE)
_ARTICLES = frozenset({"the", "a", "an"})
_ARTICLE = re.compile(r"^(?:the|an?) ", re.IGNORECASE)
_IN = re.compile(r"\b(?:in|under) (?:the (?:book|novel|play|story) )?", re.IGNORECASE)
_IN_OR_FROM = re.compile(r"\b(?:in|from) (?:the (?:book|novel|play|story) )?", re.IGNORECASE)
_ORDER = re.compile(
    r"(?:in [^,]+, )?(?:find|give|show|get|search|look|quotes?|passages?|scenes?|tell me|describe|compare)\b",
    re.IGNORECASE,
)
"""The beginning of what is no question: "Find a quote about the sea in Moby Dick"."""
_WHO_IS = re.compile(r"who(?: is|['’]s) (?!(?:the|an?|his|her|their|my)\b)[\w'’-]+(?: [\w'’-]+)?\s*")
"""The beginning of "who is renfield in dracula": in small letters, other words behind "in" are seldom a title."""
_TERM = re.compile(r"what(?: is| are|['’]s) (?:meant by |an? |[“\"‘]).+|what does .+ mean\?", re.IGNORECASE)
"""A question for what a term means, where the title's words would be taken as a part of it."""
_LICENCE = re.compile(r" licen[cs]e$", re.IGNORECASE)
"""Behind what a licence is called for short: "the BSD license"."""
_LAW = re.compile(
    r"\b(?:act|agreement|code|constitution|convention|directive|licen[cs]e|regulation|treaty)\b", re.IGNORECASE
)
"""In the title of what is called by its initials: "in the GPL", but not "in the USA"."""
_DOCUMENT = re.compile(
    rf"{_LAW.pattern}|\b(?:bylaws|charter|contract|guide|handbook|lease|manual|policy|rules|standard|statutes?|terms)\b",
    re.IGNORECASE,
)
"""In the title of what is no tale."""
_SAYS = re.compile(
    r"(?:what )?(?:does|do) (.+?) (?:say|state|require|provide|prescribe|prohibit|forbid|allow|permit|guarantee)\b.*",
    re.IGNORECASE,
)
_SAYS_ABOUT = re.compile(
    r"what (?:does|do) (?P<title>.+?) say (?:about|on|regarding|concerning) (?P<topic>.+)", re.IGNORECASE
)
_OF = re.compile(r"\bof ", re.IGNORECASE)
_INITIALS = re.compile(r".+(?<!\band)(?<!\bor) (the [A-Z][A-Z\d-]*[A-Z]\d*)")
"""A question that ends with what is called by its initials: "the fine for infringing the GDPR"."""
_AUTHOR = 7
"""Words of an author's name at most."""
_QUOTES = " \"'“”‘’_"


def find_named(query: str, books: Iterable[BookRecord]) -> list[BookRecord]:
    """The books that a query names and says nothing else: their titles may lack a subtitle."""
    words = title_words(query)
    return [book for book in books if words and _has(words, book) and _is_name(words, book)]


def _has(words: Sequence[str], book: BookRecord) -> bool:
    """Whether a book may have that name: much faster than to tell its words apart."""
    text = _lower(f"by {book.title} {book.author}")
    return all(word in text for word in words)


def is_titled(book: BookRecord, title: str) -> bool:
    """Whether a book has that title, with or without its subtitle, or its file that name ("GPL-2"; "RFC 9110" of
    "rfc9110.txt"), or a part of it.

    Parts are what a dash with spaces parts: "Mark Twain - Huckleberry Finn".
    """
    words, names = _kept_words(title), _names(book.title, book.source)
    return bool(words) and (words in names or ("".join(words),) in names)


@lru_cache(maxsize=16_384)
def _names(title: str, source: str) -> frozenset[tuple[str, ...]]:
    """The words of what a book is called: its titles and its file's name; kept, for a library is gone through often."""
    stem = PurePath(source).stem.replace("_", " ")
    names = (title, stem, *_DASH.split(stem))
    return frozenset((main_title(title), *filter(None, map(title_words, names))))


@lru_cache(maxsize=16_384)
def main_title(title: str) -> tuple[str, ...]:
    """The words of a title without its subtitle."""
    return title_words(_SUBTITLE.split(title, maxsplit=1)[0])


def is_in_title(book: BookRecord, title: str) -> bool:
    """Whether a book's title has these words in a row: two of them, or one that is written with a capital."""
    words, own = _kept_words(title), _kept_words(book.title)
    if not words or (len(words) == 1 and not title.rsplit(maxsplit=1)[-1][:1].isupper()):
        return False
    return holds_words(own, words)


def is_titled_by(book: BookRecord, title: str) -> bool:
    """Whether a book has that title and author: "Emma by Jane Austen", "Austen's Emma".

    One without an author may have the name in its title ("Dante's Inferno": "Dante The Inferno").
    """
    if match := _TITLE_BY.fullmatch(title):
        wanted, names = title_words(match[1]), name_words(match[2])
    elif match := _POSSESSIVE.fullmatch(title):
        wanted, names = title_words(match[2]), name_words(match[1])
    else:
        return False
    own = title_words(book.title)
    known = {*name_words(book.author)} if book.author else {*own} - {*wanted}
    return bool(wanted and names) and known.issuperset(names) and (wanted in _titles(book) or holds_words(own, wanted))


def without_copies(books: Iterable[BookRecord]) -> list[BookRecord]:
    """Books without the copies of others: of one title and author, and about as long, as an EPUB and a PDF of one book.

    Of copies the one whose year and author are known stays.
    """
    books = list(books)
    kept: defaultdict[str, list[BookRecord]] = defaultdict(list)
    kept_by: defaultdict[tuple[str, tuple[str, ...] | None], list[BookRecord]] = defaultdict(list)
    for book in sorted(books, key=lambda each: (each.year is None, each.author is None)):
        titles = {" ".join(title) for title in _titles(book)}
        author = tuple(sorted(name_words(book.author))) if book.author else None
        others = (
            other
            for title in titles
            for other in ([*kept_by[title, author], *kept_by[title, None]] if author is not None else kept[title])
        )
        if not any(_is_as_long(book, other) for other in others):
            for title in titles or {""}:
                kept[title].append(book)
                kept_by[title, author].append(book)
    ids = {book.id for same in kept.values() for book in same}
    return [book for book in books if book.id in ids]


def _is_as_long(book: BookRecord, other: BookRecord) -> bool:
    return abs(book.tokens - other.tokens) <= SAME_LENGTH * max(book.tokens, other.tokens)


def is_named(author: str, own: str | None) -> bool:
    """Whether an author, who may be named by the last name alone or with initials, is one of some authors."""
    wanted = [word for word in name_words(author) if not word.isdigit()]  # a life's years
    names = [*filter(None, map(name_words, _NAMES.split(own or "")))]
    words = {word for name in names for word in name}
    if not wanted or not all(_is_among(word, words) for word in wanted):
        return False
    return wanted[-1] in {name[-1] for name in names} or {*wanted} == words


def _is_among(name: str, words: set[str]) -> bool:
    """Whether a name is one of some, or its initial, or one of them its."""
    return name in words or any(1 in (len(name), len(word)) and name[0] == word[0] for word in words)


@lru_cache(maxsize=16_384)
def split_byline(title: str) -> tuple[str, str | None]:
    """A section's title without the author's name behind it, and that name: of "THE LAMP. BY ADA WRITER"."""
    match = _BYLINE.fullmatch(title)
    if not match or _NO_AUTHOR.match(match["author"]) or len(match["author"].split()) > _AUTHOR:
        return title, None
    return match["title"], match["author"].strip(_QUOTES + ".")


def holds_words(words: Sequence[str], part: Sequence[str]) -> bool:
    """Whether some words have others in a row."""
    if not all(word in words for word in part):
        return False
    return any([*words[start : start + len(part)]] == [*part] for start in range(len(words)))


def narrow_to_title(request: SearchRequest, store: LibraryStore) -> SearchRequest:
    """A question that names one book of a library, put to that one: "Who is Renfield in Dracula?" "Who is Renfield?".

    The title stands at the end, behind "in" or "under", or at the beginning ("In Dracula, who ..."). One of a single
    word needs a capital, but for "who is renfield in dracula", and stays in the question ("Who believes in Dracula?")
    unless that asks who or what a name is, or what a term means. So does a part of a title that one book alone has ("in
    Huckleberry Finn"), which needs a capital, too, and behind "under" may be one word; of a law its initials are one
    ("in the EUPL"). An order ("Find a quote about the sea in Moby Dick", "... from Moby Dick") is put to the book
    without its title, whose words would be looked for.

    A text that is no tale may be named otherwise, and stays in the question: "Does the EUPL allow sublicensing?", "the
    term of the services agreement", "the fine for infringing the GDPR". "What does The Republic say about justice?"
    becomes "Tell me about justice", and so does "What does Plato say about justice in The Republic?"; Dracula, who is
    also a person, may say something himself.

    A request with a filter is left as it is.
    """
    is_order = len(request.query) <= LONGEST and _ORDER.match(request.query) is not None
    if request.book is not None or request.where is not None or (request.kind is None and not is_order):
        return request
    query = request.query.rstrip(" ?.")
    first = _IN.match(query)
    links = (_IN_OR_FROM if is_order else _IN).finditer(query)
    cuts = [(query[link.end() :], query[: link.start()], link[0]) for link in links if link.start()]  # not "In which"
    if first:
        commas = re.finditer(", ", query)
        cuts += [(query[first.end() : comma.start()], query[comma.end() :], first[0]) for comma in commas]
    for quoted, rest, link in cuts:
        title = quoted.strip(_QUOTES)
        is_short = len(title_words(title)) < 2
        has_capital = _ARTICLE.sub("", title, count=1)[:1].isupper()
        names = bool(_WHO_IS.fullmatch(rest))
        if rest and (not is_short or names or has_capital):
            books = store.works()
            parts = (part for book in books for part in book.parts)
            named = _find_titled(title, books) or _find_titled(title, parts)
            of_law = link[:1] in "uU" and has_capital
            short = _LICENCE.sub("", _ARTICLE.sub("", title, count=1))
            in_part = not named and (not is_short or of_law or short.isupper()) and has_capital
            if in_part:
                named = without_copies(
                    book
                    for book in books
                    if ((of_law or not is_short) and is_in_title(book, short if of_law else title))
                    or (short.isupper() and (_is_law(short, book) or (of_law and is_short_for(short, book))))
                )
            if len(named) == 1:
                begin, stop = rest[0].upper() if query[0].isupper() else rest[0], "" if is_order else "?"
                question = f"{begin}{rest[1:].rstrip()}{stop}"
                says = _SAYS_ABOUT.fullmatch(rest)
                author = set(title_words(named[0].author or ""))
                if says and author.issuperset(title_words(says["title"]) or ("",)):
                    return replace(request, book=named[0].id, query=f"Tell me about {says['topic']}")
                keeps = (is_short or in_part) and not (
                    is_order or names or asks_about_name(question) or _TERM.fullmatch(question)
                )
                return replace(request, book=named[0].id, query=request.query if keeps else question)
    document = None if is_order else _find_document(query, store)
    if document is None:
        return request
    says = _SAYS_ABOUT.fullmatch(query)
    if says and (" " in says["title"] or says["title"].isupper()):
        return replace(request, book=document.id, query=f"Tell me about {says['topic']}")
    return replace(request, book=document.id)


def _find_document(query: str, store: LibraryStore) -> BookRecord | None:
    """The one text that a question names as what says something, or behind "of" or by its initials at its end."""
    says, short = _SAYS.fullmatch(query), _INITIALS.fullmatch(query)
    names = [says[1]] if says else [short[1]] if short else [query[link.end() :] for link in _OF.finditer(query)]
    for name in names:
        title = name.strip(_QUOTES)
        initials = _ARTICLE.sub("", title, count=1)
        is_short = initials.isupper() and len(initials) >= INITIALS and not query.isupper()
        if not (says and title[:1].isupper()) and not is_short and not _DOCUMENT.search(title):
            continue
        books = store.works()
        named = _find_titled(title, books)
        if not named and is_short:
            word = title_words(initials)
            named = without_copies(
                book for book in books if title_words(book.title)[:1] == word or _is_law(initials, book)
            )
        if len(named) == 1:
            return named[0]
    return None


def _is_law(initials: str, book: BookRecord) -> bool:
    """Whether a book is a law that is called so: the L of "GPL" is "License", the A of "USA" no "Constitution"."""
    kinds = {match[0][0].upper() for match in _LAW.finditer(book.title)}
    return initials.rstrip("0123456789")[-1:] in kinds and is_short_for(initials, book)


def _find_titled(title: str, books: Iterable[BookRecord]) -> list[BookRecord]:
    """The books that have a title, or a title and author."""
    return without_copies(book for book in books if is_titled(book, title) or is_titled_by(book, title))


def _is_name(words: tuple[str, ...], book: BookRecord) -> bool:
    author = title_words(book.author or "")
    if sorted(words) == sorted(author):  # "James, Henry"
        return True
    for title in _titles(book):
        for part, rest in ((words[: len(title)], words[len(title) :]), (words[-len(title) :], words[: -len(title)])):
            if part == title and {"by", *author}.issuperset(rest):
                return True
    return False


def _titles(book: BookRecord) -> list[tuple[str, ...]]:
    """The words of a book's title, and of what stands before its subtitle."""
    return [*filter(None, (title_words(book.title), main_title(book.title)))]


def title_words(title: str) -> tuple[str, ...]:
    """The words of a title as people type it, without an article in front."""
    words = tuple(name_words(title))
    return words[1:] if len(words) > 1 and words[0] in _ARTICLES else words


_kept_words = lru_cache(maxsize=16_384)(title_words)  # a library is gone through often


def name_words(name: str) -> list[str]:
    """The words of a name as people type it: in small letters, without accents and apostrophes."""
    return _WORD.findall(_lower(name))


def _lower(text: str) -> str:
    return fold(text).replace("'", "")
