"""Node postprocessors; each works in any list of LlamaIndex's node postprocessors.

Their async form runs in a thread, so an event loop is never blocked. They take nodes of several retrievers at once,
need no docstore, and change no node in place.
"""

from nlb_integrations.llama_index.postprocessors.duplicates import DropDuplicates
from nlb_integrations.llama_index.postprocessors.merging import MergeNeighbours
from nlb_integrations.llama_index.postprocessors.reading import ReaderReranker
from nlb_integrations.llama_index.postprocessors.reranking import NextLevelReranker

__all__ = ["DropDuplicates", "MergeNeighbours", "NextLevelReranker", "ReaderReranker"]
