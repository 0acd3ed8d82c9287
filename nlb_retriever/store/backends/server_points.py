"""The three collections of a library on a server, and its points in the API's own terms."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from qdrant_client import QdrantClient, models

from nlb_retriever.encoding.packing import Packed, unpack
from nlb_retriever.encoding.terms import TERM_BYTES
from nlb_retriever.errors import StoreError
from nlb_retriever.records import LEVELS, Level
from nlb_retriever.store.backends.base import PayloadKeys, Point, PointQuery, StoredPoint
from nlb_retriever.store.backends.server_client import Server
from nlb_retriever.store.filters import (
    COMPUTED_KEYS,
    KEYWORD_KEYS,
    LISTS,
    NUMBER_KEYS,
    RANGES,
    And,
    Condition,
    Filter,
    Or,
)
from nlb_retriever.text.words import Sparse

DENSE = "text-dense"
SPARSE = "text-sparse-new"
"""Names of the vectors, as LlamaIndex's QdrantVectorStore has them."""
SPANS = "text-spans"
"""Of a passage's spans: several, of which the most similar counts."""
TERMS = "terms"
"""Key of a passage's payload: its packed terms in base64. They are compared here, as a server has no vectors of signs
and does not know of sentences."""
BATCH_POINTS = 200
BATCH_BYTES = 4_000_000
"""Bounds of one request; a single larger point still goes alone."""
SEARCH_BREADTH = 256
"""Candidates (ef) that a graph search keeps; more is slower and nearer to exact."""
_SPAN_DIGITS = 4
"""Decimals that are sent of the numbers of spans, which have four bits each."""
_PAGE = 200
_DISTANCES = {
    "book": models.Distance.COSINE,
    "section": models.Distance.DOT,
    "passage": models.Distance.COSINE,
}


class Collections:
    """Points of all levels, published or not."""

    def __init__(self, server: Server, name: str) -> None:
        self._server = server
        self._names = {level: f"{name}_{level}s" for level in LEVELS}

    def exist(self, level: Level = "book") -> bool:
        return self._server.call(lambda client: client.collection_exists(self._names[level]))

    def create(self, dims: Mapping[Level, int]) -> None:
        """Make empty collections; those of books, which `exist` looks for, come last.

        Raises:
            StoreError: one is there and not empty: somebody else's.
        """
        there = [level for level in LEVELS if self.exist(level)]
        for level in there:
            if self.count(level):
                raise StoreError(
                    f"{self._server.location} is no library: the server's collection {self._names[level]} holds other "
                    "points: take another name"
                )
        for level in reversed(LEVELS):
            name = self._names[level]
            if level in there:
                self._server.call(lambda client, name=name: client.delete_collection(name))  # type: ignore[misc]
            vectors = {DENSE: models.VectorParams(size=dims[level], distance=_DISTANCES[level])}
            if level == "passage":
                vectors[SPANS] = _span_params(dims[level])
            sparse = {SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)}
            self._server.call(
                lambda client, name=name, vectors=vectors, sparse=sparse: client.create_collection(  # type: ignore[misc]
                    name, vectors_config=vectors, sparse_vectors_config=sparse
                )
            )
            if not _is_in_memory(self._server.client):
                words = (key for key in KEYWORD_KEYS[level] if key not in COMPUTED_KEYS)
                kinds = [(key, models.PayloadSchemaType.KEYWORD) for key in words]
                kinds += [(key, models.PayloadSchemaType.INTEGER) for key in NUMBER_KEYS[level]]
                for key, kind in kinds:
                    self._server.call(
                        lambda client, name=name, key=key, kind=kind: client.create_payload_index(  # type: ignore[misc]
                            name, key, field_schema=kind, wait=True
                        )
                    )

    def upsert(self, level: Level, points: Iterable[Point]) -> None:
        for batch in batches(points):
            structs = [_to_struct(point) for point in batch]
            self._server.call(lambda client, structs=structs: client.upsert(self._names[level], structs, wait=True))  # type: ignore[misc]

    def delete(self, level: Level, where: Filter) -> None:
        selector = models.FilterSelector(filter=_filter(where))
        self._server.call(lambda client: client.delete(self._names[level], selector, wait=True))

    def set_payload(self, level: Level, where: Filter, values: dict[str, Any]) -> None:
        selector = models.FilterSelector(filter=_filter(where))
        self._server.call(lambda client: client.set_payload(self._names[level], values, points=selector, wait=True))

    def count(self, level: Level, where: Filter | None = None) -> int:
        native = _filter(where) if where is not None else None
        return self._server.call(lambda client: client.count(self._names[level], native, exact=True)).count

    def scroll(
        self, level: Level, where: Filter | None = None, *, payload: PayloadKeys = True, vectors: bool = False
    ) -> Iterator[StoredPoint]:
        native = _filter(where) if where is not None else None
        offset: Any = None
        while True:
            records, offset = self._server.call(
                lambda client, offset=offset: client.scroll(  # type: ignore[misc]
                    self._names[level],
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
            records = self._server.call(
                lambda client, page=page: client.retrieve(  # type: ignore[misc]
                    self._names[level],
                    ids=page,
                    with_payload=_payload(payload),
                    with_vectors=[DENSE] if vectors else False,
                )
            )
            found |= {str(record.id): _from_record(record) for record in records}
        return [found[point] for point in ids if point in found]

    def query_batch(self, level: Level, queries: Sequence[PointQuery]) -> list[list[StoredPoint]]:
        tuned = not _is_in_memory(self._server.client)
        requests = [_request(query, is_tuned=tuned) for query in queries]
        answers = self._server.call(lambda client: client.query_batch_points(self._names[level], requests))
        return [
            [StoredPoint(id=str(hit.id), payload=hit.payload or {}, score=hit.score) for hit in answer.points]
            for answer in answers
        ]


def batches(points: Iterable[Point]) -> Iterator[list[Point]]:
    """Cut a stream of points into requests of bounded size."""
    batch: list[Point] = []
    size = 0
    for point in points:
        if batch and (len(batch) == BATCH_POINTS or size + point.size > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(point)
        size += point.size
    if batch:
        yield batch


def _is_in_memory(client: QdrantClient) -> bool:
    """Local collections have no payload indexes, and say so in a warning each."""
    from qdrant_client.local.qdrant_local import QdrantLocal

    return isinstance(client._client, QdrantLocal)


def _filter(where: Filter | None, ids: Sequence[str] | None = None) -> models.Filter:
    must = [] if where is None else [_to_native(where)]
    if ids is not None:
        must.append(models.HasIdCondition(has_id=list(ids)))
    return models.Filter(must=must)


def _to_native(where: Filter) -> Any:
    """A checked filter without text_match as the server's API spells it."""
    if isinstance(where, Condition):
        return _condition(where)
    children = [_to_native(child) for child in where.children]
    if isinstance(where, And):
        return models.Filter(must=children)
    return models.Filter(should=children) if isinstance(where, Or) else models.Filter(must_not=children)


def _condition(where: Condition) -> Any:
    key, op, value = where.key, where.op, where.value
    if op in RANGES:
        return models.FieldCondition(key=key, range=models.Range(**{op: value}))
    if op == "is_empty":
        return models.IsEmptyCondition(is_empty=models.PayloadField(key=key))
    values = list(value) if op in LISTS else [value]
    tests: list[Any]
    if any(key in keys for keys in NUMBER_KEYS.values()):
        tests = [models.FieldCondition(key=key, range=models.Range(gte=number, lte=number)) for number in values]
    elif op == "all":
        tests = [models.FieldCondition(key=key, match=models.MatchValue(value=word)) for word in values]
    else:
        tests = [models.FieldCondition(key=key, match=models.MatchAny(any=values))]
    if op == "all":
        return models.Filter(must=tests)
    if op in ("ne", "nin"):
        return models.Filter(must_not=tests)
    return models.Filter(should=tests or [models.HasIdCondition(has_id=[])])


def _request(query: PointQuery, *, is_tuned: bool) -> models.QueryRequest:
    vector = query.vector
    is_sparse = isinstance(vector, Sparse)
    params = models.SearchParams(exact=query.exact, hnsw_ef=None if query.exact else max(SEARCH_BREADTH, query.limit))
    native: models.SparseVector | list[float] | list[list[float]]
    if isinstance(vector, Sparse):
        native, name = models.SparseVector(indices=vector.indices, values=vector.values), SPARSE
    else:
        native, name = ([vector.tolist()], SPANS) if query.spans else (vector.tolist(), DENSE)
    return models.QueryRequest(
        query=native,
        using=name,
        filter=_filter(query.where, query.ids) if query.where is not None or query.ids is not None else None,
        limit=query.limit,
        with_payload=_payload(query.payload),
        params=params if is_tuned and not is_sparse else None,
    )


def _payload(keys: PayloadKeys) -> Any:
    return keys if isinstance(keys, bool) else list(keys)


def _span_params(dim: int) -> models.VectorParams:
    """Vectors that only score what others found: without a graph, on the disk."""
    return models.VectorParams(
        size=dim,
        distance=models.Distance.COSINE,
        multivector_config=models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM),
        hnsw_config=models.HnswConfigDiff(m=0),
        on_disk=True,
        datatype=models.Datatype.FLOAT16,
    )


def _to_struct(point: Point) -> models.PointStruct:
    vector: dict[str, Any] = {}
    spans, terms = point.parts.get("span"), point.parts.get("term")
    if spans is not None and point.dense is not None:
        vector[SPANS] = unpack(spans, len(point.dense)).astype(np.float64).round(_SPAN_DIGITS).tolist()
    if point.dense is not None:
        vector[DENSE] = point.dense.tolist()
    if point.sparse is not None and point.sparse.indices:
        vector[SPARSE] = models.SparseVector(indices=point.sparse.indices, values=point.sparse.values)
    payload = point.payload
    if terms is not None and len(terms):
        payload = {**payload, TERMS: b64encode(terms.tobytes()).decode("ascii")}
    return models.PointStruct(id=point.id, vector=vector, payload=payload)


def from_text(terms: str) -> Packed:
    """The packed terms of a passage from its payload."""
    return np.frombuffer(b64decode(terms), np.uint8).reshape(-1, TERM_BYTES)


def _from_record(record: models.Record) -> StoredPoint:
    vectors = record.vector
    dense = vectors.get(DENSE) if isinstance(vectors, dict) else None
    return StoredPoint(
        id=str(record.id),
        payload=record.payload or {},
        dense=None if dense is None else np.asarray(dense, dtype=np.float32),
    )
