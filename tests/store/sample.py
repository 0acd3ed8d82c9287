"""A library with something of everything in it, and all its answers."""

from __future__ import annotations

from pathlib import Path

from nlb_retriever.records import LEVELS
from nlb_retriever.store import LibraryStore, StoreQuery, open_store
from tests.store.books import MANIFEST, make_book

BOOKS = [
    make_book(1),
    make_book(2, edition=1),
    make_book(3, title="Die Räuber", source="/books/r\udce4uber.txt"),
    make_book(4),
]


def make_library(folder: Path) -> None:
    """A library with a segment of several books and one of a single book, a renamed and a removed book."""
    with open_store(folder, create=MANIFEST, writer=True) as store:
        store.publish(*make_book(2).parts)
        store.publish(*make_book(8, sections=80).parts)
        for made in (make_book(7), *BOOKS[:3]):
            store.publish(*made.parts)
        assert store.optimize()
        for number in (7, 8):
            store.remove(make_book(number).book.id)
        store.publish(*BOOKS[3].parts)
        store.rename({BOOKS[0].book.id: "/moved.txt"})


def read_all(store: LibraryStore) -> list[object]:
    """Answers of every kind."""
    vector = BOOKS[0].vectors.book
    queries = [StoreQuery(level=level, dense=vector, limit=5) for level in LEVELS]
    queries += [StoreQuery(level=level, text="whale book2", limit=5) for level in LEVELS]
    found = store.search(queries)
    ids = [hit.id for hit in found[2]]
    texts = [(store.book_text(book.id), store.passages(book.id)) for book in store.books()]
    return [found, store.books(), texts, [passage.text for passage in store.get_passages(ids)]]
