"""MRR of queries on the books of a dataset, with projections or with the chunk encoder's vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nlb_retriever.encoding import Vectors
from nlb_retriever.model.projections import Projections
from nlb_training.data.dataset import RetrievalDataset

_MAX_QUERIES = 4000
"""Of a kind; of more, every n-th is used."""
_ROWS = 512


def measure(dataset: RetrievalDataset, books: Tensor, projections: Projections | None) -> dict[str, float]:
    """MRR x 100 of each kind of query. Sections that share text with the right one are neither right nor wrong.

    Args:
        dataset: queries and answers.
        books: indexes of the books whose queries are used, and whose sections, chunks and vectors are ranked.
        projections: None for the chunk encoder's vectors and their means.
    """
    figures: dict[str, float] = {}
    all_sections, all_books = dataset.pool_sections(), dataset.pool_books()
    if projections:
        coefficients = dataset.section_coefficients(projections.frequencies)
        all_sections = torch.from_numpy(projections.project_sections(all_sections.numpy(), coefficients.numpy()))
        all_books = torch.from_numpy(projections.book(all_books.numpy()))
    for name, queries in (("section, long query", dataset.long_queries), ("section, title", dataset.short_queries)):
        if len(rows := thin(queries.among(books))):
            candidates = torch.unique(queries.answer[queries.among(books)])
            query = queries.query[rows].tolist()
            right = torch.searchsorted(candidates, queries.answer[rows])
            ignored = _overlapping(dataset, candidates, queries.book[rows], right)
            figures[name] = _mrr(_query_vectors(dataset, query, projections), all_sections[candidates], right, ignored)
            if queries is dataset.long_queries:
                middle = _query_vectors(dataset, query, projections, middle=True)
                figures["section, one sentence"] = _mrr(middle, all_sections[candidates], right, ignored)
    figures |= _measure_passages(dataset, books, projections)
    for name, queries in (("book, long query", dataset.long_queries), ("book, summary of it", dataset.book_queries)):
        if len(rows := thin(queries.among(books))) and len(books) > 1:
            query = queries.query[rows].tolist()
            right = torch.searchsorted(books, queries.book[rows])
            figures[name] = _mrr(_query_vectors(dataset, query, projections), all_books[books], right)
            if queries is dataset.long_queries:
                middle = _query_vectors(dataset, query, projections, middle=True)
                figures["book, one sentence"] = _mrr(middle, all_books[books], right)
    return figures


def rank_right(scores: NDArray[np.float32], right: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Rank (Q,), from 1, of each query's best right candidate; in a tie the wrong ones come first.

    Args:
        scores: (Q, N).
        right: (Q, N), with at least one True in each row.
    """
    best = np.where(right, scores, -np.inf).max(axis=1, keepdims=True)
    ranks: NDArray[np.float64] = 1.0 + ((scores >= best) & ~right).sum(axis=1)
    return ranks


def thin(rows: Tensor) -> Tensor:
    """Every n-th of too many queries."""
    return rows[:: max(1, -(-len(rows) // _MAX_QUERIES))]


def _measure_passages(dataset: RetrievalDataset, books: Tensor, projections: Projections | None) -> dict[str, float]:
    wanted = set(books.tolist())
    queries = [row for row in dataset.passage_queries if row[1] in wanted]
    if not queries:
        return {}
    chunks = dataset.rows(torch.tensor(sorted({book for _, book, _ in queries})))
    candidates = dataset.chunks[chunks]
    if projections:
        candidates = torch.from_numpy(projections.passage(candidates.numpy()))
    queries = [queries[row] for row in thin(torch.arange(len(queries))).tolist()]
    vectors = _query_vectors(dataset, [query for query, _, _ in queries], projections)
    ranks: list[NDArray[np.float64]] = []
    for start in range(0, len(queries), _ROWS):
        batch = queries[start : start + _ROWS]
        right = np.zeros((len(batch), len(chunks)), dtype=np.bool_)
        for row, (_, _, answers) in zip(right, batch, strict=True):
            row[np.searchsorted(chunks.numpy(), answers)] = True
        ranks.append(rank_right((vectors[start : start + _ROWS, : dataset.dim] @ candidates.T).numpy(), right))
    return {"passage, question": _to_mrr(np.concatenate(ranks))}


def _query_vectors(
    dataset: RetrievalDataset, query: Sequence[int], projections: Projections | None, *, middle: bool = False
) -> Tensor:
    """Vectors (q, section_dim) of queries, or of each one's middle sentence."""
    vectors: list[Vectors] = []
    for one in query:
        sentences = dataset.queries.of(one)
        whole = dataset.queries.whole[one]
        if middle:
            whole, sentences = sentences[len(sentences) // 2], sentences[len(sentences) // 2][None]
        vectors.append(projections.project_query(whole, sentences) if projections else whole)
    return torch.from_numpy(np.stack(vectors))


def _overlapping(dataset: RetrievalDataset, candidates: Tensor, books: Tensor, right: Tensor) -> list[Tensor]:
    """Of each query the columns, in order, of other sections of its book that share text or group with the answer.

    Args:
        dataset: of the sections.
        candidates: (c,) sections, ascending, that are the columns.
        books: (q,) the queries' books.
        right: (q,) column of each answer.
    """
    ignored = []
    for book, column in zip(books.tolist(), right.tolist(), strict=True):
        first, last = dataset.section_rows[book : book + 2].tolist()
        begin, end = torch.searchsorted(candidates, torch.tensor([first, last])).tolist()
        own = candidates[begin:end] - first
        shared = torch.where(dataset.overlapping[book][candidates[column] - first][own])[0] + begin
        ignored.append(shared[shared != column])
    return ignored


def _mrr(queries: Tensor, candidates: Tensor, right: Tensor, ignored: Sequence[Tensor] = ()) -> float:
    """MRR x 100; of each query the columns that are ignored rank nowhere."""
    ranks: list[NDArray[np.float64]] = []
    for start in range(0, len(queries), _ROWS):
        scores = (queries[start : start + _ROWS, : candidates.shape[1]] @ candidates.T).numpy()
        for row, columns in zip(scores, ignored[start : start + _ROWS], strict=False):
            row[columns.numpy()] = -np.inf
        truth = np.zeros(scores.shape, dtype=np.bool_)
        truth[np.arange(len(scores)), right[start : start + _ROWS].numpy()] = True
        ranks.append(rank_right(scores, truth))
    return _to_mrr(np.concatenate(ranks))


def _to_mrr(ranks: NDArray[np.float64]) -> float:
    return round(100 * float((1 / ranks).mean()), 2)
