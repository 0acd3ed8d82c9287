"""The projections as a torch module: their whitened start, and back to the library's NumPy ones.

The start is whitened: along its principal axes the variance of all chunk vectors is evened out, by a power of one
half rather than fully, as small axes are mostly noise (Su et al. 2021, arXiv 2103.15316, whiten fully). Every kind of
text has its own centre. A penalty keeps the trained projections close to their start. How the constants were chosen:
docs/training.md.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from nlb_retriever.encoding import Vectors
from nlb_retriever.model.dct import OrderFeatures
from nlb_retriever.model.projections import KINDS, Projection, Projections
from nlb_retriever.model.reranker import FEATURES
from nlb_training.data.dataset import RetrievalDataset

POWER = 0.5
"""Of whitening: 1 is full whitening, 0 none."""
SHRINK = 0.5
"""Share of the mean variance that is added to the variance of every axis."""
GATE = (2.0, -2.0, 0.8)
"""Initial scale and shift of `Projections.gate`, and its maximum, which is not trained."""
CONTEXT = 0.15
"""Of `Projections.context`."""
ORDER = (1.2, 0.6, 0.2)
"""Of `OrderFeatures.weights`."""
ORDER_HALF = 4.0
"""Of `OrderFeatures.half`."""
ORDER_SHARE = 3
"""1 / ORDER_SHARE of the directions, the strongest, are those of `OrderFeatures.directions`."""
PENALTY = 1e-2
STIFFNESS = 10.0
"""Penalty of all projections but that of long queries, relative to it: they have fewer examples."""
_CENTER = 10.0
"""Penalty of a centre, relative to a matrix."""


class TrainableProjections(nn.Module):
    """`nlb_retriever.model.projections.Projections` in torch, with the penalty and temperatures of training."""

    def __init__(self, start: Projections) -> None:
        super().__init__()
        self.start = start
        self.centers = nn.ParameterDict()
        self.matrices = nn.ParameterDict()
        for name in KINDS:
            projection = getattr(start, name)
            self.centers[name] = nn.Parameter(torch.from_numpy(projection.center.copy()))
            self.matrices[name] = nn.Parameter(torch.from_numpy(projection.matrix.copy()))
        self.gate = nn.Parameter(torch.from_numpy(start.gate[:2].copy()))
        self.most = float(start.gate[2])
        self.temperatures = nn.Parameter(torch.full((4,), 3.0))
        """Natural logarithms; of long queries, short ones, passages, books."""

    def project(self, name: str, vectors: Tensor) -> Tensor:
        """Unit vectors (..., D) of one kind -> unit vectors (..., D)."""
        return normalize((vectors - self.centers[name]) @ self.matrices[name], dim=-1)

    def query(self, whole: Tensor, sentence_means: Tensor, counts: Tensor) -> Tensor:
        """Query vectors (Q, D), equal to those of `Projections.project_query`.

        Args:
            whole: (Q, D) vectors of the whole texts.
            sentence_means: (Q, D) unit means of their sentences.
            counts: (Q,) number of sentences.
        """
        both = normalize(whole + sentence_means, dim=-1)
        share = self.most * torch.sigmoid(self.gate[0] * torch.log(counts) + self.gate[1])[:, None]
        return normalize(
            share * self.project("long_query", both) + (1 - share) * self.project("short_query", both), dim=-1
        )

    def penalty(self) -> Tensor:
        """Squared distance of the projections from their start, weighted."""
        total = torch.zeros(())
        for name in KINDS:
            start = getattr(self.start, name)
            moved = ((self.matrices[name] - torch.from_numpy(start.matrix)) ** 2).sum()
            moved = moved + _CENTER * ((self.centers[name] - torch.from_numpy(start.center)) ** 2).sum()
            total = total + (1.0 if name == "long_query" else STIFFNESS) * moved
        return PENALTY * total

    def to_projections(self) -> Projections:
        """In NumPy, as the library has them; reranker, context and order features are those of the start."""
        projections = {
            name: Projection(
                center=self.centers[name].detach().numpy().copy(), matrix=self.matrices[name].detach().numpy().copy()
            )
            for name in KINDS
        }
        gate = np.append(self.gate.detach().numpy(), np.float32(self.most)).astype(np.float32)
        return replace(self.start, gate=gate, **projections)  # type: ignore[arg-type]


def whiten(dataset: RetrievalDataset, books: Tensor) -> Projections:
    """Whitened projections without training: one matrix for all kinds, and each kind's own centre.

    Args:
        dataset: to compute them from.
        books: indexes of the books to use.
    """
    chunks = dataset.chunks[dataset.rows(books)]
    matrix, axes = _whitening(chunks)
    strongest = axes[:, -max(1, axes.shape[1] // ORDER_SHARE) :]
    long, short = _long_center(dataset, books), _short_center(dataset, books)
    mean = chunks.mean(0)
    short = mean if short is None else short
    sections = dataset.section_numbers(books)
    centers = {
        "long_query": short if long is None else long,
        "short_query": short,
        "passage": mean,
        "section": dataset.pool_sections()[sections].mean(0) if len(sections) else mean,
        "book": dataset.pool_books()[books].mean(0),
    }
    projections = {
        name: Projection(center=center.numpy().copy(), matrix=matrix.copy()) for name, center in centers.items()
    }
    return Projections(
        **projections,
        gate=np.array(GATE, dtype=np.float32),
        reranker=np.zeros(len(FEATURES), dtype=np.float32),
        context=np.full(1, CONTEXT, dtype=np.float32),
        order=OrderFeatures(
            directions=np.ascontiguousarray(matrix @ strongest),
            weights=np.array(ORDER, dtype=np.float32),
            half=np.full(1, ORDER_HALF, dtype=np.float32),
        ),
    )


def _whitening(chunks: Tensor) -> tuple[Vectors, Vectors]:
    """U (w + shrink * mean w)^(-power / 2) U^T of the covariance, with Frobenius norm sqrt(D); and U, sorted by
    ascending variance."""
    dim = chunks.shape[1]
    if len(chunks) < 2:
        return np.eye(dim, dtype=np.float32), np.eye(dim, dtype=np.float32)
    values, axes = np.linalg.eigh(np.cov(chunks.numpy().T.astype(np.float64)).reshape(dim, dim))
    values = np.maximum(values, 0)
    scales = np.maximum(values + SHRINK * values.mean(), 1e-12) ** (-POWER / 2)
    matrix = (axes * scales) @ axes.T
    return np.asarray(matrix * dim**0.5 / np.linalg.norm(matrix), dtype=np.float32), np.asarray(axes, dtype=np.float32)


def _long_center(dataset: RetrievalDataset, books: Tensor) -> Tensor | None:
    """Mean of the long queries; None without any."""
    query = dataset.long_queries.query[dataset.long_queries.among(books)]
    if not len(query):
        return None
    return normalize(dataset.whole[query] + dataset.sentence_means[query], dim=-1).mean(0)


def _short_center(dataset: RetrievalDataset, books: Tensor) -> Tensor | None:
    """Mean of the centres of single sentences of long queries and of short queries; None without any."""
    long = dataset.long_queries.query[dataset.long_queries.among(books)].tolist()
    wanted = set(books.tolist())
    short = [query for query, book, _ in dataset.passage_queries if book in wanted]
    short = short or dataset.short_queries.query[dataset.short_queries.among(books)].tolist()
    centers = []
    if long:
        centers.append(torch.from_numpy(np.concatenate([dataset.queries.of(one) for one in long]).mean(axis=0)))
    if short:
        centers.append(dataset.whole[short].mean(0))
    return torch.stack(centers).mean(0) if centers else None
