"""What the retriever tells LlamaIndex's dispatcher beside the framework's own start and end of a retrieval."""

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
    asked: int
    """`similarity_top_k`."""
    found: int
    seconds: float
    """From the question to the nodes, with what the first search has to open and load."""

    @classmethod
    def class_name(cls) -> str:
        return "NLBSearchEvent"
