"""What a batch is trained on: its passages told apart, and a reader's order of each query's candidates."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from nlb_retriever.search.ranking import TERMS_WEIGHT, WHOLE_WEIGHT
from nlb_training.encoder.rounds import IGNORED, POSITIVE, SAME_BOOK


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


def compare_terms(queries: Tensor, asking: Tensor, passages: Tensor, owners: Tensor, shape: tuple[int, int]) -> Tensor:
    """Similarities of the terms of queries and passages as search has them (`nlb_retriever.encoding.terms`).

    Of a passage's terms the signs are compared, and their gradient is taken for that of the numbers (straight-through
    estimator, arXiv 1308.3432).

    Args:
        queries: (t, d) unit vectors of queries' terms.
        asking: (t,) the query of each.
        passages: (s, d) unit vectors of passages' terms.
        owners: (s,) the passage of each.
        shape: numbers Q of queries and P of passages.

    Returns:
        (Q, P) means over a query's terms of the most similar one of a passage, 0 where it has none.
    """
    signs = torch.where(passages > 0, 1.0, -1.0) / passages.shape[1] ** 0.5
    cosines = queries @ (passages + (signs - passages).detach()).T
    best = torch.full((len(queries), shape[1]), -1.0, device=queries.device)
    best = best.scatter_reduce(1, owners.expand(len(queries), -1), cosines, "amax")
    counts = torch.bincount(asking, minlength=shape[0]).clamp(min=1)
    return torch.zeros(shape, device=queries.device).index_add(0, asking, best) / counts[:, None]


def add_terms(spans: Tensor, terms: Tensor) -> Tensor:
    """(Q, P) similarities by spans and by terms, weighed as search weighs passages."""
    weight = TERMS_WEIGHT["passage"]
    return ((1 + WHOLE_WEIGHT) * spans + weight * terms) / (1 + WHOLE_WEIGHT + weight)


def contrast(scores: Tensor, labels: Tensor, *, scale: float, other_books: bool = False) -> Tensor:
    """Cross entropy of each query's passage among all that do not answer it (InfoNCE).

    Args:
        scores: (Q, P) similarities.
        labels: (Q, P) POSITIVE, one a row, NEGATIVE, IGNORED or SAME_BOOK.
        scale: inverse temperature.
        other_books: only among those of other books.

    Returns:
        (Q,) one loss a query.
    """
    hidden = (labels == IGNORED) | ((labels == SAME_BOOK) & other_books)
    logits = (scale * scores).masked_fill(hidden, -torch.inf)
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
