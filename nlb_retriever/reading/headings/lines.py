"""The lines of a plain text, and which of them stand alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

_LINE = re.compile(r"[^\s][^\n]*")
_ILLUSTRATION = re.compile(r"^[^\S\n]*\[Illustration\b[^\]]{0,600}\]", re.MULTILINE)
_PARAGRAPH, _BLANK = 150, 0.1
"""Characters of a line on average, and share of lines with a blank one before: a paragraph is a line."""


def line_spans(text: str) -> list[tuple[int, int]]:
    """The spans of the lines that are not blank, without what is printed below illustrations."""
    pictures = [match.span() for match in _ILLUSTRATION.finditer(text)] if "[Illustration" in text else []
    lines = []
    picture = 0
    for match in _LINE.finditer(text):
        while picture < len(pictures) and pictures[picture][1] <= match.start():
            picture += 1
        if picture == len(pictures) or match.start() < pictures[picture][0]:
            lines.append((match.start(), match.end()))
    return lines


def stand_alone(text: str, spans: Sequence[tuple[int, int]]) -> list[bool]:
    """Whether each line stands as after a blank line, and at last whether the text's end may count as one.

    Of a text whose paragraphs are lines without blank ones between, as word processors export it, all do.
    """
    between = [text.count("\n", before[1], after[0]) > 1 for before, after in pairwise(spans)]
    if len(text) > _PARAGRAPH * len(spans) and sum(between) < _BLANK * len(spans):
        return [True] * (len(spans) + 1)
    return [True, *between, True]
