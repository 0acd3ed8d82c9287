"""The server engine: three collections on a Qdrant server or cluster, through qdrant-client."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from nlb_retriever.errors import StoreError
from nlb_retriever.records import LEVELS, Level
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
from nlb_retriever.store.filters import KEYWORD_KEYS, NUMBER_KEYS, Filter, to_native
from nlb_retriever.text.words import Sparse

TRIES = 5
"""Of a request that meets a busy or failing server; the pause between them doubles from `PAUSE`."""
PAUSE = 0.2
TIMEOUT = 60
_PAGE = 200
_DISTANCES = {
    "book": models.Distance.COSINE,
    "section": models.Distance.DOT,
    "passage": models.Distance.COSINE,
}
_URL = re.compile(r"(https?://[^/]+)/([A-Za-z0-9][A-Za-z0-9._-]*)/?")

T = TypeVar("T")


class RemoteEngine:
    """Engine over a server."""

    isolated = False

    def __init__(self, client: QdrantClient, name: str, *, place: str | None = None) -> None:
        """Over a client that its giver closes."""
        self.place = place or name
        self._own = False
        self._client = client
        self._collections = {level: f"{name}_{level}s" for level in LEVELS}

    @classmethod
    def connect(cls, url: str) -> RemoteEngine:
        """Connect to `http(s)://host:port/NAME`, with the key in $QDRANT_API_KEY if set."""
        match = _URL.fullmatch(url)
        if match is None:
            raise StoreError(f"{url} is no address of a library: write http://HOST:6333/NAME")
        key = os.environ.get("QDRANT_API_KEY")
        base = (
            match[1] if re.search(r":\d+$", match[1]) else f"{match[1]}:{443 if match[1].startswith('https') else 6333}"
        )
        client = QdrantClient(url=base, api_key=key, timeout=TIMEOUT, check_compatibility=False)
        engine = cls(client, match[2], place=url)
        engine._own = True
        return engine

    @contextlib.contextmanager
    def session(self) -> Iterator[None]:
        yield

    def exists(self) -> bool:
        return self._call(lambda: self._client.collection_exists(self._collections["book"]))

    def create(self, dims: Mapping[Level, int], first: Point) -> None:
        for level in reversed(LEVELS):
            name = self._collections[level]
            if self._call(lambda name=name: self._client.collection_exists(name)):  # type: ignore[misc]
                self._call(lambda name=name: self._client.delete_collection(name))  # type: ignore[misc]
            self._call(lambda name=name, level=level: self._make(name, level, dims[level]))  # type: ignore[misc]
            schema = [(key, models.PayloadSchemaType.KEYWORD) for key in KEYWORD_KEYS[level]]
            schema += [(key, models.PayloadSchemaType.INTEGER) for key in NUMBER_KEYS[level]]
            for key, kind in schema:
                self._index(name, key, kind)
        self.upsert("book", [first])

    def _make(self, name: str, level: Level, dim: int) -> bool:
        return self._client.create_collection(
            name,
            vectors_config={DENSE: models.VectorParams(size=dim, distance=_DISTANCES[level])},
            sparse_vectors_config={SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)},
        )

    def _index(self, name: str, key: str, kind: models.PayloadSchemaType) -> None:
        if not _in_memory(self._client):
            self._call(lambda: self._client.create_payload_index(name, key, field_schema=kind, wait=True))

    # -- writing --------------------------------------------------------------------------------

    def upsert(self, level: Level, points: Iterable[Point]) -> None:
        for batch in batches(points):
            structs = [_to_struct(point) for point in batch]
            self._call(lambda structs=structs: self._client.upsert(self._collections[level], structs, wait=True))  # type: ignore[misc]

    def delete(self, level: Level, where: Filter) -> None:
        selector = models.FilterSelector(filter=_filter(where))
        self._call(lambda: self._client.delete(self._collections[level], selector, wait=True))

    def set_payload(self, level: Level, where: Filter, values: dict[str, Any]) -> None:
        selector = models.FilterSelector(filter=_filter(where))
        self._call(lambda: self._client.set_payload(self._collections[level], values, points=selector, wait=True))

    def flush(self, levels: Sequence[Level]) -> None:
        """Nothing to do: every request waits until the server has it in its log."""

    def require_space(self, size: int) -> None:
        """Nothing to do: a server refuses what does not fit, and lives on."""

    def optimize(self, dim: int) -> bool:
        """Nothing to do: a server optimizes on its own."""
        return False

    # -- reading --------------------------------------------------------------------------------

    def count(self, level: Level, where: Filter | None = None) -> int:
        native = _filter(where) if where is not None else None
        return self._call(lambda: self._client.count(self._collections[level], native, exact=True)).count

    def scroll(
        self, level: Level, where: Filter | None = None, *, payload: PayloadKeys = True, vectors: bool = False
    ) -> Iterator[StoredPoint]:
        native = _filter(where) if where is not None else None
        offset: Any = None
        while True:
            records, offset = self._call(
                lambda offset=offset: self._client.scroll(  # type: ignore[misc]
                    self._collections[level],
                    native,
                    limit=_PAGE,
                    offset=offset,
                    with_payload=_payload(payload),
                    with_vectors=[DENSE] if vectors else False,
                )
            )
            yield from (_from_record(record) for record in records)
            if offset is None:
                return

    def retrieve(
        self, level: Level, ids: Sequence[str], *, payload: PayloadKeys = True, vectors: bool = False
    ) -> list[StoredPoint]:
        found: dict[str, StoredPoint] = {}
        for first in range(0, len(ids), _PAGE):
            page = list(ids[first : first + _PAGE])
            records = self._call(
                lambda page=page: self._client.retrieve(  # type: ignore[misc]
                    self._collections[level],
                    ids=page,
                    with_payload=_payload(payload),
                    with_vectors=[DENSE] if vectors else False,
                )
            )
            found |= {str(record.id): _from_record(record) for record in records}
        return [found[point] for point in ids if point in found]

    def query_batch(self, level: Level, queries: Sequence[EngineQuery]) -> list[list[StoredPoint]]:
        requests = [_request(query, tuned=not _in_memory(self._client)) for query in queries]
        answers = self._call(lambda: self._client.query_batch_points(self._collections[level], requests))
        return [
            [StoredPoint(id=str(hit.id), payload=hit.payload or {}, score=hit.score) for hit in answer.points]
            for answer in answers
        ]

    def close(self) -> None:
        if self._own:
            self._client.close()

    def _call(self, request: Callable[[], T]) -> T:
        """Make a request, again where the server is busy or out of reach for a moment."""
        pause = PAUSE
        for attempt in range(1, TRIES + 1):
            try:
                return request()
            except UnexpectedResponse as error:
                status = error.status_code or 0
                if attempt == TRIES or not (status == 429 or status >= 500):
                    raise StoreError(f"library {self.place}: the server answers {status} ({_reason(error)})") from error
            except (ResponseHandlingException, OSError) as error:
                if attempt == TRIES:
                    raise StoreError(
                        f"library {self.place}: the server cannot be reached ({_reason(error)}): is it running?"
                    ) from error
            except ValueError as error:
                raise StoreError(f"library {self.place}: {_reason(error)}") from error
            time.sleep(pause)
            pause *= 2
        raise AssertionError("unreachable")


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def _in_memory(client: QdrantClient) -> bool:
    """Local collections have no payload indexes, and say so in a warning each."""
    from qdrant_client.local.qdrant_local import QdrantLocal

    return isinstance(client._client, QdrantLocal)


class _Native:
    """Conditions as the server's API spells them."""

    def match(self, key: str, word: str) -> models.FieldCondition:
        return models.FieldCondition(key=key, match=models.MatchValue(value=word))

    def match_any(self, key: str, words: list[str]) -> models.FieldCondition:
        return models.FieldCondition(key=key, match=models.MatchAny(any=words))

    def range(self, key: str, **bounds: float) -> models.FieldCondition:
        return models.FieldCondition(key=key, range=models.Range(**bounds))

    def is_empty(self, key: str) -> models.IsEmptyCondition:
        return models.IsEmptyCondition(is_empty=models.PayloadField(key=key))

    def has_id(self, ids: Sequence[str]) -> models.HasIdCondition:
        return models.HasIdCondition(has_id=list(ids))

    def filter(self, *, must: list[Any], should: list[Any], must_not: list[Any]) -> models.Filter:
        return models.Filter(must=must or None, should=should or None, must_not=must_not or None)


_NATIVE = _Native()


def _filter(where: Filter | None, ids: Sequence[str] | None = None) -> models.Filter:
    must = [to_native(where, _NATIVE)] if where is not None else []
    return _NATIVE.filter(must=[*must, *([_NATIVE.has_id(ids)] if ids is not None else [])], should=[], must_not=[])


def _request(query: EngineQuery, *, tuned: bool) -> models.QueryRequest:
    vector = query.vector
    sparse = isinstance(vector, Sparse)
    return models.QueryRequest(
        query=models.SparseVector(indices=vector.indices, values=vector.values)
        if isinstance(vector, Sparse)
        else vector.tolist(),
        using=SPARSE if sparse else DENSE,
        filter=_filter(query.where, query.ids) if query.where is not None or query.ids is not None else None,
        limit=query.limit,
        with_payload=_payload(query.payload),
        params=models.SearchParams(exact=query.exact, hnsw_ef=None if query.exact else max(SEARCH_BREADTH, query.limit))
        if tuned and not sparse
        else None,
    )


def _payload(keys: PayloadKeys) -> Any:
    return keys if isinstance(keys, bool) else list(keys)


def _to_struct(point: Point) -> models.PointStruct:
    vector: dict[str, Any] = {}
    if point.dense is not None:
        vector[DENSE] = point.dense.tolist()
    if point.sparse is not None and point.sparse.indices:
        vector[SPARSE] = models.SparseVector(indices=point.sparse.indices, values=point.sparse.values)
    return models.PointStruct(id=point.id, vector=vector, payload=point.payload)


def _from_record(record: models.Record) -> StoredPoint:
    vectors = record.vector
    dense = vectors.get(DENSE) if isinstance(vectors, dict) else None
    return StoredPoint(
        id=str(record.id),
        payload=record.payload or {},
        dense=None if dense is None else np.asarray(dense, dtype=np.float32),
    )
