"""The reranker's features on vectors that can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from nlb_retriever.model.reranker import FEATURES, Vectors, features, score

AXES = np.eye(4, dtype=np.float32)
SENTENCES = AXES[:3]


def known(*sections: Vectors) -> dict[str, list[float]]:
    dense = np.arange(len(sections), dtype=np.float32)
    found = features(SENTENCES, sections, dense=dense, words=10 * dense)
    return {name: found[:, column].tolist() for column, name in enumerate(FEATURES)}


def test_a_section_that_tells_it_in_order_is_told_from_one_that_tells_it_backwards() -> None:
    found = known(AXES[:3], AXES[:3][::-1])
    assert found["order"] == pytest.approx([1, -1], abs=1e-3)
    for name in ("forward", "reverse", "least", "median"):
        assert found[name] == [1, 1]


def test_what_is_not_in_a_section_lowers_forward_and_what_is_not_asked_lowers_reverse() -> None:
    found = known(AXES[:2], AXES[:4], AXES[3:])
    assert found["forward"] == pytest.approx([2 / 3, 1, 0])
    assert found["reverse"] == pytest.approx([1, 3 / 4, 0])
    assert found["least"] == [0, 1, 0]
    assert found["median"] == [1, 1, 0]
    assert found["log_chunks"] == pytest.approx([np.log(2), np.log(4), 0])


def test_what_the_search_found_is_passed_on() -> None:
    found = known(AXES[:1], AXES[1:2])
    assert (found["dense"], found["words"]) == ([0, 1], [0, 10])


def test_a_section_of_one_chunk_has_no_order() -> None:
    assert known(AXES[:1], AXES)["order"][0] == 0


def test_scores_are_weighted_features_in_units_of_their_spread() -> None:
    found = np.zeros((3, len(FEATURES)), dtype=np.float32)
    found[:, 0] = [1, 2, 3]
    found[:, 1] = 7  # the same for all: says nothing
    weights = np.array([2, 5, *[0] * (len(FEATURES) - 2)], dtype=np.float32)
    np.testing.assert_allclose(score(found, weights), 2 * np.array([-1, 0, 1]) / np.std([1, 2, 3]), rtol=1e-4)
