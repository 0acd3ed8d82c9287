"""Where LlamaIndex users look for postprocessors; the code is in nlb_integrations.llama_index."""

from nlb_integrations.llama_index import DropDuplicates, MergeNeighbours, NextLevelReranker, ReaderReranker

__all__ = ["DropDuplicates", "MergeNeighbours", "NextLevelReranker", "ReaderReranker"]
