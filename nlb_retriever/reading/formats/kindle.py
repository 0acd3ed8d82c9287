"""Kindle books (.mobi, .azw, .azw3, .prc) as packages of HTML files, read as those of an EPUB are.

Both layouts are known: one file of HTML with places by byte (MOBI 6), and an EPUB's files in pieces (KF8), as described
at wiki.mobileread.com ("MOBI", "KF8").
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from itertools import pairwise
from statistics import mode
from struct import unpack_from

from nlb_retriever.errors import ReadingError
from nlb_retriever.reading.containers.kindle_book import NONE, KindleBook, open_kindle
from nlb_retriever.reading.containers.kindle_index import IndexEntry, read_index
from nlb_retriever.reading.containers.package import Entry, Package
from nlb_retriever.reading.containers.palm import DAMAGE
from nlb_retriever.reading.draft import Draft, one_line
from nlb_retriever.reading.formats.epub import read_package
from nlb_retriever.reading.formats.html import html_to_text
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.omissions import Omissions

_PAGE_BREAK = re.compile(rb"<\s?/?\s?mbp:pagebreak\b[^<>]*>", re.IGNORECASE)
_PLACE = re.compile(rb"\bfilepos\s*=\s*[\"']?(\d{1,12})[\"']?", re.IGNORECASE)
_ADDRESS = re.compile(rb"(<a\b[^<>]*?\s)filepos\s*=\s*[\"']?(\d{1,12})[\"']?", re.IGNORECASE)
_REFERENCE = re.compile(rb"<reference\b[^<>]*>", re.IGNORECASE)
_TYPE = re.compile(rb"\btype\s*=\s*[\"']?([\w-]+)", re.IGNORECASE)
_LINK = re.compile(rb"<a\b[^<>]*?\bfilepos\s*=\s*[\"']?(\d{1,12})[^<>]*>(.{1,1000}?)</a\s*>", re.IGNORECASE | re.DOTALL)
_HEADING = re.compile(
    rb"(?:\s*(?:<font\b[^<>]*>\s*</font>|</?(?!h[1-6]\b|font\b[^<>]*\bsize\s*=)\w[^<>]*>)){0,20}\s*"
    rb"<(?:h([1-6])\b|font\b[^<>]*?\bsize\s*=\s*[\"']?([4-7])\b)",
    re.IGNORECASE,
)
"""A heading, or letters that are larger than the text's (of size 3)."""
_HAVE_HEADINGS = 0.8
"""Share of the places in a table of contents where headings stand, from which on these tell the levels."""


def read_kindle(data: bytes, limits: Limits) -> Draft:
    """Read a Kindle book.

    Raises:
        NotABook: no text in it (messages without the path).
        ReadingError: damaged or protected.
        ReadingLimit: it inflates to too much.
    """
    omissions, warnings = Omissions(), list[str]()
    try:
        files = _Files(open_kindle(data), limits, omissions, warnings)
    except DAMAGE as error:
        what = f" ({error})" if isinstance(error, ValueError) else ""
        raise ReadingError(f"is a damaged Kindle book{what}") from error
    draft = read_package(files, files.package(), limits)
    draft.omissions.add(omissions)
    draft.warnings += warnings
    return draft


class _Files:
    """A book's HTML files, with an anchor at each place that its table of contents points to."""

    def __init__(self, book: KindleBook, limits: Limits, omissions: Omissions, warnings: list[str]) -> None:
        self._book = book
        text = book.text(limits, omissions)
        self._pieces: list[int] = []
        """Where each piece of a file stands (KF8)."""
        self._roles: list[tuple[str, int]] = []
        self._toc: list[tuple[int, int, str]] = []
        """Place, level and title of each line of the table of contents."""
        parts = _pages(text)
        if book.is_pieces:
            try:
                parts = self._join_pieces(text[: self._end_of_text(len(text))])
            except DAMAGE:
                warnings.append("its list of files is damaged: its text was read in the order of the file")
        try:
            self._read_contents()
        except DAMAGE:
            warnings.append("its table of contents is damaged")
        if not book.is_pieces:
            self._read_references(text)
            self._tell_levels(text)
        self._starts = [start for start, _ in parts]
        self._ends = self._starts[-1] + len(parts[-1][1])
        self._name = [f"part{i:04}.html" for i, _ in enumerate(parts, 1)]
        places = sorted({place for place, _, _ in self._toc} | {place for _, place in self._roles})
        self._files = {
            name: book.decode(_with_anchors(part, start, places)).encode()
            for name, (start, part) in zip(self._name, parts, strict=True)
        }

    def names(self) -> list[str]:
        return self._name

    def find(self, name: str) -> str | None:
        return name if name in self._files else None

    def read(self, name: str) -> bytes:
        return self._files[name]

    def package(self) -> Package:
        """What the book says about itself, and its files in order."""
        package = Package(spine=list(self._name))
        self._book.describe(package)
        for role, place in self._roles:
            if (found := self._at(place)) is not None:
                package.roles.setdefault(found, role)
        package.toc = [
            Entry(level, title, found, _anchor(place))
            for place, level, title in sorted(self._toc, key=lambda line: line[:2])
            if (found := self._at(place)) is not None
        ]
        return package

    def _at(self, place: int) -> str | None:
        """The file that a place is in."""
        i = bisect_right(self._starts, place) - 1
        return self._name[i] if i >= 0 and place < self._ends else None

    def _end_of_text(self, length: int) -> int:
        """Where styles and drawings begin, behind the text."""
        number = self._book.number(192)
        if number != NONE and number < len(self._book.records) and self._book.records[number][:4] == b"FDST":
            return int(unpack_from(">L", self._book.records[number], 16)[0])
        return length

    def _join_pieces(self, text: bytes) -> list[tuple[int, bytes]]:
        """Files of KF8: each a frame, and the pieces behind it that belong into it."""
        frames, _ = read_index(self._book.records, self._book.number(252))
        pieces = [] if self._book.number(248) == NONE else read_index(self._book.records, self._book.number(248))[0]
        self._pieces = [int(piece.name) for piece in pieces]
        lengths = [piece.tags[6][1] for piece in pieces]
        parts: list[tuple[int, bytes]] = []
        used, position = 0, 0
        for frame in frames:
            start, length = frame.tags[6][:2]
            file, position = text[start : start + length], start + length
            for i in range(used, used + frame.first(1, 0)):
                at = self._pieces[i] - start
                file = file[:at] + text[position : position + lengths[i]] + file[at:]
                position += lengths[i]
            used += frame.first(1, 0)
            parts.append((start, file))
        if not parts or text[position:].strip(b"\0 \r\n"):
            parts.append((position, text[position:]))
        return parts

    def _read_contents(self) -> None:
        """The table of contents, and which files are a cover, a title page or the like."""
        if (number := self._book.number(244)) != NONE:
            entries, string = read_index(self._book.records, number)
            for entry in entries:
                title = one_line(self._book.decode(string(entry.first(3)))) if 3 in entry.tags else ""
                if title and (place := self._place(entry)) is not None:
                    self._toc.append((place, 1 + entry.first(4, 0), title))
        if self._book.is_pieces and (number := self._book.number(260)) != NONE:
            for entry in read_index(self._book.records, number)[0]:
                if (place := self._place(entry)) is not None:
                    self._roles.append((entry.name.decode("latin-1").lower(), place))

    def _place(self, entry: IndexEntry) -> int | None:
        if not self._book.is_pieces:
            return entry.first(1) if 1 in entry.tags else None
        piece = entry.first(6, len(self._pieces))
        return self._pieces[piece] + entry.tags[6][1] if piece < len(self._pieces) else None

    def _read_references(self, text: bytes) -> None:
        """Of MOBI 6: what its head says of places, and the table of contents in its text where there is no other."""
        for match in _REFERENCE.finditer(text, 0, 1 << 16):
            kind, place = _TYPE.search(match[0]), _PLACE.search(match[0])
            if kind and place:
                self._roles.append((kind[1].decode("latin-1").lower(), int(place[1])))
        start = next((place for role, place in self._roles if role == "toc"), None)
        if self._toc or start is None:
            return
        page_break = _PAGE_BREAK.search(text, start)
        for link in _LINK.finditer(text, start, page_break.start() if page_break else len(text)):
            title = one_line(html_to_text(self._book.decode(link[2])).text)
            if title and int(link[1]) > start:
                self._toc.append((int(link[1]), 1, title))

    def _tell_levels(self, text: bytes) -> None:
        """Levels by the headings that a table of contents without levels points to."""
        if len({level for _, level, _ in self._toc}) != 1:
            return
        found = [_HEADING.match(text, place) for place, _, _ in self._toc]
        levels = [int(match[1] or 8 - int(match[2])) if match else 0 for match in found]
        if sum(map(bool, levels)) >= _HAVE_HEADINGS * len(levels):
            usual = mode(filter(None, levels))
            self._toc = [
                (place, level or usual, title) for (place, _, title), level in zip(self._toc, levels, strict=True)
            ]


def _pages(text: bytes) -> list[tuple[int, bytes]]:
    """A text cut where a page ends; blanks stand for the tags that say so."""
    cuts = [0, *(match.end() for match in _PAGE_BREAK.finditer(text) if b"/" not in match[0][:3]), len(text)]
    text = _PAGE_BREAK.sub(lambda match: b" " * len(match[0]), text)
    return [(start, text[start:end]) for start, end in pairwise(cuts) if start < end or not start]


def _with_anchors(part: bytes, start: int, places: Iterable[int]) -> bytes:
    """A file with anchors at places in it, none of them inside a tag, and addresses for its links."""
    out: list[bytes] = []
    done = 0
    for place in places:
        at = place - start
        if not 0 <= at < len(part):
            continue
        if part.rfind(b"<", done, at) > part.rfind(b">", done, at):
            at = part.rfind(b"<", done, at)
        out += (part[done:at], b'<a id="%s"></a>' % _anchor(place).encode())
        done = at
    out.append(part[done:])
    return _ADDRESS.sub(rb'\1href="#\2"', b"".join(out))


def _anchor(place: int) -> str:
    return f"place{place}"
