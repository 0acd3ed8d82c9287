"""BM25 over exact texts, in memory: the baseline for all vectors.

Words are the library's own (nlb_retriever.text.words: English stems without stop words), and so is the
rarity of a word among N documents of which n hold it: ln(1 + (N - n + 0.5) / (n + 0.5)).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

from nlb_retriever.records import Level
from nlb_retriever.text.words import WEIGHTS, count_words, weigh_query
from nlb_training.evaluation.metrics import Values

PLAIN = {"k": 1.2, "b": 0.75}
"""The usual parameters of BM25 in papers; the average length is that of the documents."""


class WordIndex:
    """Documents that are searched by words.

    Args:
        documents: N texts.
        level: whose weights are used (the library's); None for the plain ones, which also count question words.
    """

    def __init__(self, documents: Sequence[str], level: Level | None = None) -> None:
        self._level: Level | None = level
        self._columns: dict[int, int] = {}
        counts = _matrix([_counted(text) for text in documents], self._columns)
        lengths = np.asarray(counts.sum(axis=1)).ravel()
        if level:
            weights = WEIGHTS[level]
            k, b, average = weights.k, weights.b, weights.average
        else:
            k, b, average = PLAIN["k"], PLAIN["b"], float(lengths.mean()) or 1.0
        owners = np.repeat(np.arange(len(documents)), np.diff(counts.indptr))
        counts.data *= (k + 1) / (counts.data + k * (1 - b + b * lengths[owners] / average))
        holding = np.bincount(counts.indices, minlength=len(self._columns))
        counts.data *= np.log1p((len(documents) - holding + 0.5) / (holding + 0.5))[counts.indices]
        self._counts = counts

    def score(self, queries: Sequence[str]) -> Values:
        """BM25 (Q, N) of each query and document. A word counts once, however often a query has it."""
        weighted = _matrix([_query_words(text, self._level) for text in queries], self._columns, grow=False)
        return np.asarray((weighted @ self._counts.T).toarray(), dtype=np.float64)


@lru_cache(maxsize=20_000)
def _counted(text: str) -> Mapping[int, float]:
    words = count_words(text)
    return {index: float(round(value)) for index, value in zip(words.indices, words.values, strict=True)}


def _query_words(text: str, level: Level | None) -> Mapping[int, float]:
    if level:
        words = weigh_query(level, text)
        return dict(zip(words.indices, words.values, strict=True))
    return dict.fromkeys(_counted(text), 1.0)


def _matrix(rows: Sequence[Mapping[int, float]], columns: dict[int, int], *, grow: bool = True) -> csr_matrix:
    """Rows of words and values as a sparse matrix; words that are new become columns, or are dropped."""
    values: list[float] = []
    indexes: list[int] = []
    ends = [0]
    for row in rows:
        for word, value in row.items():
            column = columns.setdefault(word, len(columns)) if grow else columns.get(word)
            if column is not None:
                indexes.append(column)
                values.append(value)
        ends.append(len(values))
    return csr_matrix((np.array(values), np.array(indexes, dtype=np.int64), ends), shape=(len(rows), len(columns)))
