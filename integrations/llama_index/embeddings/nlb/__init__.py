"""Where LlamaIndex users look for them; the code is in nlb_integrations.llama_index."""

from nlb_integrations.llama_index import ChunkEmbedding, NextLevelEmbedding

__all__ = ["ChunkEmbedding", "NextLevelEmbedding"]
