"""The library that a postprocessor works with."""

from __future__ import annotations

from pathlib import Path

from nlb_integrations.llama_index.retriever import NLBRetriever
from nlb_retriever.search.retriever import Retriever

Library = str | Path | Retriever | NLBRetriever | None


def open_library(library: Library) -> Retriever:
    """The retriever of a library; one that is passed is shared. Opens nothing."""
    if isinstance(library, NLBRetriever):
        return library.library
    return library if isinstance(library, Retriever) else Retriever(library)
