"""Exact search over segments: every vector is compared, every posting of the query's words is read.

Scores depend on the library's books alone, not on how they came into it or in which segments they are: words'
rarity is counted over the points that are to be seen, each score is computed row by row, and points of equal
score come in the order of their books' ids and then of the text.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise, repeat
from typing import TYPE_CHECKING

import numpy as np

from nlb_retriever.encoding.packing import compare
from nlb_retriever.records import Level
from nlb_retriever.store.backends.array_file import Array, Mask
from nlb_retriever.store.backends.base import Floats, PointQuery
from nlb_retriever.store.backends.compose import unit
from nlb_retriever.store.backends.segment import COSINE
from nlb_retriever.text.words import Sparse

if TYPE_CHECKING:
    from nlb_retriever.store.backends.snapshot import Part

Hit = tuple[float, "Part", int]
"""Score, part and row."""
_BLOCK = 8192
"""Vectors that a thread compares at a time."""
_SCATTERED = 4
"""Reading one row of so many costs as much as reading all of them in order."""


def search(parts: Sequence[Part], level: Level, query: PointQuery, rows: Mapping[Part, Array] | None) -> list[Hit]:
    """The points that fit a query best, best first.

    Args:
        parts: the library.
        level: where to search.
        query: what to search for; its `ids` say nothing here.
        rows: only these rows; None for all.
    """
    vector = query.vector
    score: Callable[[Part, Mask | None, Array | None], tuple[Floats, Array | None]]
    if isinstance(vector, Sparse):
        score = _words(parts, level, vector)
    else:
        score = _spans(vector) if query.spans else _vectors(level, vector)
    found: list[Hit] = []
    for part in parts:
        mask = part.mask(level, query.where)
        own = None if rows is None else rows.get(part, np.empty(0, np.int64))
        if own is not None and mask is not None:
            own = own[mask[own]]
        if (own is not None and not len(own)) or not part.segment.rows[level]:
            continue
        scores, own = score(part, mask, own)
        best = _best(scores, query.limit)
        found += zip(scores[best].tolist(), repeat(part), (best if own is None else own[best]).tolist(), strict=False)
    found.sort(key=_score_of, reverse=True)
    if len(found) > query.limit:
        found = [hit for hit in found if hit[0] >= found[query.limit - 1][0]]
    return _settle(found, level)[: query.limit]


def _vectors(level: Level, query: Floats) -> Callable[[Part, Mask | None, Array | None], tuple[Floats, Array | None]]:
    """Compares with the vectors of some rows, or of all: gives the scores, and the rows where they are not all."""
    vector = unit(query[None, :])[0] if level in COSINE else query

    def score(part: Part, mask: Mask | None, own: Array | None) -> tuple[Floats, Array | None]:
        matrix = part.segment.dense(level)
        if own is None and mask is not None and int(mask.sum()) * _SCATTERED < len(mask):
            own = np.flatnonzero(mask)
        if own is not None:
            return np.vecdot(matrix[own], vector), own
        scores = _compare(matrix, vector)
        if mask is not None:
            scores[~mask] = -np.inf
        return scores, None

    return score


def _spans(vector: Floats) -> Callable[[Part, Mask | None, Array | None], tuple[Floats, Array | None]]:
    """Compares with the most similar span of some passages."""

    def score(part: Part, mask: Mask | None, own: Array | None) -> tuple[Floats, Array | None]:
        if own is None or not part.segment.has("span"):
            return np.empty(0, np.float32), np.empty(0, np.int64)
        packed, counts = part.segment.parts("span", own)
        own, counts = own[counts > 0], counts[counts > 0]
        if not len(own):
            return np.empty(0, np.float32), own
        return np.maximum.reduceat(compare(packed, vector[None])[:, 0], np.cumsum(counts) - counts), own

    return score


def _compare(matrix: Floats, vector: Floats) -> Floats:
    """The product of a vector with every row; many rows in several threads, which changes no bit of it."""
    scores = np.empty(len(matrix), np.float32)

    def compare(first: int) -> None:
        np.vecdot(matrix[first : first + _BLOCK], vector, out=scores[first : first + _BLOCK])

    blocks = range(0, len(matrix), _BLOCK)
    list(map(compare, blocks) if len(blocks) < 3 else _threads(os.getpid()).map(compare, blocks))
    return scores


@cache
def _threads(process: int) -> ThreadPoolExecutor:
    """Threads of this process: a forked child needs its own."""
    return ThreadPoolExecutor(min(4, os.cpu_count() or 1), thread_name_prefix="nlb-scan")


def _words(
    parts: Sequence[Part], level: Level, query: Sparse
) -> Callable[[Part, Mask | None, Array | None], tuple[Floats, Array | None]]:
    """Adds up the weights of the query's words in the rows that hold one (BM25).

    A word's inverse document frequency is counted over the points that are to be seen.
    """
    wanted = np.array(query.indices, np.uint32)
    postings = {part: part.segment.postings(level, wanted) for part in parts}
    total, counts = 0, np.zeros(len(query.indices), np.float32)
    for part in parts:
        seen = part.mask(level)
        total += part.segment.count_worded(level, seen)
        for index, rows, _ in postings[part]:
            counts[index] += len(rows) if seen is None else seen[rows].sum()
    half, one = np.float32(0.5), np.float32(1)
    rarity = np.log((np.float32(total) - counts + half) / (counts + half) + one)
    factors = np.array(query.values, np.float32) * rarity

    def score(part: Part, mask: Mask | None, own: Array | None) -> tuple[Floats, Array | None]:
        scores = np.zeros(part.segment.rows[level], np.float32)
        for index, rows, weights in postings[part]:
            scores[rows] += factors[index] * weights
        seen = scores if mask is None else scores * mask
        found = np.flatnonzero(seen) if own is None else own[seen[own] > 0]
        return scores[found], found

    return score


def _score_of(hit: Hit) -> float:
    return hit[0]


def _best(scores: Floats, limit: int) -> Array:
    """Indexes of the highest scores; more than `limit` where several are as high as the last."""
    if limit < len(scores):
        least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        return np.flatnonzero((scores >= least) & (scores > -np.inf))
    return np.flatnonzero(scores > -np.inf)


def _settle(hits: list[Hit], level: Level) -> list[Hit]:
    """Sorted hits, with those of equal score in the order of their books' ids and of the text."""
    if all(one[0] != other[0] for one, other in pairwise(hits)):
        return hits
    books: dict[tuple[Part, int], str] = {}
    for part in {part for _, part, _ in hits}:
        rows = [row for _, own, row in hits if own is part]
        indexes = part.segment.books_of(level, np.array(rows)).tolist()
        books |= {(part, row): part.segment.book(index)["book_id"] for row, index in zip(rows, indexes, strict=True)}
    return sorted(hits, key=lambda hit: (-hit[0], books[hit[1], hit[2]], hit[2]))
