"""Chapter numbers and titles in lines of their own, of which the file names one as the heading.

"IV" and below it, in a paragraph of its own, "A Second Visit" is one heading: "IV. A Second Visit".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from nlb_retriever.reading.draft import Heading, one_line
from nlb_retriever.reading.headings.contents import normal
from nlb_retriever.reading.headings.looks import (
    KIND_LEVELS,
    MAX_LINE,
    OF_LAWS,
    Candidate,
    is_speech,
    parse_line,
    strip_line,
    title_like,
)

_LEAST, _SHARE = 3, 0.6
"""Numbers with a title, at least, and their share of all: else what stands below is a chapter's first words."""
_SHARE_UNNAMED = 0.3
"""Of titles with a number above, where the file names no number as a heading: prefaces and appendices have none."""
_BESIDE, _INNERMOST = 1, 9
"""Ranks beside `KIND_LEVELS` of an annex, which lies in nothing, and of an article."""
_ABOVE = 40
"""Characters before a title in which its number is looked for."""
_NEXT = re.compile(r"\n\s*(\S[^\n]*)\n[^\S\n]*\n\s*\S")
"""The line behind a number, in a paragraph of its own."""


def with_titles(text: str, headings: Sequence[Heading]) -> list[Heading]:
    """The headings in order, numbers with the titles below them and titles with the numbers above."""
    ordered = sorted(headings, key=lambda h: (h.start, h.level))
    ends = [following.start for _, following in pairwise(ordered)] + [len(text)]
    numbers = [i for i, heading in enumerate(ordered) if _number(heading.title)]
    titles = {i: title for i in numbers if (title := _title_below(text, ordered[i], ends[i]))}
    if len(titles) >= max(_LEAST, _SHARE * len(numbers)):
        for i, title in titles.items():
            ordered[i] = replace(ordered[i], title=_joined(ordered[i].title, title))
    above = {i: found for i, heading in enumerate(ordered) if (found := _number_above(text, heading))}
    if not _are_chapters(ordered, above):
        return ordered
    levels = {heading.start: heading.level for heading in reversed(ordered) if _number(heading.title)}
    numbered = {start for start, _ in above.values()}
    inside = _inside(ordered, above)
    return [
        replace(
            heading,
            start=above[i][0],
            level=min(heading.level, levels.get(above[i][0], heading.level)) + inside.get(above[i][1].kind, 0),
            title=_joined(above[i][1].title, heading.title),
        )
        if i in above
        else heading
        for i, heading in enumerate(ordered)
        if i in above or not (heading.start in numbered and _number(heading.title))
    ]


def _are_chapters(headings: Sequence[Heading], above: Mapping[int, tuple[int, Candidate]]) -> bool:
    """Whether numbers above titles count these: one after the other, for most titles of their level.

    Else they are parts, above the first chapter of each, or pages.
    """
    levels = {headings[i].level for i in above}
    titles = sum(heading.level in levels and not _number(heading.title) for heading in headings)
    named = {heading.start for heading in headings if _number(heading.title)} & {start for start, _ in above.values()}
    share = _SHARE if named else _SHARE_UNNAMED
    counted = [number for _, number in above.values()]
    following = sum(b.number - a.number == 1 for a, b in pairwise(counted))
    return len(above) >= max(_LEAST, share * titles) and following >= _SHARE * len(above)


def _inside(headings: Sequence[Heading], above: Mapping[int, tuple[int, Candidate]]) -> dict[str, int]:
    """How deep each kind of a law's numbers lies where their titles are of one level: an article in a chapter."""
    kinds = {number.kind for _, number in above.values()}
    if OF_LAWS.isdisjoint(kinds) or len({headings[i].level for i in above}) > 1:
        return {}
    ranks = {kind: _INNERMOST if kind == "article" else KIND_LEVELS.get(kind, _BESIDE) for kind in kinds}
    return {kind: sorted({*ranks.values()}).index(rank) for kind, rank in ranks.items()}


def _joined(number: str, title: str) -> str:
    return one_line(f"{number.rstrip('.: ')}. {title}")


def _number(title: str) -> Candidate | None:
    """A line that is a number alone ("IV", "Chapter 4"), but not of a scene: what stands below is a place."""
    found = parse_line(title, 0, len(title))
    alone = len(found) == 1 and found[0].number and not found[0].rest and found[0].kind != "scene"
    return found[0] if alone else None


def _title_below(text: str, heading: Heading, end: int) -> str:
    """The title below a number; empty where text follows."""
    line = text[heading.start : min(end, heading.start + MAX_LINE)].lstrip().partition("\n")[0]
    shown, named = _number(line), _number(heading.title)
    if not (shown and named and shown.number == named.number):
        return ""
    start = text.find(line, heading.start, end) + len(line)
    match = _NEXT.match(text, start, min(end, start + 3 * MAX_LINE))
    below = strip_line(match[1]) if match else ""
    if not title_like(below) or any(found.kind != "caps" for found in parse_line(below)):
        return ""
    return below if below.isupper() or not is_speech(below) else ""


def _number_above(text: str, heading: Heading) -> tuple[int, Candidate] | None:
    """A number in a line of its own above a title, and where it begins."""
    if any(found.number for found in parse_line(heading.title)[:1]):
        return None
    begin = max(0, heading.start - _ABOVE)
    lines = list(re.finditer(r"[^\n]*\S[^\n]*", text[begin : heading.start + 2 * MAX_LINE]))
    own = (i for i, line in enumerate(lines) if begin + line.end() > heading.start)  # not a chapter's above its article
    at = next((i for i in own if normal(lines[i][0]) == normal(heading.title)), 0)
    number = _number(lines[at - 1][0].strip()) if at else None
    if number is None or (at == 1 and begin and text[begin - 1] != "\n" and text[begin] != "\n"):
        return None  # the end of a line
    return begin + lines[at - 1].start(), number
