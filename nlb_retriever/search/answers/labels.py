"""What has a number or a title in a chapter: "What does Figure 2.1 show?", "List the key terms of chapter 2"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from nlb_retriever.errors import QueryError
from nlb_retriever.records import Answer, Citation, Hit, ShortAnswer
from nlb_retriever.search.answers.digest import read_whole
from nlb_retriever.search.answers.digest_forms import OF_PARTS, PART, TITLE, write_out
from nlb_retriever.search.answers.naming import find_titled
from nlb_retriever.search.answers.quotes import SENTENCES, Quote, cite, make_answer
from nlb_retriever.search.forms import Forms, compile_forms, match_form
from nlb_retriever.search.hits import read_book, to_hit
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.scope import Scope, passages_with, resolve_scope
from nlb_retriever.search.titles import title_words
from nlb_retriever.store import LibraryStore
from nlb_retriever.store.lookup import is_below_back, read_number, read_series
from nlb_retriever.text.languages import number_of_words

FOUND = 250
"""Best passages by their words among which a label is looked for."""
SHORT = 40
"""Words of what stands behind a label, at most, where it is the short answer."""
_LABELS = (
    r"(?:figure|fig\.?|table|theorem|lemma|proposition|corollary|definition|example|equation|exercise|problem|question"
    r"|box|listing|algorithm|activity|experiment|diagram|chart|plate)"
)
_ITEMS = r"(?P<item>exercise|question|problem|task|activity)"
_LEAD = (
    r"(?:(?:what(?:['’]s| is| are| does| do)|show|list|give|name|state|read|quote|describe|explain|solve)"
    r"(?: me)?(?: all)?(?: of)? )?(?:the )?"
)
_SAYS = r"(?: (?:show|say|state|depict|illustrate|contain|list|tell(?: us)?|mean|ask(?: for)?|about|called))?"
_LABEL = rf"(?P<kind>{_LABELS}) (?P<number>\d{{1,3}}(?:[.-]\d{{1,3}}){{0,3}}[a-z]?)"
_ITEM = re.compile(r"^[^\w\n]{0,3}(\d{1,3})[.)](?=\s)", re.MULTILINE)
_LISTS = re.compile(r"exercise|question|problem|quiz|review|practice|activit|task|assignment", re.IGNORECASE)
"""In the titles of sections that have numbered items."""


@cache
def _forms() -> Forms:
    answer = r"(?P<answer>(?:answer|solution)s? (?:to|of|for) (?:the )?)?"
    return compile_forms(
        (
            (
                "item",
                rf"{_LEAD}{answer}(?:[a-z]+ )?{_ITEMS} (?:no\.? |number )?(?P<number>\d{{1,3}})"
                rf"(?: (?:of|in|from) the [^?]{{1,40}}?)? (?:of|in|from|for) {PART}{TITLE}{_SAYS}",
            ),
            ("label", rf"{_LEAD}{_LABEL}{TITLE}{_SAYS}"),
            ("label", rf"{_LEAD}{_LABEL}{_SAYS}{TITLE}"),
            ("within", rf"{_LEAD}(?P<within>[^?]{{3,60}}?) (?:of|in|for|from|at the end of) {PART}{TITLE}"),
        )
    )


_NUMBERED = re.compile(rf"\b{_LABELS} \d", re.IGNORECASE)


def answer_label(request: SearchRequest, store: LibraryStore, limit: int | None = None) -> Answer | None:
    """What a question on a piece of a chapter asks for by its label, its number in a list or its heading.

    "What does Figure 2.1 show?", "What is Theorem 3.2?", "What is question 4 of chapter 3?", "What is the answer to
    exercise 2 of lecture 1?", "List the key terms of chapter 2".

    Args:
        request: of the question.
        store: the library.
        limit: at most so many pieces are quoted.

    Returns:
        The piece as it stands, of a label with what it says as a short answer; None for other questions, and where
        there is no such piece.
    """
    query = write_out(request.query)
    may_be_one = OF_PARTS.search(query) or _NUMBERED.search(query)
    question = match_form(query, _forms()) if may_be_one else None
    if not question:
        return None
    kind, match = question
    words = match.groupdict()
    with store.session():
        scope = resolve_scope(request, store)
        if kind == "label":
            hits, quotes = _find_labelled(words, scope, store)
        else:
            try:
                hits = read_whole("part", words, scope, store) or []
            except QueryError:
                return None
            if words.get("answer"):
                hits = _read_answers(words["part"], hits, scope, store)
            quotes = [*(_find_items(words, hits) if kind == "item" else _find_within(words["within"], hits))]
    if not quotes:
        return None
    citations = cite(hits, quotes[: SENTENCES if limit is None else limit])
    shorts = _shorten(citations) if kind == "label" else ()
    return make_answer(request.query, citations, shorts, "likely" if citations else None)


def _find_labelled(words: dict[str, str], scope: Scope, store: LibraryStore) -> tuple[list[Hit], list[Quote]]:
    """The passages that have a label at the beginning of a line, with the paragraph that it begins."""
    if words["title"]:
        books = find_titled(words["title"], scope, store)
        if len(books) != 1:
            return [], []
        hits = read_book(books[0], scope, store)
    else:
        name = f"{words['kind']} {words['number']}"
        hits = [to_hit(record) for record in passages_with(name, scope, store, FOUND)]
    kind = r"fig(?:ure|\.)?" if words["kind"].lower().startswith("fig") else re.escape(words["kind"])
    number = re.escape(words["number"]).replace(r"\-", "[.-]")
    label = re.compile(
        rf"^[^\w\n]{{0,4}}(?P<label>{kind} {number}(?![.-]?\w)[.:)]?)[^\n]*", re.IGNORECASE | re.MULTILINE
    )
    quotes: dict[str, Quote] = {}
    for index, hit in enumerate(hits):
        for line in label.finditer(hit.text):
            alone = line.end("label") == line.end()
            end = len(hit.text.rstrip()) if alone else line.end()
            quote = Quote(hit=index, order=0, start=line.start("label"), end=end, answer=line.span("label"))
            quotes.setdefault(hit.text[quote.start : end], quote)
    return hits, sorted(quotes.values(), key=lambda each: is_below_back((*hits[each.hit].section, "")))


def _shorten(citations: Sequence[Citation]) -> tuple[ShortAnswer, ...]:
    """What stands behind the label of the only piece that has it."""
    if len(citations) != 1:
        return ()
    label = re.match(rf"{_LABELS} [\w.-]*\w[.:)]?\s*", citations[0].quote, re.IGNORECASE)
    said = " ".join(citations[0].quote[label.end() if label else 0 :].split())
    return (ShortAnswer(text=said, citation=0),) if said and number_of_words(said) <= SHORT else ()


def _read_answers(part: str, hits: Sequence[Hit], scope: Scope, store: LibraryStore) -> list[Hit]:
    """The passages of solutions that are headed by a chapter, of the book of its passages."""
    if not hits:
        return []
    wanted = {_numbers(part.removeprefix("the "))}
    book = store.find_book(hits[0].book_id)
    return [
        hit
        for hit in read_book(book, scope, store)
        if is_below_back(hit.section) and any(_numbers(title) in wanted for title in hit.section)
    ]


def _numbers(title: str) -> tuple[str, int]:
    name = title[:1].upper() + title[1:]
    kind, number, _ = read_number(name)
    return (kind, number) if number else read_series(name)[:2]


def _find_items(words: dict[str, str], hits: Sequence[Hit]) -> Iterator[Quote]:
    """The items of a number in lists of exercises, or of solutions."""
    listed = [bool(words["answer"]) or bool(hit.section and any(map(_LISTS.search, hit.section))) for hit in hits]
    for index, hit in enumerate(hits):
        if not listed[index] and any(listed):
            continue
        items = [*_ITEM.finditer(hit.text)]
        for item, following in zip(items, [*items[1:], None], strict=False):
            if item[1] == words["number"]:
                end = following.start() if following else len(hit.text)
                yield Quote(hit=index, order=0, start=item.start(1), end=len(hit.text[:end].rstrip()))


def _find_within(name: str, hits: Sequence[Hit]) -> Iterator[Quote]:
    """All of the sections with a title."""
    wanted = {title_words(name), title_words(f"{name}s")}
    for index, hit in enumerate(hits):
        if any(title_words(own) in wanted for title in hit.section for own in (title, read_number(title)[2])):
            text = hit.text.rstrip()
            yield Quote(hit=index, order=0, start=len(hit.text) - len(hit.text.lstrip()), end=len(text))
