"""Palm databases, in which Kindle books are kept: records, and text packed by PalmDOC or by Huffman codes of phrases.

The formats as described at wiki.mobileread.com ("PDB", "MOBI", "PalmDOC"). All numbers are big-endian.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import error as StructError
from struct import iter_unpack, unpack_from

DAMAGE = (StructError, LookupError, ValueError)
"""What reading a damaged record raises."""
_LONGEST = 1 << 20
"""Bytes that a record or a phrase inflates to at most: real records hold 4,096."""
_DEEPEST = 32
"""How many phrases are packed in each other."""


def split_records(data: bytes) -> list[bytes]:
    """The records of a database; those behind the end of a file that was cut are empty.

    Raises:
        struct.error: the file ends inside its list of records.
    """
    (count,) = unpack_from(">H", data, 76)
    starts = [unpack_from(">L", data, 78 + 8 * i)[0] for i in range(count)]
    return [data[start:end] for start, end in zip(starts, [*starts[1:], len(data)], strict=True)]


def without_trailers(record: bytes, flags: int) -> bytes:
    """A text record without the entries behind its text.

    Args:
        flags: which entries there are, from the book's header: each bit but the lowest stands for one that ends with
            its size; the lowest for the rest of a character of several bytes.
    """
    for bit in range(1, 16):
        if flags >> bit & 1:
            record = record[: max(0, len(record) - _size_at_end(record))]
    if flags & 1 and record:
        record = record[: max(0, len(record) - (record[-1] & 3) - 1)]
    return record


def _size_at_end(record: bytes) -> int:
    """A number in the last bytes, seven bits in each, of which the first has the highest bit set."""
    size = 0
    for byte in record[-4:]:
        size = byte & 0x7F if byte & 0x80 else size << 7 | byte
    return size


def unpack_palmdoc(record: bytes) -> bytes:
    """A text record packed by PalmDOC (LZ77 with a window of 2,047 bytes).

    Raises:
        IndexError, ValueError: it is damaged.
    """
    out = bytearray()
    position, end = 0, len(record)
    while position < end:
        byte = record[position]
        position += 1
        if byte >= 0xC0:
            out += bytes((0x20, byte ^ 0x80))
        elif byte >= 0x80:
            pair = byte << 8 | record[position]
            position += 1
            distance, length = pair >> 3 & 0x7FF, (pair & 7) + 3
            start = len(out) - distance
            if start < 0 or not distance:
                raise ValueError("a phrase begins before the text")
            piece = out[start : start + length]
            out += (piece * (length // len(piece) + 1))[:length]
        elif 1 <= byte <= 8:
            out += record[position : position + byte]
            position += byte
        else:
            out.append(byte)
    return bytes(out)


class Phrases:
    """Unpacks text records packed by Huffman codes of 1 to 32 bits for phrases, which are packed themselves.

    Of codes as long as each other the lowest stands for the last of their phrases, so that a phrase's number is how far
    a code is below the highest one, counted from where the numbers of shorter codes end.
    """

    def __init__(self, huff: bytes, dictionaries: Sequence[bytes]) -> None:
        """
        Args:
            huff: the record with the codes.
            dictionaries: the records with the phrases.

        Raises:
            struct.error, ValueError: a record is damaged.
        """
        if huff[:4] != b"HUFF":
            raise ValueError("no table of codes")
        by_byte, by_length = unpack_from(">LL", huff, 8)
        self._by_byte = [(each & 0x1F, bool(each & 0x80), each >> 8) for each in unpack_from(">256L", huff, by_byte)]
        limits = unpack_from(">64L", huff, by_length)
        self._lowest = [0, *(low << 32 - length for length, low in enumerate(limits[0::2], 1))]
        self._highest = [0, *(_filled(high, length) for length, high in enumerate(limits[1::2], 1))]
        self._phrases: list[tuple[bytes, bool]] = []
        for record in dictionaries:
            if record[:4] != b"CDIC":
                raise ValueError("no table of phrases")
            total, bits = unpack_from(">LL", record, 8)
            count = min(1 << min(bits, 16), total - len(self._phrases))
            for (offset,) in iter_unpack(">H", record[16 : 16 + 2 * count]):
                (length,) = unpack_from(">H", record, 16 + offset)
                self._phrases.append((record[18 + offset :][: length & 0x7FFF], bool(length & 0x8000)))

    def unpack(self, packed: bytes, depth: int = 0) -> bytes:
        if depth > _DEEPEST:
            raise ValueError("phrases are packed in each other too deep")
        out: list[bytes] = []
        size, position, end = 0, 0, 8 * len(packed)
        packed += bytes(8)
        while position < end:
            first = position >> 3
            code = int.from_bytes(packed[first : first + 5], "big") >> 8 - (position & 7) & 0xFFFFFFFF
            length, is_known, highest = self._by_byte[code >> 24]
            if not is_known:
                while length < len(self._lowest) and code < self._lowest[length]:
                    length += 1
            position += length
            if position > end or not length:  # the bits that fill the last byte
                break
            highest = _filled(highest, length) if is_known else self._highest[length]
            out.append(self._phrase((highest - code) >> 32 - length, depth))
            size += len(out[-1])
            if size > _LONGEST:
                raise ValueError("a record inflates to too much")
        return b"".join(out)

    def _phrase(self, number: int, depth: int) -> bytes:
        phrase, is_plain = self._phrases[number]
        if not is_plain:
            phrase = self.unpack(phrase, depth + 1)
            self._phrases[number] = phrase, True
        return phrase


def _filled(code: int, length: int) -> int:
    """The highest 32 bits that begin with a code of so many bits."""
    return (code + 1 << 32 - length) - 1
