"""The heads as a torch module: where their training starts, and back to the library's NumPy ones.

A start is whitened: along its principal axes the variance of all chunk vectors is evened out, by a power of
one half rather than fully, as small axes are mostly noise (Su et al. 2021, arXiv 2103.15316, whiten fully).
Every kind of text has its own centre. Training is held near its start by a penalty.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from nlb_retriever.encoding import Vectors
from nlb_retriever.model.dct import Order
from nlb_retriever.model.projections import AFFINES, Affine, Heads
from nlb_retriever.model.reranker import FEATURES
from nlb_training.data.dataset import Material

POWER = 0.5
"""1 would be full whitening, 0 none."""
SHRINK = 0.5
"""Share of the mean variance that is added to every axis's."""
GATE = (2.0, -2.0, 0.8)
"""Scale, shift and most of the long head's share; the last is fixed: the short head always has its say, so that
passages, which are trained with short questions, are found with long ones too."""
CONTEXT = 0.15
"""Of `Heads.context`: 0.1 and 0.2 were the best, and alike, on FairytaleQA's train questions."""
ORDER = (1.2, 0.6, 0.2)
"""Of `Order.weights`: chosen on BookSum's train summaries. Half more is as good where a section is just what is
summarised, and worse where it is a part of that or more, as sections of a book without clear headings are."""
ORDER_HALF = 4.0
"""Of `Order.half`: 2 to 8 are alike."""
ORDER_SHARE = 3
"""The strongest third of the directions keeps the order, so that three frequencies are as long as what they stand
behind; all of them find no more. They are not trained: on books kept aside that found less."""
PENALTY = 1e-2
STIFF = 10.0
"""Penalty of all but the long questions' head, in units of its: what few examples would bend too far."""
_CENTER = 10.0
"""Penalty of a centre that moves, in units of a matrix's."""


class TrainedHeads(nn.Module):
    """`nlb_retriever.model.projections.Heads` in torch, with the penalty and the temperatures that training needs."""

    def __init__(self, start: Heads) -> None:
        super().__init__()
        self.start = start
        self.centers = nn.ParameterDict()
        self.matrices = nn.ParameterDict()
        for name in AFFINES:
            affine = getattr(start, name)
            self.centers[name] = nn.Parameter(torch.from_numpy(affine.center.copy()))
            self.matrices[name] = nn.Parameter(torch.from_numpy(affine.matrix.copy()))
        self.gate = nn.Parameter(torch.from_numpy(start.gate[:2].copy()))
        self.most = float(start.gate[2])
        self.temperatures = nn.Parameter(torch.full((4,), 3.0))
        """Natural logarithms; of long queries, short ones, passages, books."""

    def map(self, name: str, vectors: Tensor) -> Tensor:
        """Unit vectors (..., D) of one kind -> unit vectors (..., D)."""
        return normalize((vectors - self.centers[name]) @ self.matrices[name], dim=-1)

    def question(self, whole: Tensor, averaged: Tensor, counts: Tensor) -> Tensor:
        """Vectors (Q, D) of questions, from those of all of their text (Q, D), the unit means of their
        sentences (Q, D) and the numbers of these (Q,); the same as `Heads.question`."""
        both = normalize(whole + averaged, dim=-1)
        share = self.most * torch.sigmoid(self.gate[0] * torch.log(counts) + self.gate[1])[:, None]
        return normalize(
            share * self.map("question_long", both) + (1 - share) * self.map("question_short", both), dim=-1
        )

    def penalty(self) -> Tensor:
        """How far the heads are from where they started, squared."""
        total = torch.zeros(())
        for name in AFFINES:
            start = getattr(self.start, name)
            moved = ((self.matrices[name] - torch.from_numpy(start.matrix)) ** 2).sum()
            moved = moved + _CENTER * ((self.centers[name] - torch.from_numpy(start.center)) ** 2).sum()
            total = total + (1.0 if name == "question_long" else STIFF) * moved
        return PENALTY * total

    def to_heads(self) -> Heads:
        """As the library has them; the reranker is that of the start."""
        affines = {
            name: Affine(
                center=self.centers[name].detach().numpy().copy(), matrix=self.matrices[name].detach().numpy().copy()
            )
            for name in AFFINES
        }
        gate = np.append(self.gate.detach().numpy(), np.float32(self.most)).astype(np.float32)
        return replace(self.start, gate=gate, **affines)  # type: ignore[arg-type]


def whiten(material: Material, books: Tensor) -> Heads:
    """Heads that are whitened and nothing more: the same matrix for all kinds, each with its own centre.

    Args:
        material: to learn from.
        books: numbers of those that may be looked at.
    """
    chunks = material.chunks[material.rows(books)]
    matrix, axes = _whitening(chunks)
    strongest = axes[:, -max(1, axes.shape[1] // ORDER_SHARE) :]
    long, short, singles = _long(material, books), _short(material, books), _singles(material, books)
    middle = [part for part in (singles, short) if part is not None]
    mean = chunks.mean(0)
    short_center = torch.stack(middle).mean(0) if middle else mean if long is None else long
    sections = material.section_numbers(books)
    centers = {
        "question_long": short_center if long is None else long,
        "question_short": short_center,
        "passage": mean,
        "section": material.pool_sections()[sections].mean(0) if len(sections) else mean,
        "book": material.pool_books()[books].mean(0),
    }
    affines = {name: Affine(center=center.numpy().copy(), matrix=matrix.copy()) for name, center in centers.items()}
    return Heads(
        **affines,
        gate=np.array(GATE, dtype=np.float32),
        reranker=np.zeros(len(FEATURES), dtype=np.float32),
        context=np.full(1, CONTEXT, dtype=np.float32),
        order=Order(
            directions=np.ascontiguousarray(matrix @ strongest),
            weights=np.array(ORDER, dtype=np.float32),
            half=np.full(1, ORDER_HALF, dtype=np.float32),
        ),
    )


def _whitening(chunks: Tensor) -> tuple[Vectors, Vectors]:
    """U (w + shrink * mean w)^(-power / 2) U^T of the covariance, with sqrt(D) as its Frobenius norm; and U, the
    direction of most variance last."""
    dim = chunks.shape[1]
    if len(chunks) < 2:
        return np.eye(dim, dtype=np.float32), np.eye(dim, dtype=np.float32)
    values, axes = np.linalg.eigh(np.cov(chunks.numpy().T.astype(np.float64)).reshape(dim, dim))
    values = np.maximum(values, 0)
    scales = np.maximum(values + SHRINK * values.mean(), 1e-12) ** (-POWER / 2)
    matrix = (axes * scales) @ axes.T
    return np.asarray(matrix * dim**0.5 / np.linalg.norm(matrix), dtype=np.float32), np.asarray(axes, dtype=np.float32)


def _long(material: Material, books: Tensor) -> Tensor | None:
    """Mean of the long queries."""
    query = material.long.query[material.long.among(books)]
    if not len(query):
        return None
    return normalize(material.whole[query] + material.averaged[query], dim=-1).mean(0)


def _singles(material: Material, books: Tensor) -> Tensor | None:
    """Mean of the sentences of long queries."""
    query = material.long.query[material.long.among(books)].tolist()
    if not query:
        return None
    return torch.from_numpy(np.concatenate([material.queries.of(one) for one in query]).mean(axis=0))


def _short(material: Material, books: Tensor) -> Tensor | None:
    """Mean of the questions for passages; without any, of short queries for sections."""
    wanted = set(books.tolist())
    query = [query for query, book, _ in material.passages if book in wanted]
    query = query or material.short.query[material.short.among(books)].tolist()
    return material.whole[query].mean(0) if query else None
