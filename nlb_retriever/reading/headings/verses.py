"""Scriptures in plain text: books and chapters by the numbers of verses ("3:16"), whose chapters have no headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from nlb_retriever.reading.draft import Heading, one_line

_NAME = r"(?P<book>(?:(?:[1-4]|I{1,3}|IV)[^\S\n]?)?[^\W\d_]{2,16}(?:[^\S\n][^\W\d_]{1,15}){0,3}\.?[^\S\n])"
_VERSE = re.compile(
    rf"^[^\S\n]*[\[{{(]?{_NAME}?"
    r"(?P<chapter>\d{1,3}):(?P<verse>\d{1,3})[\])}]?:?[^\S\n]",
    re.MULTILINE,
)
"""At the beginning of a line; in some files behind the name of its book."""
_FIELDS = re.compile(
    r"^(?:(?P<book>[^\W_][^\n|\t]{0,39})(?P<mark>[|\t]))??(?P<chapter>\d{1,3})(?(mark)(?P=mark)|[|\t])(?P<verse>\d{1,3})[|\t]",
    re.MULTILINE,
)
"""A line of fields: "1|1|...", "Genesis|1|1|..." or with tabs."""
_BELOW_CHAPTER = re.compile(
    rf"^[^\S\n]*(?:{_NAME}(?P<chapter>\d{{1,3}})[^\S\n]*\n(?:[^\S\n]*\n)?[^\S\n]*1|(?P<verse>\d{{1,3}}))\.?[^\S\n]",
    re.MULTILINE,
)
"""The first verse below the line "Genesis 1", or another one."""
_LEAST = 50
"""Verses."""
_FOLLOWING, _OF_LINES = 0.9, 0.3
"""Least share of verses whose number follows on the one before, and of lines that begin with a verse."""
_LONGEST_TITLE = 100
_BOOK, _CHAPTER = 2, 4
"""Levels."""


@dataclass(frozen=True)
class _Verse:
    start: int
    book: str
    """Name before its number, if there is one."""
    chapter: int
    verse: int


def find_chapters_of_verses(text: str) -> list[Heading]:
    """The books and chapters of a text in numbered verses; empty for other texts.

    A chapter begins where the first number changes, a book where it goes back to 1: its title stands above.
    """
    for form in (_VERSE, _FIELDS) if "|" in text or "\t" in text else (_VERSE,):
        verses = [
            _Verse(match.start(), (match["book"] or "").strip(" ."), int(match["chapter"]), int(match["verse"]))
            for match in form.finditer(text)
        ]
        if _are_verses(text, verses):
            return list(_headings(text, verses))
    verses = list(_below_chapters(text))
    several = len({verse.book for verse in verses}) > 1
    return list(_headings(text, verses)) if several and _are_verses(text, verses) else []


def _are_verses(text: str, found: Sequence[_Verse]) -> bool:
    return len(found) >= _LEAST and _follow(found) and _are_most_lines(text, found)


def _below_chapters(text: str) -> Iterator[_Verse]:
    """Verses whose numbers alone stand before them, below the name of their book and the number of their chapter."""
    book, chapter = "", 0
    for match in _BELOW_CHAPTER.finditer(text):
        if match["chapter"]:
            book, chapter = match["book"].strip(" ."), int(match["chapter"])
        if chapter:
            yield _Verse(match.start(), book, chapter, int(match["verse"] or 1))


def _follow(verses: Sequence[_Verse]) -> bool:
    good = sum(
        (after.chapter, after.verse) in {(before.chapter, before.verse + 1), (before.chapter + 1, 1), (1, 1)}
        for before, after in pairwise(verses)
    )
    return good >= _FOLLOWING * (len(verses) - 1)


def _are_most_lines(text: str, verses: Sequence[_Verse]) -> bool:
    lines = sum(1 for _ in re.finditer(r"^[^\S\n]*\S", text[verses[0].start : verses[-1].start], re.MULTILINE))
    return len(verses) >= _OF_LINES * lines


def _headings(text: str, verses: Sequence[_Verse]) -> Iterator[Heading]:
    last: _Verse | None = None
    for verse in verses:
        first = (verse.chapter, verse.verse) == (1, 1)
        begins = last is None or verse.book != last.book or verse.chapter < last.chapter or first
        start = verse.start
        if begins:
            start, title = _title_above(text, verse.start)
            title = verse.book or title
            if title:
                yield Heading(start, _BOOK, title)
        if begins or (last and verse.chapter != last.chapter):
            yield Heading(start, _CHAPTER, f"Chapter {verse.chapter}")
        last = verse


def _title_above(text: str, end: int) -> tuple[int, str]:
    """Where the title of a book stands that begins at a place, and the title; the place and "" without one."""
    titles: list[tuple[int, str]] = []
    at = end
    while at > 0 and len(titles) < 5:
        begin = text.rfind("\n", 0, at - 1) + 1
        line = text[begin:at].strip()
        if line and (len(line) > _LONGEST_TITLE or line[-1] in ".,;?!”’\"'" or _VERSE.match(text, begin)):
            break
        if line:
            titles.append((begin, line))
        at = begin
    titles.reverse()
    other = next((index for index, (_, line) in enumerate(titles) if line.endswith(":")), len(titles))
    own = titles[:other][-1:]  # "The First Book of Samuel", "Otherwise Called:", "The First Book of the Kings"
    return (own[0][0], one_line(own[0][1].strip(" _*="))) if own else (end, "")
