"""Where a library's books are kept: three levels of points, in a folder or on a Qdrant server.

`open_store` gives a `LibraryStore`; everything else here is what passes through it.
"""

from __future__ import annotations

from nlb_retriever.store.backends.base import PassageTerms, SectionVectors
from nlb_retriever.store.filters import And, Condition, Filter, Not, Or, all_of, at_level
from nlb_retriever.store.library import LibraryStore
from nlb_retriever.store.open import open_store
from nlb_retriever.store.query import Candidate, StoreQuery
from nlb_retriever.store.rescue import RescuedLibrary

__all__ = [
    "And",
    "Candidate",
    "Condition",
    "Filter",
    "LibraryStore",
    "Not",
    "Or",
    "PassageTerms",
    "RescuedLibrary",
    "SectionVectors",
    "StoreQuery",
    "all_of",
    "at_level",
    "open_store",
]
