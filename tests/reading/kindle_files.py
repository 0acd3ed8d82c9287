"""A writer of Kindle books: databases, headers, indexes, packed text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from struct import pack

NONE = 0xFFFFFFFF
SIZE = 4096
"""Bytes of text in a record."""


def database(records: Sequence[bytes], *, made: int = 0) -> bytes:
    """A Palm database.

    Args:
        made: seconds since 1970.
    """
    start = 78 + 8 * len(records) + 2
    places = b""
    for record in records:
        places += pack(">LL", start, 0)
        start += len(record)
    head = b"book".ljust(32, b"\0") + pack(">HHLLLLLL", 0, 0, made, made, 0, 0, 0, 0) + b"BOOKMOBI" + bytes(8)
    return head + pack(">H", len(records)) + places + b"\0\0" + b"".join(records)


def header(
    text: bytes,
    *,
    title: bytes = b"The Clock",
    described: Sequence[tuple[int, bytes]] = (),
    packed: int = 1,
    encrypted: int = 0,
    encoding: int = 65001,
    numbers: Mapping[int, int] | None = None,
) -> bytes:
    """A book's first record.

    Args:
        described: kinds and values of what it says about itself.
        numbers: by their places in the record.
    """
    length = 264
    head = bytearray(16 + length)
    head[:16] = pack(">HHLHHHH", packed, 0, len(text), -(-len(text) // SIZE), SIZE, encrypted, 0)
    head[16:20] = b"MOBI"
    exth = b"".join(pack(">LL", kind, 8 + len(value)) + value for kind, value in described)
    exth = b"EXTH" + pack(">LL", 12 + len(exth), len(described)) + exth
    fields = dict.fromkeys((192, 244, 248, 252, 256, 260), NONE)
    fields |= {20: length, 24: 2, 28: encoding, 36: 6, 84: 16 + length + len(exth), 88: len(title), 92: 9, 128: 0x40}
    for place, number in (fields | dict(numbers or {}) | {240: (numbers or {}).get(240, 0)}).items():
        head[place : place + 4] = pack(">L", number)
    return bytes(head) + exth + title


def text_records(text: bytes) -> list[bytes]:
    return [text[start : start + SIZE] for start in range(0, len(text), SIZE)]


def number(value: int) -> bytes:
    """Seven bits a byte, the last with the highest bit set."""
    out = bytes([value & 0x7F | 0x80])
    while value := value >> 7:
        out = bytes([value & 0x7F]) + out
    return out


def index(tags: Sequence[tuple[int, int, int]], entries: Sequence[tuple[bytes, Mapping[int, Sequence[int]]]],
          strings: bytes = b"") -> list[bytes]:  # fmt: skip
    """An index: its head, its entries, its strings.

    Args:
        tags: number, numbers a value, mask in the control byte.
        entries: names, and numbers by tag.
    """
    tagx = b"".join(bytes([*tag, 0]) for tag in tags) + bytes([0, 0, 0, 1])
    tagx = b"TAGX" + pack(">LL", 12 + len(tagx), 1) + tagx
    head = bytearray(192)
    head[:8] = b"INDX" + pack(">L", 192)
    head[24:32] = pack(">LL", 1, 65001)
    head[52:56] = pack(">L", 1 if strings else 0)
    body, starts = b"", []
    for name, values in entries:
        starts.append(192 + len(body))
        control, rest = 0, b""
        for tag, each, mask in tags:
            if tag not in values:
                continue
            size = len(values[tag]) // each
            shift = (mask & -mask).bit_length() - 1
            is_bytes = mask.bit_count() > 1 and size << shift >= mask
            data = b"".join(map(number, values[tag]))
            control |= mask if is_bytes else size << shift
            rest = number(len(data)) + rest + data if is_bytes else rest + data
        body += bytes([len(name)]) + name + bytes([control]) + rest
    data = bytearray(192)
    data[:8] = b"INDX" + pack(">L", 192)
    data[20:28] = pack(">LL", 192 + len(body), len(entries))
    table = b"IDXT" + b"".join(pack(">H", start) for start in starts)
    return [bytes(head) + tagx, bytes(data) + body + table, *([strings] if strings else [])]


def contents(lines: Sequence[tuple[Sequence[int], int, str]], place_tag: int) -> list[bytes]:
    """A table of contents.

    Args:
        lines: places, levels from 0, titles.
        place_tag: 1 for a byte, 6 for a piece and a byte in it.
    """
    strings = b""
    entries = []
    for i, (place, level, title) in enumerate(lines):
        entries.append((b"%03d" % i, {place_tag: place, 3: [len(strings)], 4: [level]}))
        strings += number(len(title.encode())) + title.encode()
    return index([(place_tag, len(lines[0][0]), 1), (3, 1, 2), (4, 1, 4)], entries, strings)


def mobi(text: bytes, toc: Sequence[tuple[int, int, str]] = (), **fields: object) -> list[bytes]:
    """A book of one file of HTML (MOBI 6).

    Args:
        toc: bytes in the text, levels from 0, titles.
        fields: of its header.
    """
    texts = text_records(text)
    found = {244: 1 + len(texts)} if toc else {}
    ncx = contents([([place], level, title) for place, level, title in toc], 1) if toc else []
    return [header(text, numbers=found, **fields), *texts, *ncx]  # type: ignore[arg-type]


def pieces(files: Sequence[tuple[bytes, bytes, bytes]], toc: Sequence[tuple[int, str]], *, styles: bytes = b"",
           guide: Mapping[bytes, int] | None = None, **fields: object) -> list[bytes]:  # fmt: skip
    """A book whose files are in pieces (KF8): of each file the frame before and behind its one piece, and the piece.

    Args:
        toc: files by their numbers, and titles.
        styles: what stands behind the text.
        guide: roles of files by their numbers.
    """
    text, frames, fragments = b"", [], []
    for i, (before, behind, piece) in enumerate(files):
        start, length = len(text), len(before + behind)
        frames.append((b"SKEL%06d" % i, {1: [1, 1], 6: [start, length, start, length]}))
        fragments.append((b"%010d" % (start + len(before)), {2: [0], 3: [i], 4: [i], 6: [0, len(piece)]}))
        text += before + behind + piece
    fdst = b"FDST" + pack(">LLLLLL", 12, 2, 0, len(text), len(text), len(text) + len(styles))
    texts = text_records(text + styles)
    skeleton = index([(1, 1, 3), (6, 2, 12)], frames)
    fragment = index([(2, 1, 1), (3, 1, 2), (4, 1, 4), (6, 2, 8)], fragments, b"\x81x")
    ncx = contents([([i, 0], 0, title) for i, title in toc], 6)
    roles = index([(6, 2, 1)], [(role, {6: [i, 0]}) for role, i in guide.items()]) if guide else []
    place = count(1 + len(texts))
    starts = [next(place) for _ in range(len(skeleton + fragment + ncx + roles) + 1)]
    numbers = {36: 8, 252: starts[0], 248: starts[len(skeleton)], 244: starts[len(skeleton + fragment)]}
    numbers[260] = starts[len(skeleton + fragment + ncx)] if roles else NONE
    numbers[192] = starts[-1]
    head = header(text + styles, numbers=numbers, **fields)  # type: ignore[arg-type]
    return [head, *texts, *skeleton, *fragment, *ncx, *roles, fdst]


def pack_palmdoc(record: bytes) -> bytes:
    """A text record packed by PalmDOC: phrases that came before, a blank and a letter in a byte, anything else."""
    out = bytearray()
    i = 0
    while i < len(record):
        length = next((n for n in range(10, 2, -1) if record.rfind(record[i : i + n], max(0, i - 2047), i) >= 0), 0)
        byte = record[i]
        if length and i + length <= len(record):
            distance = i - record.rfind(record[i : i + length], max(0, i - 2047), i)
            out += pack(">H", 0x8000 | distance << 3 | length - 3)
            i += length
        elif byte == 0x20 and record[i + 1 : i + 2] and 0x40 <= record[i + 1] < 0x80:
            out.append(record[i + 1] ^ 0x80)
            i += 2
        else:
            out += bytes([byte]) if byte in {0, *range(9, 0x80)} else bytes([1, byte])
            i += 1
    return bytes(out)


def phrase_records(phrases: Sequence[tuple[bytes, bool]]) -> list[bytes]:
    """Tables of codes and of phrases: "11" and "10", then "011" and "010", and so on.

    Args:
        phrases: each with whether it is plain; those that are not are packed by these codes themselves.
    """
    by_byte = [9] + [(2 * length - 1) << 8 | 0x80 | length if (length := 10 - byte.bit_length()) < 9 else length
                     for byte in range(1, 256)]  # fmt: skip
    limits = [number for length in range(1, 33) for number in (2, 2 * length - 1)]
    huff = b"HUFF" + pack(">LLLLL", 24, 24, 24 + 1024, 0, 0) + pack(">256L", *by_byte) + pack(">64L", *limits)
    places, body = b"", b""
    for phrase, is_plain in phrases:
        places += pack(">H", 2 * len(phrases) + len(body))
        body += pack(">H", len(phrase) | is_plain << 15) + phrase
    return [huff, b"CDIC" + pack(">LLL", 16, len(phrases), 12) + places + body]


def pack_phrases(numbers: Sequence[int]) -> bytes:
    """Phrases by their numbers, packed by the codes of `phrase_records`."""
    bits = "".join("0" * (number // 2) + ("10" if number % 2 else "11") for number in numbers)
    bits += "0" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big")
