"""The reranker's features on vectors that can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from nlb_retriever.model.reranker import FEATURES, Vectors, compute_features, score_features

AXES = np.eye(4, dtype=np.float32)
SENTENCES = AXES[:3]


def features_of(*sections: Vectors) -> dict[str, list[float]]:
    dense = np.arange(len(sections), dtype=np.float32)
    features = compute_features(SENTENCES, sections, dense=dense, bm25=10 * dense)
    return {name: features[:, column].tolist() for column, name in enumerate(FEATURES)}


def test_order_tells_a_section_from_its_reverse() -> None:
    features = features_of(AXES[:3], AXES[:3][::-1])
    assert features["order"] == pytest.approx([1, -1], abs=1e-3)
    for name in ("forward", "reverse", "lowest", "median"):
        assert features[name] == [1, 1]


def test_a_missing_sentence_lowers_forward_and_an_extra_chunk_lowers_reverse() -> None:
    features = features_of(AXES[:2], AXES[:4], AXES[3:])
    assert features["forward"] == pytest.approx([2 / 3, 1, 0])
    assert features["reverse"] == pytest.approx([1, 3 / 4, 0])
    assert features["lowest"] == [0, 1, 0]
    assert features["median"] == [1, 1, 0]
    assert features["log_chunks"] == pytest.approx([np.log(2), np.log(4), 0])


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
