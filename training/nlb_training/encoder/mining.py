"""Which passage answers a query, and which wrong ones rank high for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped]

from nlb_training.encoder.bert import Ids

Floats = NDArray[np.float32]

_JUMP = 0.4
"""What a jump over the whole chapter costs between two sentences of a summary, as cosine; backwards twice that."""
_K, _B = 0.4, 0.4
"""As the library weighs passages."""
_VOCABULARY = 30522


def align(similarities: Floats, positions: Floats) -> NDArray[np.int64]:
    """The most likely passage of each sentence of a summary that follows the text but for jumps (Viterbi).

    Args:
        similarities: (n, m) cosines of the summary's sentences, in order, and a chapter's passages, in order.
        positions: (n,) position of each sentence in the summary, 0 to 1.

    Returns:
        (n,) indexes of passages.
    """
    count, size = similarities.shape
    at = (np.arange(size) + 0.5) / size
    steps = at[None, :] - at[:, None]
    start = -_JUMP * np.abs(at - positions[0])
    best = similarities[0] + start
    back = np.zeros((count, size), dtype=np.int64)
    for index in range(1, count):
        extra = steps - (positions[index] - positions[index - 1])
        paths = best[:, None] - _JUMP * np.where(steps < 0, 2 * np.abs(steps), np.abs(extra))
        back[index] = paths.argmax(axis=0)
        best = paths.max(axis=0) + similarities[index]
    result = np.empty(count, dtype=np.int64)
    result[-1] = best.argmax()
    for index in range(count - 1, 0, -1):
        result[index - 1] = back[index, result[index]]
    return result


class WordIndex:
    """BM25 over WordPiece ids of some passages.

    Args:
        passages: token ids of each.
        rarity: (vocabulary,) weight of each id; default: by these passages.
    """

    def __init__(self, passages: Sequence[Ids], rarity: Floats | None = None) -> None:
        if rarity is None:
            rarity = weigh_ids(passages)
        counts = _count(passages)
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


def weigh_ids(passages: Sequence[Ids]) -> Floats:
    """(vocabulary,) how rare each id is among passages (BM25's IDF)."""
    counts = _count(passages)
    found = np.bincount(counts.indices, minlength=_VOCABULARY)
    return np.log1p((len(passages) - found + 0.5) / (found + 0.5)).astype(np.float32)


def _count(texts: Sequence[Ids]) -> sparse.csr_matrix:
    sizes = [len(text) for text in texts]
    rows = np.repeat(np.arange(len(texts)), sizes)
    columns = np.concatenate([*texts, np.empty(0, dtype=np.uint16)]).astype(np.int64)
    values = np.ones(len(columns), dtype=np.float32)
    return sparse.coo_matrix((values, (rows, columns)), shape=(len(texts), _VOCABULARY)).tocsr()


def pick_negatives(
    similarities: Floats, words: Floats, wrong: NDArray[np.bool_], *, top: int, random: np.random.Generator
) -> NDArray[np.int64]:
    """One wrong passage for each query, from the best `top` by meaning or by words; -1 where there is none.

    Args:
        similarities: (Q, P) cosines.
        words: (Q, P) BM25 scores.
        wrong: (Q, P) which passages certainly do not answer.
        top: how many are chosen from.
        random: what chooses.
    """
    result = np.full(len(similarities), -1, dtype=np.int64)
    for row in range(len(result)):
        scores = np.where(wrong[row], (words if random.random() < 0.4 else similarities)[row], -np.inf)
        count = min(top, int(wrong[row].sum()))
        if count:
            result[row] = random.choice(np.argpartition(-scores, count - 1)[:count])
    return result
