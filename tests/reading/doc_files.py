"""A writer of Word 97 documents: the compound file, the header, paragraphs and their styles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from struct import pack, pack_into

END, FREE, FAT = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
SECTOR = 512
LEAST = 4096
"""Bytes of a stream that has sectors of its own."""
TEXT = 0x800
"""Where the text begins in the main stream."""


def compound(streams: Mapping[str, bytes]) -> bytes:
    """A compound file (version 3) of streams."""
    padded = {name: data.ljust(LEAST, b"\0") for name, data in streams.items()}
    counts = [-(-len(data) // SECTOR) for data in padded.values()]
    directory = -(-128 * (1 + len(padded)) // SECTOR)
    fats = 1
    while fats * (SECTOR // 4) < fats + directory + sum(counts):
        fats += 1
    fat, starts = [FAT] * fats, []
    for count in (directory, *counts):
        starts.append(len(fat))
        fat += [*range(len(fat) + 1, len(fat) + count), END]
    fat += [FREE] * (fats * (SECTOR // 4) - len(fat))
    entries = _entry("Root Entry", 5, END, 0, child=1)
    for i, ((name, data), start) in enumerate(zip(padded.items(), starts[1:], strict=True), 1):
        entries += _entry(name, 2, start, len(data), right=i + 1 if i < len(padded) else FREE)
    head = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16)
    head += pack("<HHHHH6xLLLLLLLLL", 0x3E, 3, 0xFFFE, 9, 6, 0, fats, starts[0], 0, LEAST, END, 0, END, 0)
    head += pack("<109L", *range(fats), *[FREE] * (109 - fats))
    sectors = pack(f"<{len(fat)}L", *fat) + entries.ljust(directory * SECTOR, b"\0")
    return (
        head
        + sectors
        + b"".join(data.ljust(n * SECTOR, b"\0") for data, n in zip(padded.values(), counts, strict=True))
    )


def _entry(name: str, kind: int, start: int, size: int, *, right: int = FREE, child: int = FREE) -> bytes:
    coded = name.encode("utf-16-le")
    return coded.ljust(64, b"\0") + pack("<HBBLLL36xLQ", len(coded) + 2, kind, 1, FREE, right, child, start, size)


def summary(title: str, author: str, *, page: int = 1252) -> bytes:
    """A stream of properties.

    Args:
        page: the number of a code page.
    """
    encoding = "utf-8" if page == 65001 else f"cp{page}"
    values = [pack("<LHH", 2, page, 0)]
    for text in (title, author):
        coded = text.encode(encoding) + b"\0"
        values.append(pack("<LL", 0x1E, len(coded)) + coded.ljust(-(-len(coded) // 4) * 4, b"\0"))
    places, start = b"", 8 + 8 * len(values)
    for number, value in zip((1, 2, 4), values, strict=True):
        places += pack("<LL", number, start)
        start += len(value)
    section = pack("<LL", start, len(values)) + places + b"".join(values)
    return pack("<HHL16xL16xL", 0xFFFE, 0, 0, 1, 48) + section


def document(
    paragraphs: Sequence[tuple[int, str]],
    *,
    notes: str = "",
    heads: str = "",
    comments: str = "",
    looks: Sequence[tuple[int, int]] = (),
    wide: bool = False,
    flags: int = 0,
    version: int = 193,
) -> dict[str, bytes]:
    """The streams of a document.

    Args:
        paragraphs: at most 15: numbers of their styles (1 is Heading 1), and texts with the mark that ends them.
        looks: characters of runs from the beginning, and the number of a property that each has, 0 for none.
        wide: two bytes a character.
        flags: of the header.
    """
    text = "".join(text for _, text in paragraphs)
    width = 2 if wide else 1
    data = (text + notes + heads + comments).encode("utf-16-le" if wide else "cp1252")
    places = [TEXT]
    for _, paragraph in paragraphs:
        places.append(places[-1] + width * len(paragraph))
    page = -(-(TEXT + len(data)) // SECTOR)
    runs = len(paragraphs)
    styles = bytearray(SECTOR)
    pack_into(f"<{runs + 1}L", styles, 0, *places)
    for i, (style, _) in enumerate(paragraphs):
        at = SECTOR - 4 * (i + 2)
        styles[4 * (runs + 1) + 13 * i] = at // 2
        styles[at : at + 4] = pack("<BHB", 2, style, 0)
    styles[-1] = runs
    length = len(data) // width
    place = TEXT if wide else 2 * TEXT | 0x40000000
    clx = b"\x01\x02\x00ab" + b"\x02" + pack("<LLL", 4 * 2 + 8, 0, length) + pack("<HLH", 0, place, 0)
    table = clx + pack("<LLL", TEXT, TEXT + len(data), page)
    main = bytearray(TEXT)
    pack_into("<HH", main, 0, 0xA5EC, version)
    pack_into("<H", main, 0x0A, flags | 0x0200)
    pack_into("<8l", main, 0x4C, len(text), len(notes), len(heads), 0, len(comments), 0, 0, 0)
    pack_into("<LL", main, 0x1A2, 0, len(clx))
    pack_into("<LL", main, 0x102, len(clx), 12)
    if looks:
        pack_into("<LL", main, 0xFA, len(table), 12)
        table += pack("<LLL", TEXT, TEXT + len(data), page + 1)
        styles += _looks_page(looks, width)
    return {"WordDocument": (bytes(main) + data).ljust(page * SECTOR, b"\0") + bytes(styles), "1Table": table}


def _looks_page(looks: Sequence[tuple[int, int]], width: int) -> bytes:
    """A page of character properties (at most 60 runs)."""
    page = bytearray(SECTOR)
    places = [*accumulate((width * length for length, _ in looks), initial=TEXT)]
    pack_into(f"<{len(places)}L", page, 0, *places)
    for i, (_, number) in enumerate(looks):
        at = SECTOR - 8 * (i + 2)
        if number:
            page[4 * len(places) + i] = at // 2
            page[at : at + 7] = pack("<BHBHB", 6, 0x0835, 1, number, 1)
    page[-1] = len(looks)
    return bytes(page)
