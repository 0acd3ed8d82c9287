"""The arrays of a segment: of one new book, or of books that older segments hold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np

from nlb_retriever.encoding.packing import Packed
from nlb_retriever.errors import StoreError
from nlb_retriever.records import LEVELS, Level
from nlb_retriever.store.backends.array_file import Array, Column
from nlb_retriever.store.backends.base import PARTS, Floats, NewVersion, PassagePart, Point
from nlb_retriever.store.backends.segment import (
    COSINE,
    INHERITED,
    NUMBERS,
    PART_ARRAYS,
    SECTION_ID,
    TEXT,
    Segment,
    id_keys,
)

_TOGETHER = 2_000_000
"""Postings that are sorted at once: bounds memory."""
_UNIT = 1e-6
"""Squared lengths that are so near to 1 count as 1, as in Qdrant."""


@dataclass(frozen=True)
class Run:
    """Books that stand side by side in a segment."""

    segment: Segment
    first: int
    last: int
    """The first book after them."""

    def rows(self, level: Level) -> slice:
        firsts = self.segment.firsts[level]
        return slice(int(firsts[self.first]), int(firsts[self.last]))

    @property
    def bytes(self) -> slice:
        firsts = self.segment.file["text_firsts"]
        return slice(int(firsts[self.first]), int(firsts[self.last]))


def runs_of(segment: Segment, books: Sequence[int]) -> list[Run]:
    """Some of a segment's books, given in order."""
    runs: list[Run] = []
    for book in books:
        if runs and runs[-1].last == book:
            runs[-1] = Run(segment, runs[-1].first, book + 1)
        else:
            runs.append(Run(segment, book, book + 1))
    return runs


# -- a new book -------------------------------------------------------------------------------------


def new_columns(version: NewVersion) -> dict[str, Column]:
    """The arrays of a segment with one book."""
    text = version.text.encode("utf-8", "surrogatepass")
    data = np.frombuffer(text, dtype=np.uint8)
    ascii_only = len(text) == len(version.text)
    offsets = None if ascii_only else np.append(np.flatnonzero((data & 0xC0) != 0x80), len(text))
    arrays: dict[str, Array] = {"text": data, "text_firsts": np.array([0, len(text)], np.int64)}
    [book] = version.points["book"]
    for level in LEVELS:
        points = version.points[level]
        arrays[f"{level}.firsts"] = np.array([0, len(points)], np.int64)
        ids = np.frombuffer(b"".join(UUID(point.id).bytes for point in points), np.uint8).reshape(-1, 16)
        arrays |= _of_ids(level, ids)
        arrays[f"{level}.dense"] = _dense(level, points)
        arrays |= _of_words(level, points)
        rest = [point.payload for point in points]
        if level != "book":
            spans = np.array([_span(point, version) for point in points], np.int64).reshape(-1, 2)
            arrays[f"{level}.text"] = spans if offsets is None else offsets[spans]
            arrays[f"{level}.numbers"] = np.array([_numbers(point) for point in points], np.int64).reshape(-1, 5)
            rest = [_rest(point.payload, book.payload) for point in points]
        arrays |= _of_meta(level, [_json(payload) for payload in rest])
    for part in PARTS:
        arrays |= _of_parts(part, [point.parts.get(part) for point in version.points["passage"]])
    return {name: Column.of(array) for name, array in arrays.items()}


def _of_ids(level: Level, ids: Array) -> dict[str, Array]:
    keys = id_keys(ids)
    order = np.argsort(keys, kind="stable")
    return {
        f"{level}.ids": ids,
        f"{level}.id_keys": keys[order],
        f"{level}.id_rows": order.astype(np.uint32),
    }


def _dense(level: Level, points: Sequence[Point]) -> Floats:
    rows = (
        np.stack([np.asarray(point.dense, np.float32) for point in points]) if points else np.empty((0, 0), np.float32)
    )
    return unit(rows) if level in COSINE else rows


def unit(rows: Floats) -> Floats:
    """Rows divided by their lengths, but for those that have length 1 already."""
    squares = np.einsum("ij,ij->i", rows, rows)
    off = np.abs(squares - 1) > _UNIT
    if off.any():
        rows = rows.copy()
        rows[off] /= np.sqrt(squares[off])[:, None]
    return rows


def _of_words(level: Level, points: Sequence[Point]) -> dict[str, Array]:
    sparse = [point.sparse for point in points]
    words = np.concatenate([np.empty(0, np.uint32), *(np.array(one.indices, np.uint32) for one in sparse if one)])
    weights = np.concatenate([np.empty(0, np.float32), *(np.array(one.values, np.float32) for one in sparse if one)])
    rows = np.repeat(np.arange(len(points), dtype=np.uint32), [len(one.indices) if one else 0 for one in sparse])
    order = np.argsort(words, kind="stable")
    distinct, counts = np.unique(words, return_counts=True)
    return {
        f"{level}.words": distinct,
        f"{level}.starts": _ends(counts),
        f"{level}.postings": np.stack([rows[order], weights[order].view(np.uint32)], axis=1),
        f"{level}.wordless": np.setdiff1d(np.arange(len(points), dtype=np.uint32), rows),
    }


def _of_parts(part: PassagePart, of_passages: Sequence[Packed | None]) -> dict[str, Array]:
    own = [each for each in of_passages if each is not None]
    counts = [0 if each is None else len(each) for each in of_passages]
    vectors, firsts = PART_ARRAYS[part]
    return {vectors: np.concatenate(own), firsts: _ends(counts)} if own else {}


def _span(point: Point, version: NewVersion) -> tuple[int, int]:
    payload = point.payload
    start, end = payload["start"], payload["end"]
    section = version.points["section"][payload["section"]]
    if payload[TEXT] != version.text[start:end] or payload[SECTION_ID] != section.id:
        raise StoreError(f"book {version.book_id}: the text or section of point {point.id} is not what its span says")
    return start, end


def _numbers(point: Point) -> list[int]:
    numbers = (point.payload[key] for key in NUMBERS)
    return [-1 if number is None else number for number in numbers]


def _rest(payload: Mapping[str, Any], book: Mapping[str, Any]) -> dict[str, Any]:
    """What a section or passage has of its own."""
    known = {key for key in INHERITED if key in book and key in payload and payload[key] == book[key]}
    left_out = {*known, *NUMBERS, TEXT, SECTION_ID}
    return {key: value for key, value in payload.items() if key not in left_out}


def _of_meta(level: Level, blobs: Sequence[bytes]) -> dict[str, Array]:
    return {
        f"{level}.meta": np.frombuffer(b"".join(blobs), np.uint8),
        f"{level}.meta_ends": np.cumsum([len(blob) for blob in blobs], dtype=np.int64),
    }


def _json(payload: Mapping[str, Any]) -> bytes:
    return json.dumps(payload, ensure_ascii=True, separators=(",", ":")).encode()


def _ends(counts: Array | Sequence[int]) -> Array:
    """Counts to borders: 0, and the sum up to each."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


# -- books of older segments ------------------------------------------------------------------------


def merged_columns(runs: Sequence[Run], sources: Mapping[str, str]) -> dict[str, Column]:
    """The arrays of a segment with the books of these runs, in their order.

    Args:
        runs: those of one segment follow each other.
        sources: books' ids with sources that are to take the place of theirs.
    """
    sizes = [run.bytes.stop - run.bytes.start for run in runs]
    pieces = [run.segment.file[TEXT][run.bytes] for run in runs]
    columns = {
        TEXT: Column(dtype="|u1", shape=(sum(sizes),), pieces=pieces),
        "text_firsts": Column.of(_ends(_counts("text_firsts", runs))),
    }
    shifts = _ends(sizes)[:-1]
    for level in LEVELS:
        columns[f"{level}.firsts"] = Column.of(_ends(_counts(f"{level}.firsts", runs)))
        ids = np.concatenate([run.segment.file[f"{level}.ids"][run.rows(level)] for run in runs])
        columns |= {name: Column.of(array) for name, array in _of_ids(level, ids).items()}
        columns[f"{level}.dense"] = _stacked(f"{level}.dense", level, runs)
        if level == "book":
            blobs = [_json(_sourced(run.segment.book(book), sources)) for run in runs for book in _books(run)]
            columns |= {name: Column.of(array) for name, array in _of_meta(level, blobs).items()}
        else:
            columns[f"{level}.numbers"] = _stacked(f"{level}.numbers", level, runs)
            spans = [
                run.segment.file[f"{level}.text"][run.rows(level)] + (shift - run.bytes.start)
                for run, shift in zip(runs, shifts, strict=True)
            ]
            columns[f"{level}.text"] = Column.of(np.concatenate(spans))
            columns |= _merged_meta(level, runs)
        columns |= _Postings(level, runs).columns()
        columns[f"{level}.wordless"] = Column.of(_merged_wordless(level, runs))
    for part in PARTS:
        columns |= _merged_parts(part, runs)
    return columns


def _books(run: Run) -> range:
    return range(run.first, run.last)


def _counts(name: str, runs: Sequence[Run]) -> Array:
    return np.concatenate([np.diff(run.segment.file[name][run.first : run.last + 1]) for run in runs])


def _sourced(payload: Mapping[str, Any], sources: Mapping[str, str]) -> Mapping[str, Any]:
    return {**payload, "source": sources.get(payload["book_id"], payload["source"])}


def _stacked(name: str, level: Level, runs: Sequence[Run]) -> Column:
    pieces = [run.segment.file[name][run.rows(level)] for run in runs]
    shape = (sum(map(len, pieces)), *pieces[0].shape[1:])
    return Column(dtype=pieces[0].dtype.str, shape=shape, pieces=pieces)


def _merged_parts(part: PassagePart, runs: Sequence[Run]) -> dict[str, Column]:
    """Those of all passages; of segments that have none, none."""
    vectors, of_passages = PART_ARRAYS[part]
    pieces, counts = [], []
    for run in runs:
        rows = run.rows("passage")
        if run.segment.has(part):
            firsts = run.segment.file[of_passages][rows.start : rows.stop + 1]
            pieces.append(run.segment.file[vectors][firsts[0] : firsts[-1]])
            counts.append(np.diff(firsts))
        else:
            counts.append(np.zeros(rows.stop - rows.start, np.int64))
    if not pieces:
        return {}
    packed = Column(dtype="|u1", shape=(sum(map(len, pieces)), pieces[0].shape[1]), pieces=pieces)
    return {vectors: packed, of_passages: Column.of(_ends(np.concatenate(counts)))}


def _merged_meta(level: Level, runs: Sequence[Run]) -> dict[str, Column]:
    pieces, ends, size = [], [], 0
    for run in runs:
        rows, own = run.rows(level), run.segment.file[f"{level}.meta_ends"]
        first = int(own[rows.start - 1]) if rows.start else 0
        last = int(own[rows.stop - 1]) if rows.stop else 0
        pieces.append(run.segment.file[f"{level}.meta"][first:last])
        ends.append(own[rows] + (size - first))
        size += last - first
    return {
        f"{level}.meta": Column(dtype="|u1", shape=(size,), pieces=pieces),
        f"{level}.meta_ends": Column.of(np.concatenate(ends)),
    }


def _merged_wordless(level: Level, runs: Sequence[Run]) -> Array:
    pieces, row = [np.empty(0, np.uint32)], 0
    for run in runs:
        rows, wordless = run.rows(level), run.segment.file[f"{level}.wordless"]
        own = wordless[(wordless >= rows.start) & (wordless < rows.stop)].astype(np.int64)
        pieces.append((own + (row - rows.start)).astype(np.uint32))
        row += rows.stop - rows.start
    return np.concatenate(pieces)


@dataclass
class _Source:
    """The postings of one segment on their way into another."""

    segment: Segment
    new_rows: Array
    """Row in the new segment by row in the old one; -1 for those that are left out."""
    words: Array
    starts: Array
    pairs: Array

    def counts(self) -> Array:
        """Postings of each word that are kept."""
        if not len(self.words) or (self.new_rows >= 0).all():
            return np.diff(self.starts)
        kept = (self.new_rows[self.pairs[:, 0]] >= 0).astype(np.int64)
        return np.add.reduceat(kept, self.starts[:-1])

    def part(self, low: int, high: int) -> tuple[Array, Array]:
        """The kept postings of the words from `low` to `high`, both included: their words, and they themselves."""
        first, last = np.searchsorted(self.words, low, "left"), np.searchsorted(self.words, high, "right")
        pairs = self.pairs[self.starts[first] : self.starts[last]]
        words = np.repeat(self.words[first:last], np.diff(self.starts[first : last + 1]))
        rows = self.new_rows[pairs[:, 0]]
        kept = rows >= 0
        return words[kept], np.stack([rows[kept].astype(np.uint32), pairs[kept, 1]], axis=1)


class _Postings:
    """The postings of a level, merged."""

    def __init__(self, level: Level, runs: Sequence[Run]) -> None:
        self._level = level
        self._sources: list[_Source] = []
        row = 0
        for run in runs:
            if not self._sources or self._sources[-1].segment is not run.segment:
                file = run.segment.file
                arrays = (file[f"{level}.{name}"] for name in ("words", "starts", "postings"))
                blank = np.full(run.segment.rows[level], -1, np.int64)
                self._sources.append(_Source(run.segment, blank, *arrays))
            rows = run.rows(level)
            count = rows.stop - rows.start
            self._sources[-1].new_rows[rows] = np.arange(row, row + count)
            row += count

    def columns(self) -> dict[str, Column]:
        everything = np.concatenate([source.words for source in self._sources])
        words, places = np.unique(everything, return_inverse=True)
        counts = np.zeros(len(words), np.int64)
        np.add.at(counts, places.ravel(), np.concatenate([source.counts() for source in self._sources]))
        words, counts = words[counts > 0], counts[counts > 0]
        pairs = Column(dtype="<u4", shape=(int(counts.sum()), 2), pieces=self._pieces(words, counts))
        return {
            f"{self._level}.words": Column.of(words),
            f"{self._level}.starts": Column.of(_ends(counts)),
            f"{self._level}.postings": pairs,
        }

    def _pieces(self, words: Array, counts: Array) -> Iterator[Array]:
        batches = np.cumsum(counts) // _TOGETHER
        for batch in np.unique(batches):
            own = words[batches == batch]
            parts = [source.part(int(own[0]), int(own[-1])) for source in self._sources]
            order = np.argsort(np.concatenate([part for part, _ in parts]), kind="stable")
            yield np.concatenate([pairs for _, pairs in parts])[order]
