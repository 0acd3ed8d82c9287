"""The library's trained reranker for the nodes of any retriever."""

from __future__ import annotations

from llama_index.core.schema import NodeWithScore

from nlb_integrations.llama_index.nodes import section_of
from nlb_integrations.llama_index.postprocessors.library import LibraryReranker
from nlb_retriever.search.reranking import rerank_sections


class NextLevelReranker(LibraryReranker):
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

    def _rank(self, nodes: list[NodeWithScore], query: str) -> list[NodeWithScore]:
        if not query.strip():  # the bundle has only a vector
            return nodes
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
