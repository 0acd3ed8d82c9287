"""nlb-retriever for LangChain; needs langchain-core alone.

from nlb_integrations.langchain import NLBRetriever

documents = NLBRetriever(library="./library", k=5).invoke("Who hunts the whale?")
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Self

from nlb_integrations.conventions import as_retriever, to_metadata
from nlb_retriever.errors import extra
from nlb_retriever.records import Level, Mode, Strategy
from nlb_retriever.search.request import check_count
from nlb_retriever.search.retriever import Retriever
from nlb_retriever.store import Filter

with extra("langchain"):
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import ConfigDict, Field, SkipValidation, model_validator


class NLBRetriever(BaseRetriever):
    """Finds books, sections or passages of a library that `nlb index` or `index_files` made.

    Making one does no work: the library is opened and its encoders loaded by the first search. Safe to use from
    several threads and in an event loop, which `ainvoke` never blocks. A document's id is the same for the same
    span of an unchanged book; its metadata are those of `conventions.to_metadata`, and the `score`.
    For one call, `invoke(question, k=1, where=...)` has another `k`, `level`, `book`, `before` or `where`
    in place of the retriever's.

    Raises:
        ValidationError: an argument that is unknown or out of range.
        StoreError: an impossible name for a library. Searching raises what `Retriever.search` does:
            `LibraryNotFound` where there is no library, `QueryError` for a filter's key, operator or value,
            `MismatchError` for a library of another version, all of them `NlbError`s.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    library: str | Path | Retriever | None = None
    """Its folder, name or server URL; None for the default one. Or a `Retriever` that others use too."""
    k: int = Field(default=4, ge=0)
    """At most so many documents."""
    level: Level = "passage"
    """What the documents are."""
    book: str | Path | None = None
    """Only from this book: its id, title or path."""
    before: int | str | None = None
    """Only from what comes before this section of the book: number from 1, id or title."""
    where: SkipValidation[Filter | None] = None
    """Conditions (`nlb_retriever.store.Condition`, `And`, `Or`, `Not`)."""
    mode: Mode = "fused"
    """Vectors and words together, or "dense" or "bm25" for one of them."""
    strategy: Strategy = "coarse-to-fine"
    """Whether the scores of books, sections and passages are combined; "flat": not."""
    rerank: bool = False
    """Put the best passages or sections in order with the reader (nlb_retriever.reader): of English queries."""
    device: str = "cpu"
    """Where queries are encoded."""

    @model_validator(mode="after")
    def _keep_open(self) -> Self:
        self.library = as_retriever(self.library, self.device)
        return self

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **changes: Any
    ) -> list[Document]:
        return self._search(query, **changes)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **changes: Any
    ) -> list[Document]:
        return await asyncio.to_thread(self._search, query, **changes)

    def _search(
        self,
        query: str,
        *,
        k: int | None = None,
        level: Level | None = None,
        book: str | Path | None = None,
        before: int | str | None = None,
        where: Filter | None = None,
    ) -> list[Document]:
        if not isinstance(self.library, Retriever):  # set since, or by model_copy
            self.library = as_retriever(self.library, self.device)
        hits = self.library.search(
            query,
            level=self.level if level is None else level,
            limit=check_count("k", self.k if k is None else k),
            book=self.book if book is None else book,
            before=self.before if before is None else before,
            where=self.where if where is None else where,
            mode=self.mode,
            strategy=self.strategy,
            rerank=self.rerank,
        )
        return [
            Document(id=hit.id, page_content=hit.text, metadata={**to_metadata(hit), "score": float(hit.score)})
            for hit in hits
        ]
