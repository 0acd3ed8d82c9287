"""Three small books, a library of them, and the command line: in this process, in its own, on a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

ROOT = Path(__file__).resolve().parents[2]
RUN = "from nlb_cli.app import main; main()"

LAMP = """THE LAMP OF SKERRY

by Anna Morrow

PART ONE

CHAPTER I. The Keeper

Old Tomas Reed had kept the lamp of Skerry for thirty years. Every evening he climbed the ninety steps with a can of
oil, and every morning he came down again and wrote the weather into a blue book.

He hated the storm of November more than any other, because it had drowned his brother Elias. Nobody in the village
spoke of Elias when the keeper was near.

CHAPTER II. The Letter

One day a letter came with the herring boat. It said that the lamp would be put out for ever in spring, and that a
machine on the mainland would do the keeper's work.

Tomas read it twice, folded it, and used it to light the stove.

PART TWO

CHAPTER III. The Wreck

The schooner Marigold struck the reef at midnight. Tomas rowed out alone and brought eleven sailors home in a boat
that was made for four.

CHAPTER IV. Spring

In spring nobody came to put out the lamp. The sailors of the Marigold had written to the Queen.
"""

ORCHARD = """---
title: Orchard Letters
author: Paul Linden
language: en
year: 1931
---

# First Letter

Dear sister, the plum trees froze in April, and father says that we shall have to sell the grey mare. She looks at me
as if she knew.

# Second Letter

Dear sister, the mare is sold to a miller in Dorn. I ran after the cart until the bridge. Father did not say a word at
supper, and gave his bread to the dog.

# Third Letter

Dear sister, the mare came home by herself, with the miller's rope around her neck. Father paid the money back, and
now we eat potatoes and are happy.
"""

COMET = """A NIGHT AT THE OBSERVATORY

by Anna Morrow

CHAPTER I

Doctor Sabine Hall discovered the comet on the ninth of March, while her assistant slept under the great telescope.
She drew it into the margin of a newspaper, for there was no other paper.

CHAPTER II

The academy did not believe her. A comet, they wrote, is not found by a woman with a cold. It was named after her
assistant, who had slept.
"""


@dataclass(frozen=True)
class Ran:
    """What a run of `nlb` came to."""

    code: int
    out: str
    err: str


InProcess = Callable[..., Ran]
Started = Callable[..., subprocess.CompletedProcess[bytes]]
OnTerminal = Callable[..., Ran]


def write_books(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("lamp.txt", LAMP), ("orchard.md", ORCHARD), ("comet.txt", COMET)):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def books(tmp_path: Path) -> Path:
    """A folder with the three books, for tests that change it."""
    return write_books(tmp_path / "books")


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of the three books, for tests that only read it."""
    from nlb_retriever import index_files

    folder = tmp_path_factory.mktemp("shelf")
    report = index_files([write_books(folder / "books")], folder / "library")
    assert len(report.indexed) == 3
    return folder / "library"


@pytest.fixture
def nlb(monkeypatch: pytest.MonkeyPatch) -> InProcess:
    """Run `nlb` in this process."""
    from nlb_cli.app import app

    monkeypatch.setenv("COLUMNS", "80")
    runner = CliRunner()

    def run(*args: str | Path, stdin: str | bytes | None = None) -> Ran:
        result = runner.invoke(app, [str(arg) for arg in args], input=stdin, prog_name="nlb")
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ran(result.exit_code, result.stdout, result.stderr)

    return run


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    paths = [str(ROOT / folder) for folder in (".", "cli", "training", "integrations")]  # as pytest has them
    kept = {key: value for key, value in os.environ.items() if key not in {"COLUMNS", "NO_COLOR", "TERM"}}
    return {**kept, "PYTHONPATH": os.pathsep.join(paths), "TERM": "xterm-256color", **(extra or {})}


@pytest.fixture
def nlb_process() -> Started:
    """Run `nlb` in a process of its own, on pipes."""

    def run(
        *args: str | bytes | Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: bytes = b"",
        stdout: int = subprocess.PIPE,
    ) -> subprocess.CompletedProcess[bytes]:
        command: list[str | bytes | Path] = [sys.executable, "-c", RUN, *args]
        return subprocess.run(
            command,
            env=environment(env),
            cwd=cwd,
            input=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture
def nlb_terminal() -> OnTerminal:
    """Run `nlb` on a terminal of its own; `out` is all that reached its screen."""

    def run(*args: str | Path, env: Mapping[str, str] | None = None, typed: str = "", columns: int = 80) -> Ran:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        process = subprocess.Popen(
            [sys.executable, "-c", RUN, *map(str, args)],
            env=environment(env),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        os.write(ours, typed.encode())
        screen = bytearray()
        try:
            while piece := os.read(ours, 65536):
                screen += piece
        except OSError:  # Linux says so when the other side has closed
            pass
        os.close(ours)
        code = process.wait(timeout=60)
        return Ran(code, screen.decode().replace("\r\n", "\n"), "")

    return run
