"""Metrics worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from nlb_training.evaluation import metrics


def row(*values: float) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.array([values], dtype=np.float64)


def truth(*values: int) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    return np.array([values], dtype=np.bool_)


def test_documents_are_ordered_by_their_scores() -> None:
    ordered = metrics.order(row(0.1, 0.9, 0.5), truth(1, 0, 1))
    assert ordered.tolist() == [[False, True, True]]


def test_on_a_tie_the_wrong_document_comes_first() -> None:
    assert metrics.order(row(0.5, 0.5, 0.5), truth(1, 0, 0)).tolist() == [[False, False, True]]
    assert metrics.order(row(0.5, 0.5, 0.5), truth(0, 0, 1)).tolist() == [[False, False, True]]


def test_a_score_that_is_no_number_comes_last() -> None:
    assert metrics.order(row(np.nan, -1e30), truth(1, 0)).tolist() == [[False, True]]


def test_ranks_rates_and_gains_of_the_first_right_document() -> None:
    ordered = np.array([[1, 0, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]], dtype=np.bool_)
    ranks = metrics.first_ranks(ordered)
    assert ranks.tolist() == [1, 3, np.inf]
    assert metrics.reciprocal_ranks(ranks) == pytest.approx([1, 1 / 3, 0])
    assert metrics.hits(ranks, 1).tolist() == [1, 0, 0]
    assert metrics.hits(ranks, 3).tolist() == [1, 1, 0]
    assert metrics.gains(ranks, 10) == pytest.approx([1, 0.5, 0])  # 1 / log2(1 + 3)
    assert metrics.gains(ranks, 2) == pytest.approx([1, 0, 0])


def test_average_precision_looks_at_every_right_document() -> None:
    # At ranks 1, 3 and 4: (1/1 + 2/3 + 3/4) / 3.
    assert metrics.average_precisions(truth(1, 0, 1, 1)) == pytest.approx([29 / 36])
    assert metrics.average_precisions(truth(0, 0)) == pytest.approx([0])


def test_f1_is_counted_by_label_and_over_all() -> None:
    # a: precision 2/3, recall 1: 4/5; b: precision 1, recall 1/2: 2/3; c: never guessed: 0.
    macro, micro = metrics.f1_scores(["a", "a", "b", "b", "c"], ["a", "a", "b", "a", "b"])
    assert macro == pytest.approx((4 / 5 + 2 / 4 + 0) / 3)
    assert micro == pytest.approx(3 / 5)


def test_standardized_scores_have_mean_0_and_deviation_1_and_equal_ones_say_nothing() -> None:
    assert metrics.standardize(row(1, 2, 3)) == pytest.approx(row(-(1.5**0.5), 0, 1.5**0.5))
    assert metrics.standardize(row(7, 7, 7)).tolist() == [[0, 0, 0]]


def test_the_interval_comes_from_whole_groups_and_is_the_same_every_time() -> None:
    values, groups = np.array([1.0] * 50 + [0.0] * 50), ["a"] * 50 + ["b"] * 50
    torn = metrics.bootstrap(values, [str(number) for number in range(100)])
    whole = metrics.bootstrap(values, groups)
    assert whole == metrics.bootstrap(values, groups)
    assert (whole.value, whole.low, whole.high) == (0.5, 0, 1)  # two books: one, the other, or both
    assert 0.38 < torn.low < 0.45 and 0.55 < torn.high < 0.62


def test_queries_on_one_book_are_resampled_themselves() -> None:
    values = np.array([0.0, 1.0] * 50)
    assert metrics.bootstrap(values, ["moby-dick.txt"] * 100) == metrics.bootstrap(
        values, [f"{n:03}" for n in range(100)]
    )


def test_one_query_has_no_interval() -> None:
    alone = metrics.bootstrap(np.array([0.5]), ["a"])
    assert (alone.value, alone.low, alone.high) == (0.5, None, None)


def test_the_interval_is_the_same_however_many_groups_are_drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    values, groups = np.random.default_rng(1).random(37), [str(number) for number in range(37)]
    at_once = metrics.bootstrap(values, groups)
    monkeypatch.setattr(metrics, "_DRAWN_AT_ONCE", 100)
    assert metrics.bootstrap(values, groups) == at_once


def test_a_small_gain_everywhere_is_certain_though_the_values_spread_wide() -> None:
    values = np.random.default_rng(1).random(40)
    groups = [str(number) for number in range(40)]
    difference = metrics.compare(values + 0.01, values, groups)
    assert difference.low == pytest.approx(0.01)
    assert difference.high == pytest.approx(0.01)
    alone = metrics.bootstrap(values, groups)
    assert alone.high - alone.low > 0.1
