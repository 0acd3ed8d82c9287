"""A user's folder with books, as the pages of commands and of Python have it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import nlb

__all__ = ["nlb"]

NUMERALS = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")


def write_book(file: Path, title: str, author: str, sentence: str) -> None:
    chapters = (f"CHAPTER {number}\n\n{f'{sentence} ' * 12}" for number in NUMERALS)
    file.write_text(f"{title}\n\nby {author}\n\n" + "\n\n".join(chapters), encoding="utf-8")


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: two books in ./books, and questions."""
    folder = tmp_path / "user"
    (folder / "books").mkdir(parents=True)
    creature = "The creature speaks of a duel at dawn, and of the storm at sea."
    whale = "Ahab is hunting the white whale, for it took his leg, and the keeper turns the lamp."
    write_book(folder / "books" / "frankenstein.txt", "Frankenstein", "Mary Shelley", creature)
    write_book(folder / "books" / "moby-dick.txt", "Moby Dick", "Herman Melville", whale)
    (folder / "my-questions.jsonl").write_text('{"query": "Who is hunting?", "file": "moby-dick.txt"}\n')
    monkeypatch.chdir(folder)
    return folder
