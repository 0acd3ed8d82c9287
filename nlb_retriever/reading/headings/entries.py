"""Diaries and letters without other headings: sections by the dates that entries begin with ("Jan. 3. Went to ...")."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from nlb_retriever.reading.draft import Heading

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th|d)?"
_YEAR = r"(?:,? (?:1\d{3}|20\d\d))?"
_WEEKDAY = r"(?:(?:sun|mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?)(?:day)?[.,]{0,2} (?:the )?)?"
_ENTRY = re.compile(
    rf"(?:(?<=\n\n)|(?<![\s\S]))[^\S\n]*[_*\[(]{{0,3}}(?P<title>{_WEEKDAY}(?:(?P<iso>\d{{4}}-\d\d-\d\d)"
    rf"|(?P<first>{_MONTH})\.? {_DAY}{_YEAR}|{_DAY}(?: of)? (?P<last>{_MONTH})\.?(?:(?<=\.),?)?{_YEAR}))"
    r"(?=[_*\])]{0,3}(?:[.:;)]|[^\S\n]?(?:--|[—–])|[_*\])]{0,3}[^\S\n]*(?:\n|\Z)))",
    re.IGNORECASE,
)
"""A paragraph that begins with a date and a stop, or is one."""
_ANNUAL = re.compile(r"(?:(?<=\n\n)|(?<![\s\S]))[^\S\n]*(1[4-9]\d\d|20\d\d)\.?[^\S\n]*\n\n")
"""A year that stands alone."""
_LEAST, _IN_ORDER = 6, 0.9
"""Entries, and the share of them that are of the day of the one before or a later one."""
_LONGEST = 0.3
"""Share of a text that one entry, or what is before the first, takes at most."""


def find_entries(text: str) -> list[Heading]:
    """The dates of a diary's entries, below the years that stand alone; empty for other texts."""
    found = [*_ENTRY.finditer(text)]
    places = [0, *(match.start() for match in found), len(text)]
    longest = max(end - start for start, end in pairwise(places))
    if len(found) < _LEAST or longest > _LONGEST * len(text) or not _are_in_order([*map(_day, found)]):
        return []
    years = [Heading(match.start(1), 1, match[1]) for match in _ANNUAL.finditer(text)]
    return sorted(
        [*years, *(Heading(match.start("title"), 2, match["title"].rstrip(" .,")) for match in found)],
        key=lambda heading: heading.start,
    )


def _day(match: re.Match[str]) -> tuple[int, int]:
    """Month and day of an entry."""
    if match["iso"]:
        return int(match["iso"][5:7]), int(match["iso"][8:])
    month = (match["first"] or match["last"])[:3].lower()
    day = re.sub(r"\b\d{4}\b", "", match["title"])
    return _MONTHS.index(month) + 1, int(re.findall(r"\d{1,2}", day)[0])


def _are_in_order(days: Sequence[tuple[int, int]]) -> bool:
    """Whether nearly all days are no earlier than the one before, but for those of a new year."""
    good = sum(before <= after or after[0] + 6 <= before[0] for before, after in pairwise(days))
    return good >= _IN_ORDER * (len(days) - 1)
