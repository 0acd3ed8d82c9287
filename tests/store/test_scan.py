"""Searching the segments of a folder: exact, and the same however the books came into it."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from nlb_retriever.records import LEVELS, Level
from nlb_retriever.store import And, Condition, Filter, LibraryStore, Not, StoreQuery, open_store
from nlb_retriever.store.backends import scan
from nlb_retriever.store.backends.folder import FolderBackend
from tests.store.books import MANIFEST, Made, make_book

BOOKS = [make_book(number, sections=2 + number % 3, passages=3 + number % 4) for number in range(1, 8)]
WHERE: list[Filter | None] = [
    None,
    Condition("book_id", "in", (BOOKS[2].book.id, BOOKS[3].book.id)),
    And((Condition("section", "gte", 1), Not((Condition("title", "eq", "Title 2"),)))),
]


def search_all(store: LibraryStore) -> list[list[tuple[str, float]]]:
    vector = np.random.default_rng(3).standard_normal(MANIFEST.dim).astype(np.float32)
    queries = [
        StoreQuery(level=level, limit=limit, where=where, **given)  # type: ignore[arg-type]
        for level in LEVELS[1:]
        for limit in (3, 1000)
        for where in WHERE
        for given in ({"dense": vector}, {"text": "whale storm book3 edition0"})
    ]
    queries += [StoreQuery(level="book", dense=vector), StoreQuery(level="book", text="whale storm book3")]
    return [[(hit.id, hit.score) for hit in hits] for hits in store.search(queries)]


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> list[list[tuple[str, float]]]:
    with open_store(tmp_path_factory.mktemp("scan") / "library", create=MANIFEST, writer=True) as store:
        for made in BOOKS:
            store.publish(*made.parts)
        return search_all(store)


@pytest.mark.parametrize("seed", range(12))
def test_results_are_the_same_to_the_last_bit_whatever_happened_before(
    tmp_path: Path, seed: int, unbroken: list[list[tuple[str, float]]]
) -> None:
    """Books in another order, older editions, books that are gone, merged segments: none of it shows in a score."""
    dice = random.Random(seed)
    steps: list[Made | str | None] = [*dice.sample(BOOKS, len(BOOKS))]
    for number in (1, 3, 20, 21):
        steps.insert(0, make_book(number, edition=4, sections=5))
    for _ in range(4):
        steps.insert(dice.randrange(len(steps)), None)
    steps.insert(dice.randrange(8, len(steps)), make_book(20).book.id)
    steps.append(make_book(21).book.id)
    steps.insert(dice.randrange(len(steps)), make_book(20).book.id)
    with open_store(tmp_path, create=MANIFEST, writer=True) as store:
        for step in steps:
            if step is None:
                store.optimize(purge=dice.random() < 0.5)
            elif isinstance(step, str):
                store.remove(step)
            else:
                store.publish(*step.parts)
        store.remove(make_book(20).book.id)
        assert search_all(store) == unbroken
        store.optimize(purge=True)
        assert search_all(store) == unbroken
    with open_store(tmp_path) as reader:
        assert search_all(reader) == unbroken


@pytest.mark.parametrize("level", LEVELS)
def test_the_nearest_are_those_that_comparing_with_every_vector_finds(tmp_path: Path, level: Level) -> None:
    with open_store(tmp_path, create=MANIFEST, writer=True) as store:
        for made in BOOKS:
            store.publish(*made.parts)
        vectors = {
            "book": [made.vectors.book for made in BOOKS],
            "section": [row for made in BOOKS for row in made.vectors.sections],
            "passage": [row for made in BOOKS for row in made.vectors.passages],
        }[level]
        query = np.random.default_rng(4).standard_normal(MANIFEST.dim).astype(np.float32)
        query /= np.linalg.norm(query)
        [hits] = store.search([StoreQuery(level=level, dense=query, limit=7)])
        expected = sorted((float(vector @ query) for vector in vectors), reverse=True)[:7]
        assert [hit.score for hit in hits] == pytest.approx(expected, abs=1e-6)


def test_points_of_equal_score_come_by_book_then_in_the_order_of_the_text(tmp_path: Path) -> None:
    same = make_book(5, sections=1, passages=1)
    with open_store(tmp_path, create=MANIFEST, writer=True) as store:
        for number in (9, 2, 7):
            made = make_book(number, sections=2, passages=3)
            rows = np.repeat(same.vectors.passages, 6, axis=0)
            store.publish(made.book, made.passages, type(made.vectors)(rows, made.vectors.sections, made.vectors.book))
        query = StoreQuery(level="passage", dense=same.vectors.passages[0], limit=100)
        ordered = [f"{number:016x}" for number in (2, 7, 9)]
        expected = [(book_id, ordinal) for book_id in ordered for ordinal in range(6)]
        for limit in (1, 4, 11, 100):
            [hits] = store.search([StoreQuery(level="passage", dense=query.dense, limit=limit)])
            found = store.get_passages([hit.id for hit in hits])
            assert [(passage.book_id, passage.ordinal) for passage in found] == expected[:limit]


def test_many_vectors_are_compared_in_threads_with_the_same_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unbroken: list[list[tuple[str, float]]]
) -> None:
    monkeypatch.setattr(scan, "_BLOCK", 2)
    with open_store(tmp_path, create=MANIFEST, writer=True) as store:
        for made in BOOKS:
            store.publish(*made.parts)
        assert search_all(store) == unbroken


def test_segments_of_a_size_become_one(tmp_path: Path) -> None:
    with open_store(tmp_path, create=MANIFEST, writer=True) as store:
        most = 0
        for number in range(1, 130):
            store.publish(*make_book(number, sections=1, passages=2).parts)
            assert isinstance(store._backend, FolderBackend)
            most = max(most, len(store._backend.head.segments))
        assert most <= 3 * 8
        assert len(list((tmp_path / "segments").iterdir())) == len(store._backend.head.segments)
        assert len(store.books()) == 129
        assert store.verify() == []
