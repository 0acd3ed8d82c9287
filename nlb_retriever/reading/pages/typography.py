"""Titles on printed pages by how they are set: lines in larger or bolder type than the text."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from nlb_retriever.reading.headings.looks import COUNTED, is_numbered, parse_line
from nlb_retriever.reading.pages.page_numbers import DATE_WORDS

FOOTNOTE_MARKS = "*∗⋆†‡§¹ "
"""Behind a title."""
_HYPHEN = re.compile(r"(?<=[^\W\d_])- (?=[^\W\d_A-Z])")
"""At the end of a title's line."""
CAPTION = re.compile(
    r"(?:figure|fig|table|algorithm|listing|example|equation|abbildung|abb|tabelle|tableau|figura|tabla)\b\.?\s?\d",
    re.IGNORECASE,
)
_DATE = rf"\d{{1,2}}\.?\s(?i:{'|'.join(sorted(DATE_WORDS))})\b\.?,?(?:\s\d{{4}}\b|\W*$)"
_NUMBER = re.compile(rf"(?!{_DATE})(?:\d{{1,2}}|[A-Z](?=\.))(?:\.\d{{1,3}})*[.:]?\s(?=.*[^\W\d_]{{2}})")
"""Of a section, before its title; none of a date ("12 May 2023")."""
HAS_WORD = re.compile(r"[^\W\d_]{3}|[\u3040-\u9fff\uac00-\ud7af]{2}")
"""Not only labels such as "mb"."""
LONGEST, MOST_LINES = 160, 4
"""Characters and lines of a title."""
_BODY = 0.4
"""Share of the letters that the commonest type has: where it has less, looks tell nothing."""
LARGER = 1.07
"""How much larger than the text a title is set, unless it is bold."""
_NEARLY = 1.0
"""Points between the sizes of two lines of text."""
_LEAST = 3
"""Titles of a text: of fewer, looks tell nothing."""
_WORDS = 60
"""Words of text for each title: more titles are a table's or a list's."""
_FEW_WORDS = 15
"""Where the titles count: items of minutes are short."""
_CAPITALS = 0.8
"""Share of the titles of one look that begin with a capital or a number."""
_TIMES = 3
"""More titles with the same words are "Note" and "See also"."""
_TITLE_PAGE = 0.4
"""Share of a page's words on average that a first page has fewer of where it is only a title page."""
_LONG_LINE = 45
"""Characters of a line of prose."""
_ENOUGH, _GAP = 5, 0.3
"""Larger titles, and the share of the lines between two of them at most, beside which lines in bold alone are none."""
_FIGURE = re.compile(r"[-–−—+(\[]*[£$€¥]?(?:\d[\d.,]*|[-–—])[)\]%]*")
_SIGNS = frozenset("£$€¥%")
_NO_TITLE = re.compile(
    r"[,;，；：]$|。|^(?-i:[a-z])|^[•·\[(]|[={}|\\]"
    r"|^(?:note|tip|hint|important|warning|caution|attention|danger|remark|see also|example)\W*$",
    re.IGNORECASE,
)
_STOP = re.compile(r"[.)]$")
_PAGE, _FIRST_PAGE = re.compile(r"\s\d{1,4}$"), re.compile(r"^\d{1,4}\s")
"""The number of a page, behind or before a running head."""


class Look(NamedTuple):
    """How a line is set."""

    size: float
    """In points, to the half."""
    bold: bool


class Title(NamedTuple):
    """Lines that are one title."""

    first: int
    """Index of its first line."""
    last: int
    """Index of its last line."""
    level: int
    """Smaller levels are further out."""
    text: str
    """Its lines in one; one that is there twice, as a running head, once."""


class _Run(NamedTuple):
    first: int
    last: int
    text: str
    look: Look


def find_titles(lines: Sequence[str], pages: Sequence[int], looks: Sequence[Look | None]) -> list[Title]:
    """The titles among the lines of all pages, in order; empty where their looks tell none apart.

    Args:
        lines: of all pages, in order.
        pages: for each line the index of its page.
        looks: for each line its look.
    """
    letters: Counter[Look] = Counter()
    figures = sum(len(line) for line in lines if is_row(line))
    for line, look in zip(lines, looks, strict=True):
        if look and not is_row(line):
            letters[look] += len(line)
    if not letters:
        return []
    body, most = letters.most_common(1)[0]
    if most < _BODY * (sum(map(len, lines)) - figures):
        return []
    runs = [run for run in _runs(lines, pages, looks) if _stands_out(run.look, body)]
    runs = _without_title_page(_without_repeats(_joined(runs, pages)), lines, pages, looks, body)
    firsts = {run.first for run in runs}
    groups: defaultdict[Look, list[_Run]] = defaultdict(list)
    for run in runs:
        groups[run.look].append(run)
    words = sum(len(line.split()) for line in lines)
    kept: list[_Run] = []
    for look, group in sorted(groups.items(), reverse=True):
        of_titles = sum(len(run.text) for run in group)
        before_text = sum(run.last + 1 in firsts or _is_text(looks, run.last + 1, body) for run in group)
        if 2 * of_titles < letters[look] or 2 * before_text < len(group) or not _are_titles(group):
            continue
        if (len(kept) + len(group)) * (_FEW_WORDS if _counts(group) else _WORDS) <= words:
            larger = look.size > LARGER * body.size
            enough = len(kept) >= _ENOUGH and _longest_gap(kept, len(lines)) <= _GAP * len(lines)
            kept += _without_odd(group, numbered=enough and not larger, stops=larger)
    return _levelled(sorted(kept)) if len(kept) >= _LEAST else []


def is_row(line: str) -> bool:
    """Whether a line is a row of a table: words, and two figures or more at its end."""
    words = [word for word in line.split() if word not in _SIGNS]
    return len(words) > 2 and all(map(_FIGURE.fullmatch, words[-2:])) and HAS_WORD.search(line) is not None


def _without_odd(group: Sequence[_Run], *, numbered: bool, stops: bool) -> list[_Run]:
    """The titles of one look without notes, terms, code and sentences.

    Args:
        group: the titles.
        numbered: only those with a number count.
        stops: titles may end in a full stop, if most do.
    """
    stops = stops and 2 * sum(_STOP.search(run.text) is not None for run in group) >= len(group)
    return [
        run
        for run in group
        if _NUMBER.match(run.text)
        or is_numbered(run.text)
        or not (numbered or _NO_TITLE.search(run.text) or (_STOP.search(run.text) and not stops))
    ]


def _is_text(of_line: Sequence[Look | None], i: int, body: Look) -> bool:
    """Whether a line is set as the text is, nearly, since some of its letters may be smaller."""
    look = of_line[i] if i < len(of_line) else None
    return look is not None and abs(look.size - body.size) <= _NEARLY


def _stands_out(look: Look, body: Look) -> bool:
    return look.size > LARGER * body.size or (look.bold and not body.bold and look.size >= body.size)


def _longest_gap(runs: Sequence[_Run], end: int) -> int:
    places = sorted(run.first for run in runs)
    return max(b - a for a, b in pairwise([0, *places, end]))


def _runs(lines: Sequence[str], pages: Sequence[int], of_line: Sequence[Look | None]) -> Iterator[_Run]:
    """Lines below each other that are set alike, parted where a section number begins; only those short enough."""
    starts = [
        i
        for i, line in enumerate(lines)
        if i == 0 or of_line[i] != of_line[i - 1] or pages[i] != pages[i - 1] or _NUMBER.match(line)
    ]
    for first, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        look = of_line[first]
        text = _HYPHEN.sub("", " ".join(dict.fromkeys(lines[first:end])))
        if look and end - first <= MOST_LINES and len(text) <= LONGEST and not CAPTION.match(text):
            yield _Run(first, end - 1, text, look)


def _joined(runs: Sequence[_Run], pages: Sequence[int]) -> list[_Run]:
    """The runs, but with the title right below "Chapter 4" as one with it."""
    joined: list[_Run] = []
    for run in runs:
        if joined and joined[-1].last + 1 == run.first and pages[joined[-1].last] == pages[run.first]:
            before = joined[-1]
            found = parse_line(before.text)
            if found and found[0].number and not found[0].rest and not _NUMBER.match(run.text):
                joined[-1] = _Run(before.first, run.last, f"{before.text} {run.text}", before.look)
                continue
        joined.append(run)
    return joined


def _without_repeats(runs: Sequence[_Run]) -> list[_Run]:
    """The runs without "Note", running heads that were not found to be such, and a table of contents."""
    times = Counter(_key(run.text) for run in runs)
    texts = {run.text for run in runs}
    return [
        run
        for run in runs
        if times[_key(run.text)] <= _TIMES and not (_PAGE.search(run.text) and _PAGE.sub("", run.text) in texts)
    ]


def _key(text: str) -> str:
    return (text if COUNTED.fullmatch(text) else _PAGE.sub("", _FIRST_PAGE.sub("", text))).casefold()


def _without_title_page(
    runs: Sequence[_Run], lines: Sequence[str], pages: Sequence[int], of_line: Sequence[Look | None], body: Look
) -> list[_Run]:
    """The runs without the book's title and what stands between it and the text, but for what is right above that."""
    first = pages.index(pages[0] + 1) if pages[0] + 1 in pages else 0
    words = [sum(len(line.split()) for line in part) for part in (lines[:first], lines)]
    if words[0] < _TITLE_PAGE * words[1] / (pages[-1] + 1):
        runs = [run for run in runs if run.first >= first]
    prose = (
        i
        for i, (line, look) in enumerate(zip(lines, of_line, strict=True))
        if look == body and len(line) > _LONG_LINE and of_line[i + 1 : i + 2] == [body]
    )
    begin = next(prose, 0)
    numbered = next((run.first for run in runs if _NUMBER.match(run.text)), begin)
    return [run for run in runs if run.first >= min(begin, numbered) or run.last == begin - 1]


def _are_titles(group: Sequence[_Run]) -> bool:
    """Whether what is set alike reads like titles: not labels of a figure, a table's heads, terms to be defined."""
    numbers = [number for run in group if (number := _bare_number(run.text))]
    counted = sum(after == before + 1 for before, after in pairwise(numbers))
    if 2 * len(numbers) > len(group):
        return counted >= _CAPITALS * (len(numbers) - 1)
    worded = len(numbers) + sum(HAS_WORD.search(run.text) is not None for run in group)
    begun = sum(not run.text[0].islower() and not run.text.startswith(("-", "−", "–")) for run in group)
    return len(group) > 1 and worded >= _CAPITALS * len(group) and begun >= _CAPITALS * len(group)


def _counts(group: Sequence[_Run]) -> bool:
    """Whether each title has the number behind that of the one before ("34. Apologies")."""
    numbers = [int(match[0]) if (match := re.match(r"\d+(?=[.:]?\s)", run.text)) else 0 for run in group]
    return all(before and after == before + 1 for before, after in pairwise(numbers))


def _bare_number(text: str) -> int:
    """The number that a line is, in Roman numerals, too; 0 where it is another."""
    found = parse_line(text)
    return found[0].number if found and found[0].kind == "bare" and not found[0].rest else 0


def are_numbered(titles: Sequence[str]) -> bool:
    """Whether at least half of the titles begin with a section number."""
    return 2 * sum(_NUMBER.match(title) is not None for title in titles) >= len(titles)


def _levelled(runs: Sequence[_Run]) -> list[Title]:
    """Titles with their levels: by the points of their numbers where most have one, else by size."""
    depths = [_depth(run.text) for run in runs]
    looks = sorted({run.look for run in runs}, reverse=True)
    if not are_numbered([run.text for run in runs]):
        return [Title(run.first, run.last, looks.index(run.look), run.text) for run in runs]
    of_look = {
        look: Counter(d for run, d in zip(runs, depths, strict=True) if run.look == look and d is not None)
        for look in looks
    }
    level_of: dict[Look, int] = {}
    level = 1
    for look in looks:
        level_of[look] = level = of_look[look].most_common(1)[0][0] if of_look[look] else level
    return [
        Title(run.first, run.last, level_of[run.look] if depth is None else depth, run.text)
        for run, depth in zip(runs, depths, strict=True)
    ]


def _depth(text: str) -> int | None:
    match = _NUMBER.match(text)
    return len(re.findall(r"\d+|[A-Z]", match[0])) if match else None
