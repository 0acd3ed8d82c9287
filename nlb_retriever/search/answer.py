"""Answers in the books' own words: the sentences that answer a question, each cited.

No language model takes part, so nothing is said that is not in a book.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nlb_retriever.records import Answer, Citation, Hit
from nlb_retriever.search.overlap import find_overlap
from nlb_retriever.search.run import SearchResult

PASSAGES = 5
"""Best passages whose sentences are looked at."""
PASSAGE_WEIGHT = 2.0
"""Weight of a sentence's passage, beside 1 for the share of the question's words in the sentence: chosen on
FairytaleQA and LiteraryQA val (benchmarks/quality.py); the sentences' own vectors add nothing to these."""
NOT_FOUND = "Not in your library."
_ENDS = frozenset(".!?…;:\"'”’»)")


@dataclass(frozen=True, kw_only=True)
class _Sentence:
    """A sentence of one of the hits."""

    hit: int
    """Index of the hit."""
    order: int
    """Number of the sentence in its passage."""
    start: int
    end: int
    """Span in the passage's text."""
    score: float


def compose_answer(result: SearchResult, limit: int) -> Answer:
    """An answer made of the sentences of a search's hits.

    Args:
        result: of a search for passages.
        limit: at most so many sentences.
    """
    question, hits = result.request.query, result.hits
    sentences = _choose(result, limit)
    if not sentences:
        return Answer(question=question, found=False, text=NOT_FOUND)
    citations = tuple(_cite(hits[run[0].hit], run) for run in _runs(sentences))
    return Answer(
        question=question,
        found=True,
        text=" ".join(" ".join(citation.quote.split()) for citation in citations),
        citations=citations,
    )


def _choose(result: SearchResult, limit: int) -> list[_Sentence]:
    """The sentences with most of the question's words, from the best passages; the best first."""
    hits = result.hits
    overlap = result.overlap or find_overlap(result.request.query, [hit.text for hit in hits])
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    sentences = [
        _Sentence(
            hit=index,
            order=order,
            start=sentence.start,
            end=sentence.end,
            score=overlap.shares[index][order] + PASSAGE_WEIGHT * hit.score / best,
        )
        for index, hit in enumerate(hits)
        for order, sentence in enumerate(overlap.passages[index])
    ]
    sentences = [each for each in sentences if _is_prose(hits[each.hit], each)]
    return sorted(sentences, key=lambda each: (-each.score, each.hit, each.order))[:limit]


def _is_prose(hit: Hit, sentence: _Sentence) -> bool:
    return not _is_heading(hit, sentence) and not _is_list(hit, sentence)


def _is_heading(hit: Hit, sentence: _Sentence) -> bool:
    """Whether a sentence is only a title, or a piece of one ("CHAPTER I. The Keeper" reads as two sentences).

    The title of a text without one is its first words, all of them or cut short: these are not a heading.
    """
    own = {hit.title} if hit.title.endswith("…") or hit.title == " ".join(hit.text.split()) else set()
    titles = [part.casefold() for part in (hit.title, *hit.section) if part not in own]
    pieces = {piece.strip() for title in titles for piece in (title, *re.split("[.:]", title))}
    return hit.text[sentence.start : sentence.end].casefold().strip(" .:") in pieces


def _is_list(hit: Hit, sentence: _Sentence) -> bool:
    """Whether a sentence is a run of lines without a full stop, as in a table of contents."""
    text = hit.text[sentence.start : sentence.end].rstrip()
    return text.count("\n") >= 3 and text[-1:] not in _ENDS


def _runs(sentences: Sequence[_Sentence]) -> list[list[_Sentence]]:
    """Sentences that follow each other in a passage as one run; the run of the best sentence first."""
    runs: list[list[_Sentence]] = []
    for sentence in sentences:
        for run in runs:
            if sentence.hit == run[0].hit and run[0].order - 1 <= sentence.order <= run[-1].order + 1:
                run.append(sentence)
                run.sort(key=lambda member: member.order)
                break
        else:
            runs.append([sentence])
    return runs


def _cite(hit: Hit, run: Sequence[_Sentence]) -> Citation:
    start, end = run[0].start, run[-1].end
    return Citation(hit=hit, quote=hit.text[start:end], quote_start=hit.start + start, quote_end=hit.start + end)
