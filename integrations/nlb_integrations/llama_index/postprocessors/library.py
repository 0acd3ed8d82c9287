"""The library that a postprocessor works with, and what all that rank nodes with one share."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from nlb_integrations.conventions import as_retriever
from nlb_integrations.llama_index.retriever import NLBRetriever
from nlb_retriever.errors import QueryError
from nlb_retriever.search.request import check_count
from nlb_retriever.search.retriever import Retriever

Library = str | Path | Retriever | NLBRetriever | None


class LibraryPostprocessor(BaseNodePostprocessor):
    """One that works with a library; a copy, and one made from its `to_dict`, opens that library for itself."""

    library: str | None = None
    """Its folder or URL."""
    _library: Retriever = PrivateAttr()

    def __init__(self, library: Library = None) -> None:
        retriever = as_retriever(library.library if isinstance(library, NLBRetriever) else library)
        super().__init__()
        self.library = retriever.location
        self._library = retriever


class LibraryReranker(LibraryPostprocessor):
    """Puts nodes in order for a query; each kind is documented by itself."""

    top_n: int | None = None

    def __init__(self, library: Library = None, top_n: int | None = None) -> None:
        if top_n is not None:
            check_count("top_n", top_n)
        super().__init__(library)
        self.top_n = top_n

    @classmethod
    def class_name(cls) -> str:
        return cls.__name__

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if not nodes:
            return []
        if query_bundle is None:
            raise QueryError(f"{self.class_name()} needs the query: give query_bundle= or query_str=")
        return self._rank(nodes, query_bundle.query_str)[: self.top_n]

    @abstractmethod
    def _rank(self, nodes: list[NodeWithScore], query: str) -> list[NodeWithScore]:
        """The nodes, the best first; as they are where there is nothing to judge them by."""
