"""Where a library's books lie: three levels of points in an embedded or remote Qdrant.

`open_store` gives a `LibraryStore`; everything else here is what passes through it.
"""

from __future__ import annotations

from nlb_retriever.store.filters import And, Condition, Filter, Not, Or, all_of, at_level
from nlb_retriever.store.library import LibraryStore
from nlb_retriever.store.opening import open_engine, open_store
from nlb_retriever.store.query import Candidate, StoreQuery

__all__ = [
    "And",
    "Candidate",
    "Condition",
    "Filter",
    "LibraryStore",
    "Not",
    "Or",
    "StoreQuery",
    "all_of",
    "at_level",
    "open_engine",
    "open_store",
]
