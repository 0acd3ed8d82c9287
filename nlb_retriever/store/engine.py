"""What a library needs of a vector database: the verbs of every engine and what passes through them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from nlb_retriever.records import Level
from nlb_retriever.store.filters import Filter
from nlb_retriever.text.words import Sparse

DENSE = "text-dense"
SPARSE = "text-sparse-new"
"""Names of the vectors, as LlamaIndex's QdrantVectorStore has them."""
BATCH_POINTS = 200
BATCH_BYTES = 4_000_000
"""Bounds of one request; a single larger point still goes alone."""
SEARCH_BREADTH = 256
"""Candidates (ef) that a graph search keeps; more is slower and nearer to exact."""

Floats = npt.NDArray[np.float32]
PayloadKeys = bool | tuple[str, ...]
"""All of a payload, none of it, or these keys."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """What is written: a point without vectors is never found by a search."""

    id: str
    payload: dict[str, Any]
    dense: Floats | None = None
    sparse: Sparse | None = None

    @property
    def size(self) -> int:
        """About as many bytes as it takes in a request."""
        words = 24 * len(self.sparse.indices) if self.sparse else 0
        numbers = 12 * len(self.dense) if self.dense is not None else 0
        return len(str(self.payload.get("text", ""))) + words + numbers + 1000


@dataclass(frozen=True, kw_only=True)
class StoredPoint:
    """What is read."""

    id: str
    payload: dict[str, Any]
    """Empty where none was asked for."""
    score: float = 0.0
    dense: Floats | None = field(default=None, compare=False)


@dataclass(frozen=True, kw_only=True)
class SectionVectors:
    """A section, and its passages in reading order."""

    id: str
    section: Floats
    """(D,)"""
    passages: Floats
    """(c, D), at least one."""


@dataclass(frozen=True, kw_only=True)
class EngineQuery:
    """One search in one level: by a dense or by a sparse vector."""

    vector: Floats | Sparse
    limit: int
    where: Filter | None = None
    ids: tuple[str, ...] | None = None
    """Only among these points."""
    exact: bool = True
    payload: PayloadKeys = True


class Engine(Protocol):
    """Three collections of points, one a level, on disk or on a server.

    Filters are checked ones (`filters.check`) without text_match. Every failure is a StoreError.
    """

    place: str
    """Folder or address, for messages."""
    isolated: bool
    """Whether nobody else can write while a session lasts."""

    def session(self) -> AbstractContextManager[None]:
        """Hold the collections for calls that belong together; sessions nest."""
        ...

    def exists(self) -> bool: ...
    def create(self, dims: Mapping[Level, int], first: Point) -> None:
        """Make the collections for vectors of so many numbers, with `first` as the only point of the books; all or
        nothing.

        Sections are compared by dot product, books and passages by cosine.
        """
        ...

    def upsert(self, level: Level, points: Iterable[Point]) -> None: ...
    def delete(self, level: Level, where: Filter) -> None: ...
    def count(self, level: Level, where: Filter | None = None) -> int: ...
    def scroll(
        self, level: Level, where: Filter | None = None, *, payload: PayloadKeys = True, vectors: bool = False
    ) -> Iterator[StoredPoint]:
        """Every point that fits, ordered by id."""
        ...

    def retrieve(
        self, level: Level, ids: Sequence[str], *, payload: PayloadKeys = True, vectors: bool = False
    ) -> list[StoredPoint]:
        """The points with these ids, in the order asked; missing ones are left out."""
        ...

    def query_batch(self, level: Level, queries: Sequence[EngineQuery]) -> list[list[StoredPoint]]: ...
    def set_payload(self, level: Level, where: Filter, values: dict[str, Any]) -> None: ...
    def flush(self, levels: Sequence[Level]) -> None:
        """Return when all that was written to these levels would outlast a power cut."""
        ...

    def require_space(self, size: int) -> None:
        """Raise a StoreError where `size` more bytes do not fit."""
        ...

    def optimize(self, dim: int) -> bool:
        """Rearrange for faster and smaller reading, where worthwhile; returns whether it was."""
        ...

    def close(self) -> None: ...


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
