"""Questions for a place: "Which book is about a whale?", "In which chapter does Lucy die?", "Tell me about the cave".

What is looked for stands in the question, so it is searched for without the words around it, and the answer is the
title of the book or chapter that the best passage is in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from nlb_retriever.reader import Reader
from nlb_retriever.records import Answer, Confidence, Hit, ShortAnswer, page_name
from nlb_retriever.search.answers.answer import compose_all, compose_answer, order_by_words
from nlb_retriever.search.answers.book_parts import find_chapter, tales_of
from nlb_retriever.search.answers.naming import find_titled
from nlb_retriever.search.answers.quotes import SENTENCES, choose_quotes, cite, join_quotes, make_answer
from nlb_retriever.search.answers.who import answer_who
from nlb_retriever.search.forms import SORT, TALE, WORK, compile_forms, match_form
from nlb_retriever.search.heading_fit import heading_fits
from nlb_retriever.search.hits import in_works
from nlb_retriever.search.question import name_of
from nlb_retriever.search.readings import READ_TO_ANSWER, read_hits
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.run import SearchResult
from nlb_retriever.search.scope import resolve_scope
from nlb_retriever.store import LibraryStore

Unit: TypeAlias = Literal["book", "tale", "chapter", "page", "passage"]

CLOSE = 0.06
"""A second place is named where its score is at most so much lower."""
SURE, UNSURE = 0.35, 0.12
"""Least lead of a chapter that is sure, and most of one that is unsure; a book's counts twice. Chosen on sentences of
BookSum val's summaries (benchmarks/chapters.py)."""
MANY = 5
"""Places named where all are wanted: the best one, and those of which a sentence has the most of the question's
words: at least this share."""
HELD = 0.5
FEW = 3
"""Words of what is looked for that a passage should have, all of them."""
_BOOKS = rf"{WORK}|article|note"
_TALES = rf"story|stories|entry|entries|{TALE}"
_COURSE = r"lecture|lesson|unit|module|amendment"
"""Parts that a question is for only where the books have some."""
_KINDS = frozenset("letter canto stave act scene volume appendix article amendment clause".split())
"""Parts that are called so in their titles, if a book has them."""
_CHAPTERS = rf"chapter|section|part|letter|canto|stave|act|scene|volume|appendix|clause|{_COURSE}"
_PAGES = r"page"
_PASSAGES = r"passage|paragraph|sentence|line|quote|quotation|mention|description|account|moment|place|bit"
_UNIT = rf"{SORT}(?P<unit>{_BOOKS}|{_TALES}|{_CHAPTERS}|{_PAGES}|point(?= (?:of|in)))(?P<many>s)?"
_TITLE = r"(?: (?:of|in|from) (?P<title>(?!which\b|whom\b|what\b).+?))?"
_AUXILIARY = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)"
_TELLS = (
    r"(?:(?:is|are|was|were) (?:all )?(?:about|set in|set on)|(?:has|have)(?! (?:been|he|she|it|they)\b)"
    r"|contains?|mentions?|describes?|tells?(?: us)?(?: of| about| how| the story of)?|deals? with|discuss(?:es)?"
    r"|explains?|covers?|features?|talks? (?:about|of)|speaks? (?:about|of)|introduces?|includes?|takes? place in"
    r"|treats?(?: of)?|says?(?: that)?)"
)
_RULES = (
    r"(?:abolish(?:es|ed)|allows?|bans?|defines?|forbids?|gives?|governs?|grants?|guarantees?|limits?|permits?"
    r"|prohibits?|protects?|provides?(?: for)?|regulates?|requires?|sets?(?: out)?)"
)
_LINK = (
    r"(?:(?:on|at|in|from) which|where|when|which|that|about|on|of|with|describing|mentioning|containing|discussing"
    r"|saying|for)"
)
_UNITS: dict[str, Unit] = {
    **dict.fromkeys(_BOOKS.split("|"), "book"),
    **dict.fromkeys(_TALES.split("|"), "tale"),
    **dict.fromkeys(_CHAPTERS.split("|"), "chapter"),
    **dict.fromkeys(_PAGES.split("|"), "page"),
    **dict.fromkeys(("point", "where"), "chapter"),
}
_REST = r"(?P<rest>\S.*?)"
_TREATED = r"(?: (?:discussed|explained|covered|described|introduced|defined|treated|taught|mentioned))?"
_QUESTIONS = compile_forms(
    (
        ("in", rf"(?:in|on|at|from) (?:which|what) {_UNIT}(?:{_TITLE} {_AUXILIARY})? {_REST}{_TREATED}"),
        ("tells", rf"(?:which|what)(?: of (?:my|our|your|these|the))? {_UNIT}{_TITLE} {_TELLS} {_REST}"),
        (
            "tells",
            rf"(?:which|what) (?P<unit>article|amendment|clause|section)(?P<many>s)?{_TITLE} {_RULES} {_REST}",
        ),
        (
            "tells",
            rf"(?:which|what) (?P<unit>{_BOOKS}|{_TALES})(?P<many>s)?{_TITLE}"
            rf" (?:uses?|needs?(?! to\b)|calls? for) {_REST}",
        ),
        (
            "tells",
            rf"(?:which|what) {_UNIT}(?: (?:are there|is there|do (?:i|we|you) have))? (?:about|on|with) {_REST}",
        ),
        ("in", rf"(?:which|what) (?P<unit>chapter|page)(?P<many>s)?{_TITLE} {_AUXILIARY} {_REST} (?:in|on)"),
        (
            "find",
            r"(?:find|show|give|list|name|get|search for|look for|look up|locate|quote|is there|are there"
            r"|do (?:i|we|you) have|what are|recommend|suggest)"
            r"(?: me)?(?: (?:the|a|an|all|any|some|every|all the|all of the))?(?: (?:best|famous|good|key))? "
            rf"(?P<unit>{_BOOKS}|{_TALES}|{_CHAPTERS}|{_PAGES}|{_PASSAGES})(?P<many>s)?{_TITLE} {_LINK} {_REST}",
        ),
        (
            "find",
            r"(?:what(?:['’]s| is| was) )?(?:the |that |a )?(?:famous |best )?(?P<unit>quote|quotation)(?P<many>s)?"
            rf"{_TITLE} (?:about|on|with|that says) {_REST}",
        ),
        (
            "tells",
            rf"(?P<unit>book|novel|passage|scene|chapter|paragraph)(?P<many>s) "
            rf"(?:about|on|where|in which|with|mentioning) {_REST}",
        ),
        (
            "tells",
            r"where (?:can|could|do|should) (?:i|we) (?:read|learn|find (?:something|anything|out|information|more))"
            rf"(?: more)? (?:about|on) {_REST}",
        ),
        (
            "find",
            r"(?:wh(?:at|ere) (?:is|are|was)|where (?:can|could|do|should) (?:i|we) (?:find|read)) (?:the|that|a) "
            rf"(?P<unit>chapter|part|section|scene|page|passage|paragraph|quotation|quote|bit)(?P<many>s)?{_TITLE} "
            rf"(?:where|when|about|(?:in|on) which) {_REST}",
        ),
        ("where", rf"where (?:in|of) (?P<title>.+?) {_AUXILIARY} {_REST}"),
        (
            "about",
            r"(?:tell me|what can you tell me|what (?:do )?you know)(?: (?:more|something|everything|all|the story))?"
            r" (?:about|of) "
            rf"{_REST}",
        ),
        ("about", rf"(?:describe|explain)(?: to me)? {_REST}"),
        ("about", rf"what does (?:it|this|(?:this|the) (?:{_BOOKS}|{_TALES}|text|author)) say (?:about|on) {_REST}"),
    )
)
_THIS = re.compile(rf"it|this|(?:this|the) (?:{_BOOKS}|{_TALES}|text|library)", re.IGNORECASE)
_WROTE = re.compile(r"\b(?:describe|write|publish|argue|claim|propose|state)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class PlaceQuestion:
    """What a question for a place asks."""

    unit: Unit
    """"tale" is a section of a collection, or else a book."""
    word: str
    """The question's own for it."""
    wanted: str
    """What is to be found there."""
    title: str | None = None
    """The title of the book that is named."""
    many: bool = False
    """Whether all places are."""
    about: bool = False
    """Whether it is to be described."""
    rest: str | None = None
    """What is to be found there where the title is no book's: "the garden where they meet"."""


def read_place_question(question: str) -> PlaceQuestion | None:
    """What a question for a place asks; None for other questions."""
    form = match_form(question, _QUESTIONS)
    if not form:
        return None
    kind, match = form
    found = match.groupdict()
    word = (found.get("unit") or ("where" if kind == "where" else "passage")).lower()
    if kind == "find" and word == "part":
        word = "chapter"  # "the part where she dies" need not be "Part II"
    if re.fullmatch(_BOOKS, word) and " did " in question and _WROTE.search(found["rest"]):
        return None  # a book that somebody in a book wrote
    return PlaceQuestion(
        unit=_UNITS.get(word, "passage"),
        word=word,
        wanted=found["rest"],
        title=found.get("title"),
        many=bool(found.get("many")) or word in {"stories", "entries"},
        about=kind == "about",
        rest=question[match.start("title") : match.end("rest")] if kind == "find" and found["title"] else None,
    )


def answer_place(
    request: SearchRequest,
    store: LibraryStore,
    run: Callable[[SearchRequest], SearchResult],
    load_reader: Callable[[], Reader] | None,
    limit: int | None = None,
    *,
    all_passages: bool = False,
) -> Answer | None:
    """The book, chapter or passages that a question looks for.

    Args:
        request: of the question.
        store: the library.
        run: answers a request.
        load_reader: gives the reader, which puts the passages in order; None to leave them as they were found.
        limit: at most so many sentences are quoted.
        all_passages: quote every passage that says something on what is looked for.

    Returns:
        The title of the book or chapter, or both where two are close, with sentences of its best passages; of
        passages their sentences alone. None for other questions, and where the library has no book of the title that
        is named.
    """
    question = read_place_question(request.query)
    if not question:
        return None
    book, wanted = request.book, question.wanted
    if question.title and not _THIS.fullmatch(question.title):
        with store.session():
            titled = find_titled(question.title, resolve_scope(request, store), store, in_part=question.word != "where")
        if len(titled) == 1:
            book = book or titled[0].id
        elif question.rest:
            wanted = question.rest
        else:
            return None
    if question.about and not all_passages and load_reader and name_of(who_is := f"Who is {wanted}?"):
        who = answer_who(run(replace(request, query=who_is, book=book)), store, load_reader(), limit)
        if who:
            rest = compose_answer(run(replace(request, query=wanted, book=book, rerank=False)), limit)
            return _extend(who, rest, SENTENCES if limit is None else limit)
    request = replace(request, query=wanted, book=book, rerank=False)
    result = run(request if all_passages else replace(request, limit=READ_TO_ANSWER))
    if result.hits and load_reader and question.unit != "book" and not all_passages:
        read = read_hits(wanted, result.hits, load_reader(), diversify=False)
        result = replace(result, hits=read.hits, compared=result.overlap.of(read.order))
    if question.word in _COURSE.split("|") and not any(_begins_with(question.word, hit) for hit in result.hits):
        return None  # "In which unit did he serve?"
    if question.word == "article" and any(_begins_with("article", hit) for hit in result.hits):
        question = replace(question, unit="chapter")  # of a law
    of_kind = [i for i, hit in enumerate(result.hits) if question.word in _KINDS and _begins_with(question.word, hit)]
    if of_kind:
        hits = tuple(result.hits[index] for index in of_kind)
        result = replace(result, hits=hits, compared=result.overlap.of(of_kind))
    if all_passages:
        answer = compose_all(result)
    else:
        result = _headed_first(result, question.unit)
        is_named = question.unit != "passage" and result.hits
        answer = _name_places(question, result, store, limit) if is_named else compose_answer(result, limit)
    is_first = not of_kind or of_kind[0] == 0
    return replace(answer, searched=result.searched, confidence=answer.confidence if is_first else "unsure")


def _headed_first(result: SearchResult, unit: Unit) -> SearchResult:
    """The hits with those first whose section's heading, or book's title, has just the words that are looked for."""
    fits: Sequence[float] = result.heading_fits
    if unit == "book":
        fits = heading_fits(result.request.query, [replace(hit, section=(hit.title,)) for hit in result.hits])
    raised = [replace(hit, score=hit.score + (fit == 1)) for hit, fit in zip(result.hits, fits, strict=True)]
    order = sorted(range(len(raised)), key=lambda index: -raised[index].score)
    return replace(result, hits=tuple(raised[index] for index in order), compared=result.overlap.of(order))


def _name_places(question: PlaceQuestion, result: SearchResult, store: LibraryStore, limit: int | None) -> Answer:
    """The titles of the best hits' places, each with a sentence of it."""
    hits = result.hits
    in_book = result.request.book is not None
    named = in_works(hits, store) if question.word in {"book", "novel"} else hits
    places = [_place(question, hit, tale, in_book=in_book) for hit, tale in zip(named, tales_of(hits), strict=True)]
    best = {place: index for index, place in reversed([*enumerate(places)])}
    ranked = sorted(best, key=lambda place: best[place])
    lead = hits[0].score - hits[best[ranked[1]]].score if len(ranked) > 1 else SURE
    if question.many:
        holding = {place for place, share in zip(places, result.overlap.best_shares, strict=True) if share >= HELD}
        shown = [place for place in ranked if place == ranked[0] or place in holding][:MANY]
    else:
        shown = ranked[: 1 + (lead <= CLOSE and len(ranked) > 1)]
    order = order_by_words(result, len(hits))
    firsts = [next((quote for quote in order if places[quote.hit] == place), None) for place in shown]
    rest = [quote for quote in order if places[quote.hit] == shown[0]]
    quotes = choose_quotes(hits, [*filter(None, firsts), *rest], limit)
    citations = cite(hits, sorted(quotes, key=lambda quote: shown.index(places[quote.hit])))
    cited = [places[hits.index(citation.hit)] for citation in citations]
    shorts = [ShortAnswer(text=" › ".join(place[1:]), citation=cited.index(place)) for place in shown if place in cited]
    if question.many and shorts:
        shorts = [ShortAnswer(text="; ".join(short.text for short in shorts), citation=shorts[0].citation)]
    confidence = _confidence(question, result, 2 * lead if question.unit == "book" else lead)
    return make_answer(result.request.query, citations, shorts, confidence)


def _confidence(question: PlaceQuestion, result: SearchResult, lead: float) -> Confidence:
    """How sure a place is by its lead; of a few words, none is where no passage has all."""
    words = result.overlap.words
    held = max(len(frozenset().union(*(each.words for each in passage))) for passage in result.overlap.passages)
    if lead <= UNSURE or held < len(words) <= FEW:
        return "unsure"
    return "sure" if lead >= SURE and not question.many else "likely"


def _extend(answer: Answer, rest: Answer, most: int) -> Answer:
    """An answer with the citations of another one behind its own, without those of the same passages."""
    own = {citation.hit.id for citation in answer.citations}
    citations = (*answer.citations, *(each for each in rest.citations if each.hit.id not in own))[:most]
    return replace(answer, citations=citations, text=join_quotes(citations))


def _place(question: PlaceQuestion, hit: Hit, tale: tuple[str, ...], *, in_book: bool) -> tuple[str, ...]:
    """The id of a hit's book, and the titles that name the place that it is in, as its tale."""
    if question.unit == "book" and not in_book:
        return hit.book_id, hit.title
    if own := _begins_with(question.word, hit):
        return (hit.book_id, *hit.section[: own[-1]])
    if question.unit == "tale" and tale:
        return (hit.book_id, *tale)
    if (question.unit == "tale" and not in_book) or not hit.section:
        return hit.book_id, hit.title
    if question.unit == "page" and hit.page:
        return hit.book_id, page_name(hit.page)
    chapter = () if question.word == "section" else find_chapter(hit)
    return (hit.book_id, *(chapter or hit.section))


def _begins_with(word: str, hit: Hit) -> list[int]:
    """The depths of a hit's titles that begin with a word."""
    return [depth for depth, title in enumerate(hit.section, 1) if title.lower().startswith(word)]
