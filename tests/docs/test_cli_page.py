"""What docs/cli.md shows works as shown."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import InProcess
from tests.docs.pages import ROOT, commands, read_page

PAGE = read_page("docs/cli.md")


@pytest.mark.usefixtures("user")
def test_every_command_runs(nlb: InProcess) -> None:
    names = set()
    for arguments in commands(PAGE):
        names.add(arguments[0])
        ran = nlb(*arguments, *(["--yes"] if arguments[0] == "remove" else []))
        assert ran.code == 0, (arguments, ran.out, ran.err)
        if arguments[0] == "ask":
            assert "[1] Moby Dick" in ran.out, ran.out
    assert names == {"index", "ask", "search", "books", "show", "info", "doctor", "remove"}


def test_the_keys_of_json_are_those_of_the_table(user: Path, nlb: InProcess) -> None:
    assert keys("index") == set(output(nlb, "index", "books"))
    found = output(nlb, "search", "the white whale")
    assert keys("search") == set(found)
    assert keys("a hit") == set(found["hits"][0])
    answer = output(nlb, "ask", "Who is hunting the white whale?")
    assert keys("ask") - {"quote", "quote_start", "quote_end"} == set(answer)
    assert keys("a hit") | {"quote", "quote_start", "quote_end"} == set(answer["citations"][0])
    [book, *_] = output(nlb, "books")
    assert keys("books") == set(book)
    shown = output(nlb, "show", book["book_id"], "--text")
    parts = {"number", "section", "section_id", "start", "end", "page"}
    assert keys("show") - parts == {"books", "sections", "text"}
    assert set(shown) == keys("books") | {"text"}
    assert parts == set(shown["sections"][0])
    assert keys("show --section") == set(output(nlb, "show", book["book_id"], "--section", "1"))
    assert keys("info") == set(output(nlb, "info"))
    assert keys("doctor") == set(output(nlb, "doctor"))


def keys(row: str) -> set[str]:
    """The names in the second column of a row of the table of JSON."""
    (cell,) = re.findall(rf"^\| `?{row}`? \| (.*) \|$", PAGE, re.MULTILINE)
    return set(re.findall("`(.*?)`", re.sub(r"\(.*?\)", "", cell)))


def output(nlb: InProcess, *arguments: str) -> Any:
    ran = nlb(*arguments, "--json")
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


def test_the_extras_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    table = PAGE.partition("## Extras")[2].partition("##")[0]
    named = {name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall("`(.*?)`", row)}
    assert named == set(project["optional-dependencies"]) - {"dev"}
