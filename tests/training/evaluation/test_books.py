"""The books of an evaluation, from archives."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_training.evaluation import books
from nlb_training.evaluation.books import NOVELS, NOVELS_ARCHIVES, archives_of, open_collection, open_folder
from tests.training.evaluation.test_run import pack


def test_novels_are_the_dev_books_and_a_fixed_choice_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "corpus").mkdir()
    for name in NOVELS_ARCHIVES:
        texts = {f"{name}-{book}.txt": f"Book {book} of {name}." for book in range(5)}
        pack(tmp_path / "corpus" / f"{name}.tar.bz2", texts)
    monkeypatch.setattr(books, "NOVELS_COUNT", 12)
    first, again = (open_collection(tmp_path, NOVELS, tmp_path / cache) for cache in ("one", "other"))
    assert archives_of(NOVELS) == NOVELS_ARCHIVES
    assert len(first.paths) == 12
    assert sum(name.startswith("dev") for name in first.files) == 5
    assert {*first.files} == {*again.files}
    assert first.text("dev-3.txt") == "Book 3 of dev."
    assert len(open_collection(tmp_path, "dev", tmp_path / "one").paths) == 5


def test_a_name_that_two_books_have_needs_more_of_its_path(tmp_path: Path) -> None:
    for name, text in {
        "x/a/book.txt": "One.",
        "x/b/book.txt": "Two.",
        "b/lamp.txt": "Three.",
        "lamp.txt": "Four.",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    folder = open_folder(tmp_path)
    assert folder.texts(["book.txt", "b/book.txt", "x/a/book.txt", "b/lamp.txt", "lamp.txt"]) == {
        "b/book.txt": "Two.",
        "x/a/book.txt": "One.",
        "b/lamp.txt": "Three.",
        "lamp.txt": "Four.",
    }
    assert folder.unusable == {"book.txt": f"2 books in {tmp_path} are called book.txt: write more of the path"}
    assert folder.text(str(tmp_path / "x/b/book.txt")) == "Two."  # as a hit's source has it
    assert len(folder.paths) == 4
    (tmp_path / "x/b/book.txt").write_text("One.")  # a copy
    assert open_folder(tmp_path).text("book.txt") == "One."
