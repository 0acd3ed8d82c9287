"""Sections of manual pages as `man` prints them: titles in capitals at the margin, all else indented."""

from __future__ import annotations

import re

from nlb_retriever.reading.draft import Heading

_TITLE = re.compile(
    r"(?:(?<=\n\n)|\A)(?P<section>[^\W\d_](?:\S| (?! )){1,60})(?=\n[ \t]+\S)"
    r"|(?<=\n) {3}(?P<inner>[^\W\d_](?:\S| (?! )){1,60})(?=\n(?: {4,}|\t)[ \t]*\S)"
)
_FIRST = "NAME"
_LEAST = 3


def find_manual_sections(text: str) -> list[Heading]:
    """The sections of a manual page in English and, three blanks from the margin, those within; else empty."""
    if f"{_FIRST}\n " not in text and f"{_FIRST}\n\t" not in text:
        return []
    found = [
        Heading(match.start(), 2 if match["inner"] else 1, match[0].strip())
        for match in _TITLE.finditer(text)
        if (match["inner"] or match["section"])[0].isupper() and (match["inner"] or match["section"].isupper())
    ]
    return found if len(found) >= _LEAST and found[0].title == _FIRST else []
