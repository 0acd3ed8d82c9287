"""Questions on who wrote a letter, and to whom, where its heading says so: "LETTER I. To Mrs. Saville, England."."""

from __future__ import annotations

import re

from nlb_retriever.errors import QueryError
from nlb_retriever.records import Answer, ShortAnswer
from nlb_retriever.search.answers.naming import find_titled
from nlb_retriever.search.answers.quotes import Quote, cite, make_answer
from nlb_retriever.search.forms import NUMBER, compile_forms, match_form
from nlb_retriever.search.hits import read_book
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.scope import Scope, resolve_scope
from nlb_retriever.store import LibraryStore
from nlb_retriever.store.lookup import find_sections, read_number

_LETTER = rf"(?:the )?(?P<letter>letter {NUMBER}|{NUMBER} letter)(?: (?:of|in) (?P<book>.+?))?"
_OF = r"(?: (?:of|in) (?P<title>.+?))?"
_QUESTIONS = compile_forms(
    (
        ("to", rf"whom? (?:is|was) {_LETTER}(?: (?:addressed|written|sent))? to{_OF}"),
        ("to", rf"to whom (?:is|was) {_LETTER}(?: (?:addressed|written|sent))?{_OF}"),
        ("by", rf"who (?:wrote|writes|sent|signed) {_LETTER}{_OF}"),
        ("by", rf"who (?:is|was) {_LETTER} (?:from|(?:written|sent) by){_OF}"),
    )
)
_HEADING = re.compile(
    r"(?:from )?(?P<by>(?!(?:an?|my|our|on|of|in|at|how|why|what|when|where)\b).*?)[\s,—–-]*\bto (?P<to>.+?)[\s.]*",
    re.IGNORECASE,
)
"""Not "A Visit to London"."""
_SAME = re.compile(r"\bsame\b", re.IGNORECASE)


def answer_letter(request: SearchRequest, store: LibraryStore) -> Answer | None:
    """Whom the heading of a letter names as its writer or receiver.

    Args:
        request: of the question.
        store: the library.

    Returns:
        None for other questions, and where the heading names nobody ("The Same to the Same").
    """
    question = match_form(request.query, _QUESTIONS)
    if not question:
        return None
    kind, match = question
    with store.session():
        scope = resolve_scope(request, store)
        books = find_titled(match["book"] or match["title"], scope, store)
        if len(books) != 1:
            return None
        sections = store.sections(books[0].id)
        try:
            found = [*filter(scope.holds, find_sections(match["letter"], sections, books[0]))]
        except QueryError:
            return None
        titles = {title for at in found for title in sections[at].path if read_number(title)[0] == "letter"}
        title = titles.pop() if len(titles) == 1 else ""
        heading = _HEADING.fullmatch(read_number(title)[2])
        if not heading or not heading[kind] or _SAME.search(heading[kind]):
            return None
        hits = read_book(books[0], Scope(level="passage", book=books[0], sections=(found[0],)), store)[:1]
    text = hits[0].text
    start = max(text.find(title), 0)
    name = heading[kind].partition(",")[0].split()[-1]  # of "_To Mrs._ SAVILLE", below "LETTER I."
    named = max(text.find(name, start), start)
    line = Quote(hit=0, order=0, start=start, end=named + len(text[named:].split("\n", 1)[0]))
    return make_answer(request.query, cite(hits, [line]), [ShortAnswer(text=heading[kind], citation=0)], "likely")
