"""Training of the next-level reranker: the weights of a linear score over `nlb_retriever.model.reranker.FEATURES`.

Each long query has a list of candidate sections, the best by vectors and words together, and the weights are
learnt by softmax cross entropy over it (listwise, as ListNet's top-one case: Cao et al. 2007). It must see what
it will see in use: queries of books that the heads were not trained on, or nearness would look too good.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from nlb_retriever.model.projections import Heads
from nlb_retriever.model.reranker import FEATURES, LEAST_SENTENCES, Vectors, features
from nlb_training.data.dataset import Material
from nlb_training.evaluation.lexical import score_words
from nlb_training.projections.ranking import rank

CANDIDATES = 50
LEAST_QUERIES = 30
"""Fewer would decide nothing about eight weights."""
LEAST_BOOKS = 12
"""Of the corpus: with fewer, halves of the held-out books are too few to measure on."""
_MOST = 4000
_STEPS, _RATE, _DECAY = 400, 2e-2, 1e-3


@dataclass(frozen=True, kw_only=True)
class Lists:
    """Candidate sections of q queries, k each."""

    found: NDArray[np.float32]
    """(q, k, F) features, standardised over a query's candidates."""
    right: NDArray[np.bool_]
    """(q, k), at most one True in a row."""
    before: NDArray[np.float64]
    """(q,) rank of the right section before reranking, among all."""
    book: NDArray[np.int64]
    """(q,) the queries' books."""


def list_candidates(material: Material, books: Tensor, heads: Heads, read: Callable[[int], str]) -> Lists | None:
    """Candidates and their features for the long queries of some books; None where there are too few.

    Args:
        material: queries and sections.
        books: numbers of the books, which the heads were not trained on.
        heads: that rank the candidates.
        read: number of a book -> its text.
    """
    rows = material.long.among(books)
    candidates = torch.unique(material.long.answer[rows])  # (c,)
    rows = rows[material.counts[material.long.query[rows]] >= LEAST_SENTENCES]
    rows = rows[:: -(-len(rows) // _MOST)] if len(rows) > _MOST else rows
    if len(rows) < LEAST_QUERIES or len(candidates) < 2:
        return None
    query = material.long.query[rows].tolist()
    vectors = np.stack([heads.question(material.queries.whole[one], material.queries.of(one)) for one in query])
    means, waves = material.pool_sections()[candidates], material.section_waves(heads.frequencies)[candidates]
    dense = vectors @ heads.sections(means.numpy(), waves.numpy()).T  # (q, c)
    words = score_words([material.texts[one] for one in query], _texts(material, candidates, read), "section").astype(
        np.float32
    )
    fused = _standardise(dense) + _standardise(words)
    right = material.long.answer[rows].numpy()[:, None] == candidates.numpy()
    chosen = np.argsort(-fused, axis=1, kind="stable")[:, :CANDIDATES]  # (q, k)
    chunks = [material.chunks.numpy()[_members(material, one)] for one in candidates.tolist()]
    passages = [heads.passages(own, np.zeros(len(own), dtype=np.int64)) for own in chunks]
    found = [
        features(heads.question_short(material.queries.of(one)), [passages[place] for place in places], near, said)
        for one, places, near, said in zip(
            query, chosen, np.take_along_axis(dense, chosen, 1), np.take_along_axis(words, chosen, 1), strict=True
        )
    ]
    return Lists(
        found=_standardise(np.stack(found), axis=1),
        right=np.take_along_axis(right, chosen, 1),
        before=rank(fused, right),
        book=material.long.book[rows].numpy(),
    )


def train_reranker(lists: Lists) -> Vectors:
    """Weights (F,) of the features; all 0 where no right section is among the candidates."""
    usable = lists.right.any(axis=1)
    if not usable.any():
        return np.zeros(len(FEATURES), dtype=np.float32)
    found = torch.from_numpy(lists.found[usable])
    right = torch.from_numpy(lists.right[usable].argmax(axis=1))
    weights = torch.zeros(len(FEATURES), requires_grad=True)  # convex: any start leads to the same end
    optimizer = torch.optim.Adam([weights], lr=_RATE, weight_decay=_DECAY)
    for _ in range(_STEPS):
        optimizer.zero_grad()
        cross_entropy(found @ weights, right).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    learnt: Vectors = weights.detach().numpy()
    return learnt


def measure_reranker(lists: Lists) -> dict[str, float] | None:
    """MRR in points before and after reranking: half of the books decide the weights for the other half, and
    the other way round. None where there are fewer than four books."""
    books = np.unique(lists.book)
    if len(books) < 4:
        return None
    first = np.isin(lists.book, books[::2])
    after = np.empty(len(lists.book))
    for mine in (first, ~first):
        after[~mine] = _ranks(_select(lists, mine=~mine), train_reranker(_select(lists, mine=mine)))
    return {
        "before reranking": round(100 * float((1 / lists.before).mean()), 2),
        "after reranking": round(100 * float((1 / after).mean()), 2),
    }


def _ranks(lists: Lists, weights: Vectors) -> NDArray[np.float64]:
    """Rank (q,) of the right section; where it is no candidate, that which it had."""
    ranks = lists.before.copy()
    inside = lists.right.any(axis=1)
    ranks[inside] = rank(lists.found[inside] @ weights, lists.right[inside])
    return ranks


def _select(lists: Lists, *, mine: NDArray[np.bool_]) -> Lists:
    return Lists(found=lists.found[mine], right=lists.right[mine], before=lists.before[mine], book=lists.book[mine])


def _standardise(values: NDArray[np.float32], axis: int = 1) -> NDArray[np.float32]:
    deviation = values.std(axis=axis, keepdims=True)
    return np.asarray((values - values.mean(axis=axis, keepdims=True)) / (deviation + 1e-6), dtype=np.float32)


def _members(material: Material, section: int) -> NDArray[np.int64]:
    first, last = material.sections.indptr[section : section + 2]
    return np.sort(material.sections.indices[first:last]).astype(np.int64)


def _texts(material: Material, sections: Tensor, read: Callable[[int], str]) -> Sequence[str]:
    owners = torch.searchsorted(material.section_rows, sections, right=True) - 1
    texts: list[str] = []
    of, text = -1, ""
    for section, book in zip(sections.tolist(), owners.tolist(), strict=True):
        if book != of:
            of, text = book, read(book)
        texts.append(" ".join(text[start:end] for start, end in material.spans[section]))
    return texts
