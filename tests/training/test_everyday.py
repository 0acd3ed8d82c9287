"""The everyday questions that come with the package."""

from __future__ import annotations

from nlb_retriever.encoding import load_encoder
from nlb_training.everyday import read_everyday


def test_the_questions_to_measure_with_are_not_near_those_trained_on() -> None:
    train, val, test = (read_everyday(part) for part in ("train", "val", "test"))
    assert (len(train), len(val), len(test)) == (2147, 340, 248)
    assert len({*train, *val, *test}) == len(train) + len(val) + len(test)
    encoder = load_encoder(device="cpu")
    similarity = encoder.encode([*val, *test], query=True) @ encoder.encode(train, query=True).T
    assert similarity.max() < 0.87
