"""nlb-retriever for LlamaIndex; needs llama-index-core alone, no LLM, no key and no network.

from llama_index.retrievers.nlb import NLBRetriever

nodes = NLBRetriever("./library", similarity_top_k=5).retrieve("Who hunts the whale?")
"""

from nlb_integrations.llama_index.embeddings import ChunkEmbedding, NextLevelEmbedding
from nlb_integrations.llama_index.engines import ExtractiveQueryEngine
from nlb_integrations.llama_index.events import SearchEvent
from nlb_integrations.llama_index.index import NLBIndex
from nlb_integrations.llama_index.node_parser import NLBNodeParser
from nlb_integrations.llama_index.postprocessors import (
    DropDuplicates,
    MergeNeighbours,
    NextLevelReranker,
    ReaderReranker,
)
from nlb_integrations.llama_index.retriever import NLBRetriever

__all__ = [
    "ChunkEmbedding",
    "DropDuplicates",
    "ExtractiveQueryEngine",
    "MergeNeighbours",
    "NLBIndex",
    "NLBNodeParser",
    "NLBRetriever",
    "NextLevelEmbedding",
    "NextLevelReranker",
    "ReaderReranker",
    "SearchEvent",
]
