"""What a library needs of its storage, and what passes through it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from nlb_retriever.config import Manifest
from nlb_retriever.encoding.packing import Packed
from nlb_retriever.encoding.terms import TERM_BYTES
from nlb_retriever.records import Level
from nlb_retriever.store.filters import Filter
from nlb_retriever.text.words import Sparse

T = TypeVar("T")
Floats = npt.NDArray[np.float32]
PayloadKeys = bool | tuple[str, ...]
"""All of a payload, none of it, or these keys."""


PassagePart = Literal["span", "term"]
"""What of a passage has vectors of its own."""
PARTS: tuple[PassagePart, ...] = get_args(PassagePart)
_SENT: Mapping[PassagePart, int] = {"span": 24, "term": 2}
"""About as many bytes as a packed byte of such parts takes in a request."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """What is written: a point without vectors is never found by a search."""

    id: str
    payload: dict[str, Any]
    dense: Floats | None = None
    sparse: Sparse | None = None
    parts: Mapping[PassagePart, Packed] = field(default_factory=dict)
    """Of a passage: the vectors of its spans and terms."""

    @property
    def size(self) -> int:
        """About as many bytes as it takes in a request."""
        words = 24 * len(self.sparse.indices) if self.sparse else 0
        numbers = 12 * len(self.dense) if self.dense is not None else 0
        parts = sum(_SENT[part] * packed.size for part, packed in self.parts.items())
        return len(str(self.payload.get("text", ""))) + words + numbers + parts + 1000


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
    ids: tuple[str, ...]
    """(c,), of the passages."""


@dataclass(frozen=True, kw_only=True)
class PassageTerms:
    """The terms of p passages, all of which have some."""

    ids: Sequence[str]
    """(p,), of the passages."""
    packed: Packed
    """(m, b), one passage's after the other."""
    counts: npt.NDArray[np.integer]
    """(p,), how many each has."""

    @classmethod
    def of(cls, terms: Mapping[str, Packed]) -> PassageTerms:
        """Join the terms of passages by their ids."""
        own = {point: packed for point, packed in terms.items() if len(packed)}
        packed = np.concatenate([np.empty((0, TERM_BYTES), np.uint8), *own.values()])
        return cls(ids=[*own], packed=packed, counts=np.array([len(each) for each in own.values()], np.intp))


@dataclass(frozen=True, kw_only=True)
class PointQuery:
    """One search in one level: by a dense or by a sparse vector."""

    vector: Floats | Sparse
    limit: int
    where: Filter | None = None
    ids: tuple[str, ...] | None = None
    """Only among these points."""
    spans: bool = False
    """Compare with the most similar span of each passage; those without are not found. Needs `ids`."""
    exact: bool = True
    payload: PayloadKeys = True


@dataclass(frozen=True, kw_only=True)
class NewVersion:
    """A version of a book that is to take the place of all others."""

    book_id: str
    version: str
    text: str
    points: Mapping[Level, Sequence[Point]]
    """One of the book, those of its sections and passages by their ordinals."""


class View(Protocol):
    """A library's books as they are at one moment: published ones only, each in one version.

    Filters are checked ones (`filters.check`) without text_match. Every failure is a StoreError.
    """

    @property
    def manifest(self) -> Manifest: ...

    def books(self) -> Sequence[StoredPoint]:
        """The points of all books."""
        ...

    def count(self, level: Level, where: Filter | None = None) -> int: ...
    def scroll(
        self, level: Level, where: Filter | None = None, *, payload: PayloadKeys = True, vectors: bool = False
    ) -> Iterator[StoredPoint]:
        """Every point that fits."""
        ...

    def retrieve(
        self, level: Level, ids: Sequence[str], *, payload: PayloadKeys = True, vectors: bool = False
    ) -> list[StoredPoint]:
        """The points with these ids, in this order; those that are not there are left out."""
        ...

    def query_batch(self, level: Level, queries: Sequence[PointQuery]) -> list[list[StoredPoint]]: ...
    def terms(self, passages: Sequence[str]) -> PassageTerms:
        """The terms of some passages, in any order; those without are left out."""
        ...


class Backend(Protocol):
    """Where a library lies. Every failure is a StoreError."""

    location: str
    """Folder or address."""

    def session(self) -> AbstractContextManager[None]:
        """Calls of `read` in this thread see one and the same moment, where the backend can do that."""
        ...

    def read(self, work: Callable[[View], T]) -> T:
        """Work on the library as it is now; maybe twice, where a writer changes it meanwhile."""
        ...

    def publish(self, book_id: str, compose: Callable[[str | None], NewVersion]) -> None:
        """Add a book or replace its version: readers see all of it or nothing, whatever happens meanwhile.

        Args:
            book_id: the book's lasting id.
            compose: gives the new version; where points of the old one lie beside it, it is called with the old
                version's name and must choose another.
        """
        ...

    def remove(self, *book_ids: str) -> None:
        """Take books out; an unknown one is no error. Interrupted, it has taken out some of them, each whole."""
        ...

    def rename(self, sources: Mapping[str, str]) -> None:
        """Note other sources for books by their ids; an unknown one is no error. Interrupted, some have theirs."""
        ...

    def optimize(self, *, purge: bool = False) -> bool:
        """Rearrange for faster reading, where worthwhile; returns whether it was.

        Args:
            purge: also delete every trace of what was removed or replaced.
        """
        ...

    def verify(self) -> list[str]:
        """What is wrong with what is stored, as far as it can be told without looking at books; one line each."""
        ...

    def scan(self, level: Level, *, payload: PayloadKeys = True) -> Iterator[StoredPoint]:
        """Every stored point with its vector, even those that belong to no published book."""
        ...

    def drop(self, book_id: str, version: str) -> None:
        """Delete every point of a version, whether or not it is published."""
        ...

    def close(self) -> None: ...
