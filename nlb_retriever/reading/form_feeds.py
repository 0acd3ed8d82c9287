"""Plain text with a form feed after each page, as RFCs and pdftotext have it: one text without running heads."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nlb_retriever.reading.omissions import Omissions
from nlb_retriever.reading.running_heads import without_running_heads

LEAST_PAGES = 3
_FULL, _LINES = 0.7, 40
"""A line so long, of the longest of so many above, is full: a paragraph goes on below unless it ends a sentence."""
_HYPHENATED = re.compile(r"\w-$")
_ENDS = frozenset(".!?:;\"'”’»)")


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
    kept = without_running_heads(full, [""] * len(pages), omissions)
    bodies = [_cut(page, lines, own) for page, lines, own in zip(pages, full, kept, strict=True)]
    joined: list[str] = []
    for body in filter(None, bodies):
        if joined and not _goes_on(joined, body):
            joined.append("")
        joined += body
    return "\n".join(joined) + "\n"


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
