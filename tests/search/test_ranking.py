"""Which weights rank a request's candidates."""

from __future__ import annotations

from typing import Any

import pytest

from nlb_retriever import Retriever, book_from_text, index_books
from nlb_retriever.records import Level
from nlb_retriever.search import ranking
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
