"""Recognise tables of contents: heading-like lines close together whose titles come again later."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from nlb_retriever.reading.headings.looks import OF_LAWS, UNNUMBERED, Candidate

_BETWEEN_WORDS = re.compile(r"[\W_]+")
_OUTER = frozenset({"volume", "part", "book", "act"})
_GAP = 220
"""Between two entries of a table of contents lies at most this (a title, a page, a synopsis line)."""
_LISTED, _LISTED_CHARS = 40, 60
"""Least lines of an alphabetical list, and characters of one at most."""
_Key = tuple[str, int | str]


def normal(title: str) -> str:
    """What two printings of one title have in common."""
    return _BETWEEN_WORDS.sub(" ", title).strip().casefold()


def drop_contents(found: list[Candidate]) -> list[Candidate]:
    """The candidates without the entries of tables of contents."""
    kept: list[Candidate] = []
    titles = {c.line for c in found if c.number}  # taken by the number above
    given = [set[_Key]() if not c.number and c.line in titles else _keys(c) for c in found]
    later = Counter(key for keys in given for key in keys)
    i = 0
    while i < len(found):
        j = i + 1
        while j < len(found) and found[j].start - found[j - 1].end <= _GAP:
            j += 1
        run = found[i:j]
        later.subtract(key for keys in given[i:j] for key in keys)
        kept += _without_contents(run, later)
        i = j
    return kept


def _keys(c: Candidate) -> set[_Key]:
    """By what an entry is known again: its number, the same with no title beside it, its title."""
    keys: set[_Key] = set()
    if c.number:
        keys.add((c.kind, c.number))
        if not c.rest:
            keys.add((f"{c.kind} alone", c.number))
    title = normal(c.rest)
    is_known = len(title) > 2 or title[:1] >= "\u2e80"  # words of Chinese, Japanese and Korean have one letter or two
    return keys | {("", title), (f"={title}", c.number)} if is_known else keys


def _sought(c: Candidate, many: bool) -> set[_Key]:
    """What must come again for `c` to be an entry.

    Two different titles of one number are two chapters, unless many numbers stand together; so are two numbers with
    one title ("LETTER II. To the Same").
    """
    keys = _keys(c)
    if not c.number:
        return keys
    title = normal(c.rest)
    keys = keys - {("", title)} | {(f"={title}", 0)}
    return keys if many or not c.rest else keys - {(c.kind, c.number)} | {(f"{c.kind} alone", c.number)}


def _without_contents(run: list[Candidate], later: Counter[_Key]) -> list[Candidate]:
    of_law = [c for c in run if c.kind in OF_LAWS]
    if of_law and not any(later[c.kind, c.number] > 0 for c in of_law):
        return run  # short articles
    first_at: dict[_Key, int] = {}
    for i, c in enumerate(run):
        for key in _keys(c):
            first_at.setdefault(key, i)
    tail = len(run)  # the run's end may be the first real headings, which repeat entries of it
    if run[-1].number == 1 and run[-1].kind not in _OUTER:
        tail -= 1
        while tail > 0 and run[tail - 1].kind in _OUTER:
            tail -= 1
    while tail > 1 and run[tail - 1].kind != "plain" and any(first_at[k] < tail - 1 for k in _keys(run[tail - 1])):
        tail -= 1
    entries, real = run[:tail], run[tail:]
    again = {key for c in real for key in _keys(c)}
    numbered = sum(c.number > 0 and c.kind not in UNNUMBERED for c in entries)
    many = sum(c.number > 0 for c in entries) > 5
    places = [
        i
        for i, c in enumerate(entries)
        # but for one scene above lines of a song that comes again
        if (numbered > 1 or not c.number or c.kind in UNNUMBERED)
        and any(later[k] > 0 or k in again for k in _sought(c, many))
    ]
    solid = sum(c.kind != "plain" for c in entries)
    if len(places) < 3 or len(places) < 0.3 * solid:
        kinds = Counter(c.kind for c in entries if c.kind not in UNNUMBERED).most_common(1)
        if not kinds or kinds[0][1] < 4:
            return run
        places = [i for i, c in enumerate(entries) if c.kind == kinds[0][0]]  # chapters that are named otherwise
    loose = {"plain", "caps", "bare", "named"}
    kept = [c for i, c in enumerate(entries) if not (i in places or (places[0] < i < places[-1] and c.kind in loose))]
    return kept + real


def find_listed(text: str, lines: Sequence[tuple[int, int]]) -> set[int]:
    """The starts of lines of alphabetical lists: many short lines in a row without a stop, as of a dictionary's words.

    Args:
        text: of the book.
        lines: spans of its lines.
    """
    listed: set[int] = set()
    run: list[int] = []
    last = ""
    for start, end in lines:
        short = end - start <= _LISTED_CHARS and text[end - 1] not in ".,;:!?"
        line = normal(text[start:end]) if short else ""
        if run and not (line and line >= last):
            listed.update(run if len(run) >= _LISTED else ())
            run = []
        if line:
            run.append(start)
        last = line
    return listed | set(run if len(run) >= _LISTED else ())
