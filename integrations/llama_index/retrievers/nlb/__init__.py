"""nlb-retriever where LlamaIndex users look for retrievers; all of it lives in nlb_integrations.llama_index."""

from nlb_integrations.llama_index import (
    DropDuplicates,
    ExtractiveQueryEngine,
    MergeNeighbours,
    NextLevelReranker,
    NLBRetriever,
    SearchEvent,
)

__all__ = [
    "DropDuplicates",
    "ExtractiveQueryEngine",
    "MergeNeighbours",
    "NLBRetriever",
    "NextLevelReranker",
    "SearchEvent",
]
