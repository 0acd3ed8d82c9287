"""The contrastive loss of a batch."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from nlb_training.encoder.rounds import IGNORED, POSITIVE


def contrast(queries: Tensor, passages: Tensor, labels: Tensor, *, scale: float) -> Tensor:
    """Cross entropy of each query's passage among all that do not answer it (InfoNCE).

    Args:
        queries: (Q, D) unit vectors.
        passages: (P, D) unit vectors.
        labels: (Q, P) POSITIVE, one a row, NEGATIVE or IGNORED.
        scale: inverse temperature.

    Returns:
        (Q,) one loss a query.
    """
    logits = scale * queries @ passages.T
    logits = logits.masked_fill(labels == IGNORED, -torch.inf)
    return functional.cross_entropy(logits, (labels == POSITIVE).int().argmax(dim=1), reduction="none")
