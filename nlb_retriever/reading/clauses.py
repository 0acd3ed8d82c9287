"""Laws, licences and contracts: sections that are numbered paragraphs ("7. If a court ...", "§ 2. The House ...").

Such a number has no title in a line of its own; the words behind it are the section's text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from nlb_retriever.reading.draft import Heading, one_line
from nlb_retriever.reading.headings import title_like

_LABEL = re.compile(
    r"\s*(?P<label>(?P<word>§|(?:section|sec|article|art|amendment|clause|rule|regulation|artikel|articolo|artículo"
    r"|artigo|paragraaf|статья|第)\.?)\s?(?P<worded>\d{1,3})(?P<letter>[a-z]?)(?:[.:)]|\s?[-–—]+|[条條조]|(?=\s))"
    r"|(?P<bare>\d{1,3})[.)])\s*(?=\S)",
    re.IGNORECASE,
)
_TITLE = re.compile(r"(?P<title>[^\n]{2,80}?)(?:[.:](?=\s|$)|\.?\s?[—–]|\.--)")
"""Of a paragraph that begins with one: "2. Grant of Copyright License. Subject to the terms ..."."""
_CAPITALS = 0.7
"""Share of a title's longer words that begin with a capital, at least."""
_FIRST_WORDS = 60
"""Characters of a section's first words, which are its title where it has no other."""
_BEGINNING = 300
"""Characters of a paragraph that are looked at."""
_LEAST = 5
_IN_CHAIN = 0.7
"""Share of the numbered paragraphs that follow on each other, at least: the others are lists in a clause."""
_LENGTH = 200
"""Characters of a section, at least, of half of them: less is a list."""
_COVERED = 0.6
"""Share of the text behind the beginning of the first, at least."""
_LONGEST = 0.3
"""Share of the text that one may have, at most."""
_NEW = 0.2
"""Share of them that are no headings by their look, at least."""
_AGAINST = 2
"""Clauses for each other heading, at least."""


@dataclass(frozen=True)
class _Clause:
    start: int
    number: int
    letter: str
    """Behind the number: "15a"."""
    word: str
    """Before the number, in small letters; empty where there is none."""
    title: str


@dataclass(frozen=True)
class _Link:
    clause: _Clause
    length: int
    before: _Link | None


def add_clauses(
    text: str, spans: Sequence[tuple[int, int]], blank: Sequence[bool], headings: Sequence[Heading]
) -> list[Heading]:
    """The headings, and below them the numbered paragraphs where most of a text is in such; else the headings alone.

    Args:
        text: whose paragraphs stand on one line each.
        spans: of its lines that are not blank.
        blank: whether a blank line stands before each.
        headings: found by other means.
    """
    found = [
        clause
        for (start, end), first in zip(spans, blank, strict=False)
        if first and (clause := _read(text[start : min(end, start + _BEGINNING)], start))
    ]
    for word, count in Counter(clause.word for clause in found).most_common():
        if count < _LEAST:
            break
        clauses = [clause for clause in found if clause.word == word]
        starts = {clause.start for clause in clauses}
        others = [heading for heading in headings if heading.start not in starts]
        chain = _longest_chain(clauses, sorted(heading.start for heading in others))
        least = max(_LEAST, _IN_CHAIN * len(clauses), 0 if word else _AGAINST * len(others))
        known = sum(heading.start in starts for heading in headings)
        if len(chain) >= max(least, known * (1 + _NEW)) and _are_most(chain, len(text)):
            level = max((heading.level for heading in others), default=0) + 1
            return [*others, *(Heading(clause.start, level, clause.title) for clause in chain)]
    return list(headings)


def _are_most(chain: Sequence[_Clause], size: int) -> bool:
    """Whether most of a text is in these, and they are no list of lines."""
    starts = [*(clause.start for clause in chain), size]
    lengths = [b - a for a, b in pairwise(starts)]
    return sum(lengths) >= _COVERED * size and max(lengths) <= _LONGEST * size and median(lengths) >= _LENGTH


def _read(beginning: str, start: int) -> _Clause | None:
    if not (label := _LABEL.match(beginning)):
        return None
    body = beginning[label.end() :]
    title = _TITLE.match(body)
    named = title is not None and _is_title(title["title"])
    own = title["title"].strip() if title and named else one_line(body, _FIRST_WORDS)
    mark = label[0].strip().rstrip(".:)-–—") + "."
    number = int(label["worded"] or label["bare"])
    return _Clause(start, number, label["letter"] or "", (label["word"] or "").lower(), f"{mark} {own}")


def _is_title(words: str) -> bool:
    longer = [word for word in words.split() if len(word) > 3]
    return title_like(words) and sum(word[0].isupper() for word in longer) >= _CAPITALS * len(longer)


def _longest_chain(clauses: Sequence[_Clause], headings: Sequence[int]) -> list[_Clause]:
    """The most clauses whose numbers follow on each other, and begin anew below a heading only.

    Args:
        clauses: in order.
        headings: starts of the other headings, in order.
    """
    ends: dict[int, _Link] = {}
    best: _Link | None = None
    above: _Link | None = None  # the best that ends above the last heading
    passed = 0
    for clause in clauses:
        if (here := bisect_right(headings, clause.start)) > passed:
            passed, above = here, best
        before = [ends.get(clause.number - 1)]
        if clause.letter:
            before.append(ends.get(clause.number))
        elif clause.number <= 1:
            before.append(above)
        last = max((link for link in before if link), key=lambda link: link.length, default=None)
        if last is None and clause.number > 1:
            continue
        link = _Link(clause, last.length + 1 if last else 1, last)
        if clause.number not in ends or link.length > ends[clause.number].length:
            ends[clause.number] = link
        if best is None or link.length > best.length:
            best = link
    chain: list[_Clause] = []
    while best:
        chain.append(best.clause)
        best = best.before
    return chain[::-1]
