"""Objectives of masked-chunk pretraining: pure functions that give one loss for each prediction.

NextLevelBERT (arXiv 2402.17682) regresses the masked vector with smooth-L1; SMITH (arXiv 2004.12297) picks the
masked block among those of the batch. Shapes: N predictions, M candidates, D chunk_dim.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, cross_entropy, normalize, smooth_l1_loss

Distance = Literal["smooth_l1", "cosine"]
_SAME = 1 - 1e-4
"""Minimum cosine of two chunks that count as the same one."""


def measure_distances(predictions: Tensor, targets: Tensor, kind: Distance) -> Tensor:
    """Distance of each prediction to its target.

    Summed over the D numbers where torch would average, which makes the figure readable: between unit vectors
    smooth-L1 is 1 - cosine.

    Args:
        predictions: (N, D).
        targets: (N, D), unit vectors.
        kind: smooth_l1 (with beta 1) or cosine (1 - cosine).

    Returns:
        (N,)
    """
    if kind == "cosine":
        return 1 - cosine_similarity(predictions, targets, dim=-1)
    return smooth_l1_loss(predictions, targets, reduction="none").sum(-1)


def candidate_logits(predictions: Tensor, candidates: Tensor, own: Tensor, temperature: float) -> Tensor:
    """Logits of each prediction's target among all candidates.

    A candidate that equals the target (a chapter that is in the batch twice) is not a wrong answer: its logit is
    minus infinity.

    Args:
        predictions: (N, D), of any length.
        candidates: (M, D) unit vectors of all chunks of the batch.
        own: (N,) index of each prediction's target among the candidates.
        temperature: cosines are divided by it.

    Returns:
        (N, M)
    """
    with torch.autocast(predictions.device.type, enabled=False):  # bf16 has no numbers between 0.996 and 1
        candidates = candidates.float()
        logits = normalize(predictions.float(), dim=-1) @ candidates.T / temperature
        twins = candidates[own] @ candidates.T > _SAME
    twins[torch.arange(len(own), device=own.device), own] = False
    return logits.masked_fill(twins, -torch.inf)


def contrast_candidates(predictions: Tensor, candidates: Tensor, own: Tensor, temperature: float) -> Tensor:
    """Cross-entropy (N,) of each prediction's target among the candidates; see `candidate_logits`."""
    return cross_entropy(candidate_logits(predictions, candidates, own, temperature), own, reduction="none")


def average_per_sample(losses: Tensor, rows: Tensor, count: int) -> Tensor:
    """Mean over rows of each row's mean loss, so that all rows weigh the same.

    Args:
        losses: (N,), one for each prediction.
        rows: (N,), the row of each prediction.
        count: rows of the batch; those without a prediction do not count.

    Returns:
        ()
    """
    sums = losses.new_zeros(count).index_add(0, rows, losses)
    predictions = torch.bincount(rows, minlength=count)
    return (sums / predictions.clamp(min=1)).sum() / (predictions > 0).sum().clamp(min=1)
