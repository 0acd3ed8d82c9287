"""Recognise tables of contents: heading-like lines close together whose titles come again later."""

from __future__ import annotations

import re
from collections import Counter

from nlb_retriever.reading.headings import UNNUMBERED, Candidate

_GAP = 220
"""Between two entries of a table of contents lies at most this (a title, a page, a synopsis line)."""
_Keys = set[tuple[str, int | str]]


def normal(title: str) -> str:
    """What two printings of one title have in common."""
    return re.sub(r"[\W_]+", " ", title).strip().casefold()


def drop_contents(found: list[Candidate]) -> list[Candidate]:
    """The candidates without the entries of tables of contents."""
    kept: list[Candidate] = []
    later = Counter(key for c in found for key in _keys(c))
    i = 0
    while i < len(found):
        j = i + 1
        while j < len(found) and found[j].start - found[j - 1].end <= _GAP:
            j += 1
        run = found[i:j]
        later.subtract(key for c in run for key in _keys(c))
        kept += _without_contents(run, later)
        i = j
    return kept


def _keys(c: Candidate) -> _Keys:
    """By what an entry is known again: its number, its title."""
    keys: _Keys = {(c.kind, c.number)} if c.number else set()
    title = normal(c.rest)
    return keys | {("", title)} if len(title) > 2 else keys


def _without_contents(run: list[Candidate], later: Counter[tuple[str, int | str]]) -> list[Candidate]:
    first_at: dict[tuple[str, int | str], int] = {}
    for i, c in enumerate(run):
        for key in _keys(c):
            first_at.setdefault(key, i)
    tail = len(run)  # the run's end may be the first real headings, which repeat entries of it
    while tail > 1 and run[tail - 1].kind != "plain" and any(first_at[k] < tail - 1 for k in _keys(run[tail - 1])):
        tail -= 1
    entries, real = run[:tail], run[tail:]
    again = {key for c in real for key in _keys(c)}
    places = [i for i, c in enumerate(entries) if any(later[k] > 0 or k in again for k in _keys(c))]
    solid = sum(c.kind != "plain" for c in entries)
    if len(places) < 3 or len(places) < 0.3 * solid:
        kinds = Counter(c.kind for c in entries if c.kind not in UNNUMBERED).most_common(1)
        if not kinds or kinds[0][1] < 4:
            return run
        places = [i for i, c in enumerate(entries) if c.kind == kinds[0][0]]  # chapters that are named otherwise
    listed = set(places)
    loose = {"plain", "caps", "bare", "named"}
    kept = [c for i, c in enumerate(entries) if not (i in listed or (places[0] < i < places[-1] and c.kind in loose))]
    return kept + real
