"""Footnotes at the feet of printed pages: lines in smaller type that begin with a mark that the text above has, too."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from nlb_retriever.reading.pages.typography import CAPTION, Look, is_row

SMALLER = 0.93
"""Size of a note's letters beside that of most letters, at most."""
_MOST = 100
"""Lines of the notes of a page: more are a list or a table."""
MARK = re.compile(r"(?P<mark>\d{1,3}|[*∗⋆†‡§¶]{1,3})(?!\d)[.)]?\s?(?=[“\"‘'(\[]?[^\W\d_])")
_BEFORE = r"(?:(?<=[^\W\d_]{2})|(?<=[^\W\d_]{2}[.,;:!?’”»)\]\"'])|(?<=[^\W\d_]{2}[.,][’”\"']))"
"""What a call stands behind: not the numbers of sections."""
_BEHIND = r"(?![\w*∗⋆†‡§¶]|\.\d)"
_CALL = re.compile(rf"{_BEFORE}(\d{{1,3}}|[*∗⋆†‡§¶]{{1,3}}){_BEHIND}")
_WORD = re.compile(r"[^\W_]+\W{0,2}$")
"""What a call stands behind, with its stop."""
_ENDED = re.compile(r"[.!?;:][\"”’')\]]*$")

_SMALL = re.compile(r"[(“‘]?[a-zß-ÿ]")


class Note(NamedTuple):
    """A footnote."""

    page: int
    """Index of the page that it begins on."""
    lines: list[str]


def take_notes(pages: Sequence[list[str]], looks: Sequence[dict[str, Look]]) -> tuple[list[list[str]], list[Note]]:
    """The lines of pages without their footnotes and the marks that call these, and the footnotes.

    Args:
        pages: the lines of each.
        looks: how the lines of each page are set; lines that lose a mark are added.

    Returns:
        The pages' other lines, and the notes in order; one that goes on at the next page's foot is one.
    """
    sizes = Counter[float]()
    for page, seen in zip(pages, looks, strict=True):
        for line in page:
            sizes[seen[line].size if line in seen else 0.0] += len(line)
    common = sizes.most_common(1)[0][0] if sizes else 0.0
    kept: list[list[str]] = []
    notes: list[Note] = []
    for index, (page, seen) in enumerate(zip(pages, looks, strict=True)):
        foot = len(page)
        while foot and page[foot - 1] in seen and seen[page[foot - 1]].size <= SMALLER * common:
            foot -= 1
        above = page[:foot]
        below = range(foot, len(page)) if len(page) - foot <= _MOST else ()
        starts = [at for at in below if _take_call(page[at], above, seen)]
        goes_on = starts and notes and notes[-1].page + 1 == index and not _ENDED.search(notes[-1].lines[-1])
        uncalled = page[foot : starts[0] if starts else foot + len(below)]
        if goes_on:
            notes[-1].lines.extend(uncalled)
        elif not any(kept) and uncalled and above and _interrupts(uncalled, above[-1], pages[index + 1 : index + 2]):
            notes.append(Note(index, uncalled))
        else:
            above += page[foot : starts[0] if starts else len(page)]
        for start, end in pairwise([*starts, len(page)]):
            notes.append(Note(index, [MARK.sub(r"\g<mark> ", page[start], count=1), *page[start + 1 : end]]))
        kept.append(above)
    return kept, notes


def _interrupts(lines: Sequence[str], above: str, following: Sequence[Sequence[str]]) -> bool:
    """Whether small print, no figure and no table, stands in a sentence that goes on on the next page.

    On a first page it says where the authors are, and who has the rights.
    """
    if _ENDED.search(above) or any(CAPTION.match(line) or is_row(line) for line in lines):
        return False
    return any(page and _SMALL.match(page[0]) for page in following)


def _take_call(line: str, above: list[str], seen: dict[str, Look]) -> bool:
    """Whether a line begins with a mark that one above has behind a word, which loses it there.

    No word that stands there more often with it ("gctorture2"), and none of a line of authors with several marks
    ("Ann Bell1, Tom Ring2"), where there is another one.
    """
    mark = MARK.match(line)
    if not mark:
        return False
    call = re.compile(rf"{_BEFORE}{re.escape(mark['mark'])}{_BEHIND}")
    calls = [(at, found.span()) for at, text in enumerate(above) for found in call.finditer(text)]
    if not calls:
        return False
    page = "\n".join(above)

    def is_doubtful(place: tuple[int, tuple[int, int]]) -> tuple[bool, bool]:
        at, (start, end) = place
        word = _WORD.search(above[at][:start])
        several = len(set(_CALL.findall(above[at]))) > 1
        return word is not None and page.count(above[at][word.start() : end]) > 1, several

    at, (start, end) = min(calls, key=is_doubtful)
    text = above[at]
    above[at] = text[:start] + text[end:]
    if text in seen:
        seen.setdefault(above[at], seen[text])
    return True
