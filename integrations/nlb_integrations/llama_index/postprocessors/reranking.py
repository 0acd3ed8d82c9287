"""The library's trained reranker for the nodes of any retriever."""

from __future__ import annotations

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from nlb_integrations.llama_index.nodes import section_of
from nlb_integrations.llama_index.postprocessors.library import Library, open_library
from nlb_retriever.errors import QueryError
from nlb_retriever.search.reranking import rerank_sections
from nlb_retriever.search.retriever import Retriever


class NextLevelReranker(BaseNodePostprocessor):
    """Orders nodes by how well their sections match a long query: a summary, a synopsis, a whole page.

    The query's sentences are compared with the passages of each section, both ways and in order
    (`nlb_retriever.model.reranker`). `NLBRetriever(level="section")` does so already in mode "fused" with strategy
    "coarse-to-fine"; this is for its other modes, for fused retrievers, and for other retrievers' sections.

    A passage has the score of its section, since the reranker is trained to find sections and one passage has no
    order to compare; passages of one section keep their order. Nodes of no section of this library (books, other
    retrievers' nodes), or of none of the 50 best-scored sections, come after all others. Only the number of nodes
    changes where the query has fewer than three sentences, fewer than two sections were retrieved, or the library's
    checkpoint has no trained reranker (one for another chunk encoder).

    Args:
        library: a `Retriever` or `NLBRetriever`, which is then shared; or a folder, name or URL, None for the default.
        top_n: at most so many nodes; None for all.

    Raises:
        QueryError: top_n is not a count, or nodes come without a query.
    """

    top_n: int | None = None
    _library: Retriever = PrivateAttr()

    def __init__(self, library: Library = None, top_n: int | None = None) -> None:
        if top_n is not None and (isinstance(top_n, bool) or not isinstance(top_n, int) or top_n < 0):
            raise QueryError(f"top_n must be a whole number from 0, or None for all nodes, not {top_n!r}")
        super().__init__()
        self.top_n = top_n
        self._library = open_library(library)

    @classmethod
    def class_name(cls) -> str:
        return "NextLevelReranker"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if not nodes:
            return []
        if query_bundle is None:
            raise QueryError("NextLevelReranker needs the query: give query_bundle= or query_str=")
        query = query_bundle.query_str.strip()  # empty where the bundle has only a vector
        return (self._ranked(nodes, query) if query else nodes)[: self.top_n]

    def _ranked(self, nodes: list[NodeWithScore], query: str) -> list[NodeWithScore]:
        best_first = sorted(nodes, key=lambda node: -node.get_score())
        sections = [section_of(node.node) for node in best_first]
        library = self._library
        ids = [section for section in sections if section]
        scores = rerank_sections(query, ids, library.store, library.vectorizer)
        if not scores:
            return nodes
        below = min(scores.values()) - 1
        highest = best_first[0].get_score()
        ranked = [
            NodeWithScore(node=node.node, score=scores.get(section or "", below + node.get_score() - highest))
            for node, section in zip(best_first, sections, strict=True)
        ]
        return sorted(ranked, key=lambda node: -node.get_score())
