"""Numbers before the lines of pages, as transcripts of hearings have them: no words of the sentences there."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nlb_retriever.reading.omissions import Omissions

_NUMBERED = re.compile(r"\s*(\d{1,2})(?:\s+(?P<rest>\S.*)|\s*)")
_LEAST_LINES, _LEAST_PAGES = 10, 3
"""Numbered lines of a page, and such pages of a text."""
_MOST_OTHERS = 0.2
"""Share of the lines from the first number to the last that have none."""
_LEAST_SHARE = 0.6
"""Of the pages with so many lines that are numbered from 1."""


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
