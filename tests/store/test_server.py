"""What only libraries on a server do: a version lies beside the old one until one write of the state shows it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from qdrant_client import QdrantClient, models

from nlb_retriever.errors import LibraryBusy, StoreError
from nlb_retriever.records import LEVELS
from nlb_retriever.store import And, Condition, LibraryStore, StoreQuery
from nlb_retriever.store.backends.base import Point
from nlb_retriever.store.backends.server import STATE_ID, ServerBackend
from nlb_retriever.store.backends.server_client import Server
from nlb_retriever.store.backends.server_points import BATCH_BYTES, BATCH_POINTS, batches
from nlb_retriever.store.open import open_on_server
from nlb_retriever.store.points import passage_points
from tests.store.books import MANIFEST, Made, make_book
from tests.store.conftest import Opener


def counts(store: LibraryStore) -> list[int]:
    return [store.count(level) for level in LEVELS]


def backend_of(store: LibraryStore) -> ServerBackend:
    backend = store._backend
    assert isinstance(backend, ServerBackend)
    return backend


def leave_unfinished(store: LibraryStore, made: Made) -> None:
    """Write what a writer leaves that is stopped before its book is complete."""
    backend = backend_of(store)
    backend.write(replace(backend.state(), hidden=((made.book.id, "unfinished"),)))
    backend.collections.upsert(
        "passage", list(passage_points(made.book, "unfinished", made.passages, made.vectors))[:5]
    )


def test_an_unfinished_book_is_invisible_and_the_next_writer_removes_it(on_server: Opener) -> None:
    store = on_server()
    store.publish(*make_book(1).parts)
    leave_unfinished(store, make_book(2))
    store.close()
    reader = on_server(writer=False)
    assert counts(reader) == [1, 3, 12]
    vector = make_book(2).vectors.passages[3]
    hits = reader.search([StoreQuery(level="passage", dense=vector), StoreQuery(level="passage", text="book2")])
    assert {hit.book_id for hit in hits[0]} == {make_book(1).book.id}
    assert hits[1] == []
    made = make_book(2)
    point = next(passage_points(made.book, "unfinished", made.passages, made.vectors))
    assert reader.get_passages([point.id]) == []
    assert reader.existing("passage", [point.id]) == set()
    assert len(reader.verify()) == 1
    assert "interrupted" in reader.verify()[0]
    reader.close()
    writer = on_server()
    assert backend_of(writer).collections.count("passage") == 12
    assert writer.verify() == []


def test_a_writer_goes_on_after_a_book_that_failed_half_way(on_server: Opener) -> None:
    store = on_server()
    leave_unfinished(store, make_book(1))
    store.publish(*make_book(2).parts)
    assert counts(store) == [1, 3, 12]
    assert store.verify() == []


def test_the_librarys_state_is_no_book(on_server: Opener) -> None:
    store = on_server()
    assert counts(store) == [0, 0, 0]
    assert store.books() == []
    store.publish(*make_book(1).parts)
    queries = [
        StoreQuery(level="book", dense=make_book(1).vectors.book, limit=50),
        StoreQuery(level="book", text="book1"),
    ]
    assert [len(hits) for hits in store.search(queries)] == [1, 1]
    assert store.count("book") == 1
    assert backend_of(store).collections.retrieve("book", [STATE_ID])


def test_verify_names_what_is_missing_or_belongs_to_nobody_and_repair_removes_it(on_server: Opener) -> None:
    store = on_server()
    for number in (1, 2, 3):
        store.publish(*make_book(number).parts)
    assert store.verify() == store.repair() == []
    assert len(store.books()) == 3
    one, two = make_book(1).book.id, make_book(2).book.id
    collections = backend_of(store).collections
    collections.delete("passage", And((Condition("book_id", "eq", one), Condition("ordinal", "gte", 9))))
    collections.delete("book", Condition("book_id", "eq", two))
    problems = store.verify()
    assert len(problems) == 2
    assert any(f"book {one}" in line and "9 passages instead of 12" in line for line in problems)
    assert any("3 sections, 12 passages belong to no book" in line and two in line for line in problems)
    assert len(store.repair()) == 2
    assert store.verify() == []
    assert [entry.id for entry in store.books()] == [make_book(3).book.id]
    assert store.repair() == []


def test_a_writer_stops_when_another_has_taken_over(on_server: Opener) -> None:
    first = on_server()
    first.publish(*make_book(1).parts)
    second = on_server()
    with pytest.raises(LibraryBusy, match="written by another process"):
        first.publish(*make_book(2).parts)
    second.publish(*make_book(3).parts)
    assert counts(second) == [2, 6, 24]


def test_requests_are_bounded_in_points_and_bytes() -> None:
    small = [Point(id=str(number), payload={}) for number in range(BATCH_POINTS * 2 + 1)]
    assert [len(batch) for batch in batches(small)] == [BATCH_POINTS, BATCH_POINTS, 1]
    large = [Point(id=str(number), payload={"text": "x" * (BATCH_BYTES // 2 + 1)}) for number in range(3)]
    assert [len(batch) for batch in batches(large)] == [1, 1, 1]
    assert list(batches([])) == []


@pytest.mark.parametrize("name", ["mine_books", "mine_passages"])
def test_a_collection_of_somebody_else_is_not_touched(name: str) -> None:
    client = QdrantClient(":memory:")
    client.create_collection(name, models.VectorParams(size=2, distance=models.Distance.DOT))
    client.upsert(name, [models.PointStruct(id=1, vector=[1.0, 0.0])])
    with pytest.raises(StoreError, match=f"mine is no library: the server's collection {name} holds other points"):
        open_on_server(Server(client, "mine"), "mine", create=MANIFEST, writer=True)
    assert client.count(name).count == 1
    assert [each.name for each in client.get_collections().collections] == [name]
    client.delete(name, [1])
    open_on_server(Server(client, "mine"), "mine", create=MANIFEST, writer=True).close()
    client.close()
