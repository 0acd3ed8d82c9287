"""Marks of italics in plain text, "_so_", left out of what is shown."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import replace

from nlb_retriever.records import Citation, Hit

_ITALICS = re.compile(r"(?<![^\s“‘\"'(\[—–-])_(?=[^\s_])[^_]{0,1000}(?<!\s)_(?!\w)")
_PLAIN = (".txt", ".text")
"""Files whose italics are marked so; in others "_" is part of a name."""


def plain_hit(hit: Hit) -> Hit:
    """A hit whose text is to be shown, without marks of italics; its span is the book's as before."""
    return replace(hit, text=_without(hit.text, _marks(hit)))


def plain_citation(citation: Citation) -> Citation:
    """A citation to be shown, without marks of italics; its spans are of the text that is left of its hit."""
    hit = citation.hit
    marks = _marks(hit)
    if not marks:
        return citation

    def moved(position: int) -> int:
        return position - bisect_left(marks, position - hit.start)

    text = _without(hit.text, marks)
    start, end = moved(citation.quote_start), moved(citation.quote_end)
    return replace(
        citation,
        hit=replace(hit, text=text, end=moved(hit.end)),
        quote=text[start - hit.start : end - hit.start],
        quote_start=start,
        quote_end=end,
        answer=(moved(citation.answer[0]), moved(citation.answer[1])) if citation.answer else None,
    )


def plain_words(hit: Hit, words: str) -> str:
    """A few words of a hit without marks of italics, also where they are cut between two."""
    if not hit.source.lower().endswith(_PLAIN):
        return words
    return re.sub(r"(?<!\w)_(?=[^\W_])|(?<=[^\s_])_(?!\w)", "", words)


def _marks(hit: Hit) -> list[int]:
    if not hit.source.lower().endswith(_PLAIN):
        return []
    return [end for match in _ITALICS.finditer(hit.text) for end in (match.start(), match.end() - 1)]


def _without(text: str, marks: list[int]) -> str:
    pieces = [
        text[start:end] for start, end in zip([0, *(mark + 1 for mark in marks)], [*marks, len(text)], strict=True)
    ]
    return "".join(pieces)
