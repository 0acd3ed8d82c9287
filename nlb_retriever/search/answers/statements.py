"""What somebody says in a transcript, whose lines begin with who speaks: "What did Ms Wick say about the lamp?"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nlb_retriever.records import Answer, Confidence
from nlb_retriever.search.answers.quotes import Quote, choose_quotes, cite, make_answer
from nlb_retriever.search.forms import compile_forms, match_form
from nlb_retriever.search.run import SearchResult
from nlb_retriever.text.languages import number_of_words
from nlb_retriever.text.sentences import sentence_spans
from nlb_retriever.text.words import word_ids

SPEECHES, WORDS = 3, 90
"""Most speeches that are quoted, beginning with the best, and words of one."""
OWN = 2
"""Weight of a question's words in a speech, beside 1 for those in the speech before, which may ask for it."""
_LEAST_LABELS, _LEAST_SPEAKERS = 3, 2
"""Lines of a passage of a transcript that begin with a speaker, and different ones."""
_SAY = r"(?:say|said|says|tell|testify|answer|reply|propose|recommend|suggest|claim|explain)"
_QUESTIONS = compile_forms(
    (
        (
            "statement",
            rf"what (?:did|does|do|has|had) (?P<name>[^?]{{1,60}}?) {_SAY}(?: (?:to )?the [\w ]{{1,40}}?)?"
            r"(?: (?:about|on|of|regarding|concerning) (?P<topic>.+?))?",
        ),
    )
)
_LABEL = re.compile(
    r"^[^\S\n]*(?:Q\.?\s?\d{1,3}\.?[^\S\n]+)?"
    r"(?P<label>(?:[A-Z][\w.’'-]{0,20}[^\S\n]){0,4}(?:[A-Z][\w’'-]{1,20}(?=:)|[A-Z][A-Z’'-]{1,20}(?=\.))|[QA](?=\.))"
    r"[:.][^\S\n]+(?=\S)",
    re.MULTILINE,
)
_WORD = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*")


@dataclass(frozen=True, kw_only=True)
class _Speech:
    """What somebody says at a time in one of some hits, with the name before it."""

    hit: int
    speaker: str
    start: int
    end: int
    before: str
    """The speech before it."""


def answer_statement(result: SearchResult, limit: int | None) -> Answer | None:
    """What somebody says on a topic, where hits are of a transcript and they speak in it.

    Args:
        result: of a search for passages.
        limit: see `choose_quotes`.

    Returns:
        The beginnings of their speeches that have the topic's words, or that follow one which has; without a topic
        of those in the first hits. "unsure" where only the speech before has them. None for other questions.
    """
    question = match_form(result.request.question, _QUESTIONS)
    names = _WORD.findall(question[1]["name"]) if question else []
    if not question or not names:
        return None
    topic = word_ids(question[1]["topic"] or "")
    found = []
    for speech in _speeches(result):
        if speech.speaker != names[-1].casefold():
            continue
        own = len(topic & word_ids(result.hits[speech.hit].text[speech.start : speech.end]))
        score = OWN * own + len(topic & word_ids(speech.before))
        if score or not topic:
            found.append((score, own, speech))
    if not found:
        return None
    found.sort(key=lambda each: -each[0])
    quotes = [_quote(speech, result) for _, _, speech in found[:SPEECHES]]
    citations = cite(result.hits, choose_quotes(result.hits, quotes, limit))
    confidence: Confidence = "likely" if found[0][1] or not topic else "unsure"
    return make_answer(result.request.query, citations, confidence=confidence)


def _speeches(result: SearchResult) -> Iterator[_Speech]:
    """The speeches in the hits that are of a transcript."""
    for index, hit in enumerate(result.hits):
        labels = [*_LABEL.finditer(hit.text)]
        speakers = [_WORD.findall(label["label"])[-1].casefold() for label in labels]
        if len(labels) < _LEAST_LABELS or len({*speakers}) < _LEAST_SPEAKERS:
            continue
        ends = [*(label.start() for label in labels[1:]), len(hit.text)]
        before = ""
        for label, speaker, end in zip(labels, speakers, ends, strict=True):
            yield _Speech(hit=index, speaker=speaker, start=label.start("label"), end=end, before=before)
            before = hit.text[label.start() : end]


def _quote(speech: _Speech, result: SearchResult) -> Quote:
    """The beginning of a speech, of whole sentences."""
    text = result.hits[speech.hit].text
    spans = [*enumerate(sentence_spans(text))]
    own = [(order, min(end, speech.end)) for order, (start, end) in spans if start < speech.end and end > speech.start]
    fitting = [end for _, end in own if number_of_words(text[speech.start : end]) <= WORDS] or [own[0][1]]
    return Quote(hit=speech.hit, order=own[0][0], start=speech.start, end=len(text[: fitting[-1]].rstrip()))
