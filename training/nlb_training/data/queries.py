"""Query vectors: of each query as a whole and of its sentences, encoded once and cached on disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.encoding import ChunkEncoder, EncoderIdentity, Vectors
from nlb_retriever.model import checkpoint as checkpoints
from nlb_retriever.model.vectorizer import Vectorizer
from nlb_training.array_files import read_arrays, write_arrays

_BATCH = 256
"""Queries of a cache file."""


@dataclass(frozen=True, kw_only=True)
class QueryVectors:
    """The chunk encoder's vectors of Q queries: rows of unit length."""

    whole: Vectors
    """(Q, D), of a query's whole text."""
    sentences: Vectors
    """(M, D), one row for each sentence, query after query; a query of one sentence has its whole vector."""
    first: NDArray[np.int64]
    """(Q + 1,): each query's first row of `sentences`, and M."""

    def of(self, query: int) -> Vectors:
        """The sentences (n, D) of one query."""
        rows: Vectors = self.sentences[self.first[query] : self.first[query + 1]]
        return rows

    @property
    def counts(self) -> NDArray[np.int64]:
        """(Q,) sentences of each query."""
        return np.diff(self.first)


def encode_queries(
    texts: Sequence[str],
    folder: Path,
    *,
    identity: EncoderIdentity,
    load: Callable[[], ChunkEncoder],
    progress: Callable[[int, int], None] | None = None,
) -> QueryVectors:
    """Encode queries as the library does; cached ones are read from the folder.

    Args:
        texts: the queries.
        folder: of the cache (float16), by hashes of texts and encoder.
        identity: of the chunk encoder.
        load: loads it; called only if a query is not cached.
        progress: called with the number of queries done and the number of all.

    Raises:
        EncoderError: the encoder gave a vector that is not a unit vector (NaN).
        OSError: the folder cannot be written.
    """
    vectorizer: Vectorizer | None = None
    parts: list[_Part] = []
    for start in range(0, len(texts), _BATCH):
        batch = list(texts[start : start + _BATCH])
        key = hashlib.sha256(json.dumps([identity.sha256, identity.dim, batch]).encode()).hexdigest()[:24]
        part = _read(folder / f"{key}.npz", len(batch), identity.dim)
        if part is None:
            vectorizer = vectorizer or Vectorizer(load(), checkpoints.load(checkpoints.UNTRAINED))
            part = _encode(vectorizer, batch)
            write_arrays(folder / f"{key}.npz", whole=part[0], sentences=part[1], counts=part[2])
        parts.append(part)
        if progress:
            progress(start + len(batch), len(texts))
    none = (np.zeros((0, identity.dim), np.float16), np.zeros((0, identity.dim), np.float16), np.zeros(0, np.int64))
    whole, sentences, counts = (np.concatenate(column) for column in zip(none, *parts, strict=True))
    return QueryVectors(
        whole=whole.astype(np.float32),
        sentences=sentences.astype(np.float32),
        first=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
    )


_Part = tuple[NDArray[np.float16], NDArray[np.float16], NDArray[np.int64]]


def _encode(vectorizer: Vectorizer, texts: list[str]) -> _Part:
    raw = vectorizer.raw_queries(texts)
    whole = np.stack([question.whole for question in raw]).astype(np.float16)
    sentences = np.concatenate([question.sentences for question in raw]).astype(np.float16)
    return whole, sentences, np.array([len(question.sentences) for question in raw], dtype=np.int64)


def _read(file: Path, count: int, dim: int) -> _Part | None:
    """The content of a cache file; None if it is missing or damaged."""
    try:
        stored = read_arrays(file)
        whole, sentences, counts = part = (stored["whole"], stored["sentences"], stored["counts"])
    except (OSError, ValueError, KeyError):
        return None
    fits = whole.shape == (count, dim) and sentences.shape == (counts.sum(), dim)
    return part if fits and np.isfinite(whole).all() and np.isfinite(sentences).all() else None
