"""The sentences of a text that tell most."""

from __future__ import annotations

import numpy as np

from nlb_retriever.search.answers.telling import SENTENCES, WORDS, choose
from nlb_retriever.search.request import MOST


def test_one_sentence_of_each_part_is_chosen() -> None:
    scores = np.array([1.0, 3.0, 2.0, 9.0, 0.0, 1.0, 5.0, 4.0], dtype=np.float32)
    lengths = np.array([6, 6, 6, 2, 6, 6, 6, 6])
    assert choose(scores, lengths, 2) == [1, 6]
    assert choose(scores, np.full(8, 6), 4) == [1, 3, 5, 6]
    assert choose(scores, np.array([6, 6, 6, 6, 6, 6, 200, 6]), 1) == [3]
    assert choose(scores[:1], lengths[:1], 8) == [0]
    assert choose(scores[:0], lengths[:0], 8) == []
    assert choose(scores, np.full(8, 6), MOST) == [*range(8)]
    chosen = choose(np.ones(80, dtype=np.float32), np.full(80, 40), SENTENCES)
    assert sum([40] * len(chosen)) <= WORDS
