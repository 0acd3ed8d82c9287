"""Span vectors in four bits a number: those of a passage are no larger than its text.

Each row is cut at 2.5 of its standard deviations into 16 steps of one size; only directions are kept, as unit vectors
are compared. On FairytaleQA val this costs vectors alone 0.3 points of MRR, fused search nothing (docs/benchmarks.md).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.encoding.base import Vectors

Packed: TypeAlias = NDArray[np.uint8]
"""(s, (D + 1) // 2), two numbers a byte."""
_DEVIATIONS = 2.5
_HALF = 8
"""Steps on each side of zero."""
_NUMBERS = (np.stack(np.divmod(np.arange(256), 2 * _HALF), axis=1) + 0.5 - _HALF).astype(np.float32)
"""(256, 2), the two numbers that each byte stands for."""


def pack(vectors: Vectors) -> Packed:
    """Pack rows (s, D)."""
    size = np.maximum(vectors.std(axis=1, keepdims=True), 1e-9) * (_DEVIATIONS / _HALF)
    steps = np.clip(np.floor(vectors / size) + _HALF, 0, 2 * _HALF - 1).astype(np.uint8)
    if steps.shape[1] % 2:
        steps = np.pad(steps, ((0, 0), (0, 1)))
    packed: Packed = steps[:, ::2] << 4 | steps[:, 1::2]
    return packed


def unpack(packed: Packed, dim: int) -> Vectors:
    """The unit rows (s, D) that packed ones stand for."""
    rows = _NUMBERS[packed].reshape(len(packed), 2 * packed.shape[1])[:, :dim]
    unit: Vectors = rows / np.sqrt(np.vecdot(rows, rows))[:, None]
    return unit
