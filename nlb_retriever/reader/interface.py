"""What a reader is, and what all of them do with passages of any length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.encoding.base import make_batches
from nlb_retriever.reader.pairs import Row, make_rows
from nlb_retriever.reader.spans import best_spans, widen

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Scores: TypeAlias = tuple[NDArray[np.float32], NDArray[np.float32]]
"""Of a batch of rows: (B, L, 2) each token as first and last of the answer, (B,) relevance."""


SPANS = 5
"""Spans of a passage that a reading holds."""


@dataclass(frozen=True, kw_only=True)
class AnswerSpan:
    """Words of a passage that may answer."""

    start: int
    end: int
    """Characters of the passage."""
    score: float
    """Sum of its first and its last token's."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a reader says about one passage. All scores are logits: comparable among passages and questions."""

    relevance: float
    """Whether the passage answers the question; 0 is as likely as not."""
    spans: tuple[AnswerSpan, ...]
    """At most `SPANS` that do not overlap, the best first; none where the passage has no words."""
    no_answer_score: float
    """Of "the passage does not answer", comparable with the spans' scores."""


class Reader(Protocol):
    """A trained reader."""

    @property
    def backend(self) -> str:
        """What runs it, for people: "openvino int8", "openvino fp32", "torch cuda"."""
        ...

    def read(self, question: str, passages: Sequence[str], *, shortest: int = 1) -> list[Reading]:
        """Score passages for a question; one reading a passage, in their order.

        A question longer than 64 tokens is cut there; a long passage is read in windows. No span has fewer tokens than
        `shortest`, but where the passage has.
        """
        ...


def read_passages(
    question: str,
    passages: Sequence[str],
    tokenizer: Tokenizer,
    *,
    shortest: int = 1,
    batch_tokens: int,
    forward: Callable[[list[list[Row]]], list[Scores]],
) -> list[Reading]:
    """Score passages in batches of similar lengths; of a long passage's windows the most relevant one counts.

    Args:
        question: of any length.
        passages: n texts of any length.
        tokenizer: BERT's, without padding or truncation.
        shortest: least tokens of a span.
        batch_tokens: bound on rows x longest row of a batch.
        forward: runs batches.

    Returns:
        n readings, in the passages' order.
    """
    if not passages:
        return []
    rows = make_rows(tokenizer, question, passages)
    batches = make_batches(rows, lambda row: len(row.ids), batch_tokens)
    readings: dict[int, Reading] = {}
    for batch, (scores, relevance) in zip(batches, forward(batches), strict=True):
        for row, own, how in zip(batch, scores, relevance, strict=True):
            reading = _read(passages[row.passage], row, own, float(how), shortest)
            before = readings.get(row.passage)
            if before is None or reading.relevance > before.relevance:
                readings[row.passage] = reading
    return [readings[index] for index in range(len(passages))]


def _read(passage: str, row: Row, scores: NDArray[np.float32], relevance: float, shortest: int) -> Reading:
    spans = []
    own = scores[row.first : row.first + len(row.offsets)]
    for first, last, score in best_spans(own, count=SPANS, shortest=shortest):
        start, end = widen(passage, row.offsets[first][0], row.offsets[last][1])
        spans.append(AnswerSpan(start=start, end=end, score=score))
    return Reading(relevance=relevance, spans=tuple(spans), no_answer_score=float(scores[0].sum()))
