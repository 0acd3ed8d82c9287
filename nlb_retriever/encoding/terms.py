"""Vectors of terms: what each word of a text means there, in few numbers.

A query and a passage are compared word by word, each word of the query with the most similar one of the passage ("late
interaction", ColBERT, Khattab & Zaharia 2020, arXiv 2004.12832, section 3.2), with one vector for all places of a term
in a passage. The states of the tokens come from the pass that makes the passage's vector.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.encoding.base import Vectors
from nlb_retriever.encoding.packing import Packed, compare_signs, pack_signs

TERM_DIM = 192
"""Numbers of a term's vector, of which a passage keeps the signs: 32 in four bits, two thirds of the place, are worse,
all 384 in full no better (docs/search-notes.md)."""
SENTENCES = 32
"""Sentences of a passage that are told apart; those behind count as one."""
TERM_BYTES = (TERM_DIM + SENTENCES) // 8
NO_TERMS: Vectors = np.empty((0, TERM_DIM), dtype=np.float32)


@dataclass(frozen=True, kw_only=True)
class TermProjection:
    """A linear map from the chunk encoder's token states, made by `nlb_training.encoder.terms`."""

    weight: Vectors
    """(d, D)"""
    bias: Vectors
    """(d,)"""
    sha256: str
    """Of its file."""

    @classmethod
    def read(cls, file: Path) -> TermProjection:
        """Read a file of float32 rows (d, D + 1), of which the last column is the bias."""
        rows = np.asarray(np.load(file), dtype=np.float32)
        sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
        return cls(weight=rows[:, :-1], bias=rows[:, -1], sha256=sha256)

    def pool(self, states: Sequence[Vectors], terms: Sequence[Sequence[int]]) -> list[Vectors]:
        """Vectors of the terms of some texts.

        Args:
            states: of each text those (w, D) of its words.
            terms: of each text the terms (w,) of its words, 32-bit numbers.

        Returns:
            For each text (t, d) unit rows, one a distinct term in ascending order: the mean state of its words, mapped.
        """
        words = np.concatenate([np.asarray(own, np.int64) for own in terms])
        owners = np.repeat(np.arange(len(terms)), [len(own) for own in terms])
        keys = owners << 32 | words
        order = np.argsort(keys, kind="stable")
        distinct, firsts, counts = np.unique(keys[order], return_index=True, return_counts=True)
        if not len(distinct):
            return [NO_TERMS for _ in terms]
        rows = np.concatenate(states)
        sums = rows[order[firsts]]
        for place in range(1, counts.max()):  # most terms are there once: faster than np.add.reduceat
            more = np.flatnonzero(counts > place)
            sums[more] += rows[order[firsts[more] + place]]
        mapped = (sums / counts[:, None].astype(np.float32)) @ self.weight.T + self.bias
        mapped /= np.maximum(np.linalg.norm(mapped, axis=1, keepdims=True), 1e-9)
        return np.split(mapped, np.searchsorted(distinct >> 32, np.arange(1, len(terms))))


def pack_terms(
    vectors: Sequence[Vectors], terms: Sequence[Sequence[int]], places: Sequence[Sequence[int]]
) -> list[Packed]:
    """The terms of some passages as they are kept.

    Args:
        vectors: of each passage those (t, d) of its terms, as `TermProjection.pool` gives them.
        terms: of each passage the terms (w,) of its words.
        places: of each passage the number (w,) of each word's sentence.

    Returns:
        For each (t, `TERM_BYTES`): the signs of a term's vector, and a bit for every sentence that it is in.
    """
    packed = []
    for own, words, sentences in zip(vectors, terms, places, strict=True):
        distinct, rows = np.unique(np.asarray(words, np.int64), return_inverse=True)
        marks = np.zeros(len(distinct), "<u4")
        np.bitwise_or.at(marks, rows, np.uint32(1) << np.minimum(sentences, SENTENCES - 1).astype(np.uint32))
        packed.append(np.concatenate([pack_signs(own), marks.view(np.uint8).reshape(-1, SENTENCES // 8)], axis=1))
    return packed


def compare_terms(packed: Packed, query: Vectors) -> Vectors:
    """Products (t, k) of the unit rows that packed terms stand for with a query's (k, d)."""
    return compare_signs(packed[:, : TERM_DIM // 8], query)


def find_sentences(packed: Packed) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows of packed terms and numbers of sentences: one pair for each sentence that a term is in, by row."""
    marks = np.unpackbits(packed[:, TERM_DIM // 8 :], axis=1, bitorder="little")
    return np.divmod(np.flatnonzero(marks.view(np.bool_)), SENTENCES)
