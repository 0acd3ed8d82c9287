"""Books that programs give: a text and what is known of it, instead of a file."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import Any

from nlb_retriever.errors import ReadingError
from nlb_retriever.reading.book import language_tag, title_from_name
from nlb_retriever.reading.draft import clean, one_line
from nlb_retriever.reading.outline import find_headings
from nlb_retriever.reading.plain import title_page
from nlb_retriever.reading.structure import partition
from nlb_retriever.records import Book, Page, Section

_TITLE_CHARS = 60


def book_from_text(
    text: str,
    *,
    source: str,
    title: str | None = None,
    author: str | None = None,
    language: str | None = None,
    year: int | None = None,
    name: str | None = None,
    sections: Sequence[Section] = (),
    pages: Sequence[Page] = (),
    metadata: Mapping[str, Any] | None = None,
    passing: Sequence[str] = (),
) -> Book:
    """A book of a text.

    Its chapters are found by their headings, as in a text file, but nothing is left out or joined. Line ends
    become "\\n", and control characters blanks: to keep `sections` and `pages` true, `clean` the text before.

    Args:
        text: all of it; a book without text is refused when it is indexed.
        source: its lasting name: who it is.
        title: None for the one on its title page, else made of `name`, else its first words.
        author, language, year: None where unknown.
        name: a file's, for the title.
        sections: a partition of the text, if known.
        pages: in text order.
        metadata: what else is known; what JSON has no word for becomes text.
        passing: keys of metadata that may change without the book being another (a file's dates).

    Raises:
        ReadingError: the sections are no partition of the text.
    """
    text = clean(text)
    printed, by = title_page(text) if not title else (None, None)
    known = {_plain_words(key): _plain(value) for key, value in (metadata or {}).items()}
    title = one_line(title or printed or "") or (title_from_name(PurePath(name)) if name else "")
    title = title or one_line(text[:1000], _TITLE_CHARS) or "Untitled"
    author = one_line(author or by or "") or None
    sections = tuple(sections) or partition(text, find_headings(text), title)
    borders = [(0, 0), *((section.start, section.end) for section in sections)]
    if borders[-1][1] != len(text) or any(before[1] != after[0] for before, after in pairwise(borders)):
        raise ReadingError(f"{source}: its sections must cover its {len(text)} characters without gaps or overlaps")
    what = {
        "about": [title, author, language, year, text],
        "sections": [[section.path, section.start] for section in sections],
        "pages": [[page.start, page.number, page.label] for page in pages],
        "metadata": {key: value for key, value in known.items() if key not in passing},
    }
    content_hash = hashlib.sha256(json.dumps(what, sort_keys=True).encode("ascii")).hexdigest()
    return Book(
        id=content_hash[:16],
        content_hash=content_hash,
        title=title,
        author=author,
        language=language_tag(language),
        year=year,
        source=source.encode("utf-8", "backslashreplace").decode("utf-8"),
        text=text,
        sections=sections,
        pages=tuple(pages),
        metadata=known,
        from_file=False,
    )


def _plain(value: Any) -> Any:
    """A value as JSON and every store have it; what they have no word for as text."""
    if isinstance(value, Mapping):
        return {_plain_words(key): _plain(each) for key, each in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(_plain_words, value))  # in an order that is the same in every run
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return int(value)
    return float(value) if isinstance(value, float) and math.isfinite(value) else _plain_words(value)


def _plain_words(value: Any) -> str:
    return str(value).replace("\0", "").encode("utf-8", "replace").decode("utf-8")
