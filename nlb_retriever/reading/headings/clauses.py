"""Laws, licences and contracts: sections that are numbered paragraphs ("7. If a court ...", "§ 2. The House ...").

Such a number has no title in a line of its own; the words behind it are the section's text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from statistics import median
from textwrap import shorten

from nlb_retriever.reading.draft import Heading, one_line
from nlb_retriever.reading.headings.chains import Link, items_of, link
from nlb_retriever.reading.headings.looks import MAX_LINE, east_asian_number, title_like

_LABEL = re.compile(
    r"(?:(?P<word>§|(?:section|sect|sec|article|art|amendment|clause|rule|regulation|artikel|articolo|artículo"
    r"|artigo|paragraaf|статья)\.?)\s?(?P<worded>\d{1,3})(?P<letter>[a-z]?)(?:[.:)]|\s?[-–—]+|(?=\s))"
    r"|[第제]\s?(?P<eastern>[0-9\uff10-\uff19〇零一二三四五六七八九十百]{1,7})\s?(?P<key>[条條조])"
    r"|(?P<inner>\d{1,3}(?:\.[1-9]\d{0,2}){1,3})(?:[.:)]|(?=\s))"
    r"|(?P<bare>\d{1,3})(?:\.0(?=\s)|\.0?[.)]?(?!\d)|\)))\s*(?=\S)",
    re.IGNORECASE,
)
_TITLE = re.compile(r"(?P<title>[^\n]{2,80}?)(?:[.:](?=\s|$)|\.?\s?[—–]|\.--)")
"""Of a paragraph that begins with one: "2. Grant of Copyright License. Subject to the terms ..."."""
_STATUTE = re.compile(r"(?P<title>[A-Z][^\n.]{1,158})\.\s?(?:[—–]|--)")
"""Of a section whose title ends so, in whatever case: "21. Protection of life and personal liberty.—No person ..."."""
_DOTTED = re.compile(r"\d{1,3}\.\d")
_CAPITALS = 0.7
"""Share of a title's longer words that begin with a capital, at least."""
_FIRST_WORDS = 60
"""Characters of a section's first words, which are its title where it has no other."""
_BEGINNING = 300
"""Characters of a paragraph that are looked at."""
_LEAST = 5
_INNER = 3
"""Clauses of such numbers as 5.2, at least."""
_IN_CHAIN = 0.7
"""Share of the numbered paragraphs that follow on each other, at least: the others are lists in a clause."""
_LENGTH, _NAMED_LENGTH = 200, 40
"""Characters of a section, at least, of half of them, and where a word such as "Article" names them: less is a list."""
_COVERED = 0.6
"""Share of the text behind the beginning of the first, at least."""
_MISSING = 2
"""Numbers that may be missing in a row: of paragraphs that are broken otherwise."""
_LONGEST = 0.6
"""Share of the text that one may have."""
_NEW = 0.2
"""Share of them that are no headings by their look, at least."""
_AGAINST = 2
"""Clauses for each other heading, at least."""


@dataclass(frozen=True)
class _Clause:
    start: int
    indent: int
    """Characters before it in its line."""
    numbers: tuple[int, ...]
    """5, 2 of "5.2"."""
    letter: str
    """Behind the number: "15a"."""
    word: str
    """Before the number, in small letters; empty where there is none."""
    title: str

    @property
    def number(self) -> int:
        return self.numbers[0]


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
    found = list(_find(text, spans, blank))
    outer = [clause for clause in found if len(clause.numbers) == 1]
    for word, count in Counter(clause.word for clause in outer).most_common():
        if count < _LEAST:
            break
        of_word = [clause for clause in outer if clause.word == word]
        indent = min(clause.indent for clause in of_word) + 1
        for clauses in ([clause for clause in of_word if clause.indent <= indent], of_word):
            starts = {clause.start for clause in clauses}
            others = [heading for heading in headings if heading.start not in starts]
            if not word and _are_articles(others) and 2 * sum(clause.number == 1 for clause in clauses) >= len(others):
                continue  # paragraphs of articles
            chain = _longest_chain(clauses, sorted(heading.start for heading in others))
            least = max(_LEAST, _IN_CHAIN * len(clauses), 0 if word else _AGAINST * len(others))
            if len(chain) >= least and _are_most(chain, len(text), _NAMED_LENGTH if word else _LENGTH):
                if len(chain) < (1 + _NEW) * (len(headings) - len(others)):
                    return _add_inner(found, chain, headings)
                level = max((heading.level for heading in others), default=0) + 1
                return _add_inner(found, chain, [*others, *(Heading(c.start, level, c.title) for c in chain)])
    return list(headings)


def _are_articles(headings: Sequence[Heading]) -> bool:
    """Whether most headings have a law's word and a number: "Article 17. Right of entry"."""
    labels = (_LABEL.match(f"{heading.title} ") for heading in headings)
    named = sum(label is not None and bool(label["word"] or label["eastern"]) for label in labels)
    return named >= max(_LEAST, len(headings) / 2)


def _find(text: str, spans: Sequence[tuple[int, int]], blank: Sequence[bool]) -> Iterator[_Clause]:
    """The paragraphs that begin with a number: below a blank line, or long lines without such."""
    above = 0
    for (start, end), first, below in zip_longest(
        spans, blank[: len(spans)], spans[1:], fillvalue=(len(text), len(text))
    ):
        if (first or max(end - start, above) > MAX_LINE) and (clause := _read(text, start, end, below)):
            yield clause
        above = end - start


def _read(text: str, start: int, end: int, below: tuple[int, int]) -> _Clause | None:
    beginning = text[start : min(end, start + _BEGINNING)]
    if not (label := _LABEL.match(beginning)):
        return None
    body = beginning[label.end() :]
    title = _TITLE.match(body)
    if end - start <= MAX_LINE and (
        _is_title(body) or (title_like(body) and body[-1] not in '.!?”"' and _goes_on(label, text, below))
    ):
        own = body.rstrip(" .:")
    elif marked := _STATUTE.match(body):
        own = marked["title"]
    elif title and _is_title(title["title"]):
        own = title["title"].strip()
    else:
        most = min(_FIRST_WORDS, len(body) // 2 + 2)
        own = shorten(body, most, placeholder="…")
        own = own if len(own) > 1 else one_line(body, most)  # of a language without blanks
    mark = label[0].strip() if label["eastern"] else label[0].strip().rstrip(".:)-–—") + "."
    if eastern := label["eastern"]:
        numbers: tuple[int, ...] = (east_asian_number(eastern),)
    else:
        numbers = tuple(map(int, (label["inner"] or label["worded"] or label["bare"]).split(".")))
    indent = start - 1 - text.rfind("\n", 0, start)
    word = (label["word"] or label["key"] or "").lower()
    return _Clause(start, indent, numbers, label["letter"] or "", word, f"{mark} {own}")


def _goes_on(label: re.Match[str], text: str, below: tuple[int, int]) -> bool:
    """Whether the line below a numbered one is text of it or has a number within it: what is all title has no text."""
    following = _LABEL.match(text, *below)
    return below[0] < len(text) and (following is None or bool(following["inner"] and not label["inner"]))


def _is_title(words: str) -> bool:
    longer = [word for word in words.split() if len(word) > 3]
    return title_like(words) and sum(word[0].isupper() for word in longer) >= _CAPITALS * len(longer)


def _longest_chain(clauses: Sequence[_Clause], headings: Sequence[int]) -> list[_Clause]:
    """The most clauses whose numbers follow on each other, and begin anew below a heading only.

    Args:
        clauses: in order.
        headings: starts of the other headings, in order.
    """
    ends: dict[int, Link[_Clause]] = {}
    best: Link[_Clause] | None = None
    above: Link[_Clause] | None = None  # the best that ends above the last heading
    passed = 0
    for clause in clauses:
        if (here := bisect_right(headings, clause.start)) > passed:
            passed, above = here, best
        before = [ends.get(clause.number - step) for step in range(1, 2 + _MISSING)]
        if clause.letter:
            before.append(ends.get(clause.number))
        elif clause.number <= 1:
            before.append(above)
        last = max(filter(None, before), key=lambda each: each.length, default=None)
        if last is None and clause.number > 1:
            continue
        own = link(clause, last)
        if clause.number not in ends or own.length > ends[clause.number].length:
            ends[clause.number] = own
        if best is None or own.length > best.length:
            best = own
    return items_of(best)


def _are_most(chain: Sequence[_Clause], size: int, length: int) -> bool:
    """Whether most of a text is in these, and half of them have at least a length."""
    starts = [*(clause.start for clause in chain), size]
    lengths = [b - a for a, b in pairwise(starts)]
    return sum(lengths) >= _COVERED * size and max(lengths) <= _LONGEST * size and median(lengths) >= length


def _add_inner(found: Sequence[_Clause], chain: Sequence[_Clause], headings: Sequence[Heading]) -> list[Heading]:
    """The headings with the clauses 5.1, 5.2 below clause 5, unless there are headings of such numbers."""
    starts = [clause.start for clause in chain]
    levels = {heading.start: heading.level for heading in headings}
    inner: list[Heading] = []
    latest: tuple[int, tuple[int, ...]] = (-1, ())
    for clause in found:
        at = bisect_right(starts, clause.start) - 1
        if len(clause.numbers) == 1 or at < 0 or clause.number != chain[at].number:
            continue
        if (at, clause.numbers) > latest and starts[at] in levels:
            latest = at, clause.numbers
            inner.append(Heading(clause.start, levels[starts[at]] + len(clause.numbers) - 1, clause.title))
    are_known = any(_DOTTED.match(heading.title) for heading in headings)
    return [*headings, *(() if are_known or len(inner) < _INNER else inner)]
