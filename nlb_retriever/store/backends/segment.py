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
    passage.spans   (m, (D + 1) // 2) uint8  packed vectors of the passages' spans
    passage.span_firsts (n + 1,) int64  each passage's first span
    passage.terms   (m, 28) uint8       their packed terms
    passage.term_firsts (n + 1,) int64  each passage's first term

These are left out where no passage has any, as in former versions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from nlb_retriever.encoding.packing import Packed
from nlb_retriever.errors import LibraryDamaged
from nlb_retriever.records import LEVELS, Level
from nlb_retriever.store.backends.array_file import Array, ArrayFile, Mask
from nlb_retriever.store.backends.base import PARTS, Floats, PassagePart, PayloadKeys

INHERITED = ("book_id", "version", "title", "author", "language", "year", "source", "metadata")
"""Keys of a book's payload that its sections and passages have too."""
NUMBERS = ("section", "ordinal", "start", "end", "page_number")
"""Keys of sections and passages that hold numbers, in the order of their columns."""
TEXT = "text"
PART_ARRAYS: Mapping[PassagePart, tuple[str, str]] = {
    part: (f"passage.{part}s", f"passage.{part}_firsts") for part in PARTS
}
"""Names of the arrays of a passage's parts."""
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

    def books_of(self, level: Level, rows: Array) -> Array:
        """The books that some points belong to."""
        return rows if level == "book" else np.searchsorted(self.firsts[level], rows, side="right") - 1

    def spread(self, level: Level, of_books: Array) -> Array:
        """One value a book to one value a point."""
        return of_books if level == "book" else np.repeat(of_books, np.diff(self.firsts[level]))

    def section_ids(self, level: Level, rows: Array) -> list[str]:
        """The ids of the sections that some sections or passages are in."""
        return self.ids("section", rows if level == "section" else self.section_rows(rows))

    def section_rows(self, rows: Array) -> Array:
        """The rows of the sections that some passages are in."""
        sections: Array = self.firsts["section"][self.books_of("passage", rows)]
        return sections + self.numbers("passage", "section")[rows]

    def dense(self, level: Level) -> Floats:
        return self.file[f"{level}.dense"]

    def has(self, part: PassagePart) -> bool:
        """Whether passages have vectors of such parts."""
        return PART_ARRAYS[part][0] in self.file

    def parts(self, part: PassagePart, rows: Array) -> tuple[Packed, Array]:
        """The vectors of some passages' parts, one passage after the other, and how many each has."""
        packed, firsts = (self.file[name] for name in PART_ARRAYS[part])
        counts = firsts[rows + 1] - firsts[rows]
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return packed[np.repeat(firsts[rows], counts) + within], counts

    def numbers(self, level: Level, key: str) -> Array:
        column: Array = self.file[f"{level}.numbers"][:, NUMBERS.index(key)]
        return column

    def values(self, level: Level, key: str) -> list[Any]:
        """What every point's payload holds under a key that is neither inherited nor a number; None for nothing."""
        if (level, key) not in self._columns:
            rows = np.arange(self.rows[level])
            if key == SECTION_ID:
                self._columns[level, key] = self.section_ids(level, rows)
            else:
                self._columns[level, key] = [self._json(level, row).get(key) for row in rows.tolist()]
        return self._columns[level, key]

    def ids(self, level: Level, rows: Array) -> list[str]:
        """The ids of some points."""
        digits = self.file[f"{level}.ids"][rows].tobytes().hex()
        own = (digits[at : at + 32] for at in range(0, len(digits), 32))
        return [f"{each[:8]}-{each[8:12]}-{each[12:16]}-{each[16:20]}-{each[20:]}" for each in own]

    def find(self, level: Level, ids: Array) -> Array:
        """The rows of points by their ids (n, 16), uint8; -1 for those that are not there."""
        keys, rows, own = (self.file[f"{level}.{name}"] for name in ("id_keys", "id_rows", "ids"))
        wanted = id_keys(ids)
        found = np.full(len(ids), -1, np.int64)
        at = np.searchsorted(keys, wanted)
        left = np.arange(len(ids))
        while len(left := left[at[left] < len(keys)]) and len(left := left[keys[at[left]] == wanted[left]]):
            candidates = rows[at[left]]
            is_it = (own[candidates] == ids[left]).all(axis=1)
            found[left[is_it]] = candidates[is_it]
            left = left[~is_it]  # another id begins with the same bytes
            at[left] += 1
        return found

    def postings(self, level: Level, wanted: Array) -> list[tuple[int, Array, Floats]]:
        """For each word that is there its index, the rows of the points that hold it, and its weights in them.

        Args:
            level: of the points.
            wanted: words (w,), uint32.
        """
        words, starts, pairs = (self.file[f"{level}.{name}"] for name in ("words", "starts", "postings"))
        firsts, lasts = starts[words.searchsorted(wanted)], starts[words.searchsorted(wanted, "right")]
        found = []
        for index in np.flatnonzero(lasts > firsts).tolist():
            own = pairs[firsts[index] : lasts[index]]
            found.append((index, own[:, 0], own[:, 1].view(np.float32)))
        return found

    def count_worded(self, level: Level, mask: Mask | None) -> int:
        """How many points, of all or of those that are True, have words."""
        wordless = self.file[f"{level}.wordless"]
        if mask is None:
            return self.rows[level] - len(wordless)
        return int(mask.sum()) - int(mask[wordless].sum())

    def text(self, level: Level, row: int) -> str:
        first, last = self.file[f"{level}.text"][row]
        return self._text[first:last].tobytes().decode("utf-8", "surrogatepass")

    def payloads(self, level: Level, rows: Array, keys: PayloadKeys = True) -> list[dict[str, Any]]:
        """The payloads of some points: all of them, none, or these keys of them."""
        if keys is False:
            return [{} for _ in range(len(rows))]
        books = [self.book(index) for index in self.books_of(level, rows).tolist()]
        if level == "book":
            return [dict(book) if keys is True else {key: book[key] for key in keys if key in book} for book in books]
        wanted = None if keys is True else set(keys)
        inherited = INHERITED if wanted is None else tuple(wanted.intersection(INHERITED))
        payloads = [{key: book[key] for key in inherited if key in book} for book in books]
        if wanted is None or wanted.intersection(NUMBERS):
            columns = [(at, key) for at, key in enumerate(NUMBERS) if wanted is None or key in wanted]
            for payload, numbers in zip(payloads, self.file[f"{level}.numbers"][rows].tolist(), strict=True):
                payload.update((key, None if numbers[at] < 0 else numbers[at]) for at, key in columns)
        if wanted is None or wanted.difference(INHERITED, NUMBERS, (TEXT, SECTION_ID)):
            for payload, row in zip(payloads, rows.tolist(), strict=True):
                rest = self._json(level, row)
                payload.update(rest if wanted is None else {key: rest[key] for key in wanted.intersection(rest)})
        if wanted is None or TEXT in wanted:
            for payload, row in zip(payloads, rows.tolist(), strict=True):
                payload[TEXT] = self.text(level, row)
        if wanted is None or SECTION_ID in wanted:
            for payload, section_id in zip(payloads, self.section_ids(level, rows), strict=True):
                payload[SECTION_ID] = section_id
        return payloads

    def _json(self, level: Level, row: int) -> dict[str, Any]:
        blob, ends = self._meta[level]
        content = json.loads(str(blob[ends[row - 1] if row else 0 : ends[row]].data, "ascii"))
        assert isinstance(content, dict)
        return content


def id_keys(ids: Array) -> Array:
    """What ids (n, 16), uint8, are sorted by."""
    return np.ascontiguousarray(ids[:, :8]).view(">u8").ravel().astype(np.uint64)
