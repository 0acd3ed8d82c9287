"""Diaries and letters without other headings: sections by the dates that entries and letters begin with.

"Jan. 3. Went to ...", "Boston, April 2d, 1839", and "2nd. Up early ..." below "SEPTEMBER 1666" or a date with a month.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from nlb_retriever.reading.draft import Heading

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_NAMES = "January February March April May June July August September October November December".split()
_MONTH = (
    r"(?:jan(?:uar)?y?|feb(?:ruar)?y?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:r|ember)?"
    r"|oct(?:r|ober)?|nov(?:r|ember)?|dec(?:r|ember)?)"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th|d)?"
_YEAR = r"(?:,? (?:1\d{3}|20\d\d))?"
_WEEKDAY = r"(?:(?:sun|mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?)(?:day)?[.,]{0,2} (?:the )?)?"
_DATE = (
    rf"(?:(?P<first>{_MONTH})\.? (?P<day_first>{_DAY}){_YEAR}"
    rf"|(?P<day_last>{_DAY})(?: of)? (?P<last>{_MONTH})\.?(?:(?<=\.),?)?{_YEAR})"
)
_PARAGRAPH = re.compile(r"(?:\A|\n\n)\s*")
"""What stands before one."""
_ENTRY = re.compile(
    rf"[_*\[(]{{0,3}}(?P<title>{_WEEKDAY}(?:(?P<iso>\d{{4}}-\d\d-\d\d)|{_DATE}))"
    r"(?=[_*\])]{0,3}(?:[.:;)]|[^\S\n]?(?:--|[—–])|[_*\])]{0,3}[^\S\n]*(?:\n|\Z)))",
    re.IGNORECASE,
)
"""A paragraph that begins with a date and a stop, or is one."""
_DATELINE = re.compile(
    rf"(?P<title>(?:(?:to|from) [^\n]{{2,60}}\n\n[^\S\n]*)?"
    rf"(?:[^\n\d]{{2,40}}[ _]|{_WEEKDAY}){_DATE}(?!\w)[^\n]{{0,40}})(?=\n|\Z)",
    re.IGNORECASE,
)
"""A line of a place and a date, as above a letter, with the line that says to whom it is."""
_BARE = re.compile(r"(?P<title>(?P<day>\d{1,2})(?:st|nd|rd|th|d)\b(?: \([^()\n]{1,40}\))?)(?=[.,])")
"""A paragraph that begins with a day, of the month before it."""
_MONTHLY = re.compile(rf"(?P<title>(?P<month>{_MONTH})\.?,? \d{{4}}(?:[-–/]\d{{1,4}})?)\.?[^\S\n]*\n", re.IGNORECASE)
"""A month that stands alone."""
_ANNUAL = re.compile(r"(?P<title>1[4-9]\d\d|20\d\d)\.?[^\S\n]*\n\n")
"""A year that stands alone."""
_FORMS = (_ANNUAL, _MONTHLY, _ENTRY, _DATELINE, _BARE)
_LEAST, _IN_ORDER = 6, 0.9
"""Entries, and the share of them that are of the day of the one before or a later one."""
_LONGEST = 0.3
"""Share of a text that one entry, or what is before the first, takes at most."""


def find_entries(text: str) -> list[Heading]:
    """The dates of a diary's entries or letters, below the years and months that stand alone; empty for other texts."""
    month, end = 0, 0
    above: list[Heading] = []
    entries: list[Heading] = []
    days: list[tuple[int, int]] = []
    for start in (before.end() for before in _PARAGRAPH.finditer(text)):
        match = next(filter(None, (form.match(text, start) for form in _FORMS)), None)
        if not match or start < end:
            continue
        end = match.end()
        if match.re in (_ANNUAL, _MONTHLY):
            above.append(Heading(start, 1 if match.re is _ANNUAL else 2, match["title"]))
            month = _month(match["month"]) if match.re is _MONTHLY else month
            continue
        if match.re is not _BARE:
            month, day = _day(match)
        elif month:
            day = int(match["day"])
        else:
            continue
        title = ". ".join(
            " ".join(line.replace("_", "").strip(" .,*:").split()) for line in match["title"].split("\n\n")
        )
        title = title if match.re is not _BARE else f"{_NAMES[month - 1]} {title}"
        days.append((month, day))
        entries.append(Heading(match.start("title"), 3, title))
    places = [0, *(entry.start for entry in entries), len(text)]
    longest = max(end - start for start, end in pairwise(places))
    if len(entries) < _LEAST or longest > _LONGEST * len(text) or not _are_in_order(days):
        return []
    return sorted([*above, *entries], key=lambda heading: heading.start)


def with_entries(text: str, found: list[Heading]) -> list[Heading]:
    """The dates of entries and the headings around them, where those found are few, or a third of them such dates."""
    entries = find_entries(text)
    dates = {place for entry in entries for place in range(entry.start, entry.start + len(entry.title) + 2)}
    if not entries or (len(found) > 1 and 3 * sum(each.start in dates for each in found) < len(found)):
        return found
    return [*(each for each in found if not min(dates) <= each.start <= max(dates)), *entries]


def _month(name: str) -> int:
    return _MONTHS.index(name[:3].lower()) + 1


def _day(match: re.Match[str]) -> tuple[int, int]:
    """Month and day of an entry."""
    if iso := match.groupdict().get("iso"):
        return int(iso[5:7]), int(iso[8:])
    day = match["day_first"] or match["day_last"]
    return _month(match["first"] or match["last"]), int(re.findall(r"\d+", day)[0])


def _are_in_order(days: Sequence[tuple[int, int]]) -> bool:
    """Whether nearly all days are no earlier than the one before, but for those of a new year."""
    good = sum(before <= after or after[0] + 6 <= before[0] for before, after in pairwise(days))
    return good >= _IN_ORDER * (len(days) - 1)
