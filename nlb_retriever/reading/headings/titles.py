"""Title lines without numbers: when they are the chapters or tales of a book, and when mere lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import mean, median

from nlb_retriever.reading.draft import Heading
from nlb_retriever.reading.headings.contents import normal
from nlb_retriever.reading.headings.looks import Candidate

UNNUMBERED_LEVEL = 4
_INSIDE_LEVEL = 7
_TITLE_GAP = 400
"""Unnumbered title lines closer than this are one title and its subtitles."""
_PIECE_GAP = 40
"""The same where a text is cut into short pieces: fables, poems, recipes, days of a diary."""
_PIECES = 10
"""Such pieces, at least."""


def regular_titles(titles: list[Candidate], size: int, *, least: int, dense: bool = False) -> list[Candidate]:
    """Unnumbered title lines, where they cut the whole text into pieces like chapters or tales, or into short ones.

    Args:
        dense: ask for a heading in every few pages (textbooks): title-case lines alone are weak evidence.
    """
    groups = _join_subtitles(titles, _TITLE_GAP)
    kept = [g[-1] if g[0].start < 0.02 * size and len(g) > 2 else g[0] for g in groups]
    if len(kept) >= least and _are_spread(kept, size):
        lengths = _lengths(kept, size)
        longest, average = max(lengths), mean(lengths)
        is_sparse = dense and (average > 50_000 or longest > 150_000)
        if average >= 1_500 and longest <= max(0.45 * size, 2.5 * average) and not is_sparse:
            return kept
    groups = _join_subtitles(titles, _PIECE_GAP)
    kept = [groups[0][-1], *(g[0] for g in groups[1:])] if len(groups) >= _PIECES else []
    if kept and _are_spread(kept, size):
        lengths = _lengths(kept, size)
        if median(lengths) >= 150 and mean(lengths) <= 3_000 and max(lengths) <= 0.3 * size:
            return kept
    return []


def _join_subtitles(titles: Sequence[Candidate], gap: int) -> list[list[Candidate]]:
    """Title lines in groups: each of one title, and its subtitles closer than the gap."""
    groups: list[list[Candidate]] = []
    for c in titles:
        if groups and c.start - groups[-1][-1].end < gap:
            groups[-1].append(c)
        else:
            groups.append([c])
    return groups


def _lengths(titles: Sequence[Candidate], size: int) -> list[int]:
    """How long the text below each title is."""
    return [b.start - a.end for a, b in pairwise([*titles, Candidate(size, size, "", 0, "")])]


def _are_spread(titles: Sequence[Candidate], size: int) -> bool:
    """Whether titles begin with the text, differ, and leave no piece that is much longer than the others."""
    lengths = _lengths(titles, size)
    names = Counter(normal(c.title) for c in titles)
    return (
        titles[0].start <= max(0.15 * size, 12_000)
        and sum(n - 1 for n in names.values()) <= 0.1 * len(titles)
        and max(lengths) <= max(15 * median(lengths), 20_000)
    )


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
        if kept and c.start - kept[-1].end < _PIECE_GAP:
            continue
        kept.append(c)
    return kept
