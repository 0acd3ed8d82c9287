"""Plain text with a form feed after each page, as RFCs and pdftotext have it: one text without running heads.

The Internet Archive's texts of scans have blank lines there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from nlb_retriever.reading.omissions import Omissions
from nlb_retriever.reading.pages.line_numbers import find_line_numbers
from nlb_retriever.reading.pages.page_numbers import PageNumbers
from nlb_retriever.reading.pages.running_heads import without_running_heads

LEAST_PAGES = 3
_FULL, _LINES = 0.7, 40
"""A line so long, of the longest of so many above, is full: a paragraph goes on below unless it ends a sentence."""
_HYPHENATED = re.compile(r"\w-$")
_GAP = re.compile(r"\n(?:[^\S\n]*\n){2,}")
_NUMBERED = re.compile(r"[^\S\n]*(?:(\d{1,3})(?:\s[^\n]{,60})?|[^\W\d_][^\n]{,60}\s(\d{1,3}))[^\S\n]*(?:\n|\Z)")
"""A line that begins or ends with a page's number."""
_LEAST_GAPS, _LEAST_SHARE = 20, 0.5
"""Gaps at numbered lines: so many, and this share of all, are the ends of pages where sentences go on over many."""
_LEAST_GOING_ON, _FEW = 0.25, 200
_ENDS = frozenset(".!?:;\"'”’»“«)")


def with_form_feeds(text: str) -> str:
    """A text with form feeds for its gaps of two or more blank lines, where these are the ends of pages.

    There most have a line with a number behind or before them, the numbers ascend, and sentences go on.

    Args:
        text: with line ends "\\n".
    """
    gaps = [*_GAP.finditer(text)]
    numbers: list[int] = []
    going_on = 0
    for gap in gaps:
        above = text.rfind("\n", 0, gap.start()) + 1
        behind, before = _NUMBERED.match(text, gap.end()), _NUMBERED.match(text, above)
        if match := behind or before:
            numbers.append(int(match[1] or match[2]))
            going_on += text[match.end() if behind else gap.end() :][:_FEW].lstrip()[:1].islower()
    ascending = sum(0 < below - above <= _LEAST_GAPS for above, below in pairwise(numbers))
    are_pages = len(numbers) >= max(_LEAST_GAPS, _LEAST_SHARE * len(gaps))
    are_pages = are_pages and ascending >= _LEAST_SHARE * len(numbers) and going_on >= _LEAST_GOING_ON * len(numbers)
    return _GAP.sub("\f", text) if are_pages else text


def join_pages(text: str, omissions: Omissions) -> str:
    """A text without its form feeds, and without the lines that repeat at the edges of its pages, and page numbers.

    A paragraph goes on over the end of a page; else a blank line stands there.

    Args:
        text: with line ends "\\n".
        omissions: where what is skipped is noted.
    """
    pages = [page.split("\n") for page in text.split("\f")]
    if len(pages) < LEAST_PAGES:
        return text.replace("\f", "\n\n")
    full = [[" ".join(line.split()) for line in page if line.strip()] for page in pages]
    bare = find_line_numbers(full, omissions)
    pages = [[_bare(line, of) for line in page] for page, of in zip(pages, bare, strict=True)]
    full = [[" ".join(line.split()) for line in page if line.strip()] for page in pages]
    kept = without_running_heads(full, PageNumbers(full, [""] * len(pages)), omissions, bare)
    bodies = [_cut(page, lines, own) for page, lines, own in zip(pages, full, kept, strict=True)]
    joined: list[str] = []
    for body in filter(None, bodies):
        if joined and not _goes_on(joined, body):
            joined.append("")
        joined += body
    return "\n".join(joined) + "\n"


def _bare(line: str, numbered: Mapping[str, str]) -> str:
    """A line without its number, where it is one of the numbered lines of its page; with its own indent otherwise."""
    return numbered.get(" ".join(line.split()), line)


def _cut(page: Sequence[str], lines: Sequence[str], kept: Sequence[str]) -> list[str]:
    """A page's lines from the first to the last that are kept, blank ones between them included.

    Args:
        page: all its lines.
        lines: those that are not blank, with single spaces.
        kept: of these all but some at the beginning and end.
    """
    if not kept:
        return []
    top = next(at for at in range(len(lines)) if [*lines[at : at + len(kept)]] == [*kept])
    places = [index for index, line in enumerate(page) if line.strip()]
    return [*page[places[top] : places[top + len(kept) - 1] + 1]]


def _goes_on(above: Sequence[str], below: Sequence[str]) -> bool:
    """Whether a paragraph goes on from one page to the next."""
    last, first = above[-1].rstrip(), below[0].strip()
    if last[-1:] in _ENDS or not first[:1].isalpha():
        return False
    if first[0].islower() or _HYPHENATED.search(last):
        return True
    full = _FULL * max(len(line) for line in above[-_LINES:])
    return len(last) >= full and not last[-1].isdigit() and len(below[0].rstrip()) >= full
