"""A folder library as it is at one moment: its segments, and what of them is hidden."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any
from uuid import UUID

import numpy as np

from nlb_retriever.config import Manifest
from nlb_retriever.records import Level
from nlb_retriever.store.backends import scan
from nlb_retriever.store.backends.array_file import Mask
from nlb_retriever.store.backends.base import PayloadKeys, PointQuery, StoredPoint
from nlb_retriever.store.backends.masks import fitting
from nlb_retriever.store.backends.segment import Segment
from nlb_retriever.store.filters import Filter


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

    def point(
        self, level: Level, row: int, *, payload: PayloadKeys = True, vectors: bool = False, score: float = 0.0
    ) -> StoredPoint:
        content = self.segment.payload(level, row, payload)
        if self._sources and "source" in content:
            content["source"] = self.book(self.segment.book_of(level, row))["source"]
        dense = np.array(self.segment.dense(level)[row]) if vectors else None
        return StoredPoint(id=self.segment.id(level, row), payload=content, score=score, dense=dense)


class Snapshot:
    """A library's books at one moment. For several threads."""

    def __init__(self, manifest: Manifest, parts: Sequence[Part]) -> None:
        self.manifest = manifest
        self.parts = tuple(parts)

    @cached_property
    def _books(self) -> list[StoredPoint]:
        return [part.point("book", index) for part in self.parts for index in part.books()]

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
            rows = range(part.segment.rows[level]) if mask is None else np.flatnonzero(mask).tolist()
            for row in rows:
                yield part.point(level, row, payload=payload, vectors=vectors)

    def retrieve(
        self, level: Level, ids: Sequence[str], *, payload: PayloadKeys = True, vectors: bool = False
    ) -> list[StoredPoint]:
        found = self.find(level, ids)
        return [part.point(level, row, payload=payload, vectors=vectors) for part, row in filter(None, found)]

    def find(self, level: Level, ids: Sequence[str]) -> list[tuple[Part, int] | None]:
        """Where the points with these ids stand."""
        found: list[tuple[Part, int] | None] = [None] * len(ids)
        keys = [UUID(point).bytes for point in ids]
        for part in self.parts if ids else ():
            seen = part.mask(level)
            for at, row in enumerate(part.segment.find(level, keys)):
                if row is not None and (seen is None or seen[row]):
                    found[at] = part, row
        return found

    def query_batch(self, level: Level, queries: Sequence[PointQuery]) -> list[list[StoredPoint]]:
        return [self._query(level, query) for query in queries]

    def _query(self, level: Level, query: PointQuery) -> list[StoredPoint]:
        rows: dict[Part, list[int]] | None = None
        if query.ids is not None:
            rows = {}
            for part, row in filter(None, self.find(level, query.ids)):
                rows.setdefault(part, []).append(row)
        hits = scan.search(self.parts, level, query, rows)
        return [part.point(level, row, payload=query.payload, score=score) for score, part, row in hits]
