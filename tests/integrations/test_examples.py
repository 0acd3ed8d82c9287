"""The examples run as they are, and say what they should."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs an example as a command would, and returns what it printed."""

    def run(name: str, *arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        return capsys.readouterr().out

    return run


def test_a_rag_application_of_20_lines_answers_from_a_folder_of_books(library: Path, run: Callable[..., str]) -> None:
    said = run("rag_in_20_lines.py", str(library.parent / "books"), "What broke in the November storm?")
    assert "In the books' own words: The storm of that November broke the clock." in said
    assert "[1] The Lighthouse Keeper, CHAPTER II. The Storm" in said


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Which book is about bread and flour?", "book: A Book of Country Bread, whole book"),
        ("In which chapter does the frost take the buds?", "section: The Walled Garden, CHAPTER II. Frost"),
        ("Who took the lamp when Tobias died?", "passage: The Lighthouse Keeper, CHAPTER III. The Niece"),
    ],
)
def test_a_router_takes_each_question_to_its_level(
    question: str, first: str, library: Path, run: Callable[..., str]
) -> None:
    assert run("router.py", str(library), question).splitlines()[0] == first
