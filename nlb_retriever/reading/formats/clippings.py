"""A Kindle's "My Clippings.txt": what its reader marked, book by book."""

from __future__ import annotations

import re

from nlb_retriever.reading.draft import Heading, one_line
from nlb_retriever.reading.omissions import Omissions, count_words

_RULE = re.compile(r"^={10}[^\S\n]*(?:\n|\Z)", re.MULTILINE)
_CLIPPING = re.compile(r"\s*(?P<title>\S[^\n]{0,400})\n- (?P<place>[^\n]{1,300})(?P<text>(?:\n[^\n]*)*)")
_LEAST = 2


def read_clippings(text: str, omissions: Omissions) -> tuple[str, list[Heading]]:
    """What is marked in each book under its title, every clipping with its place and time below; no headings where a
    text is none of clippings.

    Args:
        text: of a file.
        omissions: gets the titles that come again.
    """
    stretches = [stretch for stretch in _RULE.split(text) if stretch.strip()] if "\n==========" in text else []
    found = [*map(_CLIPPING.fullmatch, stretches)]
    if len(found) < _LEAST or not all(found[:-1]):  # the last one may be cut
        return text, []
    books: dict[str, list[str]] = {}
    for stretch, clipping in zip(stretches, found, strict=True):
        title = one_line(clipping["title"]) if clipping else next(reversed(books))
        if title in books:
            omissions.skip_element("clipping's title", count_words(title) if clipping else 0)
        marked = (clipping["text"].strip(), clipping["place"].strip()) if clipping else (stretch.strip(),)
        books.setdefault(title, []).append("\n\n".join(filter(None, marked)))
    parts: list[str] = []
    headings: list[Heading] = []
    for title, clippings in books.items():
        headings.append(Heading(sum(map(len, parts)), 1, title))
        parts += (f"{title}\n\n", *(f"{clipping}\n\n\n" for clipping in clippings))
    return "".join(parts), headings
