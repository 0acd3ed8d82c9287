"""Printed lines to paragraphs and headings: a PDF's text once its pages are read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, starmap

from nlb_retriever.reading.draft import Heading
from nlb_retriever.reading.headings.looks import is_bibliography, parse_line
from nlb_retriever.reading.headings.numbering import numbered_lines
from nlb_retriever.reading.headings.outline import choose_headings
from nlb_retriever.reading.pages.page_numbers import DATE_WORDS
from nlb_retriever.reading.pages.typography import FOOTNOTE_MARKS, Title, are_numbered, is_row

_TERMINAL = re.compile(r"[.!?:…][\"'”’»“«)\]]*$")
_SPEECH = re.compile(r"[QA]\. |[A-Z][A-Z.'’]+ [A-Z.'’ ]{2,40}: ")
"""The beginning of what somebody says at a hearing: "A. Yes.", "MR SMITH: Yes."."""
_NUMBERED = re.compile(r"\d{1,3}(?:\.\d{1,3})+\.? +[“\"‘'(]?[A-Z]|[A-Z][a-z]+ \d{1,3}[.:]?$")
"""The beginning of a numbered paragraph, or its number alone: "3.4 The bridge", "Recommendation 12"."""
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_CUT, _AFTER = re.compile(r"([^\W_]+)-$"), re.compile(r"[^\W\d_]+|\d")
"""What stands before a hyphen at a line's end, and what behind it in the next line."""
_CUT_INSIDE = re.compile(r"(?<![^\W\d_])([^\W\d_]+)- ([a-zß-öø-ÿ]+)")
"""A word that is cut where two lines are one in the text layer of a crooked scan; no "pre- and"."""
_RARE = 3
"""Unless the whole of such a word comes, too, its rest comes so often at most, and has more letters ("vor- und")."""
_WRAPPED = 40
"""Characters of a title's line that may go on in the next."""
_FULL, _REST = 0.7, 0.3
"""Shares of a line's width that a title's first line has at least, and its second at most."""
_SHORT = 0.8
"""Share of a line's width that the second line of a title has at most."""
_NUMBER = re.compile(
    r"\s*(?:(?:Chapter|Section|Appendix|Part) )?(?:\d{1,3}|[A-Z](?=\.))(?:\.\d{1,3})*[.:]?[ ]+", re.IGNORECASE
)
"""Before a title, on its line."""
_DATE = re.compile(r"([^\W\d_]+)(?:[.,:—–-]+|\s\d{4}\b)\W*\w")
"""The month or day of a diary's entry, before its text: "September.--This afternoon"; no chapter called "May"."""
_BULLET = re.compile(r"[•▪■◦‣▶►▸●○➢✓] ")
"""The beginning of an item of a list."""
_ALONE = re.compile(r"^(.{4,40})\n\n", re.MULTILINE)
"""A short paragraph of one line."""


@dataclass(frozen=True)
class Bookmark:
    """An entry of a PDF's outline."""

    level: int
    title: str
    page: int
    """Index of the page that it leads to."""


def find_numbered_titles(lines: Sequence[str], of_page: Sequence[int], titles: Sequence[Title]) -> list[Title]:
    """Titles by their section numbers that are no titles yet; none beside more titles without numbers."""
    width = _width(lines)
    candidates = ["" if _is_paragraph(lines, of_page, i, width) else line for i, line in enumerate(lines)]
    chain = numbered_lines(candidates)
    deep = sum(len(line.number) > 1 for line in chain)
    if (len(chain) < len(titles) or 2 * deep < len(chain)) and not are_numbered([title.text for title in titles]):
        return []
    taken = {i for title in titles for i in range(title.first, title.last + 1)}
    found = []
    for line in chain:
        if line.line not in taken:
            last = line.line + _goes_on(lines, of_page, line.line)
            found.append(Title(line.line, last, len(line.number), " ".join(lines[line.line : last + 1])))
    return found


def headings_of(titles: Sequence[Title], places: Sequence[int], text: str) -> list[Heading]:
    """Titles as headings, unless the words of the text tell better where its sections begin."""
    headings = [Heading(places[title.first], title.level, title.text.rstrip(FOOTNOTE_MARKS)) for title in titles]
    return choose_headings(headings, text)


def _width(lines: Sequence[str]) -> int:
    """Characters of a full line."""
    lengths = sorted(map(len, lines))
    return lengths[int(0.9 * (len(lengths) - 1))] if lengths else 0


def join_lines(lines: Sequence[str], titles: Sequence[Title]) -> tuple[str, list[int]]:
    """All lines as paragraphs, with the offset at which each line begins, and that of the end."""
    width = _width(lines)
    words = Counter(word.casefold() for line in lines for word in _WORD.findall(line))
    firsts, lasts = {title.first for title in titles}, {title.last for title in titles}
    within = {i for title in titles for i in range(title.first, title.last)}
    lines = [_CUT_INSIDE.sub(lambda cut: _join_word(cut, words), line) if "- " in line else line for line in lines]
    parts: list[str] = []
    places = [0]
    are_heads = [*starmap(_heading, pairwise([*lines, ""])), False]
    for i, (line, following) in enumerate(pairwise([*lines, ""])):
        heads = are_heads[i], are_heads[i + 1]
        text, glue = (line, "\n\n") if i in lasts or i + 1 in firsts else _glue(line, following, heads, width, words)
        if i in within:
            text, glue = (line[:-1], "") if line[-1] == "-" and following[0].islower() else (line, " ")
        parts += [text, glue]
        places.append(places[-1] + len(text) + len(glue))
    joined = "".join(parts).rstrip("\n") + "\n"
    return joined, [min(place, len(joined)) for place in places]


def _join_word(cut: re.Match[str], words: Counter[str]) -> str:
    """A cut word as one, or as it is where it may be two."""
    whole, hyphened = words[f"{cut[1]}{cut[2]}".casefold()], words[f"{cut[1]}-{cut[2]}".casefold()]
    if whole < hyphened:
        return f"{cut[1]}-{cut[2]}"
    return f"{cut[1]}{cut[2]}" if whole or words[cut[2]] <= _RARE < len(cut[2]) else cut[0]


def _is_paragraph(lines: Sequence[str], of_page: Sequence[int], i: int, width: int) -> bool:
    """Whether a line goes on as no title does: in a long line, or to a full stop."""
    if i + 1 == len(lines) or not lines[i][0].isdigit() or not _goes_on(lines, of_page, i):
        return False
    following = lines[i + 1]
    return len(following) > _SHORT * width or following[-1] in ".;:,"


def _goes_on(lines: Sequence[str], of_page: Sequence[int], i: int) -> bool:
    """Whether a numbered title goes on in the next line of its page."""
    if i + 1 == len(lines) or of_page[i] != of_page[i + 1]:
        return False
    return len(lines[i]) > _WRAPPED and (lines[i][-1] == "-" or lines[i + 1][0].islower())


def _glue(line: str, following: str, heads: tuple[bool, bool], width: int, words: Counter[str]) -> tuple[str, str]:
    """The line as it is kept, and what stands between it and the next; each may be a heading by its words."""
    if not following:
        return line, "\n"
    if len(line) > 1 and line[-1] == "-" and line[-2].isalpha() and following[0].islower():
        left, right = _WORD.findall(line)[-1], _WORD.findall(following)[0]
        whole, hyphened = words[(left + right).casefold()], words[f"{left}-{right}".casefold()]
        return (line, "") if hyphened > whole else (line[:-1], "")
    if (cut := _CUT.search(line)) and (right := _AFTER.match(following)):  # "Karush-" and "Kuhn", "COVID-" and "19"
        whole, hyphened = words[(cut[1] + right[0]).casefold()], words[f"{cut[1]}-{right[0]}".casefold()]
        if whole > hyphened or (line.isupper() and right[0].isupper()):
            return line[:-1], ""
        if hyphened or (cut[1][0].isupper() and right[0].isalpha()) or cut[1][-1].isupper() or cut[1][-1].isdigit():
            return line, ""
    if not heads[1] and _is_cut(line, following, width):
        return line, " "
    if any(heads) or _BULLET.match(following):
        return line, "\n\n"
    if (is_row(line) or is_row(following)) and (following[0].isupper() or (is_row(line) and is_row(following))):
        return line, "\n\n"
    if _TERMINAL.search(line) and (_SPEECH.match(following) or _NUMBERED.match(following)):
        return line, "\n\n"
    short = len(line) < 0.8 * width
    if short and (_TERMINAL.search(line) or following[0].isupper() or following[0] in "“\"‘'—•"):
        return line, "\n\n"
    if len(line) < 0.95 * width and _TERMINAL.search(line) and following[0] in '“"‘':
        return line, "\n\n"
    return line, " "


def _is_cut(line: str, following: str, width: int) -> bool:
    """Whether a chapter's title fills its line and ends in the next, a short one."""
    found = parse_line(line) if _FULL * width < len(line) < 100 and len(following) < _REST * width else []
    return bool(found) and found[0].number > 0 and found[0].kind != "bare"


def _heading(line: str, following: str) -> bool:
    """Whether a line is a heading by its words; a number's line that goes on in the next is none, nor is a date."""
    found = parse_line(line) if len(line) < 100 else []
    if not found or found[0].kind != "bare":
        return bool(found)
    if (date := _DATE.match(found[0].rest)) and date[1].casefold() in DATE_WORDS:
        return False
    alone = not found[0].rest and found[0].style == "roman"
    return (len(found[0].rest) > 3 or alone) and not following[:1].islower()


def with_references(headings: list[Heading], text: str) -> list[Heading]:
    """The headings and, where none of them is that of the references, the line that is."""
    if not headings or any(is_bibliography(heading.title) for heading in headings):
        return headings
    level = min(heading.level for heading in headings)
    found = [match for match in _ALONE.finditer(text) if is_bibliography(match[1])]
    return [*headings, *(Heading(match.start(), level, match[1].strip()) for match in found[-1:])]


def _ends_line(text: str, end: int) -> bool:
    """Whether a line ends there, or nearly: a title may have a mark of a footnote or a stop."""
    return not text[end : end + 1].isalpha() and text[end : end + 3].partition("\n")[1] == "\n"


def _is_line(text: str, start: int, match: re.Match[str]) -> tuple[bool, bool]:
    """Whether a title ends its line, and whether it is all of it but for a number; the page begins at `start`."""
    line = text.rfind("\n", start, match.start()) + 1 or start
    ends = _ends_line(text, match.end())
    return ends, ends and (line == match.start() or _NUMBER.fullmatch(text, line, match.start()) is not None)


def read_outline(bookmarks: Sequence[Bookmark], text: str, starts: Sequence[int]) -> list[Heading]:
    """Bookmarks as headings, each where its title stands on its page (or at the page's top), with its number there."""
    found: list[Heading] = []
    for bookmark, following in zip(bookmarks, [*bookmarks[1:], None], strict=False):
        if bookmark.page >= len(starts):
            continue
        start = starts[bookmark.page]
        is_behind = following and following.level <= bookmark.level and following.page > bookmark.page
        if following and is_behind and starts[following.page : following.page + 1] == [start]:
            continue  # its pages are skipped, as a table of contents is
        end = starts[bookmark.page + 1] if bookmark.page + 1 < len(starts) else len(text)
        words = re.findall(r"\w+", bookmark.title)[:12]
        title = re.compile(r"\W{1,8}".join(words), re.IGNORECASE)
        place, named = start, bookmark.title
        if words and (matches := [*title.finditer(text, start, end)]):
            match = max(matches, key=lambda each: _is_line(text, start, each))
            place = match.start()
            line = text.rfind("\n", start, place) + 1 or start
            if number := _NUMBER.fullmatch(text, line, place):
                place, named = line, f"{number[0].strip()} {named}"
        if found and place < found[-1].start:
            place = max(start, found[-1].start)
        found.append(Heading(place, bookmark.level, named))
    return found
