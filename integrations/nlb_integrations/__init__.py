"""Adapters of the library to other frameworks.

from nlb_integrations import NLBIndex, NLBRetriever     # LlamaIndex

Names are resolved when first used, so that one framework's adapter loads no other framework.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nlb_integrations.llama_index import ChunkEmbedding as ChunkEmbedding
    from nlb_integrations.llama_index import NextLevelEmbedding as NextLevelEmbedding
    from nlb_integrations.llama_index import NLBIndex as NLBIndex
    from nlb_integrations.llama_index import NLBNodeParser as NLBNodeParser
    from nlb_integrations.llama_index import NLBRetriever as NLBRetriever

__all__ = ["ChunkEmbedding", "NLBIndex", "NLBNodeParser", "NLBRetriever", "NextLevelEmbedding"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from nlb_integrations import llama_index

    return getattr(llama_index, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})  # for completion
