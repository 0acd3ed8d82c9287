"""Headings by section numbers ("3.2 Results"), as papers, manuals and standards have them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from nlb_retriever.reading.headings.chains import Link, items_of, link

_LINE = re.compile(
    r"(?P<word>(?:Chapter|CHAPTER|Appendix|APPENDIX)\s+)?"
    r"(?P<number>(?:\d{1,2}|[A-Z](?=\.))(?:\.[1-9]\d{0,2}){0,4})(?P<point>[.:]?)[^\S\n]+"
    r"(?P<title>[^\W\d_].*|[“\"‘'(].*|/\w.*)"
)
_CUT = re.compile(r"[.,;:]$")
_REFERENCE = re.compile(r"(?:[.·…_][ ]?){4,}|(?:[.·…_][ ]){3,}|,? (?:page|p\.) \d+|\]\s*,")
_SECOND_NUMBER = re.compile(r"\w \d{1,2}\.\d")
_PAGE = re.compile(r"\s+\d{1,4}$")
"""Behind the title of a running head, or in a table of contents."""
_LONGEST = 160
"""Characters of a title."""
_MEAN = 70
"""Characters of the titles on average: more are paragraphs of a law."""
_LEAST, _LEAST_DEEP = 5, 3
"""Sections of a chain, and those of them whose number has a point."""
_MOST = 2
"""Times that a chapter's heading comes: in a table of contents, too."""
_APPENDIX = 100
"""Before A, as a number."""

_Number = tuple[int, ...]


@dataclass(frozen=True)
class NumberedLine:
    """A line that is a heading by its number."""

    line: int
    """Its index."""
    number: tuple[int, ...]
    title: str
    """Without its number."""
    point: bool
    """Whether a point or colon stands behind the number."""
    word: bool
    """Whether "Chapter" or "Appendix" stands before it."""


_Link = Link[NumberedLine]


def numbered_lines(lines: Sequence[str]) -> list[NumberedLine]:
    """The longest chain of lines whose section numbers follow each other; empty where few have a point.

    After 2.3 comes 2.3.1, 2.4 or 3 (one may be missing: 2.5, 4), or 3.1 under a heading of another look ("Chapter 3").
    Linear in the lines.
    """
    found = _without_letters(_without_running_heads(list(_candidates(lines))))
    seen = {(line.number, line.title) for line in found}
    paged = {key for key in seen if (shorter := _PAGE.sub("", key[1])) != key[1] and (key[0], shorter) in seen}
    found = _without_contents([line for line in found if (line.number, line.title) not in paged])
    chains = [
        _longest_chain([line for line in found if len(line.number) > 1 or line.word or line.point is dotted])
        for dotted in (False, True)  # "4. COPYING" is no chapter of a book that has "3 Quoting"
    ]
    chain = max(chains, key=len)
    deep = [line.number for line in chain if len(line.number) > 1]
    if len(chain) < _LEAST or len(deep) < _LEAST_DEEP or len({number[-1] for number in deep}) == 1:
        return []
    return chain if sum(len(line.title) for line in chain) <= _MEAN * len(chain) else []


def _without_running_heads(found: Sequence[NumberedLine]) -> list[NumberedLine]:
    """The lines without "Chapter 3. Names" at the head of many pages."""
    times = Counter(line.number for line in found if line.word)
    return [line for line in found if not line.word or times[line.number] <= _MOST]


def _without_letters(found: Sequence[NumberedLine]) -> list[NumberedLine]:
    """The lines without single letters, but for those of an appendix: A is before A.1."""
    firsts = {(line.number, following.number) for line, following in pairwise(found)}
    return [
        line
        for line in found
        if line.word
        or len(line.number) > 1
        or line.number[0] <= _APPENDIX
        or (line.number, (*line.number, 1)) in firsts
    ]


def _without_contents(found: Sequence[NumberedLine]) -> list[NumberedLine]:
    """The lines without those that come again and have another right beside them."""
    last = {(line.number, line.title): line.line for line in found}
    at = {line.line for line in found}
    return [
        line
        for line in found
        if last[line.number, line.title] == line.line or at.isdisjoint((line.line - 1, line.line + 1))
    ]


def is_reference(line: str) -> bool:
    """Whether a line is of a table of contents or refers to a section.

    "Chapter 3 [Names], page 87", "CHAPTER 3. NAMES 3.1 BEASTS".
    """
    return _REFERENCE.search(line) is not None or _SECOND_NUMBER.search(line) is not None


def _longest_chain(found: Sequence[NumberedLine]) -> list[NumberedLine]:
    last: dict[_Number, _Link] = {}
    under: dict[_Number, _Link] = {}
    best: _Link | None = None
    for line in found:
        links = [*filter(None, _before(line.number, last, under))]
        if best and line.number in {(_APPENDIX + 1,), (_APPENDIX + 1, 1)}:
            links.append(best)
        before = max(links, key=lambda each: (each.length, each.item.line), default=None)
        if before is None and not _begins(line.number):
            continue
        own = link(line, before)
        if line.number not in last or own.length >= last[line.number].length:
            last[line.number] = own
        for k in range(1, len(line.number) + 1):
            prefix = line.number[:k]
            if prefix not in under or own.length >= under[prefix].length:
                under[prefix] = own
        if best is None or own.length >= best.length:
            best = own
    return items_of(best)


def _candidates(lines: Sequence[str]) -> Iterator[NumberedLine]:
    """Lines that look so."""
    for i, line in enumerate(lines):
        if len(line) > _LONGEST + 20 or not (match := _LINE.fullmatch(line.strip())):
            continue
        title = match["title"]
        if len(title) > _LONGEST or _CUT.search(title) or _REFERENCE.search(title):
            continue
        first, *more = match["number"].split(".")
        if not (more or match["word"] or title[0].isupper()):
            continue
        number = int(first) if first.isdigit() else _APPENDIX + ord(first) - ord("A") + 1
        yield NumberedLine(i, (number, *map(int, more)), title, bool(match["point"]), bool(match["word"]))


def _begins(number: _Number) -> bool:
    return number[0] <= 3 and all(n <= 1 for n in number[1:])


def _before(number: _Number, last: dict[_Number, _Link], under: dict[_Number, _Link]) -> Iterator[_Link | None]:
    """The chains that a number may continue."""
    *outer, own = number
    for step in (1, 2):
        yield under.get((*outer, own - step))
        if own <= 1 and outer:
            yield under.get((*outer[:-1], outer[-1] - step))
    if own <= 1 and outer:
        yield last.get(tuple(outer))
