"""Which passages a query is compared with: by meaning, by words and by where the answer lies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped]

from nlb_training.encoder.bert import Ids

Floats = NDArray[np.float32]

INSIDE, BY_MEANING, BY_WORDS = 4, 3, 2
"""Passages of a query: those that may answer it, and wrong ones of the same text, by similarity and by BM25."""
_NEAREST = 6
"""Most similar wrong passages that `BY_MEANING` are drawn from."""
_K, _B = 0.4, 0.4
"""As the library weighs passages."""
_VOCABULARY = 30522


class WordIndex:
    """BM25 over WordPiece ids of some passages.

    Args:
        passages: token ids of each.
    """

    def __init__(self, passages: Sequence[Ids]) -> None:
        counts = _count(passages)
        found = np.bincount(counts.indices, minlength=_VOCABULARY)
        rarity = np.log1p((len(passages) - found + 0.5) / (found + 0.5)).astype(np.float32)
        lengths = np.asarray(counts.sum(axis=1)).ravel()
        norm = _K * (1 - _B + _B * lengths / max(1.0, float(lengths.mean())))
        counts.data = counts.data / (counts.data + np.repeat(norm, np.diff(counts.indptr)))
        counts.data *= rarity[counts.indices]
        self._weights = counts.T.tocsr()

    def score(self, queries: Sequence[Ids]) -> Floats:
        """(Q, P) scores."""
        counts = _count(queries)
        counts.data[:] = 1
        return np.asarray((counts @ self._weights).toarray(), dtype=np.float32)


def _count(texts: Sequence[Ids]) -> sparse.csr_matrix:
    sizes = [len(text) for text in texts]
    rows = np.repeat(np.arange(len(texts)), sizes)
    columns = np.concatenate([*texts, np.empty(0, dtype=np.uint16)]).astype(np.int64)
    values = np.ones(len(columns), dtype=np.float32)
    return sparse.coo_matrix((values, (rows, columns)), shape=(len(texts), _VOCABULARY)).tocsr()


def find_inside(
    similarities: Floats, words: Floats, places: Floats, inside: NDArray[np.bool_]
) -> list[NDArray[np.int64]]:
    """For each query the `INSIDE` passages that most likely answer it, among those that may.

    Args:
        similarities: (Q, P) of vectors.
        words: (Q, P) BM25 scores.
        places: (Q, P) what is taken off for the distance from where the answer is supposed, in standard deviations.
        inside: (Q, P) which passages may answer.
    """
    scores = np.where(inside, _standard(similarities) + _standard(words) - places, -np.inf)
    return [_best(scores[row], min(INSIDE, int(inside[row].sum()))) for row in range(len(scores))]


def find_wrong(
    similarities: Floats, words: Floats, wrong: NDArray[np.bool_], random: np.random.Generator
) -> list[NDArray[np.int64]]:
    """For each query wrong passages that are like it: some of the most similar ones, and the best by words.

    Args:
        similarities: (Q, P) of vectors.
        words: (Q, P) BM25 scores.
        wrong: (Q, P) which passages certainly do not answer.
        random: draws among the most similar ones.
    """
    found = []
    for row, own in enumerate(wrong):
        count = int(own.sum())
        near = _best(np.where(own, similarities[row], -np.inf), min(_NEAREST, count))
        verbal = _best(np.where(own, words[row], -np.inf), min(BY_WORDS, count))
        found.append(np.unique(np.concatenate([random.permutation(near)[:BY_MEANING], verbal])))
    return found


def _best(scores: Floats, count: int) -> NDArray[np.int64]:
    return np.argsort(-scores, kind="stable")[:count]


def _standard(scores: Floats) -> Floats:
    deviations = scores.std(axis=1, keepdims=True) + 1e-6
    return np.asarray((scores - scores.mean(axis=1, keepdims=True)) / deviations, dtype=np.float32)
