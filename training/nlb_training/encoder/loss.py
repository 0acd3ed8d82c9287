"""The contrastive loss of a batch."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from nlb_training.encoder.rounds import IGNORED, POSITIVE


def contrast(queries: Tensor, passages: Tensor, labels: Tensor, *, scale: float, words: Tensor | None = None) -> Tensor:
    """Cross entropy of each query's passage among all that do not answer it (InfoNCE).

    Args:
        queries: (Q, D) unit vectors.
        passages: (P, D) unit vectors.
        labels: (Q, P) POSITIVE, one a row, NEGATIVE or IGNORED.
        scale: inverse temperature.
        words: (Q, P) what is added to the cosines: a weighted BM25, so that vectors learn what words do not tell
            (CLEAR, arXiv 2004.13969).

    Returns:
        (Q,) one loss a query.
    """
    scores = queries @ passages.T
    logits = scale * (scores if words is None else scores + words)
    logits = logits.masked_fill(labels == IGNORED, -torch.inf)
    return functional.cross_entropy(logits, (labels == POSITIVE).int().argmax(dim=1), reduction="none")
