"""The embedded engine: Qdrant's own segments in this process (qdrant-edge-py), three shards in a folder.

A shard can be open in one process at a time, so processes take turns (shards.py).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import qdrant_edge as qe

from nlb_retriever.errors import StoreError
from nlb_retriever.records import LEVELS, Level
from nlb_retriever.store import ledger
from nlb_retriever.store.engine import (
    DENSE,
    SEARCH_BREADTH,
    SPARSE,
    EngineQuery,
    PayloadKeys,
    Point,
    StoredPoint,
    batches,
)
from nlb_retriever.store.failpoint import failpoint
from nlb_retriever.store.filters import Filter, to_native
from nlb_retriever.store.shards import FOLDERS, RESERVE, Shards, copy_shard, size_of
from nlb_retriever.text.words import Sparse

GRAPH_FROM = 200_000
"""Passages from which they are searched by a graph (HNSW); comparing all of fewer takes under 16 ms."""
_DISTANCES = {"book": qe.Distance.Cosine, "section": qe.Distance.Dot, "passage": qe.Distance.Cosine}
_SEGMENT: dict[Level, int] = {"book": 32, "section": 512, "passage": 2048}
"""Points from which `optimize` makes what was written a segment that opens fast: others are read into memory."""
_PLACES = ("book_id", "version", "section_id", "section_path"), ("section",)
_INDEXED: dict[Level, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "book": (("book_id", "kind"), ()),
    "section": _PLACES,
    "passage": _PLACES,
}
"""Words and numbers with an index: the rest is compared point by point, among the points of the books
that fit. Every index costs 4 ms and more each time that a shard is opened."""
_PAGE = 500


class EdgeEngine:
    """Engine over a folder."""

    isolated = True

    def __init__(self, folder: Path, *, graph_from: int = GRAPH_FROM) -> None:
        self.place = str(folder)
        self._folder = folder
        self._graph_from = graph_from
        self._shards = Shards(folder)

    def session(self) -> AbstractContextManager[None]:
        return self._shards.session()

    # -- making ---------------------------------------------------------------------------------

    def exists(self) -> bool:
        return (self._folder / FOLDERS["book"]).is_dir()

    def create(self, dims: Mapping[Level, int], first: Point) -> None:
        self.require_space(0)
        with self.session():
            # `books` comes last: a folder without it is no library, and making one starts afresh
            for level in reversed(LEVELS):
                final = self._folder / FOLDERS[level]
                making = final.with_name(f".{final.name}.new")
                shutil.rmtree(making, ignore_errors=True)
                shutil.rmtree(final, ignore_errors=True)
                making.mkdir(parents=True)
                with self._shards.errors(level, " in the making"):
                    shard = qe.EdgeShard.create(str(making), self._config(level, dims[level]))
                    words, numbers = _INDEXED[level]
                    keyword = qe.KeywordIndexParams(memory=qe.Memory.Cold)
                    number = qe.IntegerIndexParams(lookup=False, range=True, memory=qe.Memory.Cold)
                    for key in words:
                        shard.update(qe.UpdateOperation.create_field_index(key, keyword))
                    for key in numbers:
                        shard.update(qe.UpdateOperation.create_field_index(key, number))
                    if level == "book":
                        shard.update(qe.UpdateOperation.upsert_points([_to_edge(first)]))
                    shard.close()
                making.rename(final)
                failpoint(f"made-{level}")

    def _config(self, level: Level, dim: int, *, graph: bool = False) -> qe.EdgeConfig:
        """How shards are made; they keep it. Without a graph, segments compare with all their vectors."""
        kilobytes = dim * 4 / 1024
        return qe.EdgeConfig(
            vectors={DENSE: qe.EdgeVectorParams(dim, _DISTANCES[level], memory=qe.Memory.Cold)},
            sparse_vectors={SPARSE: qe.EdgeSparseVectorParams(modifier=qe.Modifier.Idf, memory=qe.Memory.Cold)},
            hnsw_config=qe.HnswIndexConfig(
                m=16 if graph else 0, ef_construct=100, full_scan_threshold=1000, memory=qe.Memory.Cold
            ),
            optimizers=qe.EdgeOptimizersConfig(
                default_segment_number=8,
                indexing_threshold=max(1, int(min(_SEGMENT[level], self._graph_from) * kilobytes)),
            ),
            payload_memory=qe.Memory.Cold,
        )

    # -- writing --------------------------------------------------------------------------------

    def upsert(self, level: Level, points: Iterable[Point]) -> None:
        for batch in batches(points):
            self._update(level, qe.UpdateOperation.upsert_points([_to_edge(point) for point in batch]))

    def delete(self, level: Level, where: Filter) -> None:
        self._update(level, qe.UpdateOperation.delete_points_by_filter(_filter(where)))

    def set_payload(self, level: Level, where: Filter, values: dict[str, Any]) -> None:
        self._update(level, qe.UpdateOperation.set_payload_by_filter(_filter(where), values))

    def _update(self, level: Level, operation: qe.UpdateOperation) -> None:
        with self.session(), self._shards.errors(level, " in writing"):
            self._shards.get(level).update(operation)

    def flush(self, levels: Sequence[Level]) -> None:
        with self.session():
            for level in levels:
                with self._shards.errors(level, " in flushing"):
                    self._shards.get(level).flush()

    def require_space(self, size: int) -> None:
        free = shutil.disk_usage(self._folder).free
        if free < size + RESERVE:
            raise StoreError(
                f"library {self.place}: the disk is full ({free / 1e6:.0f} MB free, "
                f"{(size + RESERVE) / 1e6:.0f} MB needed): free some space, then run the same command again"
            )

    def optimize(self, dim: int) -> bool:
        with self.session():
            graph = self.count("passage") > self._graph_from
            levels: tuple[Level, ...] = ("book", "section") if graph else LEVELS
            changed = False
            for level in levels:
                with self._shards.errors(level, " in optimizing"):
                    changed |= self._shards.get(level).optimize()
        return self._build_graph(dim) or changed if graph else changed

    def _build_graph(self, dim: int) -> bool:
        """Optimize a copy of the passages, so that readers need not wait for the graph (minutes).

        Only the writer may call this: nobody else changes the passages in the meantime.
        """
        level: Level = "passage"
        current = self._folder / FOLDERS[level]
        fresh, old = (current.with_name(f".{current.name}.{suffix}") for suffix in ("new", "old"))
        with self.session():
            self._shards.shut()
            self.require_space(2 * size_of(current))
            shutil.rmtree(fresh, ignore_errors=True)
            copy_shard(current, fresh)
        ledger.take_away(fresh)
        with self._shards.errors(level, " in optimizing"):
            shard = qe.EdgeShard.load(str(fresh), self._config(level, dim, graph=True))
            changed = shard.optimize()
            shard.close()
        ledger.note(fresh)
        if changed:
            with self.session():
                self._shards.shut()
                current.rename(old)
                failpoint("swapping")
                fresh.rename(current)
            shutil.rmtree(old, ignore_errors=True)
        shutil.rmtree(fresh, ignore_errors=True)
        return changed

    # -- reading --------------------------------------------------------------------------------

    def count(self, level: Level, where: Filter | None = None) -> int:
        with self.session(), self._shards.errors(level):
            return self._shards.get(level).count(qe.CountRequest(exact=True, filter=_filter(where) if where else None))

    def scroll(
        self, level: Level, where: Filter | None = None, *, payload: PayloadKeys = True, vectors: bool = False
    ) -> Iterator[StoredPoint]:
        offset: Any = None
        native = _filter(where) if where else None
        while True:
            request = qe.ScrollRequest(
                offset=offset, limit=_PAGE, filter=native, with_payload=_payload(payload), with_vector=vectors
            )
            with self.session(), self._shards.errors(level):
                records, offset = self._shards.get(level).scroll(request)
                page = [_from_edge(record) for record in records]
            yield from page
            if offset is None:
                return

    def retrieve(
        self, level: Level, ids: Sequence[str], *, payload: PayloadKeys = True, vectors: bool = False
    ) -> list[StoredPoint]:
        found: dict[str, StoredPoint] = {}
        with self.session(), self._shards.errors(level):
            for first in range(0, len(ids), _PAGE):
                uuids: list[Any] = [UUID(point) for point in ids[first : first + _PAGE]]
                for record in self._shards.get(level).retrieve(uuids, _payload(payload), vectors):
                    found[str(record.id)] = _from_edge(record)
        return [found[point] for point in ids if point in found]

    def query_batch(self, level: Level, queries: Sequence[EngineQuery]) -> list[list[StoredPoint]]:
        requests = [_request(query) for query in queries]
        with self.session(), self._shards.errors(level):
            answers = self._shards.get(level).query_batch(qe.QueryBatchRequest(requests))
            return [
                [StoredPoint(id=str(hit.id), payload=hit.payload or {}, score=hit.score) for hit in hits]
                for hits in answers
            ]

    def close(self) -> None:
        self._shards.close()


class _Native:
    """Conditions as this engine spells them."""

    def match(self, key: str, word: str) -> qe.FieldCondition:
        return qe.FieldCondition(key, match=qe.MatchValue(word))

    def match_any(self, key: str, words: list[str]) -> qe.FieldCondition:
        return qe.FieldCondition(key, match=qe.MatchAny(words))

    def range(self, key: str, **bounds: float) -> qe.FieldCondition:
        return qe.FieldCondition(key, range=qe.RangeFloat(**bounds))

    def is_empty(self, key: str) -> qe.IsEmptyCondition:
        return qe.IsEmptyCondition(key)

    def has_id(self, ids: Sequence[str]) -> qe.HasIdCondition:
        return qe.HasIdCondition({UUID(point) for point in ids})

    def filter(self, *, must: list[Any], should: list[Any], must_not: list[Any]) -> qe.Filter:
        return qe.Filter(must=must or None, should=should or None, must_not=must_not or None)


_NATIVE = _Native()


def _filter(where: Filter | None, ids: Sequence[str] | None = None) -> qe.Filter:
    must = [to_native(where, _NATIVE)] if where is not None else []
    return _NATIVE.filter(must=[*must, *([_NATIVE.has_id(ids)] if ids is not None else [])], should=[], must_not=[])


def _request(query: EngineQuery) -> qe.QueryRequest:
    vector = query.vector
    if isinstance(vector, Sparse):
        nearest = qe.Query.Nearest(qe.SparseVector(vector.indices, vector.values), using=SPARSE)
    else:
        nearest = qe.Query.Nearest(vector.tolist(), using=DENSE)
    return qe.QueryRequest(
        limit=query.limit,
        query=nearest,
        filter=_filter(query.where, query.ids) if query.where is not None or query.ids is not None else None,
        with_payload=_payload(query.payload),
        params=qe.SearchParams(exact=query.exact, hnsw_ef=None if query.exact else max(SEARCH_BREADTH, query.limit)),
    )


def _payload(keys: PayloadKeys) -> Any:
    return keys if isinstance(keys, bool) else list(keys)


def _to_edge(point: Point) -> qe.Point:
    vector: dict[str, Any] = {}
    if point.dense is not None:
        vector[DENSE] = point.dense.tolist()
    if point.sparse is not None and point.sparse.indices:
        vector[SPARSE] = qe.SparseVector(point.sparse.indices, point.sparse.values)
    return qe.Point(UUID(point.id), vector, point.payload)


def _from_edge(record: qe.Record) -> StoredPoint:
    vectors = record.vector
    dense = vectors.get(DENSE) if isinstance(vectors, dict) else None
    return StoredPoint(
        id=str(record.id),
        payload=record.payload or {},
        dense=None if dense is None else np.asarray(dense, dtype=np.float32),
    )
