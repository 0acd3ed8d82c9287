"""The reranker's features on vectors that can be worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from nlb_retriever.encoding import Vectors
from nlb_retriever.model.reranker import FEATURES, compute_features, score_features

AXES = np.eye(4, dtype=np.float32)
SENTENCES = AXES[:3]


def features_of(*sections: Vectors, words: Sequence[Vectors] = ()) -> dict[str, list[float]]:
    dense = np.arange(len(sections), dtype=np.float32)
    words = words or [np.zeros((len(SENTENCES), len(section)), dtype=np.float32) for section in sections]
    features = compute_features(SENTENCES, sections, words=words, dense=dense, bm25=10 * dense)
    return {name: features[:, column].tolist() for column, name in enumerate(FEATURES)}


def test_order_tells_a_section_from_its_reverse() -> None:
    features = features_of(AXES[:3], AXES[:3][::-1])
    assert features["order"] == pytest.approx([1, -1], abs=1e-3)
    assert features["forward"] == [1, 1]


def test_a_missing_sentence_lowers_forward() -> None:
    features = features_of(AXES[:2], AXES[:4], AXES[3:])
    assert features["forward"] == pytest.approx([2 / 3, 1, 0])
    assert features["log_chunks"] == pytest.approx([np.log(2), np.log(4), 0])


def test_words_tell_order_and_whose_passages_have_most_of_them() -> None:
    in_order = np.diag([8, 4, 2]).astype(np.float32)
    halved = np.array([[0, 0, 4], [0, 2, 0], [2, 0, 0]], dtype=np.float32)  # the last sentence as well as in the first
    features = features_of(AXES[:3], AXES[:3], AXES[:3], words=[in_order, halved, np.zeros_like(halved)])
    assert features["words_order"] == pytest.approx([1, -1, 0], abs=1e-3)
    assert features["words_best"] == pytest.approx([1, 1 / 3, 0])


def test_sentences_with_few_of_their_words_in_a_section_have_little_say_on_its_order() -> None:
    elsewhere = np.diag([10, 10, 10]).astype(np.float32)
    mixed = np.array([[9, 0, 0], [0, 0, 9], [0, 1, 0]], dtype=np.float32)
    features = features_of(AXES[:3], AXES[:3], words=[elsewhere, mixed])
    assert features["words_order"][1] > 0.9  # the third sentence alone is out of order
    none = np.array([[9, 0, 0], [0, 0, 9], [0, 0, 0]], dtype=np.float32)
    assert features_of(AXES[:3], AXES[:3], words=[elsewhere, none])["words_order"][1] == pytest.approx(1, abs=1e-3)


def test_dense_and_bm25_scores_are_passed_on() -> None:
    features = features_of(AXES[:1], AXES[1:2])
    assert (features["dense"], features["bm25"]) == ([0, 1], [0, 10])


def test_a_section_of_one_chunk_has_no_order() -> None:
    assert features_of(AXES[:1], AXES)["order"][0] == 0


def test_scores_are_weighted_features_in_units_of_their_spread() -> None:
    features = np.zeros((3, len(FEATURES)), dtype=np.float32)
    features[:, 0] = [1, 2, 3]
    features[:, 1] = 7  # the same for all: no effect
    weights = np.array([2, 5, *[0] * (len(FEATURES) - 2)], dtype=np.float32)
    np.testing.assert_allclose(
        score_features(features, weights), 2 * np.array([-1, 0, 1]) / np.std([1, 2, 3]), rtol=1e-4
    )
