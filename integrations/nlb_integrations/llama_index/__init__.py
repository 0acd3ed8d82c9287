"""nlb-retriever for LlamaIndex; needs llama-index-core alone, no LLM, no key and no network.

from llama_index.retrievers.nlb import NLBRetriever

nodes = NLBRetriever("./library", similarity_top_k=5).retrieve("Who hunts the whale?")
"""

from nlb_integrations.llama_index.engines import ExtractiveQueryEngine
from nlb_integrations.llama_index.events import SearchEvent
from nlb_integrations.llama_index.postprocessors import DropDuplicates, MergeNeighbours, NextLevelReranker
from nlb_integrations.llama_index.retriever import NLBRetriever

__all__ = [
    "DropDuplicates",
    "ExtractiveQueryEngine",
    "MergeNeighbours",
    "NLBRetriever",
    "NextLevelReranker",
    "SearchEvent",
]
