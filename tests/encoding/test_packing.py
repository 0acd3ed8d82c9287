"""Vectors of spans in four bits a number, of terms in one."""

from __future__ import annotations

import numpy as np
import pytest

from nlb_retriever.encoding.packing import compare, compare_signs, pack, pack_all, pack_signs, unpack


@pytest.mark.parametrize("dim", [384, 7])
def test_packed_vectors_keep_their_directions(dim: int) -> None:
    vectors = np.random.default_rng(0).standard_normal((200, dim)).astype(np.float32)
    packed = pack(vectors)
    assert packed.shape == (200, (dim + 1) // 2) and packed.dtype == np.uint8
    found = unpack(packed, dim)
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    cosines = np.vecdot(found, vectors) / np.linalg.norm(vectors, axis=1)
    assert cosines.min() > 0.97
    assert cosines.mean() > 0.99


@pytest.mark.parametrize("dim", [384, 7])
def test_packed_vectors_are_compared_like_unpacked_ones(dim: int) -> None:
    numbers = np.random.default_rng(1)
    packed = pack(numbers.standard_normal((50, dim)).astype(np.float32))
    vectors = numbers.standard_normal((3, dim)).astype(np.float32)
    found = compare(packed, vectors)
    np.testing.assert_allclose(found, unpack(packed, dim) @ vectors.T, atol=2e-3)
    np.testing.assert_array_equal(compare(packed[7:9], vectors[1:]), found[7:9, 1:])
    np.testing.assert_array_equal(compare(packed[::-1], 1024 * vectors), 1024 * found[::-1])
    assert compare(packed[:0], vectors).shape == (0, 3)


def test_signs_are_compared_like_unit_rows_of_them() -> None:
    numbers = np.random.default_rng(3)
    rows, vectors = (numbers.standard_normal((count, 192)).astype(np.float32) for count in (50, 3))
    packed = pack_signs(rows)
    assert packed.shape == (50, 24) and packed.dtype == np.uint8
    found = compare_signs(packed, vectors)
    np.testing.assert_allclose(found, np.where(rows > 0, 1, -1) / np.sqrt(192) @ vectors.T, atol=1e-3)
    np.testing.assert_array_equal(compare_signs(packed[7:9], vectors[1:]), found[7:9, 1:])
    np.testing.assert_array_equal(compare_signs(packed[::-1], 1024 * vectors), 1024 * found[::-1])
    assert compare_signs(packed[:0], vectors).shape == (0, 3)
    assert not compare_signs(packed, np.zeros((1, 192), np.float32)).any()
    itself = compare_signs(packed, np.where(rows > 0, 1, -1).astype(np.float32) / np.float32(np.sqrt(192)))
    np.testing.assert_allclose(np.diagonal(itself), 1, atol=1e-5)


def test_several_arrays_are_packed_as_each_alone() -> None:
    numbers = np.random.default_rng(2)
    parts = [numbers.standard_normal((rows, 8)).astype(np.float32) for rows in (3, 0, 1)]
    for own, part in zip(pack_all(parts), parts, strict=True):
        np.testing.assert_array_equal(own, pack(part))
    assert pack_all([]) == []


def test_size_does_not_matter_and_large_numbers_are_cut_off() -> None:
    row = np.array([[4.0, -4.0, 2.0, -2.0, 0.1, -0.1, 40.0, -40.0, *[1.0, -1.0] * 20]], np.float32)
    np.testing.assert_array_equal(pack(row), pack(1000 * row))
    steps = unpack(pack(row), 48)[0]
    assert steps[6] == -steps[7] == steps.max()
    assert steps[0] == -steps[1] > steps[4] == -steps[5] > 0
    assert steps[6] < 5 * steps[0]


def test_vectors_of_zeros_and_no_vectors_are_no_error() -> None:
    assert np.isfinite(unpack(pack(np.zeros((2, 8), np.float32)), 8)).all()
    assert unpack(pack(np.zeros((0, 8), np.float32)), 8).shape == (0, 8)
