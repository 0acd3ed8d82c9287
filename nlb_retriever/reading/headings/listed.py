"""Titles that a printed table of contents lists: of poems, essays and tales without numbers, however long they are."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence

from nlb_retriever.reading.draft import Heading
from nlb_retriever.reading.headings.chains import Link, items_of, link
from nlb_retriever.reading.headings.contents import normal
from nlb_retriever.reading.headings.looks import MAX_LINE, parse_line, strip_line

_HEAD = re.compile(r"(?:the )?(?:table of )?contents(?: of [\w .]{1,40})?", re.IGNORECASE)
_BEFORE = 30_000
"""Characters of a book before its table of contents, at most."""
_PROSE = 120
"""Characters of a line from which on it is no entry: there the table has ended."""
_FIRST = 3
"""Entries of which one begins the text again, which ends the table."""
_LEAST, _SHARE = 5, 0.5
"""Entries that are found again in their order, at least, and their share of all."""
_SAME = 50
"""Entries of one title that are looked for: bounds the work on a text of one line over and over."""
_NEARLY_ALL, _NUMBERED, _KNOWN = 0.75, 0.25, 0.85
"""Shares of the headings that a better table of contents lists at least, that have a number at most, and of its titles
that are headings already at most."""
_TITLE = 110
"""Characters of a title line at most."""
_WHOLE = 6
"""Characters of an entry from which on a line in capitals may say more than it ("ON A PEN. 1724")."""
_NOTE = re.compile(r"\[(?:\d{1,3}|[A-Z*†])\]")
_PAGE = re.compile(r"(?<=\S)\s+(?:\d{1,4}|[ivxlc]{1,7})$")
_BY = re.compile(r"\s*(?:--|—|\bby\b)", re.IGNORECASE)
"""Between a title and its author or translator."""
_NUMBER = re.compile(r"(?:[IVXLC]{1,7}|\d{1,3})[.:)]\s+(?=\S)")


def find_listed_titles(
    text: str, spans: Sequence[tuple[int, int]], blank: Sequence[bool]
) -> tuple[list[Heading], list[Heading]]:
    """The lines that stand alone and that a table of contents at the beginning lists, in its order.

    Args:
        text: of the book.
        spans: of its lines that are not blank.
        blank: whether a blank line stands before each, and before the end.

    Returns:
        These, and the headings of the table itself and of what stands between it and the first; all of one level. None
        where most of the table is not found again.
    """
    head = next((i for i, (start, end) in enumerate(spans) if _is_head(text, start, end)), None)
    if head is None:
        return [], []
    entries: list[tuple[str, ...]] = []
    at = head + 1
    while at < len(spans) and spans[at][1] - spans[at][0] <= _PROSE:
        names = _names(text[spans[at][0] : spans[at][1]])
        if blank[at] and names and any(names[0] in entry for entry in entries[:_FIRST]):
            break
        entries.append(names)
        at += 1
    places: defaultdict[str, list[int]] = defaultdict(list)
    for i, names in enumerate(entries):
        for name in names:
            if len(places[name]) < _SAME:
                places[name].append(i)
    found = [
        (start, text[start:end], where)
        for i, (start, end) in enumerate(spans[at:], at)
        if blank[i] and end - start <= _TITLE and (where := _find(text[start:end], places))
    ]
    kept = _in_order([where for _, _, where in found])
    if len(kept) < max(_LEAST, _SHARE * len(entries)):
        return [], []
    titles = [Heading(found[i][0], 1, _NOTE.sub("", found[i][1]).strip()) for i in kept]
    behind = at - 1 if spans[at][1] - spans[at][0] > _PROSE else at
    table = [Heading(spans[i][0], 1, text[slice(*spans[i])].strip()) for i in (head, behind)]
    return titles, [heading for heading in table if heading.start < titles[0].start]


def lists_better(listed: Sequence[Heading], found: Sequence[Heading]) -> bool:
    """Whether a table of contents tells better where sections begin than what else is found."""
    return len(listed) > len(found) * (1 if _are_others(listed, found) else 2) or _are_bare(listed, found)


def _are_bare(listed: Sequence[Heading], found: Sequence[Heading]) -> bool:
    """Whether few headings have a number, as in a scan that misreads these, and nearly as many others are listed."""
    numbered = sum(any(each.number for each in parse_line(heading.title)) for heading in found)
    known = len({heading.start for heading in found}.intersection(heading.start for heading in listed))
    return (
        len(listed) >= _NEARLY_ALL * len(found) and numbered <= _NUMBERED * len(found) and known <= _KNOWN * len(listed)
    )


def _are_others(listed: Sequence[Heading], found: Sequence[Heading]) -> bool:
    """Whether most titles of a table of contents are found by nothing else, not even by a number above them."""
    starts = sorted(heading.start for heading in found)
    known = sum(bisect_left(starts, h.start - MAX_LINE) < bisect_right(starts, h.start) for h in listed)
    return 2 * known < len(listed)


def _is_head(text: str, start: int, end: int) -> bool:
    return start < _BEFORE and end - start < _PROSE and bool(_HEAD.fullmatch(strip_line(text[start:end]).strip(".: ")))


def _bare(line: str) -> str:
    """What an entry and its title have in common: the words without number, page and marks."""
    return normal(_NUMBER.sub("", _PAGE.sub("", strip_line(_NOTE.sub("", line)))))


def _names(entry: str) -> tuple[str, ...]:
    """What an entry may be called below: the whole of it, or what stands before its author; no note in brackets."""
    if entry.lstrip().startswith("(") and entry.rstrip().endswith(")"):
        return ()
    return tuple(filter(None, dict.fromkeys((_bare(entry), _bare(_BY.split(entry)[0])))))


def _find(line: str, places: dict[str, list[int]]) -> list[int]:
    """The entries that a line may be the title of."""
    title = _bare(line)
    if title in places:
        return places[title]
    if not line.isupper():
        return []
    words = title.split()
    beginnings = (" ".join(words[:count]) for count in range(len(words) - 1, 0, -1))
    return next((places[each] for each in beginnings if len(each) >= _WHOLE and each in places), [])


def _in_order(found: Sequence[Sequence[int]]) -> list[int]:
    """The indexes of the longest run of lines whose entries follow each other (longest increasing subsequence)."""
    ends: list[int] = []  # the least entry that a run of each length ends with
    runs: list[Link[int]] = []
    for i, entries in enumerate(found):
        for entry in reversed(entries):
            at = bisect_left(ends, entry)
            ends[at : at + 1] = [entry]
            runs[at : at + 1] = [link(i, runs[at - 1] if at else None)]
    return items_of(runs[-1] if runs else None)
