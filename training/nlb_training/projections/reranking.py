"""Training of the next-level reranker: the weights of a linear score over `nlb_retriever.model.reranker.FEATURES`.

Each long query has a list of candidate sections, the best by vectors and BM25 together, and the weights are learned by
softmax cross entropy over it (listwise, as ListNet's top-one case: Cao et al. 2007). The queries must be on books that
the projections were not trained on, as in use; otherwise the dense score would get too much weight.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from nlb_retriever.encoding import Vectors
from nlb_retriever.model.dct import dct_coefficients
from nlb_retriever.model.projections import Projections
from nlb_retriever.model.reranker import FEATURES, MIN_SENTENCES
from nlb_training.corpus import Corpus
from nlb_training.data.dataset import RetrievalDataset
from nlb_training.evaluation.lexical import WordIndex
from nlb_training.evaluation.reranked import make_comparison
from nlb_training.projections.ranking import rank_right, thin

CANDIDATES = 50
MIN_QUERIES = 30
"""With fewer, the weights are not trained."""
MIN_BOOKS = 12
"""Of the corpus; with fewer, halves of the held-out books are too few to measure on."""
_STEPS, _RATE, _DECAY = 400, 2e-2, 1e-3


@dataclass(frozen=True, kw_only=True)
class CandidateLists:
    """Candidate sections of q queries, k each."""

    features: NDArray[np.float32]
    """(q, k, F), standardised over a query's candidates."""
    right: NDArray[np.bool_]
    """(q, k)"""
    before: NDArray[np.float64]
    """(q,) rank of the best right section before reranking, among all sections; infinite where none is right."""
    book: NDArray[np.int64]
    """(q,) the queries' books."""

    def select(self, rows: NDArray[np.bool_]) -> CandidateLists:
        """Only some of the queries."""
        return CandidateLists(
            features=self.features[rows], right=self.right[rows], before=self.before[rows], book=self.book[rows]
        )


def list_candidates(
    corpus: Corpus, dataset: RetrievalDataset, books: Tensor, projections: Projections
) -> CandidateLists | None:
    """Candidates and their features for the long queries of some books; None if there are too few.

    Candidates are the sections of a library, which the readers of files find: not always those of the examples.

    Args:
        corpus: that the dataset was built from.
        dataset: queries and their spans.
        books: indexes of the books, which the projections were not trained on.
        projections: that rank the candidates.
    """
    rows = dataset.long_queries.among(books)
    rows = thin(rows[dataset.sentence_counts[dataset.long_queries.query[rows]] >= MIN_SENTENCES])
    sections = [each for book in books.tolist() for each in _sections_of(corpus, dataset, book)]
    if len(rows) < MIN_QUERIES or len(sections) < 2:
        return None
    query = dataset.long_queries.query[rows].tolist()
    queries = dataset.queries
    vectors = np.stack([projections.project_query(queries.whole[one], queries.of(one)) for one in query])
    dense = vectors @ _section_vectors(dataset, sections, projections).T  # (q, c)
    texts = [dataset.texts[one] for one in query]
    bm25 = WordIndex([each.text for each in sections], "section").score(texts).astype(np.float32)
    fused = _standardise(dense) + _standardise(bm25)
    book = dataset.long_queries.book[rows].numpy()
    spans = [dataset.spans[answer] for answer in dataset.long_queries.answer[rows].tolist()]
    right = np.array(
        [[each.answers(*wanted) for each in sections] for wanted in zip(book.tolist(), spans, strict=True)]
    )  # (q, c)
    found = right.any(axis=1)
    before = np.full(len(rows), np.inf)
    before[found] = rank_right(fused[found], right[found])
    chosen = np.argsort(-fused, axis=1, kind="stable")[:, :CANDIDATES]  # (q, k)
    chunks = dataset.chunks.numpy()
    compare = make_comparison(projections, [chunks[each.rows] for each in sections], [each.texts for each in sections])
    features = [
        compare(text, queries.of(one), own, dense[row, own], bm25[row, own])
        for row, (one, text, own) in enumerate(zip(query, texts, chosen, strict=True))
    ]
    return CandidateLists(
        features=_standardise(np.stack(features)),
        right=np.take_along_axis(right, chosen, 1),
        before=before,
        book=book,
    )


def train_reranker(lists: CandidateLists) -> Vectors:
    """Weights (F,) of the features; all 0 if no right section is among the candidates."""
    usable = lists.right.any(axis=1)
    if not usable.any():
        return np.zeros(len(FEATURES), dtype=np.float32)
    features = torch.from_numpy(lists.features[usable])
    wrong = torch.from_numpy(~lists.right[usable])
    weights = torch.zeros(len(FEATURES), requires_grad=True)  # convex: the start does not matter
    optimizer = torch.optim.Adam([weights], lr=_RATE, weight_decay=_DECAY)
    for _ in range(_STEPS):
        optimizer.zero_grad()
        scores = features @ weights  # (q, k)
        right = scores.masked_fill(wrong, -torch.inf)
        (scores.logsumexp(1) - right.logsumexp(1)).mean().backward()  # type: ignore[no-untyped-call]
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


def _standardise(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Over a query's candidates (axis 1)."""
    deviation = values.std(axis=1, keepdims=True)
    return np.asarray((values - values.mean(axis=1, keepdims=True)) / (deviation + 1e-6), dtype=np.float32)


@dataclass(frozen=True, kw_only=True)
class _Section:
    """A section of a library."""

    book: int
    start: int
    end: int
    rows: slice
    """Its chunks in the dataset, one at least."""
    text: str
    """As libraries search it by words."""
    texts: Sequence[str]
    """Of its chunks."""

    def answers(self, book: int, spans: Sequence[tuple[int, int]]) -> bool:
        """Whether it shares half of the shorter one of itself and a span of this book, as `nlb eval` counts."""
        return self.book == book and any(
            2 * (min(self.end, end) - max(self.start, start)) >= max(min(self.end - self.start, end - start), 1)
            for start, end in spans
        )


def _sections_of(corpus: Corpus, dataset: RetrievalDataset, book: int) -> Iterator[_Section]:
    """A book's sections that have a chunk."""
    stored = corpus.books[book]
    text, spans, offset = corpus.text(stored), corpus.spans(stored), int(dataset.book_rows[book])
    for section in corpus.sections(stored):
        first, last = np.searchsorted(spans[:, 0], (section.start, section.end)).tolist()
        if first < last:
            yield _Section(
                book=book,
                start=section.start,
                end=section.end,
                rows=slice(offset + first, offset + last),
                text="\n".join((stored.title, *section.path, text[section.start : section.end])),
                texts=[text[start:end] for start, end in spans[first:last].tolist()],
            )


def _section_vectors(dataset: RetrievalDataset, sections: Sequence[_Section], projections: Projections) -> Vectors:
    """(c, section_dim), as libraries hold them."""
    chunks = [dataset.contextual.numpy()[each.rows] for each in sections]
    means = normalize(torch.from_numpy(np.stack([own.mean(axis=0) for own in chunks])), dim=-1).numpy()
    coefficients = np.stack([dct_coefficients(own, projections.frequencies) for own in chunks])
    return projections.project_sections(means, coefficients)
