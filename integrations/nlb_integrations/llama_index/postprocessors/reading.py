"""The reader for the nodes of any retriever."""

from __future__ import annotations

from llama_index.core.schema import MetadataMode, NodeWithScore

from nlb_integrations.llama_index.postprocessors.library import LibraryReranker
from nlb_retriever.search.courtesy import bare_question
from nlb_retriever.search.question import as_question, kind_of
from nlb_retriever.search.readings import probability


class ReaderReranker(LibraryReranker):
    """Orders nodes by how likely each one answers a short question in English, as the reader judges.

    A node's score becomes that probability, 0 to 1. `NLBRetriever(rerank=True)` mixes it with the passage's own score
    instead, which is better for its passages; this is for other retrievers' nodes, and for fused ones. Only the number
    of nodes changes where the query is not a question that the reader takes (`search.question.kind_of`).

    Args:
        library: a `Retriever` or `NLBRetriever`, whose reader is then shared; None for the reader that comes with the
            package. No library is opened.
        top_n: at most so many nodes; None for all.

    Raises:
        QueryError: top_n is not a count, or nodes come without a query. Reading raises `EncoderError` where there is
            no reader.
    """

    def _rank(self, nodes: list[NodeWithScore], query: str) -> list[NodeWithScore]:
        question = as_question(bare_question(query))
        if kind_of(question) is None:
            return nodes
        readings = self._library.reader.read(question, [node.node.get_content(MetadataMode.NONE) for node in nodes])
        ranked = [
            NodeWithScore(node=node.node, score=probability(reading))
            for node, reading in zip(nodes, readings, strict=True)
        ]
        return sorted(ranked, key=lambda node: -node.get_score())
