"""Passages compared with queries as search compares them: by their most similar span and as wholes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.search.ranking import WHOLE_WEIGHT
from nlb_training.encoder.bert import Bert, Ids
from nlb_training.encoder.books import Span, TokenizedBook

Floats = NDArray[np.float32]

SPAN_TOKENS = 50
"""Of the longest span of a passage, with the special tokens."""


def cut_spans(book: TokenizedBook, passage: Span, hole: Span | None = None) -> list[int]:
    """The tokens of a passage at which its spans begin, the first 0.

    Args:
        book: the passage's text.
        passage: range of its tokens.
        hole: tokens that are taken out of it; what follows them moves up.
    """
    starts = [start for start, _ in book.cut(SPAN_TOKENS, passage)]
    length = passage[1] - passage[0]
    if hole:
        size = hole[1] - hole[0]
        starts = [start if start < hole[0] else max(hole[0], start - size) for start in starts]
        length -= size
    return sorted({start - passage[0] for start in starts if start - passage[0] < length})


class SpanIndex:
    """Passages with their vectors and those of their spans.

    Args:
        encoder: of passages.
        passages: token ids of each.
        starts: the tokens at which each one's spans begin, the first 0.
    """

    def __init__(self, encoder: Bert, passages: Sequence[Ids], starts: Sequence[Sequence[int]]) -> None:
        self.wholes, self._spans = encoder.encode_spans(passages, starts)
        self._firsts = np.cumsum([0, *(len(own) for own in starts[:-1])])

    def score(self, queries: Floats) -> Floats:
        """(Q, P) similarities of queries (Q, D): the most similar span's, and the passage's, weighed as in search."""
        result = WHOLE_WEIGHT * (queries @ self.wholes.T)
        for row, query in enumerate(queries):
            result[row] += np.maximum.reduceat(self._spans @ query, self._firsts)
        return np.asarray(result / (1 + WHOLE_WEIGHT), dtype=np.float32)
