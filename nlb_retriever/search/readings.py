"""Passages read by the reader (nlb_retriever.reader), and put in order by what it says."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nlb_retriever.reader import Reader, Reading
from nlb_retriever.records import Hit
from nlb_retriever.search.question import kind_of
from nlb_retriever.text.words import word_ids

READ, READ_TO_ANSWER = 40, 20
"""Best passages that are read to put them or their sections in order, and to answer, which gains nothing by more; as
many as are wanted where that is more, but never more than `MOST_READ`."""
MOST_READ = 100
WEIGHT, WEIGHT_OF_SECTION = 0.07, 0.04
"""Weight of a passage's relevance (a logit), beside its score over the best one's; of the most relevant passage of a
section, beside the section's score: 0.1 is hardly better for statements, and worse for textbooks' questions."""
COVERAGE, TEMPERATURE = 5.0, 5.0
"""Weight of the likely answers that a passage holds and those before it do not, and temperature of their scores: chosen
on LiteraryQA and FairytaleQA val (docs/reader-notes.md)."""
CLAUSE_TOKENS = 5
"""Least tokens of a span that answers why, how, or what somebody does."""


@dataclass(frozen=True, kw_only=True)
class ReadHits:
    """Hits in the order that the reader gives them."""

    hits: tuple[Hit, ...]
    """Best first; those that were read before all others."""
    readings: tuple[Reading, ...]
    """Of the first hits."""
    order: tuple[int, ...]
    """Their indexes among the hits as they were."""


def read_hits(question: str, hits: Sequence[Hit], reader: Reader, *, diversify: bool = True) -> ReadHits:
    """Read the first `MOST_READ` passages and put them in order by their scores and the reader's relevance.

    Args:
        question: as the reader takes it.
        hits: passages, best first.
        reader: of the library.
        diversify: count, too, which likely answers a passage holds that those before it do not.
    """
    shortest = CLAUSE_TOKENS if kind_of(question) == "clause" else 1
    readings = reader.read(question, [hit.text for hit in hits[:MOST_READ]], shortest=shortest)
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    scores = [hit.score / best + WEIGHT * reading.relevance for hit, reading in zip(hits, readings, strict=False)]
    order: Sequence[int] = sorted(range(len(readings)), key=lambda index: -scores[index])
    if diversify:
        order, scores = _diversify(hits, readings, scores, order)
    lowest = min(scores, default=0.0)
    rest = [
        replace(hit, score=lowest + (hit.score - hits[len(readings)].score) / best) for hit in hits[len(readings) :]
    ]
    return ReadHits(
        hits=(*(replace(hits[index], score=scores[index]) for index in order), *rest),
        readings=tuple(readings[index] for index in order),
        order=(*order, *range(len(readings), len(hits))),
    )


def order_sections(query: str, sections: Sequence[Hit], passages: Sequence[Hit], reader: Reader) -> list[Hit]:
    """Put sections in order by their scores and the relevance of the most relevant passage of each.

    A section of which no passage is read has the lowest relevance.

    Args:
        query: as the reader takes it.
        sections: best first.
        passages: the best ones for the query, of any sections.
        reader: of the library.
    """
    relevance: dict[str | None, float] = {}
    for passage, reading in zip(passages, reader.read(query, [hit.text for hit in passages]), strict=True):
        relevance[passage.section_id] = max(reading.relevance, relevance.get(passage.section_id, -math.inf))
    lowest = min(relevance.values(), default=0.0)
    best = max((hit.score for hit in sections), default=0.0)
    scale = abs(best) or 1.0  # the trained reranker's scores may all be below zero
    scored = [
        replace(hit, score=1 + (hit.score - best) / scale + WEIGHT_OF_SECTION * relevance.get(hit.id, lowest))
        for hit in sections
    ]
    return sorted(scored, key=lambda hit: -hit.score)


def _diversify(
    hits: Sequence[Hit], readings: Sequence[Reading], scores: Sequence[float], order: Sequence[int]
) -> tuple[list[int], list[float]]:
    """Order passages so that the first ones together hold as many of the likely answers as they can.

    Search result diversification (xQuAD, Santos et al., WWW 2010) with the spans of all readings in place of a query's
    aspects: step by step the passage with the best sum of its score and of the answers that are still left. An answer
    is a set of words; every passage with these words holds it, whether or not the reader marked them there. The first
    passage is the best by its score alone: one that names much is not yet one that answers.

    Args:
        hits: the passages.
        readings: of the first of them.
        scores: of those that were read.
        order: their indexes, best first.

    Returns:
        The order, and the sums, by index, which fall along it.
    """
    spans = [
        (words, span.score - reading.no_answer_score)
        for hit, reading in zip(hits, readings, strict=False)
        for span in reading.spans
        if (words := word_ids(hit.text[span.start : span.end]))
    ]
    highest = max((score for _, score in spans), default=0.0)
    weights: defaultdict[frozenset[int], float] = defaultdict(float)
    for words, score in spans:
        weights[words] += math.exp((score - highest) / TEMPERATURE)
    left = np.array(list(weights.values())) / (sum(weights.values()) or 1.0)
    passages = [word_ids(hits[index].text) for index in range(len(readings))]
    holds = np.array([[words <= passage for words in weights] for passage in passages], dtype=bool)
    rest, sums = list(order), list(scores)
    chosen: list[int] = []
    while rest:
        for index in rest:
            gain = left[holds[index]] if chosen else left
            sums[index] = scores[index] + COVERAGE * float(gain.sum())
        best = max(rest, key=lambda index: sums[index])
        left = np.where(holds[best], 0.0, left)
        chosen.append(best)
        rest.remove(best)
    return chosen, sums


def probability(reading: Reading) -> float:
    """A reading's relevance as a probability."""
    return 1 / (1 + math.exp(-reading.relevance))
