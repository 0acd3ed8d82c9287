"""Indexes of Kindle books: the table of contents, and which pieces of text make up which file.

An index is a record that says which tags its entries have, records of entries, and records of the strings that they
point into (wiki.mobileread.com, "MOBI", sections INDX, TAGX, CNCX). All numbers are big-endian.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from struct import unpack_from
from typing import NamedTuple

_STRINGS = 0x10000
"""Places in one record of strings."""
_LONGEST = 8
"""Bytes of a number."""


@dataclass(frozen=True)
class IndexEntry:
    """A line of an index."""

    name: bytes
    tags: dict[int, list[int]]
    """What it says: numbers by tag."""

    def first(self, tag: int, default: int = -1) -> int:
        values = self.tags.get(tag)
        return values[0] if values else default


class _Tag(NamedTuple):
    number: int
    values: int
    """How many numbers one value of it has."""
    mask: int
    """Which bits of the control byte say how many values there are."""
    ends_byte: int


def read_index(records: Sequence[bytes], number: int) -> tuple[list[IndexEntry], Callable[[int], bytes]]:
    """An index's entries in order, and the string at a place.

    Args:
        records: of the book.
        number: of the index's first record.

    Raises:
        struct.error, IndexError, ValueError: it is damaged.
    """
    head = records[number]
    if head[:4] != b"INDX":
        raise ValueError("no index")
    (length,) = unpack_from(">L", head, 4)
    (count,) = unpack_from(">L", head, 24)
    (string_records,) = unpack_from(">L", head, 52)
    control_bytes, tags = _read_tags(head, length)
    entries: list[IndexEntry] = []
    begin, end = number + 1, number + 1 + count
    for i in range(begin, end):
        entries += _read_entries(records[i], control_bytes, tags)
    if count and not entries:
        raise ValueError("an index has no lines")
    strings = [records[i] for i in range(end, end + string_records)]
    return entries, lambda place: _string(strings, place)


def _read_tags(head: bytes, start: int) -> tuple[int, list[_Tag]]:
    if head[start : start + 4] != b"TAGX":
        raise ValueError("an index does not say which tags it has")
    length, control_bytes = unpack_from(">LL", head, start + 4)
    return control_bytes, [_Tag(*unpack_from(">4B", head, i)) for i in range(start + 12, start + length, 4)]


def _read_entries(data: bytes, control_bytes: int, tags: Sequence[_Tag]) -> list[IndexEntry]:
    if data[:4] != b"INDX":
        raise ValueError("a part of an index is missing")
    table, count = unpack_from(">LL", data, 20)
    starts = [*unpack_from(f">{count}H", data, table + 4), table]
    return [_read_entry(data[start:end], control_bytes, tags) for start, end in pairwise(starts)]


def _read_entry(data: bytes, control_bytes: int, tags: Sequence[_Tag]) -> IndexEntry:
    """One entry: its name, the control bytes, then the values of each tag in turn."""
    position = 1 + data[0]
    name = data[1:position]
    controls = list(data[position : position + control_bytes])
    position += control_bytes
    wanted: list[tuple[_Tag, int, bool]] = []
    for tag in tags:
        if tag.ends_byte:
            del controls[0]
            continue
        value = controls[0] & tag.mask
        if not value:
            continue
        if value == tag.mask and tag.mask.bit_count() > 1:  # how many bytes the values take is said
            size, position = _number(data, position)
            wanted.append((tag, size, True))
        else:
            wanted.append((tag, value >> (tag.mask & -tag.mask).bit_length() - 1, False))
    found: dict[int, list[int]] = {}
    for tag, size, is_bytes in wanted:
        values: list[int] = []
        end = position + size
        while position < end if is_bytes else len(values) < size * tag.values:
            value, position = _number(data, position)
            values.append(value)
        found[tag.number] = values
    return IndexEntry(name, found)


def _number(data: bytes, position: int) -> tuple[int, int]:
    """A number, seven bits in each byte, of which the last has the highest bit set; and where it ends."""
    value = 0
    for end in range(position + 1, position + _LONGEST + 1):
        byte = data[end - 1]
        value = value << 7 | byte & 0x7F
        if byte & 0x80:
            return value, end
    raise ValueError("a number in an index does not end")


def _string(records: Sequence[bytes], place: int) -> bytes:
    record = records[place // _STRINGS]
    length, start = _number(record, place % _STRINGS)
    return record[start : start + length]
