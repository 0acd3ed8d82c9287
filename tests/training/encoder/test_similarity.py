"""Passages are compared in training as search compares them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from nlb_retriever.search.ranking import WHOLE_WEIGHT
from nlb_training.encoder.bert import Ids
from nlb_training.encoder.similarity import Floats, SpanIndex


class BagOfWords:
    """Vectors that know which tokens a text has, and nothing else."""

    axes = np.random.default_rng(0).normal(size=(30522, 256)).astype(np.float32)

    def encode(self, texts: Sequence[Ids]) -> Floats:
        rows = np.stack([self.axes[np.unique(text)].sum(axis=0) for text in texts])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def encode_spans(self, texts: Sequence[Ids], starts: Sequence[Sequence[int]]) -> tuple[Floats, Floats]:
        spans = [text[a:b] for text, own in zip(texts, starts, strict=True) for a, b in pairwise([*own, len(text)])]
        return self.encode(texts), self.encode(spans)


def test_a_passage_is_found_by_its_span_and_its_whole() -> None:
    stop, filler = 1012, list(range(3000, 3040))
    passages = [
        np.array([2001, 2002, stop, *filler, *filler, stop], dtype=np.uint16),
        np.array([2001, *filler, stop, *filler, 2002, stop], dtype=np.uint16),
    ]
    encoder = BagOfWords()
    index = SpanIndex(encoder, passages, [[0, 3], [0, 42]])
    query = encoder.encode([np.array([2001, 2002], dtype=np.uint16)])
    whole = query @ encoder.encode(passages).T
    assert abs(float(whole[0, 0] - whole[0, 1])) < 0.05
    scores = index.score(query)
    assert scores[0, 0] > scores[0, 1] + 0.1
    best = float((query @ encoder.encode([passages[0][:3]]).T)[0, 0])
    assert scores[0, 0] == pytest.approx((best + WHOLE_WEIGHT * float(whole[0, 0])) / (1 + WHOLE_WEIGHT), abs=1e-5)
