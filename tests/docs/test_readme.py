"""What the README shows works as shown."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import InProcess, OnTerminal, nlb_terminal
from tests.docs.pages import ROOT, blocks, commands, read_page

__all__ = ["nlb_terminal"]

README = read_page("README.md")


def test_it_is_short() -> None:
    assert len(README.split()) <= 900


def test_the_installation_is_that_of_the_tests_of_the_wheel() -> None:
    """tests/install makes an environment in these steps."""
    assert blocks(README, "sh")[0].splitlines() == [
        "python3 -m venv .venv && . .venv/bin/activate",
        "pip install .",
    ]


@pytest.mark.usefixtures("user")
def test_every_command_runs(nlb: InProcess) -> None:
    for arguments in commands(README):
        ran = nlb(*arguments)
        assert ran.code == 0, (arguments, ran.out, ran.err)
        if arguments[0] == "ask":
            assert f"[1] {'Frankenstein' if 'Frankenstein' in arguments[1] else 'Moby Dick'}" in ran.out


def test_the_transcript_is_what_a_terminal_shows(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nlb_terminal: OnTerminal
) -> None:
    (tmp_path / "books").mkdir()
    shutil.copy(data_dir / "library" / "time-machine.txt", tmp_path / "books")
    monkeypatch.chdir(tmp_path)
    (transcript,) = blocks(README, "console")
    shown = re.findall(r"^\$ nlb (\w+)(.*)\n((?:(?!\$ ).*\n)+)", transcript, re.MULTILINE)
    assert len(shown) == transcript.count("$ nlb")
    for command, rest, expected in shown:
        ran = nlb_terminal(command, *shlex.split(rest), env={"NO_COLOR": "1"})
        assert steady(ran.out) == steady(expected), command


def steady(output: str) -> str:
    """An output without what differs from run to run: progress, times and the library's folder."""
    lines = (line.rstrip() for line in output.strip().splitlines())
    kept = [line for line in lines if not re.match(r"\[\d+/\d+\] ", line)]
    return re.sub(r"in \d.*? s|[\d,]+ a second|Library: .*", "", "\n".join(kept))


@pytest.mark.usefixtures("user")
@pytest.mark.parametrize("number", [0, 1])
def test_the_python_examples_run(number: int, nlb: InProcess, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(blocks(README, "python")) == 2
    assert nlb("index", "books").code == 0
    exec(compile(blocks(README, "python")[number], "README.md", "exec"), {})
    assert "Ahab is hunting the white whale" in capsys.readouterr().out


def test_make_has_the_targets_that_it_names() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make (\w+)", README):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
