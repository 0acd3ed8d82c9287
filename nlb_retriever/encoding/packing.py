"""Vectors of spans in four bits a number, and of terms in one: those of a passage's spans are no larger than its text.

Each row of a span is cut at 2.5 of its standard deviations into 16 steps of one size; only directions are kept, as
unit vectors are compared. On FairytaleQA val this costs vectors alone 0.3 points of MRR, fused search nothing
(docs/search-notes.md). Of a term only the sign of each number is kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.encoding.base import Vectors

Packed: TypeAlias = NDArray[np.uint8]
"""(s, (D + 1) // 2), two numbers a byte; of signs (s, D // 8), eight."""
_DEVIATIONS = 2.5
_HALF = 8
"""Steps on each side of zero."""
_BLOCK = 400_000
"""Products of two numbers at a time: the rows stay in a core's cache, and BLAS starts no threads, which spin for long
where other work has the cores."""
_EXACT = 1 << 24
"""Whole numbers up to this one are exact in float32."""


def pack(vectors: Vectors) -> Packed:
    """Pack rows (s, D)."""
    size = np.maximum(vectors.std(axis=1, keepdims=True), 1e-9) * (_DEVIATIONS / _HALF)
    steps = np.clip(np.floor(vectors / size) + _HALF, 0, 2 * _HALF - 1).astype(np.uint8)
    if steps.shape[1] % 2:
        steps = np.pad(steps, ((0, 0), (0, 1)))
    packed: Packed = steps[:, ::2] << 4 | steps[:, 1::2]
    return packed


def pack_signs(vectors: Vectors) -> Packed:
    """Pack the signs of rows (s, D), D a multiple of eight."""
    return np.packbits(vectors > 0, axis=1)


def pack_all(parts: Sequence[Vectors]) -> list[Packed]:
    """Pack the rows of several arrays at once."""
    return np.split(pack(np.concatenate(parts)), np.cumsum([len(own) for own in parts])[:-1]) if parts else []


def unpack(packed: Packed, dim: int) -> Vectors:
    """The unit rows (s, D) that packed ones stand for."""
    halves = _unpack(packed, np.empty((len(packed), dim), np.float32))
    rows = np.empty_like(halves)
    rows[:, ::2], rows[:, 1::2] = np.split(halves, [packed.shape[1]], axis=1)
    unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def compare(packed: Packed, vectors: Vectors) -> Vectors:
    """Products (s, k) of the unit rows that packed ones stand for with some vectors (k, D).

    The vectors are rounded to whole numbers so large that a sum of products is still exact in float32: a product is the
    same whatever stands beside it and in whatever order it is summed.
    """
    dim = vectors.shape[1]
    whole, size = _whole_numbers(vectors, dim * (2 * _HALF - 1))
    columns = np.concatenate([whole[:, ::2].T, whole[:, 1::2].T])
    found, lengths = np.empty((len(packed), len(vectors)), np.float32), np.empty(len(packed), np.float32)
    for block, rows in _blocks(packed, dim, len(vectors)):
        _unpack(packed[block], rows)
        np.dot(rows, columns, out=found[block])
        np.vecdot(rows, rows, out=lengths[block])
    found /= np.sqrt(lengths)[:, None]
    found *= size.T
    return found


def compare_signs(packed: Packed, vectors: Vectors) -> Vectors:
    """Products (s, k) of the unit rows that packed signs stand for with some vectors (k, D): exact, as of `compare`."""
    dim = vectors.shape[1]
    whole, size = _whole_numbers(vectors, 2 * dim)
    columns = np.ascontiguousarray(whole.T)
    found = np.empty((len(packed), len(vectors)), np.float32)
    for block, rows in _blocks(packed, dim, len(vectors)):
        rows[:] = np.unpackbits(packed[block], axis=1)
        np.dot(rows, columns, out=found[block])
    found *= 2
    found -= whole.sum(axis=1)
    found *= size.T / np.float32(math.sqrt(dim))
    return found


def _whole_numbers(vectors: Vectors, most: int) -> tuple[Vectors, Vectors]:
    """Vectors (k, D) in whole numbers of some size (k, 1), of which the sum of `most` is exact in float32."""
    size = np.abs(vectors).max(axis=1, keepdims=True) / (_EXACT // most)
    return np.rint(vectors / np.maximum(size, np.float32(1e-30))), size


def _blocks(packed: Packed, dim: int, vectors: int) -> Iterator[tuple[slice, Vectors]]:
    """Slices of packed rows, each with the space for its unpacked ones."""
    most = min(max(_BLOCK // max(dim * vectors, 1), 32), 512)
    space = np.empty((most, dim), np.float32)
    for first in range(0, len(packed), most):
        block = slice(first, min(first + most, len(packed)))
        yield block, space[: block.stop - first]


def _unpack(packed: Packed, rows: Vectors) -> Vectors:
    """Fill rows (s, D) with odd whole numbers, twice what packed ones stand for: each second one, then the others."""
    half = packed.shape[1]
    np.right_shift(packed, 4, out=rows[:, :half], casting="unsafe")
    np.bitwise_and(packed[:, : rows.shape[1] - half], 15, out=rows[:, half:], casting="unsafe")
    rows *= 2
    rows -= 2 * _HALF - 1
    return rows
