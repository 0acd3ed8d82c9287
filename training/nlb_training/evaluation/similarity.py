"""Semantic similarity, zero-shot (arXiv 2402.17682, section 4): rank chapters for summaries and the reverse.

All chapters of all books are ranked for each summary and all summaries for each chapter, over the whole set and
within the right book; books and their summaries likewise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nlb_training.evaluation import metrics
from nlb_training.evaluation.metrics import Values
from nlb_training.evaluation.pairs import RankingSet
from nlb_training.evaluation.results import Difference, Measurement
from nlb_training.evaluation.systems import System

TASK = "similarity"
CUTS = (1, 5, 10)


def measure(pairs: RankingSet, systems: Sequence[System]) -> tuple[list[Measurement], list[Difference]]:
    """Rank a set with every system.

    Returns:
        Measurements of each system, and the difference in MRR of each trained one to the untrained mean and to the
        best baseline (of its kind: vectors alone, or fused).
    """
    measurements: list[Measurement] = []
    reciprocal: dict[str, Values] = {}
    used = [system for system in systems if system.both_ways or pairs.documents[0].span is not None]
    for system in used:
        values = compute_metrics(system.score(pairs), pairs)
        reciprocal[system.name] = values["mrr"]
        for metric, each in values.items():
            measurements.append(
                Measurement.of(TASK, pairs.name, system.name, metric, each, pairs.groups, trained=system.trained)
            )
    return measurements, _differences(pairs, used, reciprocal)


def compute_metrics(scores: metrics.Matrix, pairs: RankingSet) -> dict[str, Values]:
    """Each query's metrics; those with the prefix "book." are within the right book."""
    ordered = metrics.order(scores, pairs.relevant)
    ranks = metrics.first_ranks(ordered)
    values = {"mrr": metrics.reciprocal_ranks(ranks), "map": metrics.average_precisions(ordered)}
    values |= {f"hit@{cut}": metrics.hits(ranks, cut) for cut in CUTS}
    if pairs.level != "book":
        inside = np.where(pairs.same_book, scores, -np.inf)
        own = metrics.first_ranks(metrics.order(inside, pairs.relevant))
        values |= {"book.mrr": metrics.reciprocal_ranks(own), "book.hit@1": metrics.hits(own, 1)}
    return values


def _differences(pairs: RankingSet, systems: Sequence[System], values: dict[str, Values]) -> list[Difference]:
    differences = []
    for system in (each for each in systems if each.trained):
        rivals = [each.name for each in systems if not each.trained and _is_fused(each) == _is_fused(system)]
        best = sorted(rivals, key=lambda name: -float(values[name].mean()))[:1]
        untrained = [name for name in rivals if name == ("mean+bm25" if _is_fused(system) else "mean")]
        for rival in dict.fromkeys((*untrained, *best)):
            estimate = metrics.compare(values[system.name], values[rival], pairs.groups)
            differences.append(Difference.of(TASK, pairs.name, system.name, rival, "mrr", estimate))
    return differences


def _is_fused(system: System) -> bool:
    return system.fused or len(system.parts) > 1
