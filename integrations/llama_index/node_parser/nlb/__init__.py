"""Where LlamaIndex users look for it; the code is in nlb_integrations.llama_index."""

from nlb_integrations.llama_index import NLBNodeParser

__all__ = ["NLBNodeParser"]
