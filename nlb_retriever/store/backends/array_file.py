"""A file of named arrays with checksums, written once and then only read.

    magic, length of the index | index | checks | arrays | checks | index | length of the index, magic

The index is JSON: type, shape and offset of each array, and facts of the writer's own. `checks` holds a CRC-32 for
every 64 KiB of every array, so damage is known to the block. A SHA-256 of the index, which has a CRC-32 of the
checks, thus covers every byte; whoever refers to the file keeps it. Index and checks stand at both ends, so that
what is whole of a damaged file can be told from what is not.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from nlb_retriever.errors import LibraryDamaged
from nlb_retriever.store.backends import disk

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

BLOCK = 1 << 16
"""Bytes that share a checksum."""
_MAGIC = b"nlbarr01"
_ALIGN = 64
_CHECK = np.dtype("<u4")
_TYPES = ("|u1", "<u4", "<u8", "<i8", "<f4")
_LENGTH = 8
"""Bytes of the length."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """An array to be written, in pieces, so that it need not fit in memory."""

    dtype: str
    shape: tuple[int, ...]
    pieces: Iterable[Array]

    @classmethod
    def of(cls, array: Array) -> Column:
        return cls(dtype=array.dtype.str, shape=array.shape, pieces=(array,))

    @property
    def size(self) -> int:
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True, kw_only=True)
class Seal:
    """What a file must be to be the one that was written."""

    size: int
    digest: str
    """SHA-256 of its index."""


def write_arrays(path: Path, columns: Mapping[str, Column], facts: Mapping[str, Any]) -> Seal:
    """Write a new file; it is on the disk when this returns.

    Raises:
        OSError: it cannot be written; nothing is left of it.
    """
    offset, blocks = 0, 0
    arrays: dict[str, Any] = {}
    for name, column in columns.items():
        arrays[name] = {"dtype": column.dtype, "shape": list(column.shape), "offset": offset, "first": blocks}
        offset += _padded(column.size)
        blocks += -(-column.size // BLOCK)
    index: dict[str, Any] = {"arrays": arrays, "checks": {"count": blocks, "crc": "0" * 8}, "facts": facts}
    checks = np.zeros(blocks, dtype=_CHECK)
    with disk.create(path) as file:
        file.write(bytes(_front(len(_encode(index)), blocks)[1]))
        for name, column in columns.items():
            _write_column(file, column, checks[arrays[name]["first"] :])
        index["checks"]["crc"] = f"{zlib.crc32(checks.data):08x}"
        text = _encode(index)
        length = len(text).to_bytes(_LENGTH, "little")
        file.write(checks.data)
        file.write(text + length + _MAGIC)
        size = file.tell()
        file.seek(0)
        file.write(_MAGIC + length + text)
        file.seek(_front(len(text), blocks)[0])
        file.write(checks.data)
    return Seal(size=size, digest=hashlib.sha256(text).hexdigest())


def _write_column(file: BinaryIO, column: Column, checks: Array) -> None:
    crc = filled = block = written = 0
    for piece in column.pieces:
        data = np.ascontiguousarray(piece, dtype=column.dtype).reshape(-1).view(np.uint8).data
        file.write(data)
        at = 0
        while at < len(data):
            taken = min(BLOCK - filled, len(data) - at)
            crc = zlib.crc32(data[at : at + taken], crc)
            at, filled = at + taken, filled + taken
            if filled == BLOCK:
                checks[block] = crc
                crc, filled, block = 0, 0, block + 1
        written += len(data)
    if filled:
        checks[block] = crc
    if written != column.size:
        raise ValueError(f"an array of {column.size} bytes was given {written}")
    file.write(bytes(_padded(written) - written))


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """What the index says of an array. It may be a stranger's."""

    dtype: str
    shape: list[int]
    offset: int
    first: int
    """The first of its checks."""

    def __post_init__(self) -> None:
        if self.dtype not in _TYPES or not all(
            type(n) is int and n >= 0 for n in (*self.shape, self.offset, self.first)
        ):
            raise ValueError(f"{self} is no array")

    @property
    def size(self) -> int:
        """Bytes."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


class ArrayFile:
    """A file that `write_arrays` wrote. Its arrays are views of the file, not copies."""

    def __init__(self, path: Path, seal: Seal | None = None, *, is_strict: bool = True) -> None:
        """Open it.

        Args:
            path: the file.
            seal: what it must be; None: what it says of itself.
            is_strict: refuse a file of another size, or with a damaged index at one end; else what was cut off
                reads as zeros, and `find_damage` names it.

        Raises:
            FileNotFoundError: it is gone.
            OSError: it cannot be read.
            LibraryDamaged: it is not what was written.
        """
        self.path = path
        self._is_strict = is_strict
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            self.stamp = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
            """Changes whenever somebody writes to the file."""
            if is_strict and seal is not None and status.st_size != seal.size:
                raise LibraryDamaged(f"{path.name} has {status.st_size} bytes instead of {seal.size}")
            text = _read_index(file, status.st_size, seal, is_strict=is_strict)
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            index = json.loads(text)
            self._arrays = {name: _Entry(**entry) for name, entry in index["arrays"].items()}
            self.facts: dict[str, Any] = index["facts"]
            self._crc, count = index["checks"]["crc"], int(index["checks"]["count"])
            first, self._start = _front(len(text), count)
            end = self._start + sum(_padded(entry.size) for entry in self._arrays.values())
            self._checks = [self._bytes[at : at + count * _CHECK.itemsize] for at in (first, end)]
        except (ValueError, KeyError, TypeError) as error:
            raise LibraryDamaged(f"{path.name} has an index that makes no sense") from error
        self.seal = seal or Seal(size=status.st_size, digest=hashlib.sha256(text).hexdigest())
        self._views: dict[str, Array] = {}

    def __getitem__(self, name: str) -> Array:
        """An array, read-only.

        Raises:
            KeyError: there is none of this name.
        """
        view = self._views.get(name)
        if view is None:
            self._views[name] = view = self._view(self._arrays[name])
        return view

    def __contains__(self, name: object) -> bool:
        return name in self._arrays

    def _view(self, entry: _Entry) -> Array:
        count, at = math.prod(entry.shape), self._start + entry.offset
        if not count:
            return np.empty(entry.shape, dtype=entry.dtype)
        if at + entry.size > len(self._bytes):
            if self._is_strict:
                raise LibraryDamaged(f"{self.path.name} is cut short")
            held = self._bytes[at:].ljust(entry.size, b"\0")
            return np.frombuffer(held, dtype=entry.dtype).reshape(entry.shape)
        return np.frombuffer(self._bytes, dtype=entry.dtype, count=count, offset=at).reshape(entry.shape)

    def find_damage(self) -> dict[str, list[tuple[int, int]]]:
        """The stretches of bytes of each array that are not as written, in order; reads all of the file.

        Raises:
            LibraryDamaged: the checksums themselves are damaged.
        """
        whole = next((own for own in self._checks if f"{zlib.crc32(own):08x}" == self._crc), None)
        if whole is None or (self._is_strict and len(set(self._checks)) > 1):
            raise LibraryDamaged(f"{self.path.name} is damaged (its checksums)")
        checks = np.frombuffer(whole, dtype=_CHECK)
        damage = {}
        for name, entry in self._arrays.items():
            data = memoryview(self._bytes)[self._start + entry.offset :][: entry.size]
            starts = range(0, entry.size, BLOCK)
            own = checks[entry.first : entry.first + len(starts)]
            bad = [
                (at, min(at + BLOCK, entry.size))
                for at, check in zip_longest(starts, own.tolist())
                if zlib.crc32(data[at : at + BLOCK]) != check or at >= len(data)
            ]
            if bad:
                damage[name] = bad
        return damage


def _read_index(file: BinaryIO, size: int, seal: Seal | None, *, is_strict: bool) -> bytes:
    """The index that fits the seal; where it need not be strict, from either end."""
    texts = list(_indexes(file, size))
    for text in texts:
        if text is not None and (seal is None or hashlib.sha256(text).hexdigest() == seal.digest):
            if is_strict and len(set(texts)) > 1:
                break
            return text
    raise LibraryDamaged(f"{Path(file.name).name} is damaged (its index)")


def _indexes(file: BinaryIO, size: int) -> Iterator[bytes | None]:
    fixed = len(_MAGIC) + _LENGTH
    front = file.read(fixed)
    length = int.from_bytes(front[len(_MAGIC) :], "little")
    yield file.read(length) if front.startswith(_MAGIC) and length <= size else None
    file.seek(max(0, size - fixed))
    back = file.read(fixed)
    length = int.from_bytes(back[:_LENGTH], "little")
    if back.endswith(_MAGIC) and length <= size - fixed:
        file.seek(size - fixed - length)
        yield file.read(length)
    else:
        yield None


def _front(length: int, blocks: int) -> tuple[int, int]:
    """Where the first checks begin, and the arrays."""
    checks = len(_MAGIC) + _LENGTH + length
    checks += -checks % _CHECK.itemsize
    return checks, _padded(checks + blocks * _CHECK.itemsize)


def _encode(index: Mapping[str, Any]) -> bytes:
    return json.dumps(index, ensure_ascii=True, separators=(",", ":")).encode()


def _padded(size: int) -> int:
    return -(-size // _ALIGN) * _ALIGN
