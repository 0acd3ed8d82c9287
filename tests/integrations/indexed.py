"""Documents for `NLBIndex`, and what a library then holds of them."""

from __future__ import annotations

from pathlib import Path

from llama_index.core import Document

from nlb_retriever.records import BookRecord
from nlb_retriever.store import open_store
from tests.texts import KITCHEN, LIGHTHOUSE


def documents() -> list[Document]:
    """As an application makes them anew at every start."""
    return [
        Document(text=LIGHTHOUSE, id_="lamp", metadata={"tenant": "coast", "rank": 3}),
        Document(text=KITCHEN, id_="bread", metadata={"tenant": "inland", "rank": 5, "tags": ["food", "craft"]}),
    ]


def books(library: Path) -> dict[str, BookRecord]:
    with open_store(library) as store:
        return {entry.source: entry for entry in store.books()}


def text_of(library: Path, source: str) -> str:
    with open_store(library) as store:
        assert store.verify() == []
        return store.book_text(next(entry.id for entry in store.books() if entry.source == source))
