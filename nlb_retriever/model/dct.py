"""The order in which a text says things, as numbers beside the vector that says what it is about.

A mean forgets what comes first. The cosine transform of a sequence of vectors keeps it: its lowest frequencies tell
the beginning from the end and the middle from both (as Almarwani et al. 2019, arXiv 1909.03104, do with the words of
a sentence; here with the chunks of a section and the sentences of a question). The product of two transforms is large
where both say alike things at alike places, whatever their lengths. Shapes: F frequencies, R directions, D chunk_dim.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nlb_retriever.encoding import Vectors

LONGEST = 2.0
"""Most length of an order part, beside 1 for what the text is about: none drowns it."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """What makes the order part of a vector from a sequence's waves."""

    directions: Vectors
    """(D, R), which chunk vectors and sentences are seen along."""
    weights: Vectors
    """(F,) of the frequencies, from the lowest, put on the questions' side."""
    half: Vectors
    """(1,): a question of n sentences has n / (n + half) of its order part; few sentences have little order."""

    @property
    def width(self) -> int:
        """F x R, the numbers of an order part."""
        return int(len(self.weights) * self.directions.shape[1])

    def of_sections(self, waves: Vectors, lengths: Vectors) -> Vectors:
        """(s, F x R), from waves (s, F, D) and the sections' distances (s,) from their centre."""
        return _flat(waves @ self.directions, lengths)

    def of_question(self, waves: Vectors, length: float, sentences: int) -> Vectors:
        """(F x R,), from waves (F, D), the question's distance from its centre, and its number of sentences."""
        share = self.weights[:, None] * (sentences / (sentences + float(self.half[0])))
        part: Vectors = _flat((waves @ self.directions * share)[None], np.array([length], dtype=np.float32))[0]
        return part


def waves(vectors: Vectors, count: int) -> Vectors:
    """The lowest frequencies (count, D), without the zeroth, of a sequence's cosine transform (DCT-II).

    In units of the length of the sequence's mean, so that they go with a mean of unit length. Frequencies that a
    sequence is too short for are zero.

    Args:
        vectors: (n, D), in order, at least one.
        count: F.
    """
    length = len(vectors)
    scale = max(float(np.linalg.norm(vectors.mean(axis=0, dtype=np.float64))), 1e-6) * length
    return np.asarray(basis(length, count).T @ vectors / scale, dtype=np.float32)


def basis(length: int, count: int) -> Vectors:
    """(length, count) the cosines of the frequencies from 1 to count; 0 for those not below `length`."""
    frequencies = np.arange(1, count + 1)
    places = (np.arange(length) + 0.5) / length
    cosines = np.sqrt(2) * np.cos(np.pi * places[:, None] * frequencies) * (frequencies < length)
    return np.asarray(cosines, dtype=np.float32)


def _flat(parts: Vectors, lengths: Vectors) -> Vectors:
    """(s, F, R) in units of the lengths (s,), as rows no longer than `LONGEST`; nothing where a length is none."""
    rows = parts.reshape(len(parts), -1)
    scaled = np.where(lengths[:, None] > 1e-6, rows / np.maximum(lengths, 1e-6)[:, None], 0)
    norms = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled * np.minimum(1, LONGEST / np.maximum(norms, 1e-9)), dtype=np.float32)
