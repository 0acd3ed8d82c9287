"""The retriever."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.constants import DEFAULT_SIMILARITY_TOP_K
from llama_index.core.llms import LLM, MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import IndexNode, NodeWithScore, QueryBundle
from llama_index.core.settings import Settings
from llama_index.core.tools import RetrieverTool, ToolMetadata
from llama_index.core.vector_stores.types import MetadataFilters

from nlb_integrations.conventions import as_retriever, check_choices, check_count
from nlb_integrations.llama_index.engines import ExtractiveQueryEngine, SearchTool
from nlb_integrations.llama_index.events import SearchEvent, dispatcher
from nlb_integrations.llama_index.filters import to_filter
from nlb_integrations.llama_index.nodes import to_nodes
from nlb_retriever.errors import QueryError
from nlb_retriever.model.vectorizer import clean_question
from nlb_retriever.records import Hit, Level
from nlb_retriever.search.retriever import Mode, Retriever, Strategy
from nlb_retriever.search.scope import make_scope

if TYPE_CHECKING:
    from nlb_retriever.model.vectorizer import Question


_FOUND = {"book": "books", "section": "sections of books", "passage": "passages from books"}


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
        strategy: "coarse-to-fine" lets books, sections and passages speak for each other, "flat" does not.
        mode: "fused" for meaning and words together, "dense" or "bm25" for one of them.
        device: where questions are encoded.
        callback_manager, object_map, objects, verbose: LlamaIndex's.

    Raises:
        QueryError, StoreError: an argument that cannot be asked with. Searching raises what
            `Retriever.search` does: `LibraryNotFound` where there is no library, `QueryError` for a filter's key,
            operator or value, `MismatchError` for a library of another version, all of them `NlbError`s.
    """

    def __init__(
        self,
        library: str | Path | Retriever | None = None,
        *,
        similarity_top_k: int = DEFAULT_SIMILARITY_TOP_K,
        level: Level = "passage",
        book: str | None = None,
        before: str | None = None,
        filters: MetadataFilters | None = None,
        strategy: Strategy = "coarse-to-fine",
        mode: Mode = "fused",
        device: str = "cpu",
        callback_manager: CallbackManager | None = None,
        object_map: dict[str, Any] | None = None,
        objects: list[IndexNode] | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(callback_manager=callback_manager, object_map=object_map, objects=objects, verbose=verbose)
        check_choices(level=level, strategy=strategy, mode=mode)
        self.library = as_retriever(library, device)
        self.similarity_top_k = similarity_top_k
        self.level: Level = level
        self.book = book
        self.before = before
        self.filters = filters
        self.strategy: Strategy = strategy
        self.mode: Mode = mode

    @property
    def similarity_top_k(self) -> int:
        """At most so many nodes."""
        return self._similarity_top_k

    @similarity_top_k.setter
    def similarity_top_k(self, count: int) -> None:
        self._similarity_top_k = check_count("similarity_top_k", count)

    def __enter__(self) -> NLBRetriever:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the library; a later search opens it again."""
        self.library.close()

    def as_query_engine(self, llm: LLM | None = None, **kwargs: Any) -> BaseQueryEngine:
        """An engine that answers questions from what is found.

        Without an LLM, given here or as `Settings.llm`, it is an `ExtractiveQueryEngine`, which quotes.

        Args:
            llm: writes the answers.
            kwargs: what `RetrieverQueryEngine.from_args` takes: response_mode, node_postprocessors, ...

        Raises:
            QueryError: there are such arguments and no LLM.
        """
        llm = llm or Settings._llm  # Settings.llm would go and look for OpenAI
        if llm is None and not kwargs.get("response_synthesizer"):
            if kwargs:
                raise QueryError(f"{', '.join(kwargs)} need an LLM: give llm=, or set Settings.llm")
            return ExtractiveQueryEngine(self)
        return RetrieverQueryEngine.from_args(self, llm=llm or MockLLM(), **kwargs)

    def as_tool(self, *, name: str = "search_library", description: str | None = None) -> RetrieverTool:
        """A tool by which an agent, or a router, searches the library."""
        text = description or (
            f"Finds {_FOUND[self.level]} that answer a question or are about what it says. "
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
            library=self.library.store.place,
            level=self.level,
            strategy=self.strategy,
            asked=self.similarity_top_k,
            found=len(nodes),
            seconds=time.perf_counter() - began,
        )
        return nodes, event

    def _find(self, bundle: QueryBundle) -> list[NodeWithScore]:
        """Search with all that a bundle says."""
        own_words = bundle.embedding_strs in ([], [bundle.query_str])
        if self.mode == "bm25" or (bundle.embedding is None and own_words):
            hits = self.library.search(
                bundle.query_str,
                level=self.level,
                limit=self.similarity_top_k,
                book=self.book,
                before=self.before,
                where=to_filter(self.filters),
                mode=self.mode,
                strategy=self.strategy,
            )
        else:
            hits = self._search_embedded(bundle)
        return to_nodes(hits, self.library.store)

    def _search_embedded(self, bundle: QueryBundle) -> list[Hit]:
        """A question that brings its own vector, or the texts that it is to be made from."""
        library = self.library
        words = clean_question(bundle.query_str) if bundle.query_str.strip() else ""
        scope = make_scope(
            library.store, book=self.book, section=None, before=self.before, where=to_filter(self.filters)
        )
        asked = self._embedded(bundle)
        with library.session():
            ranking = library.rank(
                words,
                asked,
                level=self.level,
                limit=self.similarity_top_k,
                scope=scope,
                mode=self.mode if words else "dense",
                strategy=self.strategy,
            )
            return library.hits(ranking, self.similarity_top_k)

    def _embedded(self, bundle: QueryBundle) -> Question:
        """The vectors of a bundle: its `embedding`, the chunk encoder's, else those of its `embedding_strs`.

        Raises:
            QueryError: the embedding is of another length, zero or not finite, or a text is empty.
        """
        from nlb_retriever.model.vectorizer import Question, QuestionVectors

        vectorizer = self.library.vectorizer
        if bundle.embedding is None:
            parts = [vectorizer.question(text) for text in bundle.embedding_strs]
            mean = np.mean([part.vector for part in parts], axis=0)
            return Question(
                vector=np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-9), dtype=np.float32),
                order=np.mean([part.order for part in parts], axis=0),
                sentences=np.concatenate([part.sentences for part in parts]),
                whole=np.mean([part.whole for part in parts], axis=0),
            )
        given = np.asarray(bundle.embedding, dtype=np.float32)
        encoder = vectorizer.encoder.identity
        length = float(np.linalg.norm(given))
        if given.shape != (encoder.dim,) or not np.isfinite(length) or not length:
            raise QueryError(
                f"the query's embedding (shape {given.shape}, length {length:.3g}) is no vector of {encoder.name}, "
                f"which has {encoder.dim} numbers: embed it with that encoder, or leave it to the library"
            )
        one = np.asarray(given / length, dtype=np.float32)
        return vectorizer.ask(QuestionVectors(whole=one, sentences=one[None]))
