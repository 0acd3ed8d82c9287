"""A folder library as it is at one moment: its segments, and what of them is hidden."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np

from nlb_retriever.config import Manifest
from nlb_retriever.encoding.terms import TERM_BYTES
from nlb_retriever.records import Level
from nlb_retriever.store.backends import scan
from nlb_retriever.store.backends.array_file import Array, Mask
from nlb_retriever.store.backends.base import PassageTerms, PayloadKeys, PointQuery, StoredPoint
from nlb_retriever.store.backends.masks import fitting
from nlb_retriever.store.backends.segment import Segment
from nlb_retriever.store.filters import Filter

_PAGE = 1000
"""Points that are read together."""
_ID_BYTES = 16


class Part:
    """A segment, less the books in it that were removed or replaced."""

    def __init__(self, segment: Segment, hidden: Sequence[int], sources: Mapping[str, str]) -> None:
        self.segment = segment
        self.hidden = tuple(hidden)
        self._sources = sources
        self._alive: dict[Level, Mask | None] = {}

    def books(self) -> list[int]:
        """Indexes of the books that are to be seen."""
        hidden = set(self.hidden)
        return [index for index in range(self.segment.books) if index not in hidden]

    def book(self, index: int) -> Mapping[str, Any]:
        payload = self.segment.book(index)
        source = self._sources.get(payload["book_id"]) if self._sources else None
        return payload if source is None else {**payload, "source": source}

    def mask(self, level: Level, where: Filter | None = None) -> Mask | None:
        """True for the points that are to be seen and fit a filter; None: all."""
        if level not in self._alive:
            alive = np.ones(self.segment.books, np.bool_)
            alive[list(self.hidden)] = False
            self._alive[level] = self.segment.spread(level, alive) if self.hidden else None
        seen = self._alive[level]
        if where is None:
            return seen
        fits = fitting(where, self.segment, level, self.book)
        return fits if seen is None else fits & seen

    def points(
        self,
        level: Level,
        rows: Array,
        *,
        payload: PayloadKeys = True,
        vectors: bool = False,
        scores: Iterable[float] | None = None,
    ) -> list[StoredPoint]:
        payloads = self.segment.payloads(level, rows, payload)
        if self._sources and payloads and "source" in payloads[0]:
            for content, index in zip(payloads, self.segment.books_of(level, rows).tolist(), strict=True):
                content["source"] = self.book(index)["source"]
        dense = self.segment.dense(level)[rows] if vectors else repeat(None)
        return [
            StoredPoint(id=point, payload=content, dense=row, score=score)
            for point, content, row, score in zip(
                self.segment.ids(level, rows), payloads, dense, scores or repeat(0.0), strict=False
            )
        ]


class Snapshot:
    """A library's books at one moment. For several threads."""

    def __init__(self, manifest: Manifest, parts: Sequence[Part]) -> None:
        self.manifest = manifest
        self.parts = tuple(parts)

    @cached_property
    def _books(self) -> list[StoredPoint]:
        return list(self.scroll("book"))

    def books(self) -> Sequence[StoredPoint]:
        return self._books

    def count(self, level: Level, where: Filter | None = None) -> int:
        masks = ((part, part.mask(level, where)) for part in self.parts)
        return sum(part.segment.rows[level] if mask is None else int(mask.sum()) for part, mask in masks)

    def scroll(
        self, level: Level, where: Filter | None = None, *, payload: PayloadKeys = True, vectors: bool = False
    ) -> Iterator[StoredPoint]:
        for part in self.parts:
            mask = part.mask(level, where)
            rows = np.arange(part.segment.rows[level]) if mask is None else np.flatnonzero(mask)
            for first in range(0, len(rows), _PAGE):
                yield from part.points(level, rows[first : first + _PAGE], payload=payload, vectors=vectors)

    def retrieve(
        self, level: Level, ids: Sequence[str], *, payload: PayloadKeys = True, vectors: bool = False
    ) -> list[StoredPoint]:
        found: dict[str, StoredPoint] = {}
        for part, rows in self._find(level, ids).items():
            found |= {point.id: point for point in part.points(level, rows, payload=payload, vectors=vectors)}
        return [found[point] for point in ids if point in found]

    def _find(self, level: Level, ids: Sequence[str]) -> dict[Part, Array]:
        """The rows of points by their ids; those that are not there are left out."""
        known = [digits for point in ids if len(digits := _bytes_of(point)) == _ID_BYTES]
        wanted = np.frombuffer(b"".join(known), np.uint8).reshape(-1, _ID_BYTES)
        found = {}
        for part in self.parts if known else ():
            rows = part.segment.find(level, wanted)
            rows = rows[rows >= 0]
            seen = part.mask(level)
            found[part] = rows if seen is None else rows[seen[rows]]
        return found

    def query_batch(self, level: Level, queries: Sequence[PointQuery]) -> list[list[StoredPoint]]:
        return [self._query(level, query) for query in queries]

    def terms(self, passages: Sequence[str]) -> PassageTerms:
        ids: list[str] = []
        packed, counts = [np.empty((0, TERM_BYTES), np.uint8)], [np.empty(0, np.int64)]
        for part, rows in self._find("passage", passages).items():
            if len(rows) and part.segment.has("term"):
                terms, of_each = part.segment.parts("term", rows)
                ids += part.segment.ids("passage", rows[of_each > 0])
                packed.append(terms)
                counts.append(of_each[of_each > 0])
        return PassageTerms(ids=ids, packed=np.concatenate(packed), counts=np.concatenate(counts))

    def _query(self, level: Level, query: PointQuery) -> list[StoredPoint]:
        only = None if query.ids is None else self._find(level, query.ids)
        hits = scan.search(self.parts, level, query, only)
        points: dict[tuple[Part, int], StoredPoint] = {}
        for part in {part for _, part, _ in hits}:
            scores, rows = zip(*((score, row) for score, own, row in hits if own is part), strict=True)
            found = part.points(level, np.array(rows), payload=query.payload, scores=scores)
            points |= {(part, row): point for row, point in zip(rows, found, strict=True)}
        return [points[part, row] for _, part, row in hits]


def _bytes_of(point: str) -> bytes:
    try:
        return bytes.fromhex(point.replace("-", ""))
    except ValueError:
        return b""
