"""What a page shows: its blocks of code."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def read_page(name: str) -> str:
    """The text of README.md or of a page of docs/."""
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    """The blocks of one language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def commands(page: str, program: str = "nlb") -> list[list[str]]:
    """The arguments of all lines of sh blocks that call a program."""
    text = "".join(blocks(page, "sh")).replace("\\\n", " ")
    lines = [shlex.split(line, comments=True) for line in text.splitlines()]
    return [words[1:] for words in lines if words[:1] == [program]]
