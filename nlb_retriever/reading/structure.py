"""Headings and text to sections: the partition that every format shares."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from nlb_retriever.reading.draft import Heading, one_line
from nlb_retriever.reading.segmentation import LONGEST, segment
from nlb_retriever.records import Section

PART_CHARS = 11_500
"""Length of parts of a text without paragraphs: about 2,000 English words. A text up to 1.5 times this is one part."""
STRETCH_CHARS = 500_000
"""A longer text is segmented in pieces of this length, which bounds the memory that takes."""
GIANT_CHARS = 170_000
"""A section without inner headings stays whole up to this length, about 30,000 words."""
_TINY = 400
"""A container's own text up to this length (a motto, a subtitle) belongs to its first child."""
_TINY_OF_PAGE = 40
"""The same of a web page or of notes, which have no mottos but what their sections are about."""
_CHAPTER = 4_000
"""Characters from which on half of a book's innermost sections are chapters, and those of notes are shorter."""
_CONTENTS = 4
"""So many headings in a row with nothing below them are a table of contents."""
_MANY_HEADINGS = 5_000
_SPACED = 500
"""Characters that a section has at least in a book of more headings than that: a vector for each line costs minutes."""
_SCENE_BREAK = re.compile(r"\n[ \t]*(?:[*#~=_•⁂—-][ \t]*){1,12}\n|\n[ \t]*\n[ \t]*\n[ \t]*\n")
_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_STATEMENT = re.compile(r"\n[^\W_]\S* \S+ \S.*[.!?:](?=\s|$)", re.MULTILINE)
"""A line below a title with a sentence of three words or more."""
_SENTENCE = re.compile(r"[.!?…。！？][\"'”’»“«)\]]*\s+|[。！？]")


def partition(
    text: str, headings: Sequence[Heading], title: str, *, is_page: bool = False, is_marked: bool = False
) -> tuple[Section, ...]:
    """Cut text into sections at its headings; without any, into parts of sensible size.

    Args:
        headings: in any order; those past the text's end or at the same place and level as
            another are dropped.
            In a book of more than 5,000, one that follows another too closely is text.
        title: of the book; a lone outermost heading over everything (which is the book's title
            again) does not appear in the paths.
        is_page: of a web site.
        is_marked: whether headings are marked as such, and not found by how they look.
    """
    ordered = _tidy(text, headings)
    are_notes = is_page or (is_marked and _has_short_sections(text, ordered))
    tiny = _TINY_OF_PAGE if are_notes else _TINY
    if not ordered:
        spans = _parts(text, 0, len(text))
        if len(spans) == 1:
            return (Section(path=(title,), start=0, end=len(text)),)
        return tuple(_numbered((), spans))
    sections: list[Section] = []
    front = text[: ordered[0].start].strip()
    if (is_page and len(front) > tiny) or (are_notes and _STATEMENT.search(f"\n{front}")):
        sections = _front(text, ordered[0].start, title, title)
    elif len(front) >= _TINY:
        sections = _front(text, ordered[0].start, title, "Front matter")
    stack: list[Heading] = []
    begin: int | None = None if sections else 0
    for i, heading in enumerate(ordered):
        end = ordered[i + 1].start if i + 1 < len(ordered) else len(text)
        while stack and stack[-1].level >= heading.level:
            stack.pop()
        stack.append(heading)
        begin = heading.start if begin is None else begin
        deeper = i + 1 < len(ordered) and ordered[i + 1].level > heading.level
        own = text[heading.start : end].strip()
        is_statement = are_notes and _STATEMENT.search(own, len(heading.title)) is not None
        if deeper and len(own) - len(heading.title) <= tiny and not is_statement:
            continue  # an empty container: its first child's section begins with its heading
        sections.append(Section(path=tuple(h.title for h in stack), start=begin, end=end))
        begin = None
    return tuple(_without_giants(text, _without_root(sections, ordered, title)))


def _has_short_sections(text: str, headings: Sequence[Heading]) -> bool:
    """Whether half of the sections without others inside are shorter than a chapter is."""
    inside = zip_longest(headings, headings[1:], fillvalue=Heading(len(text), 0, ""))
    lengths = sorted(below.start - heading.start for heading, below in inside if below.level <= heading.level)
    return bool(lengths) and lengths[len(lengths) // 2] < _CHAPTER


def _tidy(text: str, headings: Sequence[Heading]) -> list[Heading]:
    """Sorted, titled, unique; a heading with nothing below it and its successor become one.

    Many such in a row are a table of contents, and go.
    """
    places = {(h.start, h.level): h for h in reversed(headings) if 0 <= h.start < len(text)}
    ordered = [replace(places[key], title=one_line(places[key].title, 160) or "Untitled") for key in sorted(places)]
    tidy: list[Heading] = []
    bare: list[Heading] = []  # headings with nothing below them, met since the last one with a text
    for heading, following in zip_longest(ordered, ordered[1:]):
        if following and heading.level == following.level and _bare(text, heading, following.start):
            bare.append(heading)
            continue
        if 0 < len(bare) < _CONTENTS:
            tidy += bare[:-1]
            title = one_line(f"{bare[-1].title.rstrip('.')}. {heading.title}", 160)
            tidy.append(replace(bare[-1], title=title))
        else:
            tidy.append(heading)
        bare = []
    return tidy if len(tidy) <= _MANY_HEADINGS else _spaced(tidy)


def _spaced(headings: Sequence[Heading]) -> list[Heading]:
    """Those that stand above the last one kept, or far enough below it."""
    kept = [headings[0]]
    for heading in headings[1:]:
        if heading.level < kept[-1].level or heading.start - kept[-1].start >= _SPACED:
            kept.append(heading)
    return kept


def _bare(text: str, heading: Heading, end: int) -> bool:
    own = text[heading.start : min(end, heading.start + 400)]
    return end - heading.start < 400 and _letters(own) == _letters(heading.title)


def _front(text: str, end: int, title: str, name: str) -> list[Section]:
    if end < 3 * PART_CHARS:
        return [Section(path=(name,), start=0, end=end)]
    return _numbered((title,), _parts(text, 0, end))


def _without_root(sections: list[Section], headings: Sequence[Heading], title: str) -> list[Section]:
    """Paths without an outermost title that says nothing: the book's own, or the only one there is."""
    outermost = min(h.level for h in headings)
    roots = [h for h in headings if h.level == outermost]
    alone = len(roots) == 1 and sections[0].path[0] == roots[0].title and len(sections) > 2
    under = sum(len(s.path) > 1 and _same(s.path[0], title) for s in sections)
    strip = roots[0].title if alone else title if under > 0.5 * len(sections) else None
    return [
        replace(s, path=s.path[1:]) if strip and len(s.path) > 1 and _same(s.path[0], strip) else s for s in sections
    ]


def _letters(text: str) -> str:
    """A text's letters and digits."""
    return re.sub(r"[\W_]+", "", text)


def _same(one: str, other: str) -> bool:
    return _letters(one).casefold() == _letters(other).casefold()


def _without_giants(text: str, sections: list[Section]) -> list[Section]:
    """A chapter may be long; what is as long as a book is cut into parts under its title."""
    cut: list[Section] = []
    for section in sections:
        if section.end - section.start <= GIANT_CHARS:
            cut.append(section)
            continue
        cut += _numbered(section.path, _parts(text, section.start, section.end))
    return cut


def _numbered(path: tuple[str, ...], spans: Sequence[tuple[int, int]]) -> list[Section]:
    """Parts without titles, below a path."""
    return [Section(path=(*path, f"Part {i} of {len(spans)}"), start=s, end=e) for i, (s, e) in enumerate(spans, 1)]


def _parts(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Cut text[start:end], which has no headings, where its sections seem to begin."""
    if end - start <= 1.5 * PART_CHARS:
        return [(start, end)]
    return [
        part
        for stretch in split_evenly(text, start, end, STRETCH_CHARS)
        for span in segment(text, *stretch)
        for part in (split_evenly(text, *span) if span[1] - span[0] > LONGEST else [span])
    ]


def split_evenly(text: str, start: int, end: int, size: int = PART_CHARS) -> list[tuple[int, int]]:
    """Cut text[start:end] into parts of about `size` characters, at the best borders near by.

    Scene breaks are best, then paragraphs, then sentences, then spaces. Linear in the length.
    """
    spans: list[tuple[int, int]] = []
    while end - start > 1.5 * size:
        low, high = start + int(0.6 * size), min(start + int(1.4 * size), end - int(0.3 * size))
        cut = _border(text, low, high, start + size)
        spans.append((start, cut))
        start = cut
    spans.append((start, end))
    return spans


def _border(text: str, low: int, high: int, ideal: int) -> int:
    for pattern in (_SCENE_BREAK, _PARAGRAPH, re.compile(r"\n"), _SENTENCE, re.compile(r"\s")):
        ends = [m.end() for m in pattern.finditer(text, low, high)]
        if ends:
            return min(ends, key=lambda e: abs(e - ideal))
    return ideal
