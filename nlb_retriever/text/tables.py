"""Tables in a text: rows of figures behind a label, and the heads of their columns, as `reading` leaves them.

Cells are parted by two spaces or more, or, in what is read from a PDF, by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

LONGEST = 300
"""Characters of a row: longer lines are looked at no further."""
_LINE = re.compile(r"[^\n]*\S[^\n]*")
_CELLS = re.compile(r"[^\S\n]{2,}|\t")
_WORD = re.compile(r"(?:[(\[]?(?:US|A|C)?[£$€¥][^\S\n])?\S+(?:[^\S\n]%\)?)?")
"""A word of a line, or a figure with a sign apart: "$ 4", "7.1 %"."""
_FIGURE = re.compile(
    r"[(\[]?[-–−+]?(?:US|A|C)?(?:[£$€¥]\s?)?[(\[]?\d(?:[\d.,]*\d)?(?:bn|pts|pt|[pmk])?\s?%?[)\]]?\s?%?|[-–—]|n/a"
)
_YEAR = re.compile(r"(?:FY)?(?:1[5-9]|20)\d\d(?:[/–-]\d{2,4})?")
_UNITS = re.compile(r"[£$€¥](?:m|bn|k|000|million)?|['’]000s?|%|(?:in )?(?:millions?|thousands?)|[a-z]{1,3}/[A-Za-z]+")
_STOPS = frozenset(".!?:;")
_LEAST_FIGURES = 2
"""At the end of a row whose cells are parted by single spaces."""
_MOST_LABEL = 12
"""Words of its label."""
_MOST_HEADS = 2
"""Lines of a table's head."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of figures."""

    start: int
    end: int
    """Span in the text of its line."""
    label: str
    cells: tuple[tuple[int, int], ...]
    """Spans in the text, from left to right."""
    heads: tuple[str, ...] = ()
    """What stands above each cell; none where that is not known."""
    head: int | None = None
    """Where the table's head begins in the text; None where it has none."""


def is_row(line: str) -> bool:
    """Whether a line is a row of figures whose cells are parted by single spaces."""
    words = _WORD.findall(line) if len(line) <= LONGEST else []
    figures = _count_figures(words)
    years = sum(_YEAR.fullmatch(word) is not None for word in words[len(words) - figures :])
    return _LEAST_FIGURES <= figures < len(words) <= figures + _MOST_LABEL and years < figures


def find_rows(text: str) -> Iterator[Row]:
    """The rows of the tables in a text, in order."""
    above: list[re.Match[str]] = []
    heads: list[re.Match[str]] = []
    for line in _LINE.finditer(text):
        row = _read_row(line) if line.end() - line.start() <= LONGEST else None
        if row is None:
            above, heads = [*above, line][-_MOST_HEADS:], []
            continue
        if above:
            heads, above = _heads(above), []
        columns: Sequence[str] = next(filter(None, (_columns(head[0], len(row.cells)) for head in reversed(heads))), ())
        if len(heads) > 1 and len(columns) > 1:
            columns = _below(heads[0][0], columns)
        yield replace(row, heads=tuple(columns), head=heads[0].start() if heads else None)


def _count_figures(words: Sequence[str]) -> int:
    """How many words at the end are figures."""
    return next((n for n, word in enumerate(reversed(words)) if not _FIGURE.fullmatch(word)), len(words))


def _read_row(line: re.Match[str]) -> Row | None:
    """A line as a row of figures; None where it is none, or the head of one ("2023  2022")."""
    start, text = line.start(), line[0]
    if len(parts := [part for part in _CELLS.split(text) if part.strip()]) > 1:
        label, *values = parts
        figures = [
            value for value in values if any(map(str.isdigit, value)) and _count_figures(_WORD.findall(value)[:1])
        ]
    elif is_row(text):
        words = _WORD.findall(text)
        figures = values = words[len(words) - min(_count_figures(words), len(words) - 1) :]
        label = text[: [*_WORD.finditer(text)][-len(values)].start()]
    else:
        return None
    if not figures or all(_YEAR.fullmatch(value.strip()) for value in values) or label.rstrip()[-1:] in _STOPS:
        return None
    cells, end = [], len(text)
    for value in reversed(values):
        at = text.rindex(value.strip(), 0, end)
        cells.append((start + at, start + at + len(value.strip())))
        end = at
    return Row(start=start, end=start + len(text.rstrip()), label=label.strip(), cells=tuple(reversed(cells)))


def _heads(above: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """Of the lines above a table those that belong to its head: the nearest, and those with cells, years or units."""
    kept: list[re.Match[str]] = []
    for line in reversed(above):
        if line[0].rstrip()[-1] in _STOPS or len(line[0]) > LONGEST:
            break
        words = line[0].split()
        is_head = _CELLS.search(line[0].strip()) or any(map(_YEAR.fullmatch, words))
        if not is_head and sum(map(bool, map(_UNITS.fullmatch, words))) < _LEAST_FIGURES:
            break
        kept.insert(0, line)
    return kept


def _columns(head: str, count: int) -> list[str]:
    """What a line of a table's head says of each of some cells, of which the last stands below its end; else none."""
    cells = [cell.strip() for cell in _CELLS.split(head) if cell.strip()]
    if len(cells) == 1:
        cells = _split_head(head.split(), count)
    elif len(cells) == count + 1:
        del cells[0]
    return cells if len(cells) == count else _pad(cells, count)


def _below(head: str, columns: Sequence[str]) -> Sequence[str]:
    """The heads of columns with those above them, where each of these stands above as many."""
    cells = [cell.strip() for cell in _CELLS.split(head) if cell.strip()]
    for upper in (cells, cells[1:]):
        if 1 < len(upper) < len(columns) and len(columns) % len(upper) == 0:
            each = len(columns) // len(upper)
            return [f"{upper[at // each]} {column}" for at, column in enumerate(columns)]
    return columns


def _pad(cells: Sequence[str], count: int) -> list[str]:
    """The last cells, with empty ones before them, where a head has fewer than its rows: these have a note's number."""
    return ["", *cells] if len(cells) == count - 1 else []


def _split_head(words: Sequence[str], count: int) -> list[str]:
    """The words of a head as those of some columns, each of which has a year or else a unit; none without these."""
    marks = [index for index, word in enumerate(words) if _YEAR.fullmatch(word)]
    units = [index for index, word in enumerate(words) if _UNITS.fullmatch(word)]
    if not marks and len(units) == count:
        marks = units
    rest = " ".join(words[marks[-1] + 1 :]) if marks else ""
    is_headed = bool(rest) and not _UNITS.fullmatch(rest)
    if is_headed and len(marks) == count:  # "2023 Income 2022 Income"
        return [" ".join(words[begin:end]) for begin, end in pairwise([*marks, len(words)])]
    cells = [" ".join(words[begin:end]) for begin, end in pairwise([0, *(mark + 1 for mark in marks)])]
    return [*cells, rest] if is_headed else cells
