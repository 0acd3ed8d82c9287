"""Spans of passages as token ids: what the library gives vectors of their own (nlb_retriever.text.spans)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from nlb_training.encoder.bert import Ids

Floats = NDArray[np.float32]

SPAN_TOKENS = 48
"""Longest span of several sentences: some SPAN_CHARACTERS."""
WHOLE = 0.5
"""Weight of the whole passage's similarity beside that of its most similar span, as in search."""
_ENDS = (999, 1012, 1029)
"""Ids of ! . ?"""
_CLOSERS = (999, 1000, 1005, 1007, 1012, 1029, 1521, 1524)
"""Ids of what may follow the end of a sentence and belongs to it: ! " ' ) . ? and curly quotation marks."""


def find_spans(passage: Ids) -> list[int]:
    """At which tokens a passage's spans begin: as many whole sentences each as fit, at least one; the first is 0."""
    ended = np.isin(passage, _ENDS) | np.isin(passage, _CLOSERS)
    real = np.flatnonzero(ended[:-1] & ~ended[1:])
    starts = [0]
    borders = [int(index) + 1 for index in real if _ends(passage, int(index))]
    for start, end in pairwise([*borders, len(passage)]):
        if end - starts[-1] > SPAN_TOKENS:
            starts.append(start)
    return starts


def _ends(passage: Ids, index: int) -> bool:
    """Whether a run of marks up to `index` has one that ends a sentence."""
    while index >= 0 and passage[index] in _CLOSERS:
        if passage[index] in _ENDS:
            return True
        index -= 1
    return False


class Encoder(Protocol):
    """Makes unit vectors of token ids."""

    def encode(self, texts: Sequence[Ids]) -> Floats:
        """(n, D) of texts."""
        ...

    def encode_spans(self, texts: Sequence[Ids], starts: Sequence[Sequence[int]]) -> tuple[Floats, Floats]:
        """(n, D) of texts, (s, D) of their spans, which begin at given tokens."""
        ...


class SpanIndex:
    """Passages with their vectors and those of their spans.

    Args:
        encoder: of passages and queries.
        passages: token ids of each.
    """

    def __init__(self, encoder: Encoder, passages: Sequence[Ids]) -> None:
        starts = [find_spans(passage) for passage in passages]
        self.wholes, self._spans = encoder.encode_spans(passages, starts)
        self._firsts = np.cumsum([0, *(len(own) for own in starts[:-1])])

    def score(self, queries: Floats) -> Floats:
        """(Q, P) similarities of queries (Q, D): that of the most similar span and WHOLE of the passage's."""
        result = WHOLE * (queries @ self.wholes.T)
        for row, query in enumerate(queries):
            result[row] += np.maximum.reduceat(self._spans @ query, self._firsts)
        return np.asarray(result / (1 + WHOLE), dtype=np.float32)
