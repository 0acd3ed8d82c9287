"""Word 97 to 2003: paragraphs, those of heading styles as sections, footnotes and endnotes at the end.

[MS-DOC]: Word (.doc) Binary File Format; the compound file around it is olefile's.
"""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from operator import itemgetter
from struct import error as StructError
from struct import iter_unpack, unpack_from
from typing import TYPE_CHECKING, Any, NamedTuple

from nlb_retriever.errors import NotABook, ReadingError, ReadingLimit
from nlb_retriever.reading.draft import Draft, Heading, clean, one_line
from nlb_retriever.reading.headings.outline import add_unmarked
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.omissions import Omissions, count_words
from nlb_retriever.reading.pages.title_page import add_title_page, is_given

if TYPE_CHECKING:
    from olefile import OleFileIO

_DAMAGE = (StructError, LookupError, ValueError, OSError, TypeError, AttributeError, OverflowError)
"""What olefile and numbers beyond a file's end raise."""
_WORD_97 = 193
_SIGNATURE = 0xA5EC
_ENCRYPTED, _TABLE_1 = 0x0100, 0x0200
_PARTS = ("text", "footnotes", "running heads", "macros", "comments", "endnotes", "text boxes", "text boxes of heads")
"""What stands in a document one after the other, and where the header counts the characters of each (section 2.5.3)."""
_COUNTS = 0x4C
_LOOKS, _STYLES, _PIECES = 0xFA, 0x102, 0x1A2
"""Where the header says where the pages of character properties and of paragraph styles and the table of pieces are
(FibRgFcLcb97)."""
_PAGE = 512
_HEADINGS = range(1, 10)
"""Numbers of the styles Heading 1 to Heading 9 in every document (section 2.9.271)."""
_DELETED, _HIDDEN = 0x0800, 0x083C
"""Properties of characters that are not shown (section 2.6.1)."""
_MOVED = {_DELETED: 0xF0000, _HIDDEN: 0x100000}
"""Where such characters are moved to among Unicode's, so that all keep their places."""
_UNSHOWN = re.compile("[\U000f0000-\U000fffff]+|[\U00100000-\U0010ffff]+")
_KEPT = "\r\x07\x0c\x13\x14\x15"
"""Ends of paragraphs and cells, and marks of fields."""
_ON = (1, 0x81)
"""Yes, and what the style is not."""
_SIZES = (1, 1, 2, 4, 2, 2, 0, 3)
"""Bytes of a property's value by three bits of its number; 0 where the value begins with its size (section 2.2.5.1)."""
_FIELD = re.compile("([\x13\x14\x15])")
_CONTENTS = re.compile(r"\s*(?:TOC|INDEX|TOA)\b")
"""Fields that are tables of contents, indexes, tables of authorities."""
_OBJECT = re.compile(r"\s*EMBED\b\s*(\S{0,40})")
_ROW = re.compile("\x07\x07")
_DROPPED = re.compile("[\x01-\x06\x08\x1f\xad\u200b\u2060\ufeff]")
"""Pictures, references to notes and comments, hyphens that are only shown at the ends of lines."""
_BREAKS = str.maketrans({"\x0b": "\n", "\x0c": "\r", "\x0e": "\r", "\x1e": "-", "\xa0": " "})
_SUMMARY = "\x05SummaryInformation"
_UTF_8 = 65001
"""The number of UTF-8 as a code page."""


class _Piece(NamedTuple):
    """A stretch of text that stands in one place of the file."""

    start: int
    """Its first character in the document."""
    end: int
    offset: int
    """Its first byte in the file."""
    width: int
    """Bytes of a character."""


def read_doc(data: bytes, limits: Limits) -> Draft:
    """Read a Word 97 to 2003 document.

    Raises:
        NotABook: it is none, or of an older Word (messages without the path).
        ReadingError: damaged or protected.
        ReadingLimit: it holds too much.
    """
    import olefile

    draft = Draft("")
    try:
        with olefile.OleFileIO(io.BytesIO(data)) as ole:
            if not ole.exists("WordDocument"):
                raise NotABook("is no Word document, or one with a password (it is another Office file)")
            _read(ole, draft, limits)
            if ole.exists(_SUMMARY):
                try:
                    _describe(ole.getproperties(_SUMMARY), draft)
                except _DAMAGE:
                    draft.warnings.append("its properties are damaged: title and author are those of its text")
    except _DAMAGE as error:
        what = f" ({one_line(str(error), 100)})" if isinstance(error, ValueError) else ""
        raise ReadingError(f"is a damaged Word document{what}") from error
    add_unmarked(draft)
    add_title_page(draft)
    return draft


def _read(ole: OleFileIO, draft: Draft, limits: Limits) -> None:
    header = ole.openstream("WordDocument").read()
    signature, version = unpack_from("<HH", header)
    (flags,) = unpack_from("<H", header, 0x0A)
    if signature != _SIGNATURE or version < _WORD_97:
        raise NotABook("is of an older Word than 97: save it as .docx")
    if flags & _ENCRYPTED:
        raise ReadingError("is protected with a password: save it without one")
    table = ole.openstream("1Table" if flags & _TABLE_1 else "0Table").read()
    pieces = [*_find_pieces(table, *unpack_from("<LL", header, _PIECES))]
    if sum(piece.end - piece.start for piece in pieces) > limits.chars:
        raise ReadingLimit(f"holds more than {limits.chars} characters")
    unshown: list[tuple[int, int, int]] = []
    try:
        unshown += _find_unshown(header, table)
    except _DAMAGE:
        draft.warnings.append("its character properties are damaged: it may have text that was deleted or hidden")
    text = "".join(_move_unshown(_decode(header, piece), piece, unshown) for piece in pieces).translate(_BREAKS)
    levels: dict[int, int] = {}
    try:
        levels |= _find_headings(header, table, pieces)
    except _DAMAGE:
        draft.warnings.append("its paragraph styles are damaged: some headings may be missing")
    fields = _Fields(draft.omissions)
    notes: list[str] = []
    start = 0
    for part, length in zip(_PARTS, unpack_from("<8l", header, _COUNTS), strict=True):
        paragraphs = _ROW.sub("\x07\r", text[start : start + length]).split("\r")
        start += length
        if fields.open:  # of the part before
            draft.warnings.append("a field in it does not end: some of its text may be missing")
            fields.open = []
        if part == "text":
            _add_paragraphs(paragraphs, levels, fields, draft)
            continue
        shown = [" ".join(_joined(fields.show(paragraph)).split()) for paragraph in paragraphs]
        if part in {"footnotes", "endnotes", "text boxes"}:
            notes += filter(None, shown)
        elif kind := {"running heads": "running head", "comments": "reader's comment"}.get(part):
            for each in filter(None, shown):
                draft.omissions.skip_element(kind, count_words(each))
    draft.append_notes("\n\n".join(notes))
    draft.omissions.lose_objects(fields.objects)
    if fields.skipped:
        draft.omissions.skip("table of contents", fields.skipped)


def _find_pieces(table: bytes, start: int, length: int) -> Iterator[_Piece]:
    """The pieces of the text in order (section 2.9.38)."""
    end = start + length
    while table[start] == 1:  # properties of pieces that were edited
        start += 3 + int(unpack_from("<H", table, start + 1)[0])
    if table[start] != 2 or end > len(table):
        raise ValueError("its table of pieces is missing")
    (size,) = unpack_from("<L", table, start + 1)
    start += 5
    count = (size - 4) // 12
    borders = unpack_from(f"<{count + 1}L", table, start)
    for i in range(count):
        (place,) = unpack_from("<L", table, start + 4 * (count + 1) + 8 * i + 2)
        is_narrow = place & 0x40000000
        offset = place & 0x3FFFFFFF
        yield _Piece(borders[i], borders[i + 1], offset // 2 if is_narrow else offset, 1 if is_narrow else 2)


def _decode(header: bytes, piece: _Piece) -> str:
    """A piece's characters, halves of those beyond the first 65,536 as they are, so that each counts as Word counts."""
    if piece.end < piece.start or piece.offset + (piece.end - piece.start) * piece.width > len(header):
        raise ValueError("it ends in the middle of its text")
    data = header[piece.offset : piece.offset + (piece.end - piece.start) * piece.width]
    if piece.width == 1:
        return data.decode("cp1252", "replace")
    return "".join(map(chr, unpack_from(f"<{len(data) // 2}H", data)))


def _find_headings(header: bytes, table: bytes, pieces: list[_Piece]) -> Iterator[tuple[int, int]]:
    """First characters and levels of the paragraphs of heading styles (sections 2.8.26, 2.9.175)."""
    placed = sorted(pieces, key=lambda piece: piece.offset)
    for page, borders in _pages(header, table, _STYLES):
        for i, first in enumerate(borders[:-1]):
            properties = page + 2 * header[page + 4 * len(borders) + 13 * i]
            properties += 1 if header[properties] else 2
            (style,) = unpack_from("<H", header, properties)
            at = bisect_right(placed, first, key=lambda piece: piece.offset) - 1
            if style in _HEADINGS and at >= 0:
                piece = placed[at]
                yield piece.start + (first - piece.offset) // piece.width, style


def _pages(header: bytes, table: bytes, place: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Where each page of properties begins, and the borders of the runs on it, in bytes of the file."""
    start, length = unpack_from("<LL", header, place)
    count = max(0, length - 4) // 8
    numbers = table[start + 4 * (count + 1) :][: 4 * count]
    if len(numbers) < 4 * count:
        raise ValueError("its table of properties ends too early")
    for (number,) in dict.fromkeys(iter_unpack("<L", numbers)):
        page = (number & 0x3FFFFF) * _PAGE
        if page + _PAGE <= len(header):
            yield page, unpack_from(f"<{header[page + _PAGE - 1] + 1}L", header, page)


def _find_unshown(header: bytes, table: bytes) -> Iterator[tuple[int, int, int]]:
    """The stretches that are not shown: first byte, end, and the property that says so (sections 2.8.9, 2.9.33)."""
    found: list[tuple[int, int, int]] = []
    for page, borders in _pages(header, table, _LOOKS):
        for i, (first, end) in enumerate(pairwise(borders)):
            if at := 2 * header[page + 4 * len(borders) + i]:
                at += page
                values = dict(_properties(header[at + 1 : at + 1 + header[at]]))
                found += [(first, end, kind) for kind in _MOVED if values.get(kind) in _ON][:1]
    done = 0
    for first, end, kind in sorted(found):
        if end > max(first, done):
            yield max(first, done), end, kind
            done = end


def _properties(coded: bytes) -> Iterator[tuple[int, int]]:
    """The number of each property, and the first byte of its value."""
    at = 0
    while at + 2 < len(coded):
        (number,) = unpack_from("<H", coded, at)
        yield number, coded[at + 2]
        at += 2 + (_SIZES[number >> 13] or 1 + coded[at + 2])


def _move_unshown(text: str, piece: _Piece, unshown: list[tuple[int, int, int]]) -> str:
    """A piece's characters, with those that are not shown moved out of the way."""
    parts: list[str] = []
    done = 0
    for i in range(bisect_right(unshown, piece.offset, key=itemgetter(1)), len(unshown)):
        first, end, kind = unshown[i]
        start = max(0, (first - piece.offset) // piece.width)
        if start >= len(text):
            break
        stretch = text[start : (end - piece.offset) // piece.width]
        moved = (char if char in _KEPT else chr(_MOVED[kind] + ord(char)) for char in stretch)
        parts += (text[done:start], *moved)
        done = start + len(stretch)
    return "".join([*parts, text[done:]])


class _Fields:
    """Follows fields over paragraphs: of each its result is text, but for tables of contents and what is not shown."""

    def __init__(self, omissions: Omissions) -> None:
        self._omissions = omissions
        self.skipped = 0
        """Words of tables of contents."""
        self.objects: Counter[str] = Counter()
        """Kinds of the files inside the document, as formulas are."""
        self.open: list[tuple[str, bool]] = []
        """Of each field that is open its instruction so far, and whether its result has begun."""

    def show(self, paragraph: str) -> str:
        parts: list[str] = []
        for part in _FIELD.split(paragraph):
            if part == "\x13":
                self.open.append(("", False))
            elif part == "\x14":
                if self.open:
                    self.open[-1] = self.open[-1][0], True
                    self.objects.update(_OBJECT.findall(self.open[-1][0]))
            elif part == "\x15":
                self.open = self.open[:-1]
            elif self.open and not self.open[-1][1]:
                self.open[-1] = (self.open[-1][0] + part)[:100], False
            elif any(_CONTENTS.match(instruction) for instruction, _ in self.open):
                self.skipped += count_words(part)
            elif all(has_begun for _, has_begun in self.open):
                parts.append(_UNSHOWN.sub(self._leave_out, part))
        return "".join(parts)

    def _leave_out(self, match: re.Match[str]) -> str:
        kind = "hidden stretch" if ord(match[0][0]) >= _MOVED[_HIDDEN] else "deleted stretch"
        self._omissions.skip_element(kind, count_words("".join(chr(ord(char) & 0xFFFF) for char in match[0])))
        return ""


def _add_paragraphs(paragraphs: list[str], levels: dict[int, int], fields: _Fields, draft: Draft) -> None:
    parts: list[str] = []
    start, length, was_row = 0, 0, False
    for paragraph in paragraphs:
        text = _joined(fields.show(paragraph)).strip()
        if text:
            is_row = "\x07" in paragraph
            parts.append("" if not parts else "\n" if is_row and was_row else "\n\n")
            length += len(parts[-1])
            if start in levels and not is_row:
                draft.headings.append(Heading(length, levels[start], one_line(text)))
            parts.append(text)
            length += len(text)
            was_row = is_row
        start += len(paragraph) + 1
    draft.text = "".join(parts)


def _joined(paragraph: str) -> str:
    """A paragraph's text, cells two blanks apart."""
    text = _DROPPED.sub("", paragraph).strip("\x07").replace("\x07", "  ")
    return clean(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))


def _describe(properties: Mapping[int, Any], draft: Draft) -> None:
    """Title and author by the file's properties ([MS-OLEPS], section 2.21)."""
    page = properties.get(1, 1252) & 0xFFFF
    for name, number in (("title", 2), ("author", 4)):
        value = properties.get(number, "")
        if isinstance(value, bytes):
            value = value.decode("utf-8" if page == _UTF_8 else f"cp{page}", "replace")
        value = one_line(value.partition("\0")[0])
        if is_given(value):
            setattr(draft, name, value)
