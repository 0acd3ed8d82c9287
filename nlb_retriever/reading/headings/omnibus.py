"""Several novels in a file with a flat table of contents: chapters, whose numbers begin anew, lie below their novel."""

from __future__ import annotations

from collections.abc import Sequence

from nlb_retriever.reading.headings.looks import parse_line

_CHAPTERS = frozenset({"chapter", "bare"})
_PARTS = frozenset({"part", "book", "volume"})


def find_inner(titles: Sequence[str]) -> set[int]:
    """Of the titles of a flat table of contents those that lie below another, which names a novel or part.

    Empty where chapters are numbered once, or begin anew without a title of their own above.
    """
    kinds = [_read(title) for title in titles]
    firsts = [i for i, kind in enumerate(kinds) if kind == ("chapter", 1) and ("chapter", 2) in kinds[i : i + 3]]
    outer: list[int] = []
    for first in firsts:
        above = first - 1
        while above >= 0 and kinds[above][0] == "named":  # a novel's prologue
            above -= 1
        if above < 0 or kinds[above][0] == "chapter":
            return set()
        outer.append(above)
    names = {titles[i].casefold() for i in outer}
    if len(outer) < 2 or len(names) < len(outer) or len({kinds[i][0] for i in outer}) > 1:
        return set()
    return set(range(outer[0], len(titles))) - set(outer)


def _read(title: str) -> tuple[str, int]:
    """What a title is, and its number: a chapter, a named piece ("Prologue"), a part, or another one."""
    found = next(iter(parse_line(title, 0, len(title), is_title=True)), None)
    if found is None:
        return "", 0
    if found.kind in _CHAPTERS:
        return "chapter", found.number
    return ("part", 0) if found.kind in _PARTS else (found.kind if found.kind == "named" else "", 0)
