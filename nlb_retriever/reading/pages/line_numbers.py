"""Numbers of lines, as transcripts of hearings and poems have them: no words of the sentences there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from nlb_retriever.reading.omissions import Omissions

_NUMBERED = re.compile(r"\s*(\d{1,2})(?:\s+(?P<rest>\S.*)|\s*)")
_LEAST_LINES, _LEAST_PAGES = 10, 3
"""Numbered lines of a page, and such pages of a text."""
_MOST_OTHERS = 0.2
"""Share of the lines from the first number to the last that have none."""
_LEAST_SHARE = 0.6
"""Of the pages with so many lines that are numbered from 1."""
_OF_VERSE = re.compile(
    r"[^\S\n]*(?P<before>\d{1,5})[^\S\n]{2,}(?=\S)|[^\n]*\S(?P<gap>[^\S\n]{3,})(?P<behind>\d{1,5})[^\S\n]*$"
)
_LONGEST_VERSE = 200
_LEAST_VERSES, _LEAST_STEP = 4, 4
"""Pairs of numbers that are as far apart as their lines, and lines from one to the next."""


def without_verse_numbers(text: str, omissions: Omissions) -> str:
    """A text without the numbers at the ends or before every fifth or tenth of its lines.

    Two that follow each other differ by the number of lines from one to the other, blank ones not counted.
    """
    lines = text.split("\n")
    numbered: list[tuple[int, int, re.Match[str]]] = []
    """How many lines stand before, place of the line, and its number."""
    count = 0
    for place, line in enumerate(lines):
        if len(line) <= _LONGEST_VERSE and (match := _OF_VERSE.match(line)):
            numbered.append((count, place, match))
        count += bool(line.strip())
    real: dict[int, re.Match[str]] = {}
    pairs = 0
    for (above, first, one), (below, second, other) in pairwise(numbered):
        if _LEAST_STEP <= below - above == _number(other) - _number(one):
            real |= {first: one, second: other}
            pairs += 1
    if pairs < max(_LEAST_VERSES, _LEAST_SHARE * (len(numbered) - 1)):
        return text
    for place, match in real.items():
        line = lines[place]
        lines[place] = line[: match.start("gap")] if match["behind"] else " " * match.end() + line[match.end() :]
    omissions.skip_element("line number", len(real), times=len(real))
    return "\n".join(lines)


def _number(match: re.Match[str]) -> int:
    return int(match["before"] or match["behind"])


def find_line_numbers(pages: Sequence[Sequence[str]], omissions: Omissions) -> list[dict[str, str]]:
    """The numbered lines of each page, as they are and without their numbers; none where pages are not numbered so.

    On most pages most lines have one, and they count from 1 on each.

    Args:
        pages: their lines without blank ones.
        omissions: where what is skipped is noted.
    """
    found = [_read(page) for page in pages]
    long = [bare for page, bare in zip(pages, found, strict=True) if len(page) >= _LEAST_LINES]
    numbered = sum(len(bare) >= _LEAST_LINES for bare in long)
    if numbered < max(_LEAST_PAGES, _LEAST_SHARE * len(long)):
        return [{} for _ in pages]
    count = sum(map(len, found))
    omissions.skip_element("line number", count, times=count)
    return found


def _read(page: Sequence[str]) -> dict[str, str]:
    """The lines of a page that are numbered from 1 on, without their numbers; none where many between have none."""
    bare: dict[str, str] = {}
    first = last = 0
    for i, line in enumerate(page):
        match = _NUMBERED.fullmatch(line)
        if match and int(match[1]) == len(bare) + 1:
            first, last = i if not bare else first, i
            bare[line] = match["rest"] or ""
    return bare if len(bare) >= (1 - _MOST_OTHERS) * (last + 1 - first) else {}
