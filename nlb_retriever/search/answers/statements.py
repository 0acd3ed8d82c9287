"""What somebody says in a play or transcript: "What did Ms Wick say about the lamp?"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise

from nlb_retriever.records import Answer, Confidence, Hit, ShortAnswer, page_name
from nlb_retriever.search.answers.quotes import Quote, choose_quotes, cite, make_answer
from nlb_retriever.search.forms import compile_forms, match_form
from nlb_retriever.search.hits import read_book
from nlb_retriever.search.run import SearchResult
from nlb_retriever.search.scope import resolve_scope
from nlb_retriever.store import LibraryStore
from nlb_retriever.text.languages import number_of_words
from nlb_retriever.text.sentences import sentence_spans
from nlb_retriever.text.speakers import find_speeches, has_label
from nlb_retriever.text.words import word_ids

SPEECHES, WORDS = 3, 90
"""Most speeches that are quoted, beginning with the best, and words of one."""
OWN = 2
"""Weight of a question's words in a speech, beside 1 for those in the speech before, which may ask for it."""
BOOKS = 2
"""The first ones with passages found in which somebody speaks."""
_SAY = r"(?:say|said|says|ask|tell|testify|answer|reply|propose|recommend|suggest|claim|explain)"
_ABOUT = r"(?:about|on|of|regarding|concerning)"
_QUESTIONS = compile_forms(
    (
        (
            "statement",
            rf"what (?:did|does|do|has|had) (?P<name>[^?]{{1,60}}?) {_SAY}"
            rf"(?:(?: to|(?<=tell)|(?<=ask)) [\w.’' ]{{1,40}}?| the [\w ]{{1,40}}?)?(?: {_ABOUT} (?P<topic>.+?))?",
        ),
        (
            "time",
            r"(?:(?:at|on) (?:what|which) (?:minute|timestamp|time|page)|when) (?:did|does|do) (?P<name>[^?]{1,60}?)"
            rf" (?:{_SAY}|talk|speak)(?: something)? {_ABOUT} (?P<topic>.+?)",
        ),
    )
)
_WORD = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*")


@dataclass(frozen=True, kw_only=True)
class _Piece:
    """What of a speech is in one passage."""

    hit: int
    speaker: str
    start: int
    end: int
    before: str
    """The speech before it."""


def answer_statement(result: SearchResult, store: LibraryStore, limit: int | None) -> Answer | None:
    """What somebody says on a topic, where hits are of a play or transcript and they speak in it.

    Args:
        result: of a search for passages.
        store: the library.
        limit: see `choose_quotes`.

    Returns:
        Their speeches, wherever they stand in the request's scope, that have the topic's words, or that follow one
        which has; without a topic those in the first hits. "unsure" where only the speech before has them. Where a
        question is when somebody speaks, the best one's time or page is the short answer. None for other questions.
    """
    question = match_form(result.request.question, _QUESTIONS)
    names = _WORD.findall(question[1]["name"]) if question else []
    if not question or not names:
        return None
    kind, match = question
    topic = word_ids(match["topic"] or "")
    ids = [*dict.fromkeys(hit.book_id for hit in result.hits if has_label(hit.text))]
    answers = (_answer(result, store, book, names, topic, limit) for book in ids[:BOOKS])
    answer = next(filter(None, answers), None)
    page = answer.citations[0].hit.page if answer and kind == "time" else None
    if not answer or kind == "statement":
        return answer
    return replace(answer, shorts=(ShortAnswer(text=page_name(page), citation=0),)) if page else None


def _answer(
    result: SearchResult, store: LibraryStore, book_id: str, names: Sequence[str], topic: Set[int], limit: int | None
) -> Answer | None:
    """What somebody says in one book."""
    with store.session():
        book = store.find_book(book_id)
        scope = replace(resolve_scope(result.request, store), book=book)
        hits = read_book(book, replace(scope, sections=None, before=None), store)
        inside = {hit.id for hit in read_book(book, scope, store)}
    ranks = {hit.id: rank for rank, hit in enumerate(result.hits)}
    pieces = [*_pieces(hits)]
    speakers = _named({piece.speaker for piece in pieces}, names)
    found = []
    for piece in pieces:
        hit = hits[piece.hit]
        if piece.speaker not in speakers or hit.id not in inside:
            continue
        own = len(topic & word_ids(hit.text[piece.start : piece.end]))
        score = OWN * own + len(topic & word_ids(piece.before))
        if score or (not topic and hit.id in ranks):
            found.append((-score, ranks.get(hit.id, len(ranks)), own, piece))
    if not found:
        return None
    found.sort(key=lambda each: each[:2])
    quotes = [_quote(piece, hits, topic) for *_, piece in found[:SPEECHES]]
    citations = cite(hits, choose_quotes(hits, quotes, limit))
    confidence: Confidence = "likely" if found[0][2] or not topic else "unsure"
    return make_answer(result.request.query, citations, confidence=confidence)


def _named(speakers: Set[str], names: Sequence[str]) -> set[str]:
    """The speakers that a question's name means: of all of it, of its last word, or of one."""
    wanted = [name.casefold() for name in names]
    words = {speaker: [word.casefold() for word in _WORD.findall(speaker)] for speaker in speakers}
    return (
        {speaker for speaker, own in words.items() if own == wanted}
        or {speaker for speaker, own in words.items() if own[-1:] == wanted[-1:]}
        or {speaker for speaker, own in words.items() if wanted[-1] in own}
    )


def _pieces(hits: Sequence[Hit]) -> Iterator[_Piece]:
    """The speeches of a book, each by passage; none where it is no play and no transcript."""
    speeches = find_speeches([hit.text for hit in hits])
    before, speaker, section = "", "", None
    for index, hit in enumerate(hits):
        own = [speech for speech in speeches if speech.text == index]
        places = [*((speech.label, speech.speaker) for speech in own), (len(hit.text), "")]
        if speaker and hit.section_id == section and hit.text[: places[0][0]].strip():
            yield _Piece(hit=index, speaker=speaker, start=0, end=places[0][0], before="")
        for (start, name), (end, _) in pairwise(places):
            yield _Piece(hit=index, speaker=name, start=start, end=end, before=before)
            before, speaker = hit.text[start:end], name
        section = hit.section_id


def _quote(piece: _Piece, hits: Sequence[Hit], topic: Set[int]) -> Quote:
    """The beginning of a speech, or if that has none of a topic's words, from where one is; of whole sentences."""
    text = hits[piece.hit].text
    spans = [*enumerate(sentence_spans(text))]
    own = [
        (order, max(start, piece.start), min(end, piece.end))
        for order, (start, end) in spans
        if start < piece.end and end > piece.start
    ]
    fitting = _fitting(own, text)
    if not topic & word_ids(text[piece.start : fitting[-1][2]]):
        on_topic = (place for place, (_, start, end) in enumerate(own) if topic & word_ids(text[start:end]))
        fitting = _fitting(own[next(on_topic, 0) :], text)
    order, start, _ = fitting[0]
    return Quote(hit=piece.hit, order=order, start=start, end=len(text[: fitting[-1][2]].rstrip()))


def _fitting(own: Sequence[tuple[int, int, int]], text: str) -> Sequence[tuple[int, int, int]]:
    """The first of some sentences that have no more than `WORDS`; the first one at least."""
    return [each for each in own if number_of_words(text[own[0][1] : each[2]]) <= WORDS] or own[:1]
