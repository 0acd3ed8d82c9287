"""The event that the retriever sends to LlamaIndex's dispatcher, beside the framework's start and end of retrieval."""

from __future__ import annotations

from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]  # not re-exported by name
from llama_index.core.instrumentation.events import BaseEvent

dispatcher = get_dispatcher("nlb_integrations.llama_index")


class SearchEvent(BaseEvent):
    """A library was searched."""

    library: str
    """Its folder or server's URL."""
    level: str
    strategy: str
    similarity_top_k: int
    results: int
    """Nodes that were found."""
    seconds: float
    """From the query to the nodes; the first search includes opening and loading."""

    @classmethod
    def class_name(cls) -> str:
        return "NLBSearchEvent"
