"""What a batch is trained on: its passages told apart, and a reader's order of each query's candidates."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from nlb_retriever.search.ranking import WHOLE_WEIGHT
from nlb_training.encoder.rounds import IGNORED, POSITIVE


def compare(queries: Tensor, wholes: Tensor, spans: Tensor, owners: Tensor) -> tuple[Tensor, Tensor]:
    """Similarities of queries and passages, with their gradients.

    Args:
        queries: (Q, D) unit vectors.
        wholes: (P, D) unit vectors of passages.
        spans: (S, D) unit vectors of their spans.
        owners: (S,) the passage of each span.

    Returns:
        (Q, P) cosines of whole passages, and (Q, P) similarities as search weighs them (`SpanIndex.score`).
    """
    cosines = queries @ wholes.T
    best = torch.full_like(cosines, -torch.inf).scatter_reduce(
        1, owners.expand(len(queries), -1), queries @ spans.T, "amax"
    )
    return cosines, (best + WHOLE_WEIGHT * cosines) / (1 + WHOLE_WEIGHT)


def contrast(scores: Tensor, labels: Tensor, *, scale: float) -> Tensor:
    """Cross entropy of each query's passage among all that do not answer it (InfoNCE).

    Args:
        scores: (Q, P) similarities.
        labels: (Q, P) POSITIVE, one a row, NEGATIVE or IGNORED.
        scale: inverse temperature.

    Returns:
        (Q,) one loss a query.
    """
    logits = (scale * scores).masked_fill(labels == IGNORED, -torch.inf)
    return functional.cross_entropy(logits, (labels == POSITIVE).int().argmax(dim=1), reduction="none")


def follow(scores: Tensor, candidates: Tensor, relevance: Tensor, *, scale: float) -> Tensor:
    """How far the candidates' similarities are from a reader's relevance (listwise distillation, arXiv 2110.07367).

    Args:
        scores: (Q, P) similarities.
        candidates: (Q, C) columns of P, -1 for none.
        relevance: (Q, C) logits of the reader, NaN where it has not read.
        scale: inverse temperature of the similarities.

    Returns:
        (Q,) Kullback-Leibler divergences; 0 where less than two candidates have been read.
    """
    read = (candidates >= 0) & ~relevance.isnan()
    lowest = torch.finfo(scores.dtype).min
    wanted = relevance.masked_fill(~read, lowest).softmax(dim=1)
    own = (scale * scores.gather(1, candidates.clamp(min=0))).masked_fill(~read, lowest).log_softmax(dim=1)
    losses = functional.kl_div(own, wanted, reduction="none").sum(dim=1)
    return losses * (read.sum(dim=1) > 1)
