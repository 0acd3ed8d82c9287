"""The retriever."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.constants import DEFAULT_SIMILARITY_TOP_K
from llama_index.core.llms import LLM, MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import BaseNode, IndexNode, NodeWithScore, QueryBundle
from llama_index.core.settings import Settings
from llama_index.core.tools import RetrieverTool, ToolMetadata
from llama_index.core.vector_stores.types import MetadataFilters

from nlb_integrations.conventions import Keys, as_retriever
from nlb_integrations.llama_index.engines import ExtractiveQueryEngine, SearchTool
from nlb_integrations.llama_index.events import SearchEvent, dispatcher
from nlb_integrations.llama_index.filters import to_filter
from nlb_integrations.llama_index.nodes import to_nodes
from nlb_retriever.errors import QueryError, several
from nlb_retriever.model.vectors import EncodedQuery, RawQuery
from nlb_retriever.records import Answer, Level, Mode, Strategy
from nlb_retriever.search.hits import to_hit
from nlb_retriever.search.request import SearchRequest, check_choices, check_count
from nlb_retriever.search.retriever import Retriever
from nlb_retriever.store import Filter
from nlb_retriever.text.cleaning import clean_query

_FOR_ENGINE = frozenset(inspect.signature(RetrieverQueryEngine.from_args).parameters) - {"retriever", "llm", "kwargs"}
_RESULTS = {"book": "books", "section": "sections of books", "passage": "passages from books"}


class NLBRetriever(BaseRetriever):
    """Finds books, sections or passages of a library that `nlb index` or `index_files` made.

    Making one does no work: the library is opened and its encoders loaded by the first search. Safe to use
    from several threads and in an event loop, which `aretrieve` never blocks.

    Args:
        library: its folder, name or server URL; None for the default one. Or a `Retriever`, so that several
            of these share what it has open and loaded.
        similarity_top_k: at most so many nodes; 0 for none.
        level: what the nodes are: "book", "section" or "passage".
        book: only from this book: its id, title or path.
        before: only from what comes before this section of the book: number from 1, id or title.
        filters: conditions on `nlb_retriever.store.filters.KEYWORD_KEYS` and `NUMBER_KEYS`.
        strategy: "coarse-to-fine" combines the scores of books, sections and passages, "flat" uses one level alone.
        mode: "fused" for vectors and words together, "dense" or "bm25" for one of them.
        rerank: put the best passages or sections in order with the reader (nlb_retriever.reader); for short questions
            and statements in English.
        device: where queries are encoded.
        callback_manager, object_map, objects, verbose: LlamaIndex's.

    Raises:
        QueryError, StoreError: an argument is not valid. Searching raises what
            `Retriever.search` does: `LibraryNotFound` where there is no library, `QueryError` for a filter's key,
            operator or value, `MismatchError` for a library of another version, all of them `NlbError`s.
    """

    def __init__(
        self,
        library: str | Path | Retriever | None = None,
        *,
        similarity_top_k: int = DEFAULT_SIMILARITY_TOP_K,
        level: Level = "passage",
        book: str | Path | None = None,
        before: int | str | None = None,
        filters: MetadataFilters | None = None,
        strategy: Strategy = "coarse-to-fine",
        mode: Mode = "fused",
        rerank: bool = False,
        device: str = "cpu",
        callback_manager: CallbackManager | None = None,
        object_map: dict[str, Any] | None = None,
        objects: list[IndexNode] | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(callback_manager=callback_manager, object_map=object_map, objects=objects, verbose=verbose)
        check_choices(level=level, strategy=strategy, mode=mode)
        self._device = device
        self.library = library
        self.similarity_top_k = similarity_top_k
        self.level: Level = level
        self.book = book
        self.before = before
        self.filters = filters
        self.strategy: Strategy = strategy
        self.mode: Mode = mode
        self.rerank = rerank

    @property
    def library(self) -> Retriever:
        """The library, opened by the first search; it can be set to another one."""
        return self._library

    @library.setter
    def library(self, library: str | Path | Retriever | None) -> None:
        self._library = as_retriever(library, self._device)

    @property
    def similarity_top_k(self) -> int:
        """At most so many nodes."""
        return self._similarity_top_k

    @similarity_top_k.setter
    def similarity_top_k(self, count: int) -> None:
        self._similarity_top_k = check_count("similarity_top_k", count)

    @property
    def where(self) -> Filter | None:
        """The filters as the library's own; it is opened for them."""
        return to_filter(self.filters, Keys.of(self.library, self.level)) if self.filters else None

    def __enter__(self) -> NLBRetriever:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the library; a later search opens it again."""
        self.library.close()

    def get_nodes(self, ids: str | Sequence[str]) -> list[BaseNode]:
        """Sections and passages by the ids that a retrieved node's PARENT, PREVIOUS and NEXT have.

        Args:
            ids: or one; those of books, and of nothing in the library, are left out.

        Raises:
            QueryError: one is no string.
        """
        ids = several(ids, str, "an id must be a string")
        store = self.library.store
        records = store.get_passages(ids), store.get_sections(ids)
        nodes = [scored.node for level in records for scored in to_nodes([to_hit(each) for each in level], store)]
        found = {node.node_id: node for node in nodes}
        return [found[each] for each in ids if each in found]

    def answer(self, question: str) -> Answer:
        """The library's own answer: at most `similarity_top_k` sentences of passages that this finds.

        Raises:
            QueryError, LibraryNotFound, StoreError, EncoderError: see `Retriever.answer`.
        """
        return self.library.answer(
            question,
            limit=self.similarity_top_k,
            book=self.book,
            before=self.before,
            where=self.where,
            mode=self.mode,
            strategy=self.strategy,
        )

    def as_query_engine(self, llm: LLM | None = None, **kwargs: Any) -> BaseQueryEngine:
        """An engine that answers questions from what is found.

        Without an LLM, given here or as `Settings.llm`, it is an `ExtractiveQueryEngine`, which quotes.

        Args:
            llm: writes the answers.
            kwargs: what `RetrieverQueryEngine.from_args` takes: response_mode, node_postprocessors, ...

        Raises:
            QueryError: there are such arguments and no LLM, or other ones.
        """
        if other := [name for name in kwargs if name not in _FOR_ENGINE]:
            its = "set it on NLBRetriever" if other[0] in FOR_RETRIEVER else f"known: {', '.join(sorted(_FOR_ENGINE))}"
            raise QueryError(f"as_query_engine takes no {other[0]}: {its}")
        llm = llm or Settings._llm  # Settings.llm would go and look for OpenAI
        if llm is None and not kwargs.get("response_synthesizer"):
            if kwargs:
                raise QueryError(f"{', '.join(kwargs)} need an LLM: give llm=, or set Settings.llm")
            return ExtractiveQueryEngine(self)
        return RetrieverQueryEngine.from_args(self, llm=llm or MockLLM(), **kwargs)

    def as_tool(self, *, name: str = "search_library", description: str | None = None) -> RetrieverTool:
        """A tool by which an agent, or a router, searches the library."""
        text = description or (
            f"Finds {_RESULTS[self.level]} that answer a question or are about its subject. "
            "Ask in a full sentence. Each result comes with its title, author, chapter and page."
        )
        return SearchTool(retriever=self, metadata=ToolMetadata(name=name, description=text))

    @dispatcher.span
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        nodes, event = self._search(query_bundle)
        dispatcher.event(event)
        return nodes

    @dispatcher.span
    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        nodes, event = await asyncio.to_thread(self._search, query_bundle)
        dispatcher.event(event)
        return nodes

    def _search(self, bundle: QueryBundle) -> tuple[list[NodeWithScore], SearchEvent]:
        began = time.perf_counter()
        nodes = self._find(bundle)
        event = SearchEvent(
            library=self.library.location,
            level=self.level,
            strategy=self.strategy,
            similarity_top_k=self.similarity_top_k,
            results=len(nodes),
            seconds=time.perf_counter() - began,
        )
        return nodes, event

    def _find(self, bundle: QueryBundle) -> list[NodeWithScore]:
        """Search with all that a bundle brings."""
        vectors = self._vectors(bundle)
        request = SearchRequest(
            query=bundle.query_str,
            level=self.level,
            limit=self.similarity_top_k,
            book=self.book,
            before=self.before,
            where=self.where,
            mode=self.mode if vectors is None or bundle.query_str.strip() else "dense",
            strategy=self.strategy,
            rerank=self.rerank,
            vectors=vectors,
        )
        return to_nodes(self.library.run(request).hits, self.library.store)

    def _vectors(self, bundle: QueryBundle) -> EncodedQuery | None:
        """A bundle's `embedding`, made by the chunk encoder, else what its `embedding_strs` become.

        None where the query's own words are to be encoded, or nothing is.

        Raises:
            QueryError: the embedding is of another length, zero or not finite, or a text is empty.
        """
        if self.mode == "bm25":
            return None
        if bundle.embedding is None:
            own_words = bundle.embedding_strs in ([], [bundle.query_str])
            return None if own_words else self._encode_mean(bundle.embedding_strs)
        vectorizer = self.library.vectorizer
        vector = np.asarray(bundle.embedding, dtype=np.float32)
        encoder = vectorizer.encoder.identity
        length = float(np.linalg.norm(vector))
        if vector.shape != (encoder.dim,) or not np.isfinite(length) or not length:
            raise QueryError(
                f"the query's embedding (shape {vector.shape}, length {length:.3g}) is not a vector of {encoder.name}, "
                f"which has {encoder.dim} numbers: embed it with that encoder, or leave it to the library"
            )
        unit = np.asarray(vector / length, dtype=np.float32)
        return vectorizer.project_query(RawQuery(whole=unit, sentences=unit[None]))

    def _encode_mean(self, texts: list[str]) -> EncodedQuery:
        """One query of several texts: the mean of their vectors, and all of their sentences."""
        vectorizer = self.library.vectorizer
        parts = [vectorizer.encode_query(clean_query(text)) for text in texts]
        mean = np.mean([part.vector for part in parts], axis=0)
        return EncodedQuery(
            vector=np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-9), dtype=np.float32),
            order=np.mean([part.order for part in parts], axis=0),
            sentences=np.concatenate([part.sentences for part in parts]),
            whole=np.mean([part.whole for part in parts], axis=0),
        )


FOR_RETRIEVER = frozenset(inspect.signature(NLBRetriever).parameters) - {"library"}
"""The arguments of an `NLBRetriever` for a library."""
