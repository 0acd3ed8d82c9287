"""Book, section and passage retrieval over very long documents.

    from nlb_retriever import Retriever, answer, index_files

    index_files(["./books"])
    with Retriever() as retriever:
        hits = retriever.search("a duel at dawn", level="section")
        print(answer("Who is hunting the white whale, and why?", retriever).answer)

Names are resolved when first used, so that importing the package loads no model library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nlb_retriever.errors import NlbError as NlbError
    from nlb_retriever.indexing.indexer import index_books as index_books
    from nlb_retriever.indexing.indexer import index_files as index_files
    from nlb_retriever.reading.text import book_from_text as book_from_text
    from nlb_retriever.records import Answer as Answer
    from nlb_retriever.records import Hit as Hit
    from nlb_retriever.search.answer import answer as answer
    from nlb_retriever.search.retriever import Retriever as Retriever
    from nlb_retriever.store import open_store as open_store

_HOMES = {
    "Answer": "records",
    "Hit": "records",
    "NlbError": "errors",
    "Retriever": "search.retriever",
    "answer": "search.answer",
    "book_from_text": "reading.text",
    "index_books": "indexing.indexer",
    "index_files": "indexing.indexer",
    "open_store": "store",
}

__all__ = [
    "Answer",
    "Hit",
    "NlbError",
    "Retriever",
    "answer",
    "book_from_text",
    "index_books",
    "index_files",
    "open_store",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
