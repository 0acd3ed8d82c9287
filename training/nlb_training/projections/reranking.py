"""Training of the next-level reranker: the weights of a linear score over `nlb_retriever.model.reranker.FEATURES`.

Each long query has a list of candidate sections, the best by vectors and BM25 together, and the weights are learned by
softmax cross entropy over it (listwise, as ListNet's top-one case: Cao et al. 2007). The queries must be on books that
the projections were not trained on, as in use; otherwise the dense score would get too much weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from nlb_retriever.model.projections import Projections
from nlb_retriever.model.reranker import FEATURES, MIN_SENTENCES, Vectors, compute_features
from nlb_training.data.dataset import RetrievalDataset
from nlb_training.evaluation.lexical import score_words
from nlb_training.projections.ranking import rank_right

CANDIDATES = 50
MIN_QUERIES = 30
"""With fewer, the eight weights are not trained."""
MIN_BOOKS = 12
"""Of the corpus; with fewer, halves of the held-out books are too few to measure on."""
_MAX_QUERIES = 4000
_STEPS, _RATE, _DECAY = 400, 2e-2, 1e-3


@dataclass(frozen=True, kw_only=True)
class CandidateLists:
    """Candidate sections of q queries, k each."""

    features: NDArray[np.float32]
    """(q, k, F), standardised over a query's candidates."""
    right: NDArray[np.bool_]
    """(q, k), at most one True in a row."""
    before: NDArray[np.float64]
    """(q,) rank of the right section before reranking, among all sections."""
    book: NDArray[np.int64]
    """(q,) the queries' books."""

    def select(self, rows: NDArray[np.bool_]) -> CandidateLists:
        """Only some of the queries."""
        return CandidateLists(
            features=self.features[rows], right=self.right[rows], before=self.before[rows], book=self.book[rows]
        )


def list_candidates(
    dataset: RetrievalDataset, books: Tensor, projections: Projections, read: Callable[[int], str]
) -> CandidateLists | None:
    """Candidates and their features for the long queries of some books; None if there are too few.

    Args:
        dataset: queries and sections.
        books: indexes of the books, which the projections were not trained on.
        projections: that rank the candidates.
        read: index of a book -> its text.
    """
    rows = dataset.long_queries.among(books)
    candidates = torch.unique(dataset.long_queries.answer[rows])  # (c,)
    rows = rows[dataset.sentence_counts[dataset.long_queries.query[rows]] >= MIN_SENTENCES]
    rows = rows[:: -(-len(rows) // _MAX_QUERIES)] if len(rows) > _MAX_QUERIES else rows
    if len(rows) < MIN_QUERIES or len(candidates) < 2:
        return None
    query = dataset.long_queries.query[rows].tolist()
    queries = dataset.queries
    vectors = np.stack([projections.project_query(queries.whole[one], queries.of(one)) for one in query])
    means = dataset.pool_sections()[candidates]
    coefficients = dataset.section_coefficients(projections.frequencies)[candidates]
    dense = vectors @ projections.project_sections(means.numpy(), coefficients.numpy()).T  # (q, c)
    texts = _section_texts(dataset, candidates, read)
    bm25 = score_words([dataset.texts[one] for one in query], texts, "section").astype(np.float32)
    fused = _standardise(dense) + _standardise(bm25)
    right = dataset.long_queries.answer[rows].numpy()[:, None] == candidates.numpy()
    chosen = np.argsort(-fused, axis=1, kind="stable")[:, :CANDIDATES]  # (q, k)
    chunks = [dataset.chunks.numpy()[_section_chunks(dataset, one)] for one in candidates.tolist()]
    passages = [projections.project_passages(own, np.zeros(len(own), dtype=np.int64)) for own in chunks]
    features = [
        compute_features(
            projections.short_query(queries.of(one)), [passages[column] for column in columns], own_dense, own_bm25
        )
        for one, columns, own_dense, own_bm25 in zip(
            query, chosen, np.take_along_axis(dense, chosen, 1), np.take_along_axis(bm25, chosen, 1), strict=True
        )
    ]
    return CandidateLists(
        features=_standardise(np.stack(features), axis=1),
        right=np.take_along_axis(right, chosen, 1),
        before=rank_right(fused, right),
        book=dataset.long_queries.book[rows].numpy(),
    )


def train_reranker(lists: CandidateLists) -> Vectors:
    """Weights (F,) of the features; all 0 if no right section is among the candidates."""
    usable = lists.right.any(axis=1)
    if not usable.any():
        return np.zeros(len(FEATURES), dtype=np.float32)
    features = torch.from_numpy(lists.features[usable])
    right = torch.from_numpy(lists.right[usable].argmax(axis=1))
    weights = torch.zeros(len(FEATURES), requires_grad=True)  # convex: the start does not matter
    optimizer = torch.optim.Adam([weights], lr=_RATE, weight_decay=_DECAY)
    for _ in range(_STEPS):
        optimizer.zero_grad()
        cross_entropy(features @ weights, right).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    learned: Vectors = weights.detach().numpy()
    return learned


def measure_reranker(lists: CandidateLists) -> dict[str, float] | None:
    """MRR x 100 before and after reranking, cross-validated over two halves of the books; None with fewer than four
    books."""
    books = np.unique(lists.book)
    if len(books) < 4:
        return None
    first = np.isin(lists.book, books[::2])
    after = np.empty(len(lists.book))
    for half in (first, ~first):
        after[~half] = _rank(lists.select(~half), train_reranker(lists.select(half)))
    return {
        "before reranking": round(100 * float((1 / lists.before).mean()), 2),
        "after reranking": round(100 * float((1 / after).mean()), 2),
    }


def _rank(lists: CandidateLists, weights: Vectors) -> NDArray[np.float64]:
    """Rank (q,) of the right section; unchanged if it is not a candidate."""
    ranks = lists.before.copy()
    inside = lists.right.any(axis=1)
    ranks[inside] = rank_right(lists.features[inside] @ weights, lists.right[inside])
    return ranks


def _standardise(values: NDArray[np.float32], axis: int = 1) -> NDArray[np.float32]:
    deviation = values.std(axis=axis, keepdims=True)
    return np.asarray((values - values.mean(axis=axis, keepdims=True)) / (deviation + 1e-6), dtype=np.float32)


def _section_chunks(dataset: RetrievalDataset, section: int) -> NDArray[np.int64]:
    first, last = dataset.sections.indptr[section : section + 2]
    return np.sort(dataset.sections.indices[first:last]).astype(np.int64)


def _section_texts(dataset: RetrievalDataset, sections: Tensor, read: Callable[[int], str]) -> Sequence[str]:
    owners = torch.searchsorted(dataset.section_rows, sections, right=True) - 1
    texts: list[str] = []
    last, text = -1, ""
    for section, book in zip(sections.tolist(), owners.tolist(), strict=True):
        if book != last:
            last, text = book, read(book)
        texts.append(" ".join(text[start:end] for start, end in dataset.spans[section]))
    return texts
