"""How well queries find what answers them among the books of a material: raw vectors against heads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nlb_retriever.encoding import Vectors
from nlb_retriever.model.projections import Heads
from nlb_training.data.dataset import Material

_MOST = 4000
"""Queries of a kind that are measured; of more, every so manieth."""
_ROWS = 512


def measure(material: Material, books: Tensor, heads: Heads | None) -> dict[str, float]:
    """MRR in points of 100, of each kind of query that these books have.

    Args:
        material: queries and what they ask for.
        books: numbers of the books whose queries are asked, and whose sections, chunks and vectors are ranked.
        heads: None for the chunk encoder's vectors and their means.
    """
    figures: dict[str, float] = {}
    all_sections, all_books = material.pool_sections(), material.pool_books()
    if heads:
        all_sections = torch.from_numpy(
            heads.sections(all_sections.numpy(), material.section_waves(heads.frequencies).numpy())
        )
        all_books = torch.from_numpy(heads.book(all_books.numpy()))
    for name, asked in (("section, long query", material.long), ("section, title", material.short)):
        if len(rows := _some(asked.among(books))):
            candidates = torch.unique(asked.answer[asked.among(books)])
            query = asked.query[rows].tolist()
            right = torch.searchsorted(candidates, asked.answer[rows])
            figures[name] = _mrr(_questions(material, query, heads), all_sections[candidates], right)
            if asked is material.long:
                middle = _questions(material, query, heads, middle=True)
                figures["section, one sentence"] = _mrr(middle, all_sections[candidates], right)
    figures |= _passages(material, books, heads)
    for name, asked in (("book, long query", material.long), ("book, summary of it", material.works)):
        if len(rows := _some(asked.among(books))) and len(books) > 1:
            query = asked.query[rows].tolist()
            right = torch.searchsorted(books, asked.book[rows])
            figures[name] = _mrr(_questions(material, query, heads), all_books[books], right)
            if asked is material.long:
                middle = _questions(material, query, heads, middle=True)
                figures["book, one sentence"] = _mrr(middle, all_books[books], right)
    return figures


def rank(scores: NDArray[np.float32], right: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Rank (Q,), from 1, of each query's best right candidate; wrong ones with the same score come before it.

    Args:
        scores: (Q, N).
        right: (Q, N), with at least one True in each row.
    """
    best = np.where(right, scores, -np.inf).max(axis=1, keepdims=True)
    ranks: NDArray[np.float64] = 1.0 + ((scores >= best) & ~right).sum(axis=1)
    return ranks


def _passages(material: Material, books: Tensor, heads: Heads | None) -> dict[str, float]:
    wanted = set(books.tolist())
    asked = [row for row in material.passages if row[1] in wanted]
    if not asked:
        return {}
    chunks = material.rows(torch.tensor(sorted({book for _, book, _ in asked})))
    candidates = material.chunks[chunks]
    if heads:
        candidates = torch.from_numpy(heads.passage(candidates.numpy()))
    asked = [asked[row] for row in _some(torch.arange(len(asked))).tolist()]
    questions = _questions(material, [query for query, _, _ in asked], heads)
    found: list[NDArray[np.float64]] = []
    for start in range(0, len(asked), _ROWS):
        some = asked[start : start + _ROWS]
        right = np.zeros((len(some), len(chunks)), dtype=np.bool_)
        for row, (_, _, answers) in zip(right, some, strict=True):
            row[np.searchsorted(chunks.numpy(), answers)] = True
        found.append(rank((questions[start : start + _ROWS, : material.dim] @ candidates.T).numpy(), right))
    return {"passage, question": _points(np.concatenate(found))}


def _questions(material: Material, query: Sequence[int], heads: Heads | None, *, middle: bool = False) -> Tensor:
    """Vectors (q, section_dim) of queries, or of the sentence in the middle of each."""
    vectors: list[Vectors] = []
    for one in query:
        sentences = material.queries.of(one)
        whole = material.queries.whole[one]
        if middle:
            whole, sentences = sentences[len(sentences) // 2], sentences[len(sentences) // 2][None]
        vectors.append(heads.question(whole, sentences) if heads else whole)
    return torch.from_numpy(np.stack(vectors))


def _mrr(queries: Tensor, candidates: Tensor, right: Tensor) -> float:
    found: list[NDArray[np.float64]] = []
    for start in range(0, len(queries), _ROWS):
        scores = (queries[start : start + _ROWS, : candidates.shape[1]] @ candidates.T).numpy()
        truth = np.zeros(scores.shape, dtype=np.bool_)
        truth[np.arange(len(scores)), right[start : start + _ROWS].numpy()] = True
        found.append(rank(scores, truth))
    return _points(np.concatenate(found))


def _points(ranks: NDArray[np.float64]) -> float:
    return round(100 * float((1 / ranks).mean()), 2)


def _some(rows: Tensor) -> Tensor:
    return rows[:: -(-len(rows) // _MOST)] if len(rows) > _MOST else rows
