"""Printed tables of contents and indexes: lines that end with the numbers of pages, skipped and named.

A passage of such lines has the words of every question and answers none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from nlb_retriever.errors import counted
from nlb_retriever.reading.headings.number_words import roman
from nlb_retriever.reading.omissions import Omissions, count_words

_PAGE = r"(?:[A-Z]+-)?(?:\d{1,4}|[ivxl]{1,7})"
_ENTRY = re.compile(
    rf"(?P<title>.*?)(?P<leader>[ ]*(?P<dots>(?:[.·…_][ ]*){{4,}}|(?:[ ]\.){{2,}}[ ])|(?<=\w),?[ ]+|,[ ]+)"
    rf"(?P<page>{_PAGE})(?:(?:,[ ]*|[-–]){_PAGE})*\.?"
)
_MAYBE = re.compile(r"(?:\d|\b[ivxl]{1,7})\.?$")
_LONGEST = 400
"""Characters of an entry."""
_LEADERS = re.compile(r"(?<![.·…])(?:[.·…] ?){5,}$")
"""Of an entry whose page is on the next line, or not in the file."""
_CONTENTS = re.compile(
    r"(?:(?:table of |brief |detailed )?contents|list of (?:figures|tables|illustrations|plates|maps|examples)"
    r"|inhalt(?:sverzeichnis)?|table des matières|sommaire|índice|indice)(?: \(cont.{0,10}\))?\W*",
    re.IGNORECASE,
)
_INDEX = re.compile(
    r"(?:appendix \w+\W+|\w\.\d+\W+)?(?:(?:[\w-]+ ){0,4}index(?:es)?|index of .{1,40})\W*", re.IGNORECASE
)
_LEAST, _LEAST_UNTITLED = 4, 8
"""Entries that make a listing, and where neither "Contents" stands above nor a listing on the page before."""
_LETTERS = 3
"""First letters that an index has at least."""
_BETWEEN = 3
"""Lines between two entries: a title that goes on, a letter of the alphabet."""
_MOSTLY = 0.6
"""Share of a page's lines from which on those between its listings go, too."""
_ORDERED = 0.85
"""Share of neighbours that must ascend, by page or by alphabet."""
_NO_PAGE = -10_000
"""Page of an entry that has none on its line."""


@dataclass(frozen=True)
class _Entry:
    line: int
    title: str
    page: int
    dotted: bool


def without_listings(pages: Sequence[list[str]], omissions: Omissions) -> list[list[str]]:
    """Skip the lines of tables of contents and indexes.

    Entries stand close together, ascend by page or by alphabet, and most have dots before the page, or stand below
    "Contents" or "Index" or go on from the page before.

    Args:
        pages: their lines.
        omissions: where what is skipped is noted.
    """
    kept_pages: list[list[str]] = []
    goes_on = False
    words = listed = 0
    last_page = 0
    for lines in pages:
        gone: set[int] = set()
        for run in _runs(lines, len(pages)):
            first, last = run[0].line, run[-1].line
            many = len(run) >= _LEAST_UNTITLED or run[0].dotted  # "Consumer price index: food 3, housing 5"
            above = range(first - 1, max(first - 4, -1), -1)
            titled = next(
                (i for i in above if _CONTENTS.fullmatch(lines[i]) or (many and _INDEX.fullmatch(lines[i]))), None
            )
            follows = goes_on and first <= _BETWEEN and (run[0].dotted or run[0].page >= last_page)
            if not _is_listing(run, last - first + 1, titled=titled is not None, follows=follows):
                continue
            begin = first - 1 if first and (lines[first][0].islower() or (follows and first == 1)) else first
            gone.update(range(begin if titled is None else titled, last + 1))
            last_page = run[-1].page
        if gone and len(gone) >= _MOSTLY * len(lines):
            gone.update(range(min(gone), max(gone) + 1))
        goes_on = len(lines) - 1 - max(gone, default=-9) <= _BETWEEN
        words += sum(count_words(lines[i]) for i in gone)
        listed += bool(gone)
        kept_pages.append([line for i, line in enumerate(lines) if i not in gone])
    if not any(kept_pages):
        return [list(lines) for lines in pages]
    if listed:
        omissions.skip(f"contents or index on {counted(listed, 'page')}", words)
    return kept_pages


def _runs(lines: Sequence[str], count: int) -> list[list[_Entry]]:
    """The entries of a page, those together that stand close to each other."""
    runs: list[list[_Entry]] = []
    for i, line in enumerate(lines):
        entry = _entry(i, line, count)
        if entry is None:
            continue
        if runs and i - runs[-1][-1].line <= _BETWEEN:
            runs[-1].append(entry)
        else:
            runs.append([entry])
    return runs


def _entry(i: int, line: str, count: int) -> _Entry | None:
    if len(line) < _LONGEST and _MAYBE.search(line) and (match := _ENTRY.fullmatch(line)):
        digits = match["page"].rpartition("-")[2]
        page = int(digits) if digits.isdigit() else roman(digits) - 1_000  # the front of a book comes first
        return _Entry(i, match["title"].casefold(), page, match["dots"] is not None) if page <= 2 * count else None
    if len(line) < _LONGEST and (match := _LEADERS.search(line.rstrip())):
        return _Entry(i, line[: match.start()].casefold(), _NO_PAGE, True)
    return None


def _is_listing(run: Sequence[_Entry], lines: int, *, titled: bool, follows: bool) -> bool:
    if len(run) < (_LEAST if titled or follows else _LEAST_UNTITLED) or 2 * len(run) < lines:
        return False
    numbered = [entry.page for entry in run if entry.page != _NO_PAGE]
    if 2 * len(numbered) < len(run) or (not (titled or follows) and 2 * sum(entry.dotted for entry in run) < len(run)):
        return False
    letters = [letter for entry in run if (letter := re.sub(r"[\W\d_]+", "", entry.title)[:1])]
    return _ascends(numbered) or ((follows or len({*letters}) >= _LETTERS) and _ascends(letters))


def _ascends(values: Sequence[int] | Sequence[str]) -> bool:
    steps = [a <= b for a, b in pairwise(values)]  # type: ignore[operator]
    return bool(steps) and sum(steps) >= _ORDERED * len(steps)
