"""What a guessed chunk vector is measured by. Pure functions with one loss a guess.

The paper (NextLevelBERT, arXiv 2402.17682) regresses the hidden vector with smooth-L1; SMITH (arXiv 2004.12297)
picks the hidden block among those of the batch. Shapes: N guesses, M candidates, D chunk_dim.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, cross_entropy, l1_loss, mse_loss, normalize, smooth_l1_loss

Distance = Literal["smooth_l1", "l1", "l2", "cosine"]
Objective = Literal["smooth_l1", "l1", "l2", "cosine", "contrastive"]
_SAME = 1 - 1e-4
"""Cosine from which on two chunks count as the same one."""


def distances(guesses: Tensor, hidden: Tensor, kind: Distance) -> Tensor:
    """Distance of each guess to the vector that was hidden.

    Summed over the D numbers where torch would average: the minimum is the same, and the figure can be read
    (between unit vectors smooth-L1 is 1 - cosine, l2 twice that).

    Args:
        guesses: (N, D).
        hidden: (N, D), unit vectors.
        kind: smooth_l1 (with its bend at 1), l1, l2 (squared) or cosine (1 - cosine).

    Returns:
        (N,)
    """
    if kind == "cosine":
        return 1 - cosine_similarity(guesses, hidden, dim=-1)
    measure = {"smooth_l1": smooth_l1_loss, "l1": l1_loss, "l2": mse_loss}[kind]
    return measure(guesses, hidden, reduction="none").sum(-1)


def choices(guesses: Tensor, candidates: Tensor, own: Tensor, temperature: float) -> Tensor:
    """Logits of the choice of each guess's chunk among all candidates.

    A candidate that is the same vector as the hidden one (a chapter that is in the batch twice) is no wrong
    answer: its logit is minus infinity.

    Args:
        guesses: (N, D), of any length.
        candidates: (M, D) unit vectors of all chunks of the batch.
        own: (N,) index of each guess's hidden vector among the candidates.
        temperature: cosines are divided by it.

    Returns:
        (N, M)
    """
    with torch.autocast(guesses.device.type, enabled=False):  # bf16 knows no cosine between 0.996 and 1
        candidates = candidates.float()
        logits = normalize(guesses.float(), dim=-1) @ candidates.T / temperature
        twins = candidates[own] @ candidates.T > _SAME
    twins[torch.arange(len(own), device=own.device), own] = False
    return logits.masked_fill(twins, -torch.inf)


def contrasts(guesses: Tensor, candidates: Tensor, own: Tensor, temperature: float) -> Tensor:
    """Cross-entropy (N,) of picking each guess's hidden vector among the candidates; see `choices`."""
    return cross_entropy(choices(guesses, candidates, own, temperature), own, reduction="none")


def average_per_sample(losses: Tensor, rows: Tensor, count: int) -> Tensor:
    """Mean over rows of each row's mean loss, so that a row with many guesses weighs no more than one with few.

    Args:
        losses: (N,) one a guess.
        rows: (N,) the row of each guess.
        count: rows of the batch; those without a guess do not count.

    Returns:
        ()
    """
    sums = losses.new_zeros(count).index_add(0, rows, losses)
    guesses = torch.bincount(rows, minlength=count)
    return (sums / guesses.clamp(min=1)).sum() / (guesses > 0).sum().clamp(min=1)
