"""Searches over a backend, prepared first, then batched by level."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from nlb_retriever.errors import QueryError
from nlb_retriever.records import LEVELS, Level
from nlb_retriever.store.backends.base import Floats, PayloadKeys, PointQuery, StoredPoint, View
from nlb_retriever.store.filters import Filter, conditions, is_native, matches, resolve, weaken
from nlb_retriever.text.words import Sparse, weigh_query

_OVERFETCH = 4
"""Where backends cannot answer a filter: how many times more to ask for than is wanted, and again."""


_KEYS: Mapping[Level, PayloadKeys] = {
    "book": ("book_id",),
    "section": False,  # to fetch any key is to read the section's whole text
    "passage": ("book_id", "section_id"),
}
"""Payload that a candidate brings: much faster than all of it."""


@dataclass(frozen=True, kw_only=True)
class StoreQuery:
    """One search at one level, by a vector or by words."""

    level: Level
    dense: Floats | None = None
    """(dims[level],), its first D numbers of unit length."""
    text: str | None = None
    """Searched with BM25. Exactly one of `dense` and `text` is given."""
    where: Filter | None = None
    """Checked for the level (`filters.check`)."""
    limit: int = 10
    ids: tuple[str, ...] | None = None
    """Only these points, as to score candidates that another search found; what is found has no `book_id` then."""
    spans: bool = False
    """Compare `dense`, a query as the chunk encoder encodes it, with the most similar span of each passage of `ids`."""


class Candidate(NamedTuple):
    """A point that a search found, before its text is read."""

    id: str
    score: float
    """Cosine, dot product (sections) or BM25."""
    book_id: str | None = None
    """None for sections, and where the query names `ids`."""
    section_id: str | None = None
    """Of a passage's section; None at the other levels, and where the query names `ids`."""


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A query as a backend takes it."""

    level: Level
    native: PointQuery
    """With the whole filter, even where backends cannot answer it."""

    @property
    def words(self) -> bool:
        """Whether its filter asks for words in the text, which backends cannot answer."""
        return self.native.where is not None and not all(map(is_native, conditions(self.native.where)))


def prepare(query: StoreQuery, dims: Mapping[Level, int], languages: Sequence[str] = ()) -> Prepared | None:
    """Make a query a backend's; None where nothing can be found.

    Args:
        query: what to search for.
        dims: of the vectors of each level.
        languages: of the books' words.

    Raises:
        QueryError: neither a vector nor words, or a vector of another shape, zero or not finite.
    """
    if (query.dense is None) == (query.text is None):
        raise QueryError("a search needs a vector or words, and not both")
    vector: Floats | Sparse
    if query.text is not None:
        vector = weigh_query(query.level, query.text, languages)
    else:
        vector = np.asarray(query.dense, dtype=np.float32)
        dim = dims[query.level]
        if vector.shape != (dim,):
            raise QueryError(f"the query's vector has shape {vector.shape}, the library's {query.level}s need ({dim},)")
        if not np.isfinite(vector).all() or not vector.any():
            raise QueryError("the query's vector is zero or not finite")
    if query.limit <= 0 or query.ids == () or (isinstance(vector, Sparse) and not vector.indices):
        return None
    native = PointQuery(
        vector=vector,
        limit=query.limit,
        where=query.where,
        ids=query.ids,
        spans=query.spans,
        exact=query.level != "passage",
        payload=_KEYS[query.level] if query.ids is None else False,
    )
    return Prepared(level=query.level, native=native)


def run(
    view: View, queries: Sequence[Prepared | None], find_books: Callable[[Filter], Iterable[str]]
) -> list[list[Candidate]]:
    """Answer prepared queries.

    Args:
        view: the library.
        queries: by `prepare`; None for one that finds nothing.
        find_books: the ids of the books that a filter over their own keys fits.
    """
    queries = [query and _resolve(query, find_books) for query in queries]
    answers: list[list[StoredPoint]] = [[] for _ in queries]
    for level in LEVELS:
        batch: list[tuple[int, PointQuery]] = []
        for index, query in enumerate(queries):
            if query is None or query.level != level:
                continue
            if query.words:
                answers[index] = _run_words(view, query)
            else:
                batch.append((index, query.native))
        if batch:
            results = view.query_batch(level, [native for _, native in batch])
            for (index, _), hits in zip(batch, results, strict=True):
                answers[index] = hits
    return [[_to_candidate(hit) for hit in hits] for hits in answers]


def _to_candidate(hit: StoredPoint) -> Candidate:
    payload = hit.payload
    return Candidate(id=hit.id, score=hit.score, book_id=payload.get("book_id"), section_id=payload.get("section_id"))


def _resolve(query: Prepared, find_books: Callable[[Filter], Iterable[str]]) -> Prepared:
    where = query.native.where
    return query if where is None else replace(query, native=replace(query.native, where=resolve(where, find_books)))


def _run_words(view: View, query: Prepared) -> list[StoredPoint]:
    """A search under a filter that backends cannot answer: ask for more until enough fits."""
    native = query.native
    assert native.where is not None
    where = weaken(native.where, is_native)
    limit = native.limit * _OVERFETCH
    while True:
        hits = view.query_batch(query.level, [replace(native, where=where, limit=limit, payload=True)])[0]
        fitting = [hit for hit in hits if matches(native.where, hit.payload)][: native.limit]
        if len(fitting) == native.limit or len(hits) < limit:
            return fitting
        limit *= _OVERFETCH
