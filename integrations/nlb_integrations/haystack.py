"""nlb-retriever for Haystack.

from nlb_integrations.haystack import NLBRetriever

pipeline.add_component("retriever", NLBRetriever("./library", top_k=5))
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nlb_integrations.conventions import Keys, as_retriever, to_condition, to_metadata
from nlb_retriever.errors import QueryError, brief, extra
from nlb_retriever.records import Level, Mode, Strategy
from nlb_retriever.search.request import check_choices, check_count
from nlb_retriever.search.retriever import Retriever
from nlb_retriever.store import And, Filter, Not, Or
from nlb_retriever.store.filters import Operator

with extra("haystack"):
    from haystack import Document, component, default_from_dict, default_to_dict
    from haystack.document_stores.types import FilterPolicy, apply_filter_policy

_COMPARISONS: Mapping[str, Operator] = {
    "==": "eq",
    "!=": "ne",
    ">": "gt",
    ">=": "gte",
    "<": "lt",
    "<=": "lte",
    "in": "in",
    "not in": "nin",
}


@component
class NLBRetriever:
    """Finds books, sections or passages of a library that `nlb index` or `index_files` made.

    Making one does no work: the library is opened and its encoders loaded by `warm_up`, which a pipeline calls, or
    by the first search. Safe to use from several threads and in an event loop, which `run_async` never blocks.
    A document's id is the same for the same span of an unchanged book; its meta are those of
    `conventions.to_metadata`.

    Args:
        library: its folder, name or server URL; None for the default one. Or a `Retriever`, so that several
            components share what it has open and loaded.
        top_k: at most so many documents; 0 for none.
        level: what the documents are: "book", "section" or "passage".
        book: only from this book: its id, title or path.
        before: only from what comes before this section of the book: number from 1, id or title.
        filters: Haystack's, on the documents' meta.
        filter_policy: Haystack's: whether the filters of a run replace these ("replace"), or both hold ("merge"), but
            for one of these on a field that those have.
        strategy: "coarse-to-fine" combines the scores of books, sections and passages, "flat" uses one level alone.
        mode: "fused" for vectors and words together, "dense" or "bm25" for one of them.
        rerank: put the best passages or sections in order with the reader (nlb_retriever.reader); for short questions
            and statements in English.
        device: where queries are encoded.

    Raises:
        QueryError, StoreError: an argument is not valid; ValueError: there is no such policy. Searching raises what
            `Retriever.search` does: `LibraryNotFound` where there is no library, `QueryError` for a filter's key,
            operator or value, `MismatchError` for a library of another version, all of them `NlbError`s.
    """

    def __init__(
        self,
        library: str | Path | Retriever | None = None,
        *,
        top_k: int = 10,
        level: Level = "passage",
        book: str | Path | None = None,
        before: int | str | None = None,
        filters: dict[str, Any] | None = None,
        filter_policy: str | FilterPolicy = FilterPolicy.REPLACE,
        strategy: Strategy = "coarse-to-fine",
        mode: Mode = "fused",
        rerank: bool = False,
        device: str = "cpu",
    ) -> None:
        check_choices(level=level, strategy=strategy, mode=mode)
        to_filter(filters)
        self.device = device
        self.library = library
        self.top_k = check_count("top_k", top_k)
        self.level: Level = level
        self.book = book
        self.before = before
        self.filters = filters
        self.filter_policy = FilterPolicy.from_str(filter_policy) if isinstance(filter_policy, str) else filter_policy
        self.strategy: Strategy = strategy
        self.mode: Mode = mode
        self.rerank = rerank

    @property
    def library(self) -> Retriever:
        """The library, opened by `warm_up` or the first search; it can be set to another one."""
        return self._retriever

    @library.setter
    def library(self, library: str | Path | Retriever | None) -> None:
        self._library = library
        self._retriever = as_retriever(library, self.device)

    def warm_up(self) -> None:
        """Open the library and load its encoders, and the reader where it is used."""
        _ = self.library.store if self.mode == "bm25" else self.library.vectorizer
        if self.rerank:
            _ = self.library.reader

    async def warm_up_async(self) -> None:
        """The same beside the event loop."""
        await asyncio.to_thread(self.warm_up)

    def close(self) -> None:
        """Close the library; a later search opens it again."""
        self.library.close()

    def to_dict(self) -> dict[str, Any]:
        """The component as plain values; a path becomes absolute, a shared `Retriever` its library's folder or URL."""
        keys = ("top_k", "level", "book", "before", "filters", "strategy", "mode", "rerank", "device")
        plain: dict[str, Any] = default_to_dict(
            self,
            library=self.library.location if isinstance(self._library, Path | Retriever) else self._library,
            filter_policy=self.filter_policy.value,
            **{key: str(value) if isinstance(value := getattr(self, key), Path) else value for key in keys},
        )
        return plain

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> NLBRetriever:
        """The component that `to_dict` described."""
        made: NLBRetriever = default_from_dict(cls, data)
        return made

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, top_k: int | None = None, filters: dict[str, Any] | None = None
    ) -> dict[str, list[Document]]:
        """Search.

        Args:
            query: what to look for, best as a full sentence.
            top_k: at most so many documents; without it, the component's own number.
            filters: conditions on the documents' meta, in place of the component's own or, with `filter_policy`
                "merge", beside them.
        """
        chosen = apply_filter_policy(self.filter_policy, self.filters, filters)
        where = to_filter(chosen, Keys.of(self.library, self.level)) if chosen else None
        hits = self.library.search(
            query,
            level=self.level,
            limit=check_count("top_k", self.top_k if top_k is None else top_k),
            book=self.book,
            before=self.before,
            where=where,
            mode=self.mode,
            strategy=self.strategy,
            rerank=self.rerank,
        )
        return {
            "documents": [
                Document(id=hit.id, content=hit.text, meta=to_metadata(hit), score=float(hit.score)) for hit in hits
            ]
        }

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query: str, top_k: int | None = None, filters: dict[str, Any] | None = None
    ) -> dict[str, list[Document]]:
        """Search beside the event loop; otherwise like `run`."""
        result: dict[str, list[Document]] = await asyncio.to_thread(self.run, query, top_k, filters)
        return result


def to_filter(filters: Mapping[str, Any] | None, keys: Keys | None = None) -> Filter | None:
    """Haystack's filters as the library's own; None for no condition at all.

    As in Haystack, NOT holds where not all of its conditions do, a missing key matches `!=` and `not in`, and
    comparing with None tests whether a key is missing. A key means what a document's meta has under it
    (`conventions.to_condition`).

    Args:
        filters: Haystack's.
        keys: of the library that is searched.

    Raises:
        QueryError: it is not a filter, an operator is not Haystack's, or no book has a key.
    """
    if not filters:
        return None
    known = isinstance(filters, Mapping) and "operator" in filters
    if not known or not ("field" in filters or isinstance(filters.get("conditions"), list)):
        raise QueryError(
            f'{brief(filters)} is not a filter: use {{"field": "meta.title", "operator": "==", "value": ...}} '
            'or {"operator": "AND", "conditions": [...]}'
        )
    operator = filters["operator"]
    if "field" in filters:
        return _comparison(str(filters["field"]).removeprefix("meta."), operator, filters, keys)
    children = tuple(child for each in filters["conditions"] if (child := to_filter(each, keys)) is not None)
    if operator not in ("AND", "OR", "NOT"):
        raise QueryError(f"unknown filter operator {brief(operator)}; known: AND, OR, NOT")
    if not children:
        raise QueryError(f"the filter's {operator} needs at least one condition")
    return Or(children) if operator == "OR" else And(children) if operator == "AND" else Not((And(children),))


def _comparison(field: str, operator: Any, filters: Mapping[str, Any], keys: Keys | None) -> Filter:
    if not isinstance(operator, str) or operator not in _COMPARISONS:
        raise QueryError(
            f"unknown filter operator {brief(operator)} on {brief(field)}; known: {', '.join(_COMPARISONS)}"
        )
    if "value" not in filters:
        raise QueryError(f"the filter on {brief(field)} has no value to compare with")
    value = filters["value"]
    if value is None and operator in ("==", "!="):
        empty = to_condition(field, "is_empty", None, keys)
        return empty if operator == "==" else Not((empty,))
    return to_condition(field, _COMPARISONS[operator], value, keys)
