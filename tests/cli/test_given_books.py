"""Books that a program put into a library, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nlb_retriever.indexing.indexer import index_books
from nlb_retriever.reading.text import book_from_text
from tests.cli.conftest import COMET, LAMP, InProcess

LINK = "https://example.org/comet"


@pytest.fixture
def library(tmp_path: Path) -> Path:
    books = [book_from_text(LAMP, source="lamp", metadata={"shelf": "A"}), book_from_text(COMET, source=LINK)]
    index_books(books, tmp_path / "library")
    return tmp_path / "library"


def test_they_are_listed_shown_searched_and_removed(nlb: InProcess, library: Path) -> None:
    def listed() -> set[str]:
        return {book["source"] for book in json.loads(nlb("books", "--json", "--library", library).out)}

    assert listed() == {"lamp", LINK}
    assert nlb("show", LINK, "--text", "--library", library).out == COMET
    assert "PART TWO" in nlb("show", "lamp", "--library", library).out
    hits = json.loads(nlb("search", "eleven sailors", "--book", "lamp", "--json", "--library", library).out)["hits"]
    assert {(hit["source"], LAMP[hit["start"] : hit["end"]]) for hit in hits} == {("lamp", hit["text"]) for hit in hits}
    assert nlb("remove", LINK, "--yes", "--library", library).code == 0
    assert listed() == {"lamp"}


def test_pruning_and_rebuilding_keep_them(nlb: InProcess, library: Path, books: Path) -> None:
    assert nlb("index", books / "orchard.md", "--library", library).code == 0
    ran = nlb("index", books, "--prune", "--library", library)
    assert (ran.code, "removed" in ran.out) == (0, False)
    plan = nlb("index", "--rebuild", "--dry-run", "--library", library)
    assert "index   lamp" in plan.out and f"index   {LINK}" in plan.out
    ran = nlb("index", "--rebuild", "--chunk-tokens", "64", "--library", library)
    assert (ran.code, "Indexed 5 books" in ran.out) == (0, True)
    assert nlb("show", LINK, "--text", "--library", library).out == COMET
