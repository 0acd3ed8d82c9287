"""Several novels in a file with a flat table of contents: chapters, whose numbers begin anew, lie below their novel."""

from __future__ import annotations

from collections.abc import Sequence

from nlb_retriever.reading.headings.looks import parse_line

_CHAPTERS = frozenset({"chapter", "bare"})
_PARTS = frozenset({"part", "book", "volume"})


def find_depths(titles: Sequence[str]) -> list[int]:
    """How deep each title of a flat table of contents lies below others: chapters below a novel, part or book whose
    numbers begin anew, and parts below a novel, books below a volume.

    All zeros where chapters are numbered once, or begin anew without a title of their own above.
    """
    kinds = [_read(title) for title in titles]
    firsts = [i for i, kind in enumerate(kinds) if kind == ("chapter", 1) and ("chapter", 2) in kinds[i : i + 3]]
    outer = [_above(kinds, first) for first in firsts]
    if len(outer) < 2 or any(i < 0 or kinds[i][0] == "chapter" for i in outer):
        return [0] * len(titles)
    highest = _highest(titles, kinds, outer)
    if not highest:
        of_part = {kinds[i][0] in _PARTS for i in outer}
        if len({titles[i].casefold() for i in outer}) < len(outer) or len(of_part) > 1:
            return [0] * len(titles)
        highest, outer = {*outer}, []
    depths: list[int] = []
    around = -1
    for i in range(len(titles)):
        around = 0 if i in highest else 1 if i in outer else around
        depths.append(around if i in highest or i in outer else around + 1)
    return depths


def _above(kinds: Sequence[tuple[str, int]], i: int) -> int:
    """The title above another, but for a novel's prologue; -1 without one."""
    above = i - 1
    while above >= 0 and kinds[above][0] == "named":
        above -= 1
    return above


def _highest(titles: Sequence[str], kinds: Sequence[tuple[str, int]], outer: Sequence[int]) -> set[int]:
    """The novels, volumes or parts above the parts or books that are above chapters; empty without such."""
    of = {kinds[i][0] for i in outer} - {""}
    if len(of) != 1:
        return set()
    parts = [i for i in outer if kinds[i][0] in of]
    above = {i: _above(kinds, i) for i in parts}
    found = {i for i in above.values() if i >= 0 and kinds[i][0] not in {"chapter", *of}} | {*outer} - {*parts}
    names = {titles[i].casefold() for i in found}
    if len(found) < 2 or len(names) < len(found) or len({kinds[i][0] for i in found}) > 1:
        return set()
    if all(kinds[i][0] for i in found):
        return found
    begin = [i for i in parts if kinds[i][1] == 1]  # else a title above a part is that of the chapter before
    return found if begin == [i for i in parts if above[i] in found] else set()


def _read(title: str) -> tuple[str, int]:
    """What a title is, and its number: a chapter, a named piece ("Prologue"), a part, or another one."""
    found = next(iter(parse_line(title, 0, len(title), is_title=True)), None)
    if found is None:
        return "", 0
    if found.kind in _CHAPTERS:
        return "chapter", found.number
    return (found.kind, found.number) if found.kind in _PARTS else (found.kind if found.kind == "named" else "", 0)
