"""`nlb --help` is quick, and mistakes in a command are told plainly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import InProcess, environment

HEAVY = ("torch", "numpy", "openvino", "tokenizers", "qdrant_edge", "qdrant_client", "rich", "pydantic")


LOADED = """
import sys
names = sys.argv.pop().split(",")
from nlb_cli.app import main
try:
    main()
finally:
    print([name for name in names if name in sys.modules])
"""


def test_help_loads_nothing_heavy() -> None:
    command = [sys.executable, "-c", LOADED, "--help", ",".join(HEAVY)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Usage: nlb")
    assert done.stdout.splitlines()[-1] == "[]"


def test_help_names_every_command(nlb: InProcess) -> None:
    ran = nlb("--help")
    assert ran.code == 0
    assert "..." not in ran.out.split("Commands:\n")[1]  # each command's line fits 80 columns
    listed = [line.split()[0] for line in ran.out.split("Commands:\n")[1].splitlines() if line.strip()]
    assert listed == [
        "index",
        "ask",
        "chat",
        "search",
        "books",
        "show",
        "remove",
        "mcp",
        "train",
        "train-encoder",
        "train-reader",
        "eval",
        "info",
        "doctor",
    ]


@pytest.mark.parametrize("command", ["index", "ask", "search", "books", "show", "remove", "mcp", "info", "doctor"])
def test_every_command_takes_a_library_and_explains_itself(nlb: InProcess, command: str) -> None:
    ran = nlb(command, "--help")
    assert ran.code == 0
    assert "--library" in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80


def test_the_package_is_a_command_too(nlb: InProcess) -> None:
    command = [sys.executable, "-m", "nlb_cli", "--version"]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout == nlb("--version").out


def test_version_is_one_line(nlb: InProcess) -> None:
    ran = nlb("--version")
    assert ran.code == 0
    assert ran.out.startswith("nlb ")
    assert ran.out.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (("frobnicate",), "No such command 'frobnicate'"),
        (("index",), "name files or folders of books"),
        (("search",), "give a question, or a file of them with --queries"),
        (("search", "a question", "--queries", "file"), "give a question, or a file of them with --queries"),
        (("search", "a question", "--level", "page"), "'--level'"),
        (("search", "a question", "--limit", "0"), "'--limit'"),
        (("show",), "Missing argument"),
        (("books", "--colour"), "No such option: --colour"),
    ],
)
def test_a_wrong_command_exits_with_2_and_says_what_is_wrong(
    nlb: InProcess, args: tuple[str, ...], complaint: str
) -> None:
    ran = nlb(*args)
    assert (ran.code, ran.out) == (2, "")
    assert complaint in ran.err


@pytest.mark.parametrize("args", [("books",), ("ask", "Who?"), ("search", "Who?"), ("show", "x"), ("info",)])
def test_a_library_that_is_not_there_is_one_line(nlb: InProcess, args: tuple[str, ...]) -> None:
    ran = nlb(*args, "--library", "nowhere")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert ran.err.startswith("nlb: no library at ")
    assert "nlb index" in ran.err


def test_a_library_in_this_folder_is_pointed_at(
    nlb: InProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "novels").mkdir()
    (tmp_path / "novels" / "library.json").touch()
    ran = nlb("books", "--library", "novels")
    assert ran.code == 2
    assert ran.err.endswith(": there is one in this folder: ./novels\n")


def test_a_library_of_an_impossible_name_is_one_line(nlb: InProcess) -> None:
    ran = nlb("books", "--library", "my books!")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert "'my books!' is not a library's name" in ran.err
