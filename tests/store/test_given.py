"""What a program told of a book, on every engine: kept, read back, and asked for."""

from __future__ import annotations

import pytest

from nlb_retriever.errors import QueryError
from nlb_retriever.records import LEVELS, Level, Page
from nlb_retriever.store import And, Condition, Filter, LibraryStore, Not, Or, StoreQuery
from nlb_retriever.store.filters import check
from tests.store.books import make_book
from tests.store.conftest import Opener


def test_a_book_is_read_back_as_it_was_published(open_library: Opener) -> None:
    store = open_library()
    plain = make_book(1)
    told = make_book(2, metadata={"shelf": "A", "tags": ["x"], "deep": {"n": 1}}, from_file=False)
    drawn = make_book(3).book
    scanned = make_book(3, pages=(*drawn.pages, Page(start=len(drawn.text), number=9, label="9")))  # the last is blank
    for made in (plain, told, scanned):
        store.publish(*made.parts)
    entries = {entry.id: entry for entry in store.books()}
    for made in (plain, told, scanned):
        assert store.read_book(entries[made.book.id]) == made.book
    store.publish(*make_book(2, edition=1).parts)
    assert store.read_book(entries[told.book.id]) is None  # that version is no longer there


def titles(store: LibraryStore, level: Level, ids: list[str]) -> set[str]:
    reads = {"book": store.get_books, "section": store.get_sections, "passage": store.get_passages}
    return {record.title for record in reads[level](ids)}


@pytest.mark.parametrize(
    ("where", "numbers"),
    [
        (Condition("metadata.shelf", "eq", "A"), {1}),
        (Condition("metadata.shelf", "ne", "A"), {2, 3}),
        (Condition("metadata.rank", "gte", 2), {2}),
        (Condition("metadata.tags", "any", ["y", "z"]), {2}),
        (Condition("metadata.shelf", "is_empty"), {3}),
        (Condition("metadata.done", "eq", True), {2}),
        (And((Condition("metadata.rank", "lt", 5), Condition("section", "eq", 0))), {1, 2}),
        (Or((Condition("metadata.shelf", "eq", "A"), Condition("title", "eq", "Title 3"))), {1, 3}),
        (Not((Condition("metadata.shelf", "text_match_insensitive", "a"),)), {2, 3}),
    ],
)
def test_it_filters_at_every_level(where: Filter, numbers: set[int], open_library: Opener) -> None:
    store = open_library()
    store.publish(*make_book(1, metadata={"shelf": "A", "rank": 1}).parts)
    store.publish(*make_book(2, metadata={"shelf": "B", "rank": 2, "tags": ["x", "y"], "done": True}).parts)
    store.publish(*make_book(3).parts)
    for level in LEVELS[1:] if isinstance(where, And) else LEVELS:
        query = StoreQuery(level=level, dense=make_book(1).vectors.book, where=check(where, level), limit=99)
        (hits,) = store.search([query])
        assert titles(store, level, [hit.id for hit in hits]) == {f"Title {number}" for number in numbers}


def test_a_key_that_no_book_has_is_refused_with_those_that_there_are(open_library: Opener) -> None:
    store = open_library()
    store.publish(*make_book(1, metadata={"shelf": "A"}).parts)
    query = StoreQuery(level="passage", text="whale", where=Condition("metadata.self", "eq", "A"))
    with pytest.raises(QueryError, match=r"'metadata\.self', which no book has; known keys: author.*metadata\.shelf"):
        store.search([query])
