"""Any sequence of changes, checked against a dictionary."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from nlb_retriever.store import Condition, LibraryStore, StoreQuery, open_store
from tests.store.books import MANIFEST, Made, make_book, read_passages

NUMBERS = st.integers(1, 3)
EDITIONS = st.integers(0, 2)


class LibraryMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.model: dict[str, tuple[Made, str]] = {}
        self.store: LibraryStore

    @initialize()
    def make(self) -> None:
        self.store = open_store(Path(self.folder.name) / "library", create=MANIFEST, writer=True)

    @rule(number=NUMBERS, edition=EDITIONS, sections=st.integers(1, 3))
    def publish(self, number: int, edition: int, sections: int) -> None:
        made = make_book(number, edition=edition, sections=sections)
        self.store.publish(*made.parts)
        self.model[made.book.id] = made, made.book.source

    @rule(number=NUMBERS)
    def remove(self, number: int) -> None:
        book_id = make_book(number).book.id
        self.store.remove(book_id)
        self.model.pop(book_id, None)

    @rule(number=NUMBERS, name=st.sampled_from(["a", "b"]))
    def rename(self, number: int, name: str) -> None:
        book_id = make_book(number).book.id
        self.store.rename({book_id: f"/{name}.txt"})
        if book_id in self.model:
            self.model[book_id] = self.model[book_id][0], f"/{name}.txt"

    @rule()
    def optimize(self) -> None:
        self.store.optimize()

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = open_store(Path(self.folder.name) / "library", writer=True)

    @rule(number=NUMBERS, row=st.integers(0, 3))
    def search(self, number: int, row: int) -> None:
        book_id = make_book(number).book.id
        if book_id not in self.model:
            return
        made, source = self.model[book_id]
        query = StoreQuery(
            level="passage", dense=made.vectors.passages[row], limit=1, where=Condition("source", "eq", source)
        )
        [passage] = read_passages(self.store, self.store.search([query])[0])
        assert (passage.book_id, passage.ordinal) == (book_id, row)

    @invariant()
    def same_as_the_model(self) -> None:
        if not hasattr(self, "store"):
            return
        assert {entry.id: entry.source for entry in self.store.books()} == {
            book_id: source for book_id, (_, source) in self.model.items()
        }
        for book_id, (made, source) in self.model.items():
            assert self.store.book_text(book_id) == made.book.text
            assert {passage.source for passage in self.store.passages(book_id)} == {source}
        assert self.store.count("passage") == sum(len(made.passages) for made, _ in self.model.values())

    def teardown(self) -> None:
        if hasattr(self, "store"):
            assert self.store.verify() == []
            self.store.close()
        self.folder.cleanup()


LibraryMachine.TestCase.settings = settings(max_examples=5, stateful_step_count=8, deadline=None, database=None)
TestLibraryMachine = LibraryMachine.TestCase
