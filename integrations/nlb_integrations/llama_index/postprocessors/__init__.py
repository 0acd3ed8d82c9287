"""What is done to nodes between retrieval and answer; each works in any list of LlamaIndex's node postprocessors.

Their async form runs in a thread, so an event loop is never blocked. They take nodes of several retrievers at once,
keep nobody else's docstore, and change no node that they are given.
"""

from nlb_integrations.llama_index.postprocessors.duplicates import DropDuplicates
from nlb_integrations.llama_index.postprocessors.merging import MergeNeighbours
from nlb_integrations.llama_index.postprocessors.reranking import NextLevelReranker

__all__ = ["DropDuplicates", "MergeNeighbours", "NextLevelReranker"]
