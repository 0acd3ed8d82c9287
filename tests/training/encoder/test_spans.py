"""Spans of passages in training: cut as the library cuts them, compared as search compares them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from nlb_training.encoder.spans import SPAN_TOKENS, WHOLE, SpanIndex, find_spans
from tests.doubles import minilm_tokenizer
from tests.training.encoder.test_probes import BagOfWords

TEXT = (
    '"Who are you?" said the Caterpillar. This was not an encouraging opening for a conversation. Alice replied, '
    "rather shyly, that she hardly knew, just at present, but that she must have changed several times since then. "
    '"What do you mean by that?" said the Caterpillar, sternly. (It was blue!) She could not explain it at all, she '
    "said. The Caterpillar took the pipe out of its mouth and yawned once or twice."
)


def test_spans_are_whole_sentences() -> None:
    tokenizer = minilm_tokenizer()
    tokenizer.no_truncation()
    tokenizer.no_padding()
    ids = np.array(tokenizer.encode(TEXT, add_special_tokens=False).ids, dtype=np.uint16)
    starts = find_spans(ids)
    spans = [tokenizer.decode(ids[a:b].tolist()) for a, b in pairwise([*starts, len(ids)])]
    assert [span.split()[0] for span in spans] == ['"', "alice", "("]
    assert all(b - a <= SPAN_TOKENS for a, b in pairwise([*starts, len(ids)]))


@pytest.mark.parametrize("size", [1, 300])
def test_a_passage_without_sentences_is_one_span(size: int) -> None:
    assert find_spans(np.full(size, 2000, dtype=np.uint16)) == [0]


def test_a_passage_is_found_by_its_span_and_its_whole() -> None:
    stop, filler = 1012, list(range(3000, 3040))
    passages = [
        np.array([2001, 2002, stop, *filler, *filler, stop], dtype=np.uint16),
        np.array([2001, *filler, stop, *filler, 2002, stop], dtype=np.uint16),
    ]
    encoder = BagOfWords()
    index = SpanIndex(encoder, passages)
    query = encoder.encode([np.array([2001, 2002], dtype=np.uint16)])
    whole = query @ encoder.encode(passages).T
    assert abs(float(whole[0, 0] - whole[0, 1])) < 0.05
    scores = index.score(query)
    assert scores[0, 0] > scores[0, 1] + 0.1
    best = float((query @ encoder.encode([passages[0][:3]]).T)[0, 0])
    assert scores[0, 0] == pytest.approx((best + WHOLE * float(whole[0, 0])) / (1 + WHOLE), abs=1e-5)
