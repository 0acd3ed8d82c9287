"""nlb-retriever where LlamaIndex users look for retrievers; all of it lives in nlb_integrations.llama_index."""

from nlb_integrations.llama_index import ExtractiveQueryEngine, NLBRetriever, SearchEvent

__all__ = ["ExtractiveQueryEngine", "NLBRetriever", "SearchEvent"]
