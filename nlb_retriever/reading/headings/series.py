"""Chapters that are numbered with a word of their text's own: "FEDERALIST No. 10", "Lesson 3", "Meditation II"."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from nlb_retriever.reading.headings.looks import MAX_LINE, Candidate, parse_line, strip_line, title_like
from nlb_retriever.reading.headings.number_words import match_number

_WORD = r"[^\W\d_][\w’'-]{2,20}"
_SERIES = tuple(
    re.compile(rf"(?P<words>{words}),? (?:no(?![^\W\d_])\.? ?|number )?", re.IGNORECASE)
    for words in (f"{_WORD} {_WORD}", _WORD)
)
_OTHERS_TEXT = """figure fig table page plate illustration map photo image exhibit box version line verse note footnote
    january february march april may june july august september october november december"""
_OTHERS = frozenset(_OTHERS_TEXT.split())
"""What is numbered and has no text below, or is a date."""
_LEAST, _BODY = 5, 500
"""Members of a series, and characters of the middle one."""
_STEP = 3
"""How far the numbers of two that follow each other lie apart, at most."""


def read_series(title: str) -> tuple[str, int, str] | None:
    """The words, in small letters, and the number that a title begins with, and its rest; None of others."""
    if not title[:1].isupper():
        return None
    for pattern in _SERIES:
        if (match := pattern.match(title)) and (found := match_number(title, match.end())):
            number, _, end = found
            return match["words"].casefold(), number, title[end:].strip(" .:;,—–-()")
    return None


def _read_titled(line: str) -> tuple[str, int, str] | None:
    found = read_series(line)
    return found if found and (not found[2] or title_like(found[2])) else None


def _read_joined(line: str) -> tuple[str, int, str] | None:
    """Of a Chinese chapter whose title follows its number with nothing between: "第一章老人"."""
    found = parse_line(line, is_title=True) if line.startswith("第") else []
    return (found[0].kind, found[0].number, found[0].rest) if found and found[0].rest else None


def find_series(text: str, spans: Sequence[tuple[int, int]], blank: Sequence[bool]) -> list[Candidate]:
    """The lines of one word with ascending numbers, with those of a table of contents; empty if there are none.

    Args:
        text: whole.
        spans: of its lines that are not blank.
        blank: whether a blank line stands before each of them.
    """
    series: dict[str, list[list[Candidate]]] = defaultdict(list)
    for i, (start, end) in enumerate(spans):
        line = strip_line(text[start:end]) if end - start <= MAX_LINE else ""
        words, number, rest = _read_joined(line) or _read_titled(line) or ("", 0, "")
        if not words or words.split()[-1] in _OTHERS:
            continue
        if any(candidate.number for candidate in parse_line(line, start, end)):
            continue
        runs = series[words]
        if number == 1:
            runs.append([])
        if runs and 0 < number - (runs[-1][-1].number if runs[-1] else 0) <= _STEP:
            runs[-1].append(Candidate(start, end, "series", number, line, rest, line=i))
    real = [runs for runs in series.values() if any(_is_real(run, blank) for run in runs)]
    return [c for run in max(real, key=lambda runs: max(map(len, runs)), default=[]) for c in run if len(run) >= _LEAST]


def _is_real(run: Sequence[Candidate], blank: Sequence[bool]) -> bool:
    alone = all(blank[c.line] for c in run)
    return alone and len(run) >= _LEAST and median(b.start - a.end for a, b in pairwise(run)) >= _BODY
