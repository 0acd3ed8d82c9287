"""Questions on a book as a whole, which few of its sentences answer: author, characters, beginning, end, length."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nlb_retriever.records import Answer, BookRecord, Hit, ShortAnswer
from nlb_retriever.search.answers.book_parts import (
    ENDS,
    NUMBERED,
    ask_for_ends,
    count_words,
    find_abstract,
    find_beginning,
    find_chapter,
    find_outer_parts,
    find_parts,
    find_tales,
    quote_end,
    skip_front,
    tales_of,
    without_back,
)
from nlb_retriever.search.answers.imprint import (
    TITLE_PAGE,
    date_book,
    has_year,
    name_author_of_part,
    name_authors,
    name_maker,
)
from nlb_retriever.search.answers.naming import (
    A_WORK,
    AROUND,
    LONG_BOOK,
    find_piece,
    find_titled,
    names_work,
)
from nlb_retriever.search.answers.quotes import WORDS, Quote, Quoted, cite, is_prose, join_names, make_answer
from nlb_retriever.search.forms import SORT, TALE, compile_forms, match_form
from nlb_retriever.search.hits import read_book
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.scope import Scope, resolve_scope
from nlb_retriever.store import LibraryStore
from nlb_retriever.text.characters import find_characters
from nlb_retriever.text.languages import number_of_words
from nlb_retriever.text.sentences import sentence_spans

_TITLE = r"(?P<title>.+?)"
_OF = rf"(?: (?:of|in) {_TITLE})?"
_IS = r"(?:['’]s| is| was)"
_PARTS = rf"chapters|tales|stories|poems|plays|essays|fables|recipes|{'|'.join(NUMBERED)}"
_PART = rf"{SORT}(?P<part>chapter|story|{TALE})"
_QUESTIONS = compile_forms(
    (
        ("author", rf"who(?: wrote|(?:{_IS}| are| were) the (?:author|writer)s? of)\s+{_TITLE}"),
        ("maker", rf"who (?P<did>translated|edited|illustrated) {_TITLE}"),
        ("hero", rf"who{_IS} the (?:(?:main|central) (?:protagonist|character|figure)|protagonist|hero|heroine){_OF}"),
        (
            "characters",
            r"(?:(?:who are|list|name)(?: (?:all|some|the|of|two|three|four|five|ten|\d+))* |the )?"
            rf"(?:(?:main|central|most important) )?(?:characters|protagonists|heroes){_OF}",
        ),
        ("chapters", rf"how many {SORT}(?P<parts>{_PARTS}) are(?: there)?{_OF}"),
        ("chapters", rf"how many {SORT}(?P<parts>{_PARTS}) (?:does|did) {_TITLE} have"),
        ("chapters", rf"how many {SORT}(?P<parts>{_PARTS}) ha[sd] {_TITLE}"),
        ("contents", rf"(?:what|which) (?:are the )?{SORT}(?P<parts>{_PARTS})(?: are(?: there)?)?{_OF}"),
        ("contents", rf"(?:list|show|name)(?: me)?(?: all)? the {SORT}(?P<parts>{_PARTS}){_OF}"),
        ("contents", rf"(?:what(?:{_IS}) the |show(?: me)? the |the )?(?:table of contents|contents){_OF}"),
        ("longest", rf"(?:(?:what|which){_IS} )?the (?P<size>longest|shortest) {_PART}{_OF}"),
        ("longest", rf"which {_PART}{_OF}{_IS} the (?P<size>longest|shortest)"),
        ("longest", rf"which {_PART}{_IS} the (?P<size>longest|shortest){_OF}"),
        ("extent", rf"how long(?:{_IS}) {_TITLE}"),
        ("length", rf"how many (?:words|pages) (?:does|did) {_TITLE} have"),
        ("length", rf"how many (?:words|pages) are(?: there)?{_OF}"),
        ("length", rf"how many (?:words|pages)(?: long)?(?:{_IS}) {_TITLE}"),
        *ask_for_ends(_TITLE, _OF),
        ("year", rf"(?:when|(?:in )?(?:what|which) year) was {_TITLE} (?:first )?(?:written|published)"),
        ("year", rf"when (?:did|was) [^?]+? (?:write|publish|writing) {_TITLE}"),
        ("beginning", rf"who{_IS} the narrator{_OF}"),
        ("beginning", rf"who (?:narrates|tells) {_TITLE}"),
        (
            "about",
            rf"what(?:{_IS}| are) the (?:main |central |major )?"
            rf"(?:plot|story|summary|abstract|subjects?|topics?|themes?|genre|message|setting){_OF}",
        ),
        ("moral", rf"what{_IS} the moral(?: of the story)?{_OF}"),
        ("about", rf"what (?:genre|kind of {A_WORK}|sort of {A_WORK}|type of {A_WORK}){_IS} {_TITLE}"),
        ("about", rf"what(?:{_IS}| does) {_TITLE} (?:about|deal with)"),
        ("setting", rf"(?:where|when|in (?:what|which) \w+)(?:{_IS}| does) {_TITLE} (?:set|take place)"),
        ("setting", rf"(?:what|which) \w+(?:{_IS}| does) {_TITLE} (?:set|take place) in"),
        ("about", rf"(?:summari[sz]e|what happens in)(?: the (?:plot|story) of)? {_TITLE}"),
        (
            "about",
            r"(?:(?:give|show) me )?(?:an? |the )?(?:short |brief )?(?:summary|synopsis|overview)"
            rf" of(?: the (?:plot|story) of)? {_TITLE}",
        ),
        ("description", rf"describe {_TITLE}"),
    )
)
_LENGTH = re.compile(
    r"\d[\d,.]*\s(?:km|kilomet|mi\b|mile|m\b|met(?:er|re)s|feet|ft|yards|years|months|weeks|days|hours|minutes)"
    r"[^.;\n]{0,40}\blong\b|\b(?:length|duration) of\b[^.;\n]{0,60}\d|\blasted\b[^.;\n]{0,30}\d"
)
"""How long something is, in an article on it: "The Rhine" is a river, too."""
_OF_PIECES = ENDS | {"hero", "characters", "chapters", "contents", "length", "longest", "moral"}
"""Kinds of questions on a part of a book that is named by its title, too."""
NAMED, CHAPTERS = 5, 60
"""Characters, and chapters or tales, that are named."""
SHORT = 40
"""Words of a sentence that is quoted to name somebody."""
CLOSE = 0.8
"""Two may be the main character where the second does at least so much of what the first one does."""


def answer_about_book(request: SearchRequest, store: LibraryStore, limit: int | None = None) -> Answer | None:
    """What a question asks about a book as a whole.

    "Who wrote Moby Dick?", "Who are the characters in Moby Dick?", "How does Moby Dick begin?", "What is the last
    sentence of Moby Dick?", "How many chapters does Moby Dick have?"; in a request for one book, or with one book in
    the library, "Who is the author of this book?", "How does it end?", too.

    Args:
        request: of the question; only what is in its scope is read and quoted.
        store: the library.
        limit: at most so many sentences are quoted.

    Returns:
        The author as the library names them, with the line of the title page that does so, too, or else the book's
        first sentence; who translated, edited or illustrated it, where its beginning says so; of characters those whose
        names do most, each with the first sentence that names them; the number of chapters with the title of the last
        one; the year; the number of words and pages. What a book is about and where it is set is answered by its file's
        description of it, unless the request is limited to some sections, and quoted by its abstract or beginning.
        Where a question asks how it begins or ends, its first or last sentences, without a short answer. Not found,
        which the text says, is an author or year that a book lacks.
        None where the question is another one, no book has the title, or nothing else is known.
    """
    question = match_form(request.query, _QUESTIONS)
    if not question:
        return None
    kind, match = question
    with store.session():
        scope = resolve_scope(request, store)
        books = find_titled(match["title"], scope, store, in_part=False)
        if not books and match["title"] and kind in _OF_PIECES | {"about"}:
            books, scope = find_piece(match["title"], scope, store)
            if books and kind == "about":
                return None  # search/answers/digest.py tells of it
        if not books and kind != "description":
            books = find_titled(match["title"], scope, store)
        missing = None
        if kind == "author":
            shorts, citations = name_authors(books, scope, store)
            if not books and match["title"]:
                shorts, citations = name_author_of_part(match["title"].strip(AROUND), scope, store)
            if not shorts and match["title"] and find_titled(match["title"], scope, store, in_part=False):
                missing = f"The library does not know who wrote {books[0].title}."
        elif len(books) != 1:
            return None
        elif kind == "maker":
            shorts, citations = name_maker(match["did"], read_book(books[0], scope, store, TITLE_PAGE))
        elif kind == "year":
            hits = read_book(books[0], scope, store, TITLE_PAGE)
            shorts, citations = date_book(books[0], hits)
            if hits and not shorts and not has_year(hits):  # a year without "published" the reader may understand
                missing = f"The library does not know when {books[0].title} was written."
        else:
            shorts, citations = _tell(kind, match, books[0], scope, store)
    if missing:
        return make_answer(request.query, (), missing=missing)
    citations = citations[:limit]
    shorts = [short for short in shorts if short.citation < len(citations)]
    if not citations:
        return None
    is_known = kind in {"author", "about", "description", "length", "extent"} or (
        kind == "year" and books[0].year is not None
    )
    return make_answer(request.query, citations, shorts, "sure" if shorts and is_known else "likely")


def _tell(kind: str, match: re.Match[str], book: BookRecord, scope: Scope, store: LibraryStore) -> Quoted:
    """What is known of a book, or quoted from it; nothing where the question may be on something else."""
    if kind in {"about", "description", "setting"} or (kind == "moral" and not scope.sections):
        shorts, citations = _describe(book, scope, store)
        is_place = kind == "setting" and match.string.lower().lstrip().startswith("in ")
        return (shorts, citations) if shorts or not is_place else ([], [])  # a city, a century: the reader may find it
    hits = read_book(book, scope, store)
    if kind in {"hero", "characters"}:
        return _name_characters(hits, one=kind == "hero")
    if kind == "chapters":
        return _count(match["parts"], hits)
    if kind == "longest":
        return _name_longest(match["size"], match["part"], hits)
    if kind == "contents":
        return _name_parts(match.groupdict().get("parts") or "", hits)
    if kind == "extent" and book.tokens < LONG_BOOK and not names_work(match["title"]) and _has_length(hits):
        return [], []
    return _measure(hits) if kind in {"length", "extent"} else quote_end(hits, "end" if kind == "moral" else kind)


def _has_length(hits: Sequence[Hit]) -> bool:
    return any(_LENGTH.search(hit.text) for hit in hits)


def _name_characters(hits: Sequence[Hit], *, one: bool) -> Quoted:
    found = find_characters([hit.text for hit in hits], 2 if one else NAMED)
    body = skip_front(hits)
    hits = [*body, *hits[: len(hits) - len(body)]]  # a preface says less of them
    quotes = {each.name: quote for each in found if (quote := _find_named(each.name, hits))}
    found = [each for each in found if each.name in quotes]
    if one:
        found = [each for each in found if each.deeds >= CLOSE * found[0].deeds]
    citations = [citation for each in found for citation in cite(hits, [quotes[each.name]])]
    shorts = [ShortAnswer(text=each.name, citation=number) for number, each in enumerate(found)]
    if shorts and not one:
        shorts = [ShortAnswer(text=", ".join(each.name for each in found), citation=0)]
    return shorts, citations


def _count(word: str, hits: Sequence[Hit]) -> Quoted:
    """The number of a book's parts, or, where it has no chapters, of what it has instead."""
    parts, text = find_parts(word, hits), "{}"
    if not parts and word.lower() == "chapters":
        word, parts = find_outer_parts(hits)
        text = f"no chapters, but {{}} {word}"
    if not parts:
        return [], []
    _, last = parts[-1]
    title = Quote(hit=0, order=0, start=0, end=len(last.text.split("\n", 1)[0]))
    return [ShortAnswer(text=text.format(len(parts)), citation=0)], cite([last], [title])


def _name_longest(size: str, part: str, hits: Sequence[Hit]) -> Quoted:
    """The title of the longest or shortest chapter or tale, with its words and first sentence."""
    hits = without_back(hits)
    tales = {titles for titles, _ in find_tales(hits)}
    owns = (
        [*map(find_chapter, hits)]
        if part.lower() == "chapter"
        else [own if own in tales else () for own in tales_of(hits)]
    )
    words = count_words(hits, owns)
    words.pop((), None)
    if not words:
        return [], []
    found = (max if size.lower() == "longest" else min)(words, key=lambda own: words[own])
    citations = find_beginning([hit for hit, own in zip(hits, owns, strict=True) if own == found], one=True)
    return [ShortAnswer(text=f"{' › '.join(found)} ({words[found]:,} words)", citation=0)], citations


def _name_parts(word: str, hits: Sequence[Hit]) -> Quoted:
    """The titles of parts, or of all sections where there are none, with the book's first sentence."""
    titles = [title for title, _ in find_parts(word, hits)]
    if not titles and word.lower() in NUMBERED:
        return [], []  # "Which letters are in Emma?" asks for others
    titles = titles or [*dict.fromkeys(hit.section[-1] for hit in hits if hit.section)]
    shorts = [ShortAnswer(text=join_names(titles, CHAPTERS), citation=0)] if titles else []
    return shorts, find_beginning(hits, one=True)


def _measure(hits: Sequence[Hit]) -> Quoted:
    """The number of words, and the last page where there are pages and no times, with the first sentence."""
    words = sum(number_of_words(hit.text) for hit in hits)
    pages = f", {hits[-1].metadata['page_number']:,} pages" if hits and ":" not in (hits[-1].page or ":") else ""
    return [ShortAnswer(text=f"{words:,} words{pages}", citation=0)], find_beginning(hits, one=True)


def _describe(book: BookRecord, scope: Scope, store: LibraryStore) -> Quoted:
    """The first sentences of the file's description of the book; of some of its sections it may tell too much."""
    hits = read_book(book, scope, store)
    citations = find_abstract(hits) or find_beginning(hits)
    described = book.description if scope.sections is None and scope.before is None else None
    if not described or not citations:
        return [], citations
    end = 0
    for _, sentence_end in sentence_spans(described):
        if end and number_of_words(described[:sentence_end]) > WORDS:
            break
        end = sentence_end
    return [ShortAnswer(text=f"“{described[:end].strip()}” (description in the file)", citation=0)], citations


def _find_named(name: str, hits: Sequence[Hit]) -> Quote | None:
    """The first sentence of prose that has a name, one of at most `SHORT` words if there is."""
    longer: Quote | None = None
    pattern = re.compile(rf"\b{re.escape(name)}\b".replace(r"\ ", r"\s+"))
    for index, hit in enumerate(hits):
        for match in pattern.finditer(hit.text):
            for order, (start, end) in enumerate(sentence_spans(hit.text)):
                if start <= match.start() and match.end() <= end and is_prose(hit, start, end):
                    quote = Quote(hit=index, order=order, start=start, end=end, answer=match.span())
                    if number_of_words(hit.text[start:end]) <= SHORT:
                        return quote
                    longer = longer or quote
    return longer
