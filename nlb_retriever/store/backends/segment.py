"""A segment: some books of a library in one immutable file, at three levels.

Arrays of a segment (n points of a level, B books, b bytes). A level's points are ordered by book, then by
ordinal, so a book is a stretch of rows:

    LEVEL.firsts    (B + 1,) int64      first row of each book, and of none
    LEVEL.ids       (n, 16) uint8       ids of the points (UUIDs)
    LEVEL.id_keys   (n,) uint64         the ids' first halves, sorted
    LEVEL.id_rows   (n,) uint32         the row of each of these
    LEVEL.dense     (n, D) float32      vectors; of unit length where the level compares by cosine
    LEVEL.words     (w,) uint32         words of the level, sorted
    LEVEL.starts    (w + 1,) int64      each word's first posting
    LEVEL.postings  (p, 2) uint32       row, and weight as the bits of a float32; by word, then by row
    LEVEL.wordless  (u,) uint32         rows without any word, sorted
    LEVEL.numbers   (n, 5) int64        `NUMBERS` of the payload; -1 for none (not of books)
    LEVEL.text      (n, 2) int64        where the point's text stands in `text` (not of books)
    LEVEL.meta      (b,) uint8          the rest of the payloads as JSON, one after another
    LEVEL.meta_ends (n,) int64          end of each
    text            (b,) uint8          the books' texts, UTF-8
    text_firsts     (B + 1,) int64      first byte of each book's text
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import takewhile
from typing import Any

import numpy as np

from nlb_retriever.errors import LibraryDamaged
from nlb_retriever.records import LEVELS, Level
from nlb_retriever.store.backends.array_file import Array, ArrayFile, Mask
from nlb_retriever.store.backends.base import Floats, PayloadKeys

INHERITED = ("book_id", "version", "title", "author", "language", "year", "source", "metadata")
"""Keys of a book's payload that its sections and passages have too."""
NUMBERS = ("section", "ordinal", "start", "end", "page_number")
"""Keys of sections and passages that hold numbers, in the order of their columns."""
TEXT = "text"
SECTION_ID = "section_id"
"""Key of sections and passages that holds the id of a section's point."""
COSINE: frozenset[Level] = frozenset({"book", "passage"})
"""Levels whose vectors are compared by cosine, the others by dot product."""


class Segment:
    """Reads one segment. For several threads."""

    def __init__(self, file: ArrayFile) -> None:
        """Over an open file.

        Raises:
            LibraryDamaged: it is no segment.
        """
        self.file = file
        try:
            self.rows: dict[Level, int] = {level: len(file[f"{level}.ids"]) for level in LEVELS}
            self.firsts: dict[Level, Array] = {level: file[f"{level}.firsts"] for level in LEVELS}
            self._borders: dict[Level, list[int]] = {level: self.firsts[level].tolist() for level in LEVELS}
            self._text = file["text"]
            self._meta = {level: (file[f"{level}.meta"], file[f"{level}.meta_ends"]) for level in LEVELS}
        except KeyError as error:
            raise LibraryDamaged(f"{file.path} is no segment (it has no {error})") from error
        self._books: dict[int, dict[str, Any]] = {}
        self._columns: dict[tuple[Level, str], list[Any]] = {}

    @property
    def name(self) -> str:
        return self.file.path.name

    @property
    def books(self) -> int:
        """How many there are."""
        return self.rows["book"]

    def book(self, index: int) -> dict[str, Any]:
        """A book's payload, which is not to be changed."""
        if index not in self._books:
            self._books[index] = self._json("book", index)
        return self._books[index]

    @cached_property
    def index_of(self) -> dict[str, int]:
        """Books' indexes by their ids."""
        return {self.book(index)["book_id"]: index for index in range(self.books)}

    def book_of(self, level: Level, row: int) -> int:
        """The book that a point belongs to."""
        return row if level == "book" else bisect_right(self._borders[level], row) - 1

    def spread(self, level: Level, of_books: Array) -> Array:
        """One value a book to one value a point."""
        return of_books if level == "book" else np.repeat(of_books, np.diff(self.firsts[level]))

    def section_rows(self) -> Array:
        """The section's row of every passage."""
        sections: Array = self.firsts["section"][:-1]
        return self.spread("passage", sections) + self.numbers("passage", "section")

    def section_id(self, level: Level, row: int) -> str:
        """The id of the section that a section or passage is in."""
        if level == "section":
            return self.id("section", row)
        first = self._borders["section"][self.book_of(level, row)]
        return self.id("section", first + int(self.file[f"{level}.numbers"][row, 0]))

    def dense(self, level: Level) -> Floats:
        return self.file[f"{level}.dense"]

    def numbers(self, level: Level, key: str) -> Array:
        column: Array = self.file[f"{level}.numbers"][:, NUMBERS.index(key)]
        return column

    def values(self, level: Level, key: str) -> list[Any]:
        """What every point's payload holds under a key that is neither inherited nor a number; None for nothing."""
        if (level, key) not in self._columns:
            rows = range(self.rows[level])
            if key == SECTION_ID:
                self._columns[level, key] = [self.section_id(level, row) for row in rows]
            else:
                self._columns[level, key] = [self._json(level, row).get(key) for row in rows]
        return self._columns[level, key]

    def id(self, level: Level, row: int) -> str:
        digits = self.file[f"{level}.ids"][row].tobytes().hex()
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    def find(self, level: Level, ids: Sequence[bytes]) -> list[int | None]:
        """The rows of points."""
        keys, rows, own = (self.file[f"{level}.{name}"] for name in ("id_keys", "id_rows", "ids"))
        wanted = np.frombuffer(b"".join(ids), dtype=">u8").reshape(-1, 2)[:, 0]
        found: list[int | None] = []
        for point, at, key in zip(ids, np.searchsorted(keys, wanted).tolist(), wanted.tolist(), strict=True):
            same = takewhile(lambda index: keys[index] == key, range(at, len(keys)))  # noqa: B023
            found.append(next((int(rows[index]) for index in same if own[rows[index]].tobytes() == point), None))
        return found

    def postings(self, level: Level, word: int) -> tuple[Array, Floats]:
        """The rows of the points that hold a word, and its weights there."""
        words, starts = self.file[f"{level}.words"], self.file[f"{level}.starts"]
        at = int(np.searchsorted(words, word))
        if at == len(words) or words[at] != word:
            return np.empty(0, np.uint32), np.empty(0, np.float32)
        pairs = self.file[f"{level}.postings"][starts[at] : starts[at + 1]]
        return pairs[:, 0], pairs[:, 1].view(np.float32)

    def count_worded(self, level: Level, mask: Mask | None) -> int:
        """How many points, of all or of those that are True, have words."""
        wordless = self.file[f"{level}.wordless"]
        if mask is None:
            return self.rows[level] - len(wordless)
        return int(mask.sum()) - int(mask[wordless].sum())

    def text(self, level: Level, row: int) -> str:
        first, last = self.file[f"{level}.text"][row]
        return self._text[first:last].tobytes().decode("utf-8", "surrogatepass")

    def book_text(self, index: int) -> str:
        firsts = self.file["text_firsts"]
        return self._text[firsts[index] : firsts[index + 1]].tobytes().decode("utf-8", "surrogatepass")

    def payload(self, level: Level, row: int, keys: PayloadKeys = True) -> dict[str, Any]:
        """A point's payload: all of it, none, or these keys of it."""
        if keys is False:
            return {}
        book = self.book(self.book_of(level, row))
        if level == "book":
            return dict(book) if keys is True else {key: book[key] for key in keys if key in book}
        wanted = None if keys is True else set(keys)
        result = {key: book[key] for key in INHERITED if key in book and (wanted is None or key in wanted)}
        if wanted is None or wanted.intersection(NUMBERS):
            numbers = self.file[f"{level}.numbers"][row].tolist()
            own = {key: None if number < 0 else number for key, number in zip(NUMBERS, numbers, strict=True)}
            result |= own if wanted is None else {key: own[key] for key in wanted.intersection(NUMBERS)}
        if wanted is None or wanted.difference(INHERITED, NUMBERS, (TEXT, SECTION_ID)):
            rest = self._json(level, row)
            result |= rest if wanted is None else {key: rest[key] for key in wanted.intersection(rest)}
        if wanted is None or TEXT in wanted:
            result[TEXT] = self.text(level, row)
        if wanted is None or SECTION_ID in wanted:
            result[SECTION_ID] = self.section_id(level, row)
        return result

    def _json(self, level: Level, row: int) -> dict[str, Any]:
        blob, ends = self._meta[level]
        content = json.loads(str(blob[ends[row - 1] if row else 0 : ends[row]].data, "ascii"))
        assert isinstance(content, dict)
        return content
