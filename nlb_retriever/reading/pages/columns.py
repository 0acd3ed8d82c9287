"""The lines of a printed page in the order in which they are read, where a file has them in another.

Files have columns one below the other, but a column with its footnotes, and figures where they stand: in the middle of
sentences, which go on in the next column or on the next page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import pairwise, takewhile
from statistics import median
from typing import NamedTuple

from nlb_retriever.reading.pages.page_notes import MARK, SMALLER
from nlb_retriever.reading.pages.typography import CAPTION, is_row

_LEFT, _RIGHT = 0.47, 0.53
"""Shares of a page's width: lines of the right column begin behind the first, of the left end before the second."""
_WIDE, _LEAST_WIDE = 0.25, 12
"""Share of a page's width that a column's line has at least, and such lines of each column."""
_MOSTLY = 0.6
"""Share of the lines so wide that stand in a column, on a page with two."""
_APART, _APART_IN_COLUMN = 1.2, 1.6
"""Sizes of its letters that a running head stands above all columns, and that one within a column stands above both."""
_GAP = 1.4
"""Distances of two lines that part what is printed."""
_WIDEST = 2.6
"""Sizes of their letters from one line of a paragraph to the next at most."""
_AS_TEXT = 0.5
"""Points by which the letters of lines of text differ at most."""
_LEAST_TEXT = 20
"""Characters of a line of text that goes on."""
_MOST = 120
"""Lines of what stands in the middle of a sentence."""
_LONGEST = 2_000
"""Lines of a page that is put in order: more are no printed page."""
_MOST_BEHIND = 60
"""Lines from there to the end of the paragraph."""
_INDENT, _EVEN = 4.0, 1.5
"""Points that a paragraph's first line is indented at least; and in which the beginnings of lines differ."""
_CAPTION = re.compile(
    rf"^(?:{CAPTION.pattern}|table [ivxl]{{1,6}}\b)"
    r"|(?<=\s)(?-i:F(?:igure|ig\.|IG(?:URE|\.))|T(?:able|ABLE)) \d{1,3}[.:]\s",
    CAPTION.flags,
)
"""Also behind the last words within a figure."""
_SMALL = re.compile(r"(?-i:[a-zß-ÿ])(?:[^\W\d_]|\s)")
"""The beginning of a line that goes on; of no formula."""
_FULL = 0.8
"""Share of the usual width of lines that one has at least whose sentence goes on."""
_EDGE, _HEAD = 2, 12
"""Lines at the top of a page that may be running heads, and characters of their words: no labels of a figure."""
_CAPITAL = re.compile(r"[\"“‘'«]?[^\W\d_a-zß-ÿ]")
_DROPPED, _TALL = 1.8, 0.75
"""Sizes of the text's letters that a capital over several lines has at least; and its height in its own size."""
_WORD = re.compile(r"[^\W\d_]+")
_ENDED = re.compile(r"[.!?:;…][\"”’')\]]*$")
_STOP = re.compile(r"[.!?][\"”’')\]]*$")


class Line(NamedTuple):
    """A line of a page."""

    text: str
    """With its end."""
    left: float
    right: float
    height: float
    """Of its first letter above the page's foot."""
    size: float
    """Of its letters."""

    @property
    def words(self) -> str:
        """Its text without its end."""
        return self.text.strip()


class ReadingOrder:
    """Puts the lines of pages in order, one page behind the other."""

    def __init__(self) -> None:
        self._letters = Counter[float]()
        self._last = ""

    def sort(self, lines: Sequence[Line], width: float) -> list[Line]:
        """The lines of the next page in order.

        Args:
            lines: as the file has them.
            width: of the page.
        """
        for line in lines:
            self._letters[round(2 * line.size) / 2] += len(line.text)
        if not 0 < len(lines) <= _LONGEST:
            return [*lines]
        body = self._letters.most_common(1)[0][0]
        ordered = _join_capitals(lines, body)
        if _has_columns(lines, width):
            ordered = _notes_last(_heads_first(ordered, width), width, body)
        ordered = _floats_behind(ordered, self._last, body)
        self._last = _last_full(ordered, _usual_width(ordered, body), body)
        return ordered


def _join_capitals(lines: Sequence[Line], body: float) -> list[Line]:
    """The lines, with each large capital over several lines at the beginning of the first of these."""
    kept = [*lines]
    for capital in lines:
        if capital.size < _DROPPED * body or not _CAPITAL.fullmatch(capital.words):
            continue
        beside = [
            line
            for line in kept
            if line.size < capital.size
            and 0 <= line.height - capital.height + line.size / 2 <= _TALL * capital.size
            and capital.left < line.left < capital.right + capital.size
        ]
        if beside:
            first = max(beside, key=lambda line: line.height)
            words = {word.casefold() for line in kept if line is not first for word in _WORD.findall(line.text)}
            whole = _with_capital(capital.words, first.text, words)
            kept[kept.index(first)] = first._replace(text=whole, left=capital.left)
            kept.remove(capital)
    return kept


def _with_capital(capital: str, text: str, words: Set[str]) -> str:
    """A text with its capital, which may be a word ("A", "I", "O").

    Args:
        capital: the letter, with a quotation mark or none.
        text: what follows.
        words: others of the page, in small letters.
    """
    word = _WORD.match(text)
    rest = word[0].casefold() if word else ""
    alone = rest not in words and capital[-1] != "I"
    is_whole = f"{capital[-1]}{rest}".casefold() in words or capital[-1] not in "AIO" or alone
    return f"{capital}{text}" if rest and is_whole else f"{capital} {text.lstrip()}"


def _column(line: Line, width: float) -> int:
    """1 for the left column, 2 for the right one, 0 for neither."""
    begins_left = line.left < width / 2  # as short lines between the two edges do or not
    return 1 if begins_left and line.right < _RIGHT * width else 2 if line.left > _LEFT * width else 0


def _has_columns(lines: Sequence[Line], width: float) -> bool:
    wide = [_column(line, width) for line in lines if line.right - line.left > _WIDE * width]
    left, right = wide.count(1), wide.count(2)
    return min(left, right) >= _LEAST_WIDE and left + right > _MOSTLY * len(wide)


def _heads_first(lines: Sequence[Line], width: float) -> list[Line]:
    """The lines with those first that stand above all columns, as running heads do, and come in the middle of them."""
    in_column = [i for i, line in enumerate(lines) if line.right - line.left > _WIDE * width and _column(line, width)]
    top = max(lines[i].height for i in {0, *in_column})
    heights = sorted({line.height for line in lines}, reverse=True)
    heads = set[int]()
    for i, line in enumerate(lines):
        below = top + _APART * line.size
        if _column(line, width):
            others = (height for height in heights if abs(height - line.height) > line.size / 2)  # not on its level
            below = next(others, 0.0) + _APART_IN_COLUMN * line.size
        if i > in_column[0] and line.height > below:
            heads.add(i)
    above = sorted((lines[i] for i in heads), key=lambda line: -line.height)
    return [*above, *(line for i, line in enumerate(lines) if i not in heads)]


def _notes_last(lines: list[Line], width: float, body: float) -> list[Line]:
    """The lines with the small print at the foot of the left column behind the right one."""
    columns = [_column(line, width) for line in lines]
    right = next((i for i in range(len(lines) - 1, 0, -1) if columns[i] == 2 and columns[i - 1] == 1), 0)
    if not right or lines[right].height <= lines[right - 1].height:
        return lines
    first = right
    while first and columns[first - 1] == 1 and 0 < lines[first - 1].size <= SMALLER * body:
        first -= 1
    notes = lines[first:right]
    if not first or columns[first - 1] != 1 or abs(lines[first - 1].size - body) > _AS_TEXT or not notes:
        return lines
    if any(CAPTION.match(line.words) for line in notes):
        return lines
    if not (MARK.match(notes[0].words) or _goes_on(lines[first - 1].words, lines[right], body)):
        return lines
    foot = notes[-1].height - body / 2
    end = 1 + max(i for i, line in enumerate(lines) if columns[i] == 2 and (i == right or line.height > foot))
    while end > right and columns[end - 1] == 2 and 0 < lines[end - 1].size <= SMALLER * body:
        end -= 1
    return [*lines[:first], *lines[right:end], *notes, *lines[end:]]


def _floats_behind(lines: list[Line], last: str, body: float) -> list[Line]:
    """The lines with figures and tables behind the paragraph in whose middle they stand.

    Args:
        lines: of a page.
        last: line of text before them.
        body: size of the letters of text.
    """
    parts = [*_parts(lines, body)]
    usual = _usual_width(lines, body)
    edges = Counter(round(line.left / _EVEN) for line in lines if _is_full(line, usual, body))
    while parts:
        begin, end = parts[0]
        firsts = (lines[start] for start, _ in parts[:_MOST])
        at = next((n for n, line in enumerate(firsts) if _goes_on(last, line, body) and _is_even(line, edges)), 0)
        if at and begin < _EDGE and end == begin + 1 and _is_head(lines, begin):
            begin, at, parts = parts[1][0], at - 1, parts[1:]
        until = parts[at][0]
        if at and until - begin <= _MOST and _are_floats([lines[start:end] for start, end in parts[:at]], usual, body):
            behind = _paragraph_end(lines, parts[at:], body)
            lines = [*lines[:begin], *lines[until:behind], *lines[begin:until], *lines[behind:]]
            last = ""
            parts = [(max(behind, start), end) for start, end in parts[at:] if end > behind]
        else:
            last = _last_full(lines[begin:end], usual, body)
            parts = parts[1:]
    return lines


def _is_head(lines: Sequence[Line], i: int) -> bool:
    """Whether a line may be a running head: one with words, or a number above all others."""
    line = lines[i]
    alone = line.words.isdigit() and all(line.height > other.height + line.size for other in lines if other != line)
    return alone or len(line.words) >= _HEAD


def _is_text(line: Line, body: float) -> bool:
    return abs(line.size - body) <= _AS_TEXT and len(line.words) >= _LEAST_TEXT


def _usual_width(lines: Sequence[Line], body: float) -> float:
    return median([line.right - line.left for line in lines if _is_text(line, body)] or [0.0])


def _is_full(line: Line, usual: float, body: float) -> bool:
    """Whether a line is one of text that may go on in the next."""
    return _is_text(line, body) and line.right - line.left >= _FULL * usual and not is_row(line.words)


def _last_full(lines: Sequence[Line], usual: float, body: float) -> str:
    """The last line of text; empty where it is not full, so that it ends a paragraph, or there is none."""
    line = next((line for line in reversed(lines) if _is_text(line, body)), None)
    return line.words if line and _is_full(line, usual, body) else ""


def _goes_on(above: str, line: Line, body: float) -> bool:
    """Whether a sentence goes on in a line."""
    return (
        abs(line.size - body) <= _AS_TEXT
        and len(above) >= _LEAST_TEXT
        and not _ENDED.search(above)
        and _SMALL.match(line.words) is not None
    )


def _is_even(line: Line, edges: Mapping[int, int]) -> bool:
    """Whether a line begins where others do, as no row of a table in the middle of a column does."""
    place = round(line.left / _EVEN)
    return sum(edges.get(each, 0) for each in (place - 1, place, place + 1)) > 1


def _are_floats(parts: Sequence[Sequence[Line]], usual: float, body: float) -> bool:
    """Whether parts of a page are figures and tables with captions: none is prose, unless it begins with a caption."""
    above = [[*takewhile(lambda line: not _CAPTION.search(line.words), part)] for part in parts]
    has_caption = any(len(before) < len(part) for before, part in zip(above, parts, strict=True))
    return has_caption and not any(_is_full(line, usual, body) for before in above for line in before)


def _parts(lines: Sequence[Line], body: float) -> Iterator[tuple[int, int]]:
    """The first line and the end of what is printed together: parted by gaps, columns and other letters."""
    steps = [a.height - b.height for a, b in pairwise(lines) if _is_text(a, body) and _is_text(b, body)]
    pitch = median([step for step in steps if 0 < step < _WIDEST * body] or [_WIDEST * body / 2])
    starts = [0]
    for i, (above, below) in enumerate(pairwise(lines), 1):
        step = above.height - below.height
        if step > _GAP * pitch or step < -pitch or (_is_text(above, body) and not abs(below.size - body) <= _AS_TEXT):
            starts.append(i)
    yield from pairwise([*starts, len(lines)])


def _paragraph_end(lines: Sequence[Line], parts: Sequence[tuple[int, int]], body: float) -> int:
    """The index behind the paragraph that begins with a part, or its sentence; that of the part where none ends."""
    first = parts[0][0]
    ends = {end for _, end in parts}
    sentence = first
    for i in range(first, min(len(lines), first + _MOST_BEHIND)):
        if _STOP.search(lines[i].words):
            if i + 1 in ends or lines[i + 1].left > lines[i].left + _INDENT:
                return i + 1
            sentence = i + 1 if sentence == first else sentence
    return sentence
