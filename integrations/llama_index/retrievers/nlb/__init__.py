"""Where LlamaIndex users look for retrievers; the code is in nlb_integrations.llama_index."""

from nlb_integrations.llama_index import ExtractiveQueryEngine, NLBRetriever, SearchEvent

__all__ = ["ExtractiveQueryEngine", "NLBRetriever", "SearchEvent"]
