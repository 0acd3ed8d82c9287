"""`nlb index` is killed at any time and run again: in the end the library is that of an unbroken run."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

from nlb_retriever.store import open_store
from tests.conftest import ROOT
from tests.faults.damages import answer_all, shelf
from tests.faults.tally import Broken, Tally


def kill_index(dice: random.Random, folder: Path, tally: Tally) -> None:
    """The command is killed up to three times, with and without --rebuild."""
    books, library = shelf().folder / "books", folder / "library"
    for _ in range(dice.randint(1, 3)):
        with _start(books, library, dice.choice(([], [], ["--rebuild"]))) as process:
            try:
                process.wait(dice.random() * 1.2)
            except subprocess.TimeoutExpired:
                has_begun = library.exists()  # before, Ctrl-C may reach Python itself
                process.send_signal(dice.choice((signal.SIGKILL, signal.SIGINT)) if has_begun else signal.SIGKILL)
                tally.faults += 1
            errors = _finish(process)
        if "Traceback" in errors:
            raise Broken("traceback", errors[-1500:])
    with _start(books, library, []) as process:
        errors = _finish(process)
    if process.returncode:
        raise Broken("wedged", f"exit code {process.returncode}: {errors[-1500:]}")
    with open_store(library) as store:
        answers, problems = answer_all(store), store.verify()
    if problems:
        raise Broken("wrong", f"{problems}")
    texts, right = sorted(answers["texts"].values()), sorted(shelf().answers["texts"].values())
    if texts != right:
        raise Broken("lost" if len(texts) < len(right) else "doubled", f"{len(texts)} books instead of {len(right)}")


def _finish(process: subprocess.Popen[str]) -> str:
    """Wait for its end; returns what it wrote to stderr."""
    try:
        return process.communicate()[1]
    finally:
        process.kill()


def _start(books: Path, library: Path, options: list[str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", "from nlb_cli.app import main; main()", "index", str(books), *options]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "cli")))}
    return subprocess.Popen(
        [*command, "--library", str(library)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
