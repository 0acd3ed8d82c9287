"""Order features: what a mean of vectors loses, the order in which a text says things.

The lowest frequencies of the cosine transform (DCT-II) of a sequence of vectors separate its beginning, middle and
end, as Almarwani et al. 2019 (arXiv 1909.03104) show for the words of a sentence. Here the sequence is the chunks of
a section or the sentences of a query. The product of two transforms is large where both say similar things at similar
positions, whatever their lengths. Shapes: F frequencies, R directions, D chunk_dim.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nlb_retriever.encoding import Vectors

MAX_NORM = 2.0
"""Longest order features, beside 1 for the vector of the content, so that order cannot outweigh it."""


@dataclass(frozen=True, kw_only=True)
class OrderFeatures:
    """Maps DCT coefficients to the order features of sections and queries."""

    directions: Vectors
    """(D, R), the directions that coefficients are projected on."""
    weights: Vectors
    """(F,) of the frequencies, from the lowest, applied to queries."""
    half: Vectors
    """(1,): the features of a query of n sentences are scaled by n / (n + half)."""

    @property
    def width(self) -> int:
        """F x R, the length of the features."""
        return int(len(self.weights) * self.directions.shape[1])

    def project_sections(self, coefficients: Vectors, norms: Vectors) -> Vectors:
        """Features (s, F x R) of sections.

        Args:
            coefficients: (s, F, D), see `dct_coefficients`.
            norms: (s,) norms of the sections' projected means.
        """
        return _flatten(coefficients @ self.directions, norms)

    def project_query(self, coefficients: Vectors, norm: float, sentences: int) -> Vectors:
        """Features (F x R,) of a query.

        Args:
            coefficients: (F, D), see `dct_coefficients`.
            norm: of the query's projected vector.
            sentences: number of sentences of the query.
        """
        scale = self.weights[:, None] * (sentences / (sentences + float(self.half[0])))
        features: Vectors = _flatten(
            (coefficients @ self.directions * scale)[None], np.array([norm], dtype=np.float32)
        )[0]
        return features


def dct_coefficients(vectors: Vectors, count: int) -> Vectors:
    """The lowest frequencies (count, D) of a sequence's DCT-II, without the zeroth.

    Scaled by the norm of the sequence's mean, to match a mean of unit length. Frequencies that the sequence is too
    short for are zero.

    Args:
        vectors: (n, D), in order, n >= 1.
        count: F.
    """
    length = len(vectors)
    scale = max(float(np.linalg.norm(vectors.mean(axis=0, dtype=np.float64))), 1e-6) * length
    return np.asarray(dct_basis(length, count).T @ vectors / scale, dtype=np.float32)


def dct_basis(length: int, count: int) -> Vectors:
    """(length, count) cosines of the frequencies 1 to count; zero for those not below `length`."""
    frequencies = np.arange(1, count + 1)
    positions = (np.arange(length) + 0.5) / length
    cosines = np.sqrt(2) * np.cos(np.pi * positions[:, None] * frequencies) * (frequencies < length)
    return np.asarray(cosines, dtype=np.float32)


def _flatten(features: Vectors, norms: Vectors) -> Vectors:
    """(s, F, R) divided by the norms (s,), as rows no longer than `MAX_NORM`; zero where a norm is zero."""
    rows = features.reshape(len(features), -1)
    scaled = np.where(norms[:, None] > 1e-6, rows / np.maximum(norms, 1e-6)[:, None], 0)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled * np.minimum(1, MAX_NORM / np.maximum(lengths, 1e-9)), dtype=np.float32)
