"""The reader for the nodes of any retriever."""

from __future__ import annotations

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle

from nlb_integrations.conventions import check_count
from nlb_integrations.llama_index.postprocessors.library import Library, open_library
from nlb_retriever.errors import QueryError
from nlb_retriever.search.question import kind_of
from nlb_retriever.search.readings import probability
from nlb_retriever.search.retriever import Retriever


class ReaderReranker(BaseNodePostprocessor):
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

    top_n: int | None = None
    _library: Retriever = PrivateAttr()

    def __init__(self, library: Library = None, top_n: int | None = None) -> None:
        if top_n is not None:
            check_count("top_n", top_n)
        super().__init__()
        self.top_n = top_n
        self._library = open_library(library)

    @classmethod
    def class_name(cls) -> str:
        return "ReaderReranker"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if not nodes:
            return []
        if query_bundle is None:
            raise QueryError("ReaderReranker needs the query: give query_bundle= or query_str=")
        question = query_bundle.query_str
        if kind_of(question) is None:
            return nodes[: self.top_n]
        readings = self._library.reader.read(question, [node.node.get_content(MetadataMode.NONE) for node in nodes])
        ranked = [
            NodeWithScore(node=node.node, score=probability(reading))
            for node, reading in zip(nodes, readings, strict=True)
        ]
        return sorted(ranked, key=lambda node: -node.get_score())[: self.top_n]
