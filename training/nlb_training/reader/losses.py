"""What the reader learns from: spans, relevance by itself and beside other passages, and a teacher's scores of them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from nlb_retriever.reader.network import EXCLUDED
from nlb_training.reader.rows import Batch

_LABELS = 0.3
"""Weight of the labels beside a teacher's scores, which count 1."""


@dataclass(frozen=True, kw_only=True)
class LossWeights:
    """Of the parts beside the loss of spans, which counts 1."""

    relevance: float = 0.3
    """Of "does this passage answer?", for each row by itself."""
    ranking: float = 0.5
    """Of the softmax over an example's passages."""


def reader_loss(spans: Tensor, relevance: Tensor, batch: Batch, weights: LossWeights) -> Tensor:
    """The loss of a batch: the weighted sum of its parts.

    Args:
        spans: (B, L, 2) of `ReaderNetwork`.
        relevance: (B,) of `ReaderNetwork`.
        batch: what was scored; where it has a teacher's scores, the network learns them too.
        weights: of the parts.
    """
    each = functional.binary_cross_entropy_with_logits(relevance.float(), batch.relevant)
    total = span_loss(spans.float(), batch) + weights.relevance * each
    total = total + weights.ranking * ranking_loss(relevance.float(), batch)
    if batch.taught_spans is not None:
        total = _LABELS * total + taught_loss(spans.float(), relevance.float(), batch, weights)
    return total


def span_loss(scores: Tensor, batch: Batch) -> Tensor:
    """Negative log-likelihood of the answers, all of a row's spans together (arXiv 1710.10723, section 3.2).

    A row that does not answer has [CLS] for its span; one that answers in other words than its own is left out.
    """
    logs = _log_spans(scores, batch)
    none = torch.nonzero(batch.relevant == 0)[:, 0]
    zero = torch.zeros_like(none)
    spans = torch.cat([batch.spans, torch.stack([none, zero, zero], dim=1)])
    rows = spans[:, 0]
    each = logs[rows, spans[:, 1], 0] + logs[rows, spans[:, 2], 1]
    sums = _log_sums(each, rows, len(logs))
    having = sums > -torch.inf
    return -sums[having].mean() / 2 if having.any() else scores.sum() * 0


def ranking_loss(relevance: Tensor, batch: Batch) -> Tensor:
    """Cross-entropy of the relevant passages among all of their example's; examples of one kind are left out."""
    _, groups = torch.unique(batch.examples, return_inverse=True)
    count = int(groups.max()) + 1
    good = batch.relevant > 0
    every, right, wrong = (_log_sums(relevance[rows], groups[rows], count) for rows in (slice(None), good, ~good))
    mixed = (wrong > -torch.inf) & (right > -torch.inf)
    return (every[mixed] - right[mixed]).mean() if mixed.any() else relevance.sum() * 0


def taught_loss(spans: Tensor, relevance: Tensor, batch: Batch, weights: LossWeights) -> Tensor:
    """Distance to a teacher's distributions (distillation, arXiv 1503.02531, section 2): the sums of `reader_loss`.

    Kullback-Leibler divergence over a row's tokens, as first and as last, and over an example's passages; binary
    cross-entropy of each row's relevance with the teacher's probability.
    """
    assert batch.taught_spans is not None
    assert batch.taught_relevance is not None
    theirs, ours = _log_spans(batch.taught_spans, batch), _log_spans(spans, batch)
    span = (theirs.exp() * (theirs - ours)).sum(1).mean()
    each = functional.binary_cross_entropy_with_logits(relevance, torch.sigmoid(batch.taught_relevance))
    _, groups = torch.unique(batch.examples, return_inverse=True)
    lists = int((torch.bincount(groups) > 1).sum())
    theirs, ours = _log_lists(batch.taught_relevance, groups), _log_lists(relevance, groups)
    ranking = (theirs.exp() * (theirs - ours)).sum() / max(1, lists)
    return span + weights.relevance * each + weights.ranking * ranking


def _log_spans(scores: Tensor, batch: Batch) -> Tensor:
    """(B, L, 2) logarithms of the softmax over what may be chosen: the passage's tokens and [CLS]."""
    own = batch.types.bool() & batch.mask.bool()
    own[torch.arange(len(own), device=own.device), batch.mask.sum(1) - 1] = False  # the closing [SEP]
    own[:, 0] = True
    return functional.log_softmax(scores.masked_fill(~own[..., None], EXCLUDED), dim=1)


def _log_lists(relevance: Tensor, groups: Tensor) -> Tensor:
    """(B,) logarithms of the softmax over the rows of each group."""
    return relevance - _log_sums(relevance, groups, int(groups.max()) + 1)[groups]


def _log_sums(values: Tensor, groups: Tensor, count: int) -> Tensor:
    """(count,) logarithms of the sum of each group's exponentials; minus infinity for a group without values."""
    peak = values.new_full((count,), -torch.inf).scatter_reduce(0, groups, values.detach(), "amax")
    return torch.log(values.new_zeros(count).index_add(0, groups, torch.exp(values - peak[groups]))) + peak
