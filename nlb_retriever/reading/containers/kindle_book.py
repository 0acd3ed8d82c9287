"""What a Kindle book's first record says, and its text unpacked (wiki.mobileread.com, "MOBI")."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cached_property
from struct import unpack_from

from nlb_retriever.errors import NotABook, ReadingError, ReadingLimit
from nlb_retriever.reading.authors import join_authors
from nlb_retriever.reading.containers.package import Package, publication_year
from nlb_retriever.reading.containers.palm import DAMAGE, Phrases, split_records, unpack_palmdoc, without_trailers
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.omissions import Omissions

NONE = 0xFFFFFFFF
"""A number that says that there is none."""
_UTF_8 = 65001
_PHRASES = 17480
_EPOCHS = (datetime(1970, 1, 1, tzinfo=UTC), datetime(1904, 1, 1, tzinfo=UTC))
"""From when a database counts the seconds: some from one, some from the other."""
_LANGUAGES = {4: "zh", 6: "da", 7: "de", 9: "en", 10: "es", 11: "fi", 12: "fr", 16: "it", 17: "ja", 19: "nl",
              20: "no", 21: "pl", 22: "pt", 25: "ru", 29: "sv"}  # fmt: skip
"""Of Windows' numbers for languages."""
_TITLE, _AUTHOR, _PUBLISHER, _DESCRIPTION, _SUBJECT, _DATE, _RIGHTS, _SOURCE = 503, 100, 101, 103, 105, 106, 109, 112
_LANGUAGE, _SECOND_LAYOUT, _IDENTIFIER = 524, 121, 104


def open_kindle(data: bytes) -> KindleBook:
    """A Kindle book; of one in two layouts the newer (KF8).

    Raises:
        ReadingError: it is protected (messages without the path).
        struct.error, IndexError, ValueError: it is damaged.
    """
    records = split_records(data)
    (since,) = unpack_from(">L", data, 36)
    made = {(epoch + timedelta(seconds=since)).date().isoformat() for epoch in _EPOCHS}
    book = KindleBook(records, made)
    if unpack_from(">H", records[0], 12)[0]:
        raise ReadingError("is protected by DRM (encrypted): only unprotected Kindle books can be read")
    (second,) = unpack_from(">L", values[0]) if (values := book.described.get(_SECOND_LAYOUT)) else (NONE,)
    if 0 < second < len(records) and records[second][16:20] == b"MOBI":
        return KindleBook(records[second:], made)
    return book


class KindleBook:
    """One layout of a book: its records, of which the first describes it."""

    def __init__(self, records: list[bytes], made: set[str]) -> None:
        """
        Args:
            records: from the one that describes the book.
            made: days on which the file may have been made, as in ISO 8601.

        Raises:
            struct.error, IndexError, ValueError: the first record describes no book.
        """
        self.records = records
        self.made = made
        self.header = records[0]
        if self.header[16:20] != b"MOBI":
            raise ValueError("its first record does not describe a book")
        self._end = 16 + int(unpack_from(">L", self.header, 20)[0])
        self.encoding = "utf-8" if self.number(28) == _UTF_8 else "cp1252"

    def number(self, offset: int) -> int:
        """A number of the header; `NONE` where the header ends before it."""
        return unpack_from(">L", self.header, offset)[0] if offset + 4 <= self._end else NONE

    @cached_property
    def is_pieces(self) -> bool:
        """Whether its HTML files are in pieces (KF8)."""
        return self.number(36) >= 8 and self.number(252) != NONE

    @cached_property
    def described(self) -> dict[int, list[bytes]]:
        """What it says of itself: values by kind (EXTH)."""
        found: dict[int, list[bytes]] = {}
        start = self._end
        if not self.number(128) & 0x40 or self.header[start : start + 4] != b"EXTH":
            return found
        (count,) = unpack_from(">L", self.header, start + 8)
        start += 12
        for _ in range(count):
            if start + 8 > len(self.header):
                break
            kind, length = unpack_from(">LL", self.header, start)
            found.setdefault(kind, []).append(self.header[start + 8 : start + length])
            start += max(8, length)
        return found

    def _words(self, kind: int) -> list[str]:
        values = (self.decode(value) for value in self.described.get(kind, ()))
        return [value.strip("\0 ") for value in values if value.strip("\0 ")]

    def decode(self, text: bytes) -> str:
        return text.decode(self.encoding, "replace")

    def describe(self, package: Package) -> None:
        """Title, author and the rest into a package."""
        start, length = self.number(84), self.number(88)
        name = self.header[start : start + length] if max(start, length) < NONE else b""
        package.title = next(iter(self._words(_TITLE)), None) or self.decode(name).strip("\0 ")
        package.author = join_authors(self._words(_AUTHOR))
        code = self.number(92) & 0xFF
        package.language = next(iter(self._words(_LANGUAGE)), None) or _LANGUAGES.get(code)
        subjects = "; ".join(dict.fromkeys(self._words(_SUBJECT)))
        package.description = next(iter(self._words(_DESCRIPTION)), subjects)
        origin = " ".join(each for kind in (_PUBLISHER, _IDENTIFIER, _RIGHTS, _SOURCE) for each in self._words(kind))
        for date in self._words(_DATE):
            if date[:10] not in self.made:  # Calibre gives the day of its conversion to books without a date
                package.year = publication_year(date, origin)

    def text(self, limits: Limits, omissions: Omissions) -> bytes:
        """Its text unpacked; blanks stand for records that are damaged, so that places stay what they are."""
        packed, _, _, count, size = unpack_from(">HHLHH", self.header)
        flags = self.number(240) & 0xFFFF if self.number(240) != NONE else 0
        unpack = self._unpacker(packed)
        pieces: list[bytes] = []
        total, damaged = 0, max(0, count + 1 - len(self.records))
        for record in self.records[1 : count + 1]:
            try:
                piece = unpack(without_trailers(record, flags))
            except DAMAGE:
                piece = b""
            if not piece:
                piece = b" " * size
                damaged += 1
            pieces.append(piece)
            total += len(piece)
            if total > limits.inflated:
                raise ReadingLimit(f"inflates to more than {limits.inflated >> 20} MiB")
        if damaged == count:
            raise NotABook("holds no text that can be read")
        if damaged:
            omissions.lose(f"{damaged:,} of {count:,} parts of its text", "damaged or missing")
        return b"".join(pieces)

    def _unpacker(self, packed: int) -> Callable[[bytes], bytes]:
        if packed == _PHRASES:
            first, count = self.number(112), self.number(116)
            return Phrases(self.records[first], self.records[first + 1 : first + count]).unpack
        if packed == 2:
            return unpack_palmdoc
        if packed == 1:
            return lambda record: record
        raise ReadingError(f"is packed in a way that is not known ({packed})")
