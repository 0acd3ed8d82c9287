"""Which weights rank a request's candidates."""

from __future__ import annotations

from typing import Any

import pytest

from nlb_retriever import Retriever, book_from_text, index_books
from nlb_retriever.records import Level
from nlb_retriever.search import ranking
from nlb_retriever.search.ranking import Ranking
from nlb_retriever.store import Candidate
from tests.texts import KITCHEN, LIGHTHOUSE


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    library = tmp_path_factory.mktemp("ranking") / "library"
    texts = {"The Lighthouse Keeper": LIGHTHOUSE, "Country Bread": KITCHEN}
    index_books([book_from_text(text, source=title, title=title) for title, text in texts.items()], library)
    return Retriever(library)


@pytest.mark.parametrize(
    ("query", "level", "without_names"),
    [
        ("the keeper finds a letter in the clock", "section", True),
        ("the keeper finds a letter in the clock", "book", True),
        ("the clock keeper", "section", True),
        ("the clock keeper", "book", False),
        ("who finds a letter in the clock?", "section", True),
        ("who finds a letter in the clock?", "book", False),
        ("who finds a letter in the clock?", "passage", True),
        ("what does Margaret find?", "passage", False),
        ("the keeper and Margaret find a letter", "section", False),
        ("the keeper and Margaret find a letter", "book", False),
    ],
)
def test_the_best_passage_decides_where_nobody_is_named(
    retriever: Retriever, monkeypatch: pytest.MonkeyPatch, query: str, level: Level, without_names: bool
) -> None:
    seen: list[bool] = []
    combine = ranking.combine

    def watch(*arguments: Any, without_names: bool) -> dict[str, float]:
        seen.append(without_names)
        return combine(*arguments, without_names=without_names)

    monkeypatch.setattr(ranking, "combine", watch)
    assert retriever.search(query, level=level)
    assert seen == [without_names]


def test_candidates_are_put_first_even_if_all_scores_are_below_zero() -> None:
    scores = {"a": -1.0, "b": -2.0, "c": -4.0}
    first = [Candidate(id="c", score=0.5), Candidate(id="d", score=0.1)]
    put = ranking._put_first(first, scores)
    assert Ranking(scores=put, pools={}, dense=[], words=[]).top(4) == ["c", "d", "a", "b"]
    assert put["c"] > -1 and put["d"] > -1


def test_long_books_lose_what_the_best_of_many_passages_is_better_by_chance(retriever: Retriever) -> None:
    books = retriever.store.books()
    corrected = ranking._correct_for_length({book.uuid: 1.0 for book in books}, books)
    shortest = min(books, key=lambda book: book.passages)
    assert len({book.passages for book in books}) == 2
    assert max(corrected, key=lambda each: corrected[each]) == shortest.uuid
