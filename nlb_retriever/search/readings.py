"""Passages read by the reader (nlb_retriever.reader), and put in order by what it says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nlb_retriever.reader import Reader, Reading
from nlb_retriever.records import Hit

READ = 20
"""Best passages that are read; more where more are wanted, but never more than `MOST_READ`."""
MOST_READ = 100
WEIGHT = 0.2
"""Weight of a passage's relevance (a logit), beside its score over the best one's."""
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


def read_hits(question: str, hits: Sequence[Hit], reader: Reader, *, shortest: int = 1) -> ReadHits:
    """Read the first `MOST_READ` passages and put them in order by their scores and the reader's relevance.

    Args:
        question: as the reader takes it.
        hits: passages, best first.
        reader: of the library.
        shortest: least tokens of a span.
    """
    readings = reader.read(question, [hit.text for hit in hits[:MOST_READ]], shortest=shortest)
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    scores = [hit.score / best + WEIGHT * reading.relevance for hit, reading in zip(hits, readings, strict=False)]
    order = sorted(range(len(readings)), key=lambda index: -scores[index])
    lowest = min(scores, default=0.0)
    rest = [
        replace(hit, score=lowest + (hit.score - hits[len(readings)].score) / best) for hit in hits[len(readings) :]
    ]
    return ReadHits(
        hits=(*(replace(hits[index], score=scores[index]) for index in order), *rest),
        readings=tuple(readings[index] for index in order),
        order=(*order, *range(len(readings), len(hits))),
    )


def probability(reading: Reading) -> float:
    """A reading's relevance as a probability."""
    return 1 / (1 + math.exp(-reading.relevance))
