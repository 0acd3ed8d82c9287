"""A work whose chapters are a file each, on the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from nlb_retriever import index_files
from tests.cli.conftest import InProcess, OnTerminal

CHAPTERS = ("The keeper lit the lamp.", "A storm put it out.", "He rowed out alone.", "In spring the ships came home.")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shelf")
    (folder / "Sea Lamp").mkdir()
    for number, text in enumerate(CHAPTERS, 1):
        path = folder / "Sea Lamp" / f"Chapter {number}.md"
        path.write_text(f"# Chapter {number}\n\n{text}\n", encoding="utf-8")
    index_files(folder / "Sea Lamp", folder / "library")
    return folder / "library"


def test_a_work_is_one_row_of_books(nlb: InProcess, library: Path) -> None:
    _, row = nlb("books", "--library", library).out.splitlines()
    assert re.fullmatch(r"4 files +Sea Lamp +4 +\d+", row)
    assert len(json.loads(nlb("books", "--json", "--library", library).out)) == 4


@pytest.mark.parametrize("width", [30, 50, 90])
def test_a_terminal_shows_how_many_files_a_work_has(nlb_terminal: OnTerminal, library: Path, width: int) -> None:
    assert "4 files" in nlb_terminal("books", "--library", library, columns=width).out


def test_a_work_is_shown_by_its_name(nlb: InProcess, library: Path) -> None:
    shown = nlb("show", "Sea Lamp", "--library", library).out
    assert "4 files" in shown
    assert shown.splitlines()[-4:] == [f"{number}  Chapter {number}" for number in range(1, 5)]
    assert CHAPTERS[2] in nlb("show", "sea-lamp", "--section", 3, "--library", library).out


def test_sections_of_a_work_are_spans_of_its_text(nlb: InProcess, library: Path) -> None:
    tree = json.loads(nlb("show", "Sea Lamp", "--text", "--json", "--library", library).out)
    assert tree["text"] == nlb("show", "Sea Lamp", "--text", "--library", library).out
    for section, text in zip(tree["sections"], CHAPTERS, strict=True):
        assert text in tree["text"][section["start"] : section["end"]]
    assert tree["sections"][-1]["end"] == len(tree["text"])


@pytest.mark.parametrize("command", ["ask", "search"])
def test_hits_name_the_work(nlb: InProcess, library: Path, command: str) -> None:
    out = nlb(command, "Who rowed out alone?", "--book", "Sea Lamp", "--library", library).out
    assert "Sea Lamp › Chapter " in out


def test_all_chapters_of_a_work_are_removed(nlb: InProcess, library: Path) -> None:
    ran = nlb("remove", "Sea Lamp", "--yes", "--library", library)
    assert len(re.findall(r"Removed Chapter \d", ran.out)) == 4
    assert "No books yet" in nlb("books", "--library", library).out
