"""Nothing of a book steers a terminal, breaks JSON or gets lost on a pipe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nlb_cli.output.terminal import block, exact, inline, to_json
from tests.cli.conftest import RUN, InProcess, OnTerminal, environment

EVIL = "\x1b]0;gone\x07\x1b[31mred\x9b2J \x00 [bold]not bold[/bold] :smile: \u202eback \ud800 100%"
STORY = """---
title: "[red]Evil\u202e[/red] \x1b[31mTale"
author: "A. [bold]Uthor\x9b2J"
---

# Chapter [link=x]One[/link]

The \x1b]0;gone\x07 wizard wrote [blink]words[/blink] of power\x9b2J and \u202eturned them round.

# Chapter Two

Nothing more was heard of him.
"""


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with a book that tries to steer the terminal."""
    from nlb_retriever import index_files

    folder = tmp_path_factory.mktemp("evil")
    (folder / "evil.md").write_text(STORY, encoding="utf-8")
    assert index_files([folder / "evil.md"], folder / "library").indexed
    return folder / "library"


def test_text_of_any_origin_is_made_safe_and_keeps_its_length() -> None:
    safe = block(EVIL)
    assert len(safe) == len(EVIL)
    assert safe.isprintable()
    assert "[bold]not bold[/bold]" in safe
    assert block("a\n\tb\r\n") == "a\n\tb \n"
    assert inline(" a\n\tb\u2028c ") == "a b c"
    assert exact("/a  b\n\x1b.txt") == "/a  b\ufffd\ufffd.txt"


def test_json_gives_back_every_character_and_writes_none_that_steers() -> None:
    value = {"text": EVIL, "book": "Ünïcødé 書"}
    written = to_json(value)
    assert json.loads(written) == value
    assert "Ünïcødé 書" in written
    assert written.encode("utf-8")
    assert not set("\x1b\x9b\x07\x00\u202e") & set(written)
    assert len(to_json({"text": "a\u2028b\x85c"}, indent=None).splitlines()) == 1


@pytest.mark.parametrize(
    "args",
    [
        ("books",),
        ("show", "evil"),
        ("show", "evil", "--section", "1"),
        ("show", "evil", "--text"),
        ("ask", "Who wrote words of power?"),
        ("search", "wizard words", "--json"),
    ],
)
def test_a_book_cannot_steer_the_terminal(nlb_terminal: OnTerminal, evil: Path, args: tuple[str, ...]) -> None:
    import re

    ran = nlb_terminal(*args, "--library", evil, columns=120)
    assert ran.code == 0
    unstyled = re.sub(r"\x1b\[(0|1|2|3[0-7]|1;3[0-7])m", "", ran.out)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", unstyled)
    if "--json" not in args:
        assert re.search(r"\[(red|blink|link=x)\]", unstyled)


def test_no_colour_leaves_no_escapes_at_all(nlb_terminal: OnTerminal, shelf: Path) -> None:
    for args in (("show", "lamp"), ("ask", "Who slept?")):
        ran = nlb_terminal(*args, "--library", shelf, env={"NO_COLOR": "1"})
        assert ran.code == 0
        assert "\x1b" not in ran.out
        assert not set("─━├└") & set(ran.out)


@pytest.mark.parametrize(
    "arguments", [("show", "lamp", "--text"), ("books",), ("--version",), ("--help",), ("index", "--help")]
)
def test_a_reader_that_leaves_early_hears_no_complaint(shelf: Path, arguments: tuple[str, ...]) -> None:
    command = [sys.executable, "-c", RUN, *arguments]
    reading, writing = os.pipe()
    os.close(reading)
    env = environment({"NLB_LIBRARY": str(shelf)})
    done = subprocess.run(command, env=env, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_full_disk_under_the_output_is_one_line(shelf: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        for arguments in (["books", "--library", str(shelf)], ["--version"], ["--help"], ["index", "--help"]):
            command = [sys.executable, "-c", RUN, *arguments]
            done = subprocess.run(command, env=environment(), stdout=full, stderr=subprocess.PIPE, check=False)
            assert done.returncode == 2
            assert done.stderr == b"nlb: the output cannot be written: No space left on device\n"


def test_an_output_in_latin_1_loses_letters_not_the_run(shelf: Path) -> None:
    env = environment({"PYTHONIOENCODING": "latin-1"})
    command = [sys.executable, "-c", RUN, "search", "comet", "--library", str(shelf)]
    plain = subprocess.run(command, env=env, capture_output=True, check=False)
    assert plain.returncode == 0, plain.stderr
    assert b"PART ONE ? CHAPTER" in plain.stdout
    told = subprocess.run([*command, "--json"], env=env, capture_output=True, check=True)
    assert json.loads(told.stdout.decode("ascii"))["hits"]


def test_an_unexpected_error_keeps_its_traceback(nlb: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("nlb_cli.commands.health.locate_library", broken)
    with pytest.raises(ZeroDivisionError):
        nlb("info")
