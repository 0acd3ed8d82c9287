"""Title lines without numbers: when they are the chapters or tales of a book, and when mere lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import mean, median

from nlb_retriever.reading.contents import normal
from nlb_retriever.reading.draft import Heading
from nlb_retriever.reading.headings import Candidate

UNNUMBERED_LEVEL = 4
_INSIDE_LEVEL = 7
_TITLE_GAP = 400
"""Unnumbered title lines closer than this are one title and its subtitles."""


def regular_titles(titles: list[Candidate], size: int, *, least: int, dense: bool = False) -> list[Candidate]:
    """Unnumbered title lines, where they cut the whole text into pieces like chapters or tales.

    Args:
        dense: ask for a heading in every few pages (textbooks): title-case lines alone are weak evidence.
    """
    groups: list[list[Candidate]] = []
    for c in titles:
        if groups and c.start - groups[-1][-1].end < _TITLE_GAP:
            groups[-1].append(c)
        else:
            groups.append([c])
    if len(groups) < least:
        return []
    kept = [g[-1] if g[0].start < 0.02 * size and len(g) > 2 else g[0] for g in groups]
    bodies = [b.start - a.end for a, b in pairwise([*kept, Candidate(size, size, "", 0, "")])]
    names = Counter(normal(c.title) for c in kept)
    longest, middle = max(bodies), median(bodies)
    if (
        mean(bodies) < 1_500
        or sum(n - 1 for n in names.values()) > 0.1 * len(kept)
        or kept[0].start > max(0.15 * size, 12_000)
    ):
        return []
    if longest > max(15 * middle, 20_000) or longest > max(0.45 * size, 2.5 * mean(bodies)):
        return []
    if dense and (mean(bodies) > 50_000 or longest > 150_000):
        return []
    return kept


def fill_long_stretches(headings: Sequence[Heading], titles: Sequence[Candidate], size: int) -> list[Heading]:
    """Unnumbered titles for the long stretches that numbered headings leave.

    They are within the heading before, but beside it where they take most of the text: it is a preface, then.
    """
    ordered = sorted(headings, key=lambda h: h.start)
    stretches = pairwise([Heading(0, UNNUMBERED_LEVEL, ""), *ordered, Heading(size, 0, "")])
    filled = []
    for before, behind in stretches:
        length = behind.start - before.start
        if length <= max(0.15 * size, 60_000):
            continue
        beside = before.start < ordered[0].start or length > 0.5 * size
        level = min(before.level, UNNUMBERED_LEVEL) if beside else _INSIDE_LEVEL
        inside = (c for c in titles if before.start + _TITLE_GAP < c.start < behind.start)
        filled += [Heading(c.start, level, c.title) for c in inside]
    return filled


def without_subtitles(found: Sequence[Candidate]) -> list[Candidate]:
    """Of two headings with nothing between, the second goes (the first's subtitle)."""
    kept: list[Candidate] = []
    for c in found:
        if kept and c.start - kept[-1].end < 40:
            continue
        kept.append(c)
    return kept
