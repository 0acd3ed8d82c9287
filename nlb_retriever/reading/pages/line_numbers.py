"""Numbers of lines, as transcripts of hearings, papers for review and poems have them: no words of the sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from nlb_retriever.reading.omissions import Omissions

_NUMBERED = re.compile(r"\s*(?P<number>\d{1,5})(?:\s+(?P<rest>\S.*)|\s*)")
_BEHIND = re.compile(r"(?P<rest>\S.*?)\s+(?P<number>\d{1,5})")
"""A verse with its number, which no verse between has, or a line whose number stands in the right margin."""
_LEAST_LINES, _LEAST_PAGES = 10, 3
"""Lines of a page that counts, and such pages of a text with numbers."""
_EITHER, _FIRST, _LAST = (_NUMBERED, _BEHIND), (_NUMBERED,), (_BEHIND,)
_STEPS = ((1, _LEAST_LINES, _FIRST), (1, _LEAST_LINES, _EITHER), (5, 4, _FIRST), (5, 4, _LAST))
"""Each line is numbered, or every fifth; and so many of a page at least; and how: in the outer margins of two columns
or of left and right pages, before some lines and behind others."""
_LEAST_FULL = 0.7
"""Share of a page's lines that are numbered where each page begins anew: fewer are a list or a proof."""
_MOST_OTHERS = {1: 0.2, 5: 0.5}
"""Share of the lines from the first number to the last that have none, or are parts of formulas."""
_LEAST_SMALL = 0.25
"""Share of the lines with numbers that go on from page to page that begin with a small letter: else they are a list."""
_MOST = 0.8
"""Share of the pages whose numbers begin anew or go on from the page before."""
_LEAST_SHARE = 0.6
"""Of the pages with so many lines that are numbered from 1."""
_OF_VERSE = re.compile(
    r"[^\S\n]*(?P<before>\d{1,5})[^\S\n]{2,}(?=\S)|[^\n]*\S(?P<gap>[^\S\n]{3,})(?P<behind>\d{1,5})[^\S\n]*$"
)
_LONGEST_VERSE = 200
_LEAST_VERSES, _LEAST_STEP = 4, 4
"""Pairs of numbers that are as far apart as their lines, and lines from one to the next."""


class _Numbers(NamedTuple):
    """The numbered lines of a page."""

    first: int
    last: int
    bare: dict[str, str]
    """The lines as they are, and without their numbers."""
    full: bool
    """Whether most of the page's lines are among them, or they are nothing but numbers."""
    dense: bool
    """Whether they are as far apart as their numbers."""


_NONE = _Numbers(0, 0, {}, full=False, dense=False)


def without_verse_numbers(text: str, omissions: Omissions) -> str:
    """A text without the numbers at the ends or before every fifth or tenth of its lines.

    Two that follow each other differ by the number of lines from one to the other, blank ones not counted.
    """
    lines = text.split("\n")
    numbered: list[tuple[int, int, re.Match[str]]] = []
    """How many lines stand before, place of the line, and its number."""
    count = 0
    for place, line in enumerate(lines):
        words = line.strip()
        may_have = len(line) <= _LONGEST_VERSE and (words[:1].isdigit() or words[-1:].isdigit())
        if may_have and (match := _OF_VERSE.match(line)):
            numbered.append((count, place, match))
        count += bool(words)
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

    On most pages most lines have one, or every fifth, and they count from 1 on each, or go on from page to page.

    Args:
        pages: their lines without blank ones.
        omissions: where what is skipped is noted.
    """
    long = sum(len(page) >= _LEAST_LINES for page in pages)
    best: list[dict[str, str]] = [{} for _ in pages]
    count = 0
    for step, least, patterns in _STEPS:
        if count and step > 1:
            break
        found = [_read(page, step, patterns) for page in pages]
        numbered = [numbers for numbers in found if numbers.dense and len(numbers.bare) >= least]
        if len(numbered) >= max(_LEAST_PAGES, _LEAST_SHARE * long) and _go_on(numbered, step, patterns):
            kept = [*_following(found, step, least)]
            if (lines := sum(map(len, kept))) > count:
                best, count = kept, lines
    omissions.skip_element("line number", count, times=count)
    return best


def _following(found: Sequence[_Numbers], step: int, least: int) -> Iterator[dict[str, str]]:
    """The numbered lines of each page.

    Fewer than the least only where they follow the page before or begin anew; such as are not dense, as among a first
    page's names and notes, only where the next page goes on from them, too.
    """
    last = 0
    for numbers, following in zip(found, [*found[1:], _NONE], strict=True):
        follows = numbers.first == last + step
        fits = len(numbers.bare) >= least or follows or (numbers.first == step and numbers.full)
        fits = fits if numbers.dense else follows and following.dense and following.first == numbers.last + step
        last = numbers.last if fits else last
        yield numbers.bare if fits else {}


def _read(page: Sequence[str], step: int, patterns: Sequence[re.Pattern[str]]) -> _Numbers:
    """The most lines of a page whose numbers count by a step."""
    chains: dict[int, list[tuple[int, re.Match[str]]]] = {}
    best: list[tuple[int, re.Match[str]]] = []
    for i, line in enumerate(page):
        ends = line[-1:].isdigit()
        for match in (pattern.fullmatch(line) for pattern in patterns if ends or pattern is not _BEHIND):
            if match and (number := int(match["number"])) % step == 0:
                chain = chains.pop(number - step, [])
                chain.append((i, match))
                chains[number] = chain
                best = max(best, chain, key=len)
    if not best:
        return _NONE
    lines = best[-1][0] + 1 - best[0][0]
    numbers = [int(match["number"]) for _, match in best]
    full = step * len(best) >= _LEAST_FULL * len(page) or not any(match["rest"] for _, match in best)
    dense = (1 - _MOST_OTHERS[step]) * lines <= step * len(best) <= lines + step
    return _Numbers(numbers[0], numbers[-1], {page[i]: match["rest"] or "" for i, match in best}, full, dense)


def _go_on(pages: Sequence[_Numbers], step: int, patterns: Sequence[re.Pattern[str]]) -> bool:
    """Whether the numbers of each page begin anew, or go on from page to page within sentences or behind verses."""
    if sum(numbers.first == step and numbers.full for numbers in pages) >= _MOST * len(pages):
        return True
    rests = [rest for numbers in pages for rest in numbers.bare.values() if rest]
    small = patterns is _LAST or sum(rest[0].islower() for rest in rests) >= _LEAST_SMALL * len(rests)
    return small and sum(a.last < b.first for a, b in pairwise(pages)) >= _MOST * (len(pages) - 1)
