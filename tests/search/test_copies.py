"""Copies of a book: what one says is found once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from nlb_retriever import QueryError, Retriever, book_from_text, index_books
from nlb_retriever.records import LEVELS, Level
from nlb_retriever.search.copies import _Letters, fetch_distinct
from tests.texts import KITCHEN, LIGHTHOUSE

FIRST = "The keeper carried the lamp up the tower stairs and turned it to the sea before the ships came by."
SECOND = "A boat with two men rowed past the rocks that night, and nobody on the shore saw where it landed."


@dataclass(frozen=True)
class _Text:
    book_id: str
    title: str
    text: str


@pytest.mark.parametrize(
    ("texts", "kept"),
    [
        ([("a", "Lanterns", FIRST), ("b", "Lanterns: A Tale", FIRST.upper()), ("a", "Lanterns", SECOND)], [0, 2]),
        ([("a", "Lanterns", f"{FIRST} {SECOND}"), ("b", "Lanterns", f"up again. {FIRST} {SECOND[:40]}")], [0]),
        (
            [
                ("a", "Lease", f"{FIRST} The rent is $900. {SECOND}"),
                ("b", "Lease", f"{FIRST} The rent is $800. {SECOND}"),
            ],
            [0, 1],
        ),
        ([("a", "Lanterns", "Chapter 1"), ("b", "Lanterns", "Chapter 11"), ("b", "Lanterns", "CHAPTER 1.")], [0, 1]),
        ([("a", "Lanterns", FIRST), ("b", "Lanterns", SECOND)], [0, 1]),  # another translation
        ([("a", "Lanterns", FIRST), ("b", "Sea Tales", FIRST)], [0, 1]),
        ([("a", "Lanterns", FIRST), ("a", "Lanterns", FIRST)], [0, 1]),  # a book may say a thing twice
        ([("a", "Lanterns", ""), ("b", "Lanterns", "")], [0, 1]),
    ],
)
def test_what_a_copy_said_before_is_left_out(texts: list[tuple[str, str, str]], kept: list[int]) -> None:
    found = {str(i): _Text(*text) for i, text in enumerate(texts)}
    distinct = fetch_distinct([*found], 10, lambda ids: [found[each] for each in ids])
    assert distinct == [found[str(i)] for i in kept]


def test_as_many_are_read_as_are_wanted() -> None:
    texts = {f"{name}{i}": _Text(name, "Lanterns", f"{FIRST} {i} {SECOND}") for i in range(3) for name in "ab"}
    texts |= {f"c{i}": _Text("c", f"Another {i}", FIRST) for i in range(5)}
    read: list[int] = []

    def fetch(ids: Sequence[str]) -> list[_Text]:
        read.append(len(ids))
        return [texts[each] for each in ids]

    assert [text.book_id for text in fetch_distinct([*texts], 5, fetch)] == ["a", "a", "a", "c", "c"]
    assert sum(read) == 8
    assert fetch_distinct([*texts], 0, fetch) == []


def test_each_of_many_is_compared_with_those_near_it(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[_Letters] = []

    def are_in(letters: _Letters, other: _Letters) -> bool:
        compared.append(other)
        return False

    monkeypatch.setattr(_Letters, "are_in", are_in)
    texts = {str(i): _Text(str(i), "Notes", f"{i}") for i in range(1_000)}
    assert len(fetch_distinct([*texts], 1_000, lambda ids: [texts[each] for each in ids])) == 1_000
    assert len(compared) < 100 * len(texts)


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retriever]:
    folder: Path = tmp_path_factory.mktemp("library")
    books = [
        book_from_text(f"{LIGHTHOUSE}\n{note}", source=note, title="Lanterns", author="Ann One")
        for note in ("Scanned.", "Proofread.")
    ]
    index_books([*books, book_from_text(KITCHEN, source="k", title="The Kitchen")], folder)
    with Retriever(folder) as retriever:
        yield retriever


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("rerank", [False, True])
def test_no_hit_comes_twice(retriever: Retriever, level: Level, rerank: bool) -> None:
    hits = retriever.search("Who keeps the light?", level=level, rerank=rerank and level != "book")
    texts = ["".join(hit.text.split())[:200] for hit in hits]
    assert len(texts) == len({*texts}) > 1
    assert {hit.title for hit in hits} == {"Lanterns", "The Kitchen"}


def test_a_title_names_one_of_the_copies(retriever: Retriever) -> None:
    hits = retriever.search("Who keeps the light?", book="Lanterns")
    assert len({hit.book_id for hit in hits}) == 1
    for book in retriever.store.books():  # each by its own id
        assert {hit.book_id for hit in retriever.search("light", book=book.id)} == {book.id}


def test_a_title_of_different_books_names_none(tmp_path: Path) -> None:
    books = [book_from_text(text, source=text[:9], title="Works") for text in (LIGHTHOUSE, KITCHEN * 3)]
    index_books(books, tmp_path)
    with Retriever(tmp_path) as retriever, pytest.raises(QueryError, match="fits 2 books"):
        retriever.search("light", book="Works")
