"""Metrics of rankings and labels: pure functions of scores and truths.

Shapes: Q queries, N documents. In a tie the wrong document comes first, so that a system that
gives every document the same score gets nothing for it. NaN scores come last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
"""(Q,), one number for each query."""
Matrix = NDArray[np.floating[Any]]
"""(Q, N) scores, higher is better."""
Truth = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean with its confidence interval."""

    value: float
    low: float | None
    """None, as `high`, of one query alone."""
    high: float | None


_DRAWN_AT_ONCE = 2_000_000
"""Groups that the bootstrap draws at once: bounds memory."""


def order(scores: Matrix, relevant: Truth) -> Truth:
    """Relevance of the documents in the order of their scores.

    Args:
        scores: (Q, N).
        relevant: (Q, N), True if a document answers a query.

    Returns:
        (Q, N), best score first.
    """
    usable = np.where(np.isnan(scores), -np.inf, scores)
    columns = np.lexsort((relevant, -usable), axis=1)
    return np.take_along_axis(relevant, columns, axis=1)


def first_ranks(ordered: Truth) -> Values:
    """Rank, from 1, of each query's first relevant document; infinite if there is none."""
    ranks = np.where(ordered.any(axis=1), ordered.argmax(axis=1) + 1.0, np.inf)
    return np.asarray(ranks, dtype=np.float64)


def reciprocal_ranks(ranks: Values) -> Values:
    """1 / rank; its mean is the MRR."""
    return np.asarray(1.0 / ranks, dtype=np.float64)


def hits(ranks: Values, cut: int) -> Values:
    """1 if the first relevant document is among the first `cut`: the hit rate, or recall of one document."""
    return (ranks <= cut).astype(np.float64)


def gains(ranks: Values, cut: int) -> Values:
    """nDCG@cut of one relevant document at each rank: 1 / log2(1 + rank), 0 after the cut."""
    return np.asarray(np.where(ranks <= cut, 1.0 / np.log2(1.0 + np.minimum(ranks, cut)), 0.0), dtype=np.float64)


def average_precisions(ordered: Truth) -> Values:
    """Mean over a query's relevant documents of the precision at their ranks; its mean is the MAP."""
    counts = np.cumsum(ordered, axis=1)
    precisions = np.where(ordered, counts / np.arange(1, ordered.shape[1] + 1), 0.0)
    return np.asarray(precisions.sum(axis=1) / np.maximum(counts[:, -1], 1), dtype=np.float64)


def f1_scores(truths: Sequence[str], guesses: Sequence[str]) -> tuple[float, float]:
    """Macro F1 (mean over the labels of either side) and micro F1 (here the accuracy)."""
    from sklearn.metrics import f1_score  # type: ignore[import-untyped]

    return float(f1_score(truths, guesses, average="macro")), float(f1_score(truths, guesses, average="micro"))


def bootstrap(values: Values, groups: Sequence[str], *, samples: int = 2000) -> Estimate:
    """The mean with a 95% bootstrap interval over groups.

    Results of queries on one book are correlated, so whole groups are resampled, or queries where all are on one; with
    paired differences as values this is the paired bootstrap.

    Args:
        values: one number for each query.
        groups: of each query: its book, tale or textbook section.
        samples: number of resamplings.
    """
    names, which = np.unique(np.array(groups), return_inverse=True)
    if len(names) == 1:
        names = which = np.arange(len(values))
    if len(names) == 1:
        return Estimate(value=float(values.mean()), low=None, high=None)
    sums = np.bincount(which, weights=values, minlength=len(names))
    counts = np.bincount(which, minlength=len(names))
    random, means = np.random.default_rng(0), np.empty(samples)
    step = max(1, _DRAWN_AT_ONCE // len(names))
    for first in range(0, samples, step):
        drawn = random.integers(0, len(names), (min(step, samples - first), len(names)))
        means[first : first + step] = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Estimate(value=float(values.mean()), low=float(low), high=float(high))


def compare(values: Values, others: Values, groups: Sequence[str], *, samples: int = 2000) -> Estimate:
    """Difference of two systems' values on the same queries (paired bootstrap)."""
    return bootstrap(values - others, groups, samples=samples)


def standardize(scores: Matrix) -> Values:
    """Each query's scores (Q, N) minus their mean, divided by their deviation; 0 if all are the same."""
    scores = scores.astype(np.float64)
    spread = scores.std(axis=1, keepdims=True)
    centred = scores - scores.mean(axis=1, keepdims=True)
    return np.asarray(centred / np.where(spread > 1e-12, spread, 1.0), dtype=np.float64)
