"""Vectors of spans and terms in four bits a number: those of a passage's spans are no larger than its text.

Each row is cut at 2.5 of its standard deviations into 16 steps of one size; only directions are kept, as unit vectors
are compared. On FairytaleQA val this costs vectors alone 0.3 points of MRR, fused search nothing (docs/benchmarks.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.encoding.base import Vectors

Packed: TypeAlias = NDArray[np.uint8]
"""(s, (D + 1) // 2), two numbers a byte."""
_DEVIATIONS = 2.5
_HALF = 8
"""Steps on each side of zero."""


def pack(vectors: Vectors) -> Packed:
    """Pack rows (s, D)."""
    size = np.maximum(vectors.std(axis=1, keepdims=True), 1e-9) * (_DEVIATIONS / _HALF)
    steps = np.clip(np.floor(vectors / size) + _HALF, 0, 2 * _HALF - 1).astype(np.uint8)
    if steps.shape[1] % 2:
        steps = np.pad(steps, ((0, 0), (0, 1)))
    packed: Packed = steps[:, ::2] << 4 | steps[:, 1::2]
    return packed


def pack_all(parts: Sequence[Vectors]) -> list[Packed]:
    """Pack the rows of several arrays at once."""
    return np.split(pack(np.concatenate(parts)), np.cumsum([len(own) for own in parts])[:-1]) if parts else []


def unpack(packed: Packed, dim: int) -> Vectors:
    """The unit rows (s, D) that packed ones stand for."""
    rows = np.empty((len(packed), dim), np.float32)
    rows[:, ::2], rows[:, 1::2] = _halves(packed, dim)
    unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def compare(packed: Packed, vectors: Vectors) -> Iterator[Vectors]:
    """For each vector of (k, D) its products (s,) with the unit rows that packed ones stand for.

    Each product is the same, whatever stands beside it.
    """
    even, odd = _halves(packed, vectors.shape[1])
    lengths = np.sqrt(np.vecdot(even, even) + np.vecdot(odd, odd))
    for vector in vectors:
        yield (np.vecdot(even, vector[::2].copy()) + np.vecdot(odd, vector[1::2].copy())) / lengths


def _halves(packed: Packed, dim: int) -> tuple[Vectors, Vectors]:
    """Every second number of packed rows, and the others."""
    middle = np.float32(_HALF - 0.5)
    return (packed >> 4).astype(np.float32) - middle, (packed & 15).astype(np.float32)[:, : dim // 2] - middle
