"""Books from texts that a program has, instead of files."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Any

from nlb_retriever.errors import ReadingError, brief, several
from nlb_retriever.reading.book import language_tag, title_from_name
from nlb_retriever.reading.draft import clean, one_line
from nlb_retriever.reading.headings.outline import find_headings
from nlb_retriever.reading.pages.title_page import title_page
from nlb_retriever.reading.structure import partition
from nlb_retriever.records import Book, Page, Section

_TITLE_CHARS = 60


def book_from_text(
    text: str,
    *,
    source: str | Path,
    title: str | None = None,
    author: str | Sequence[str] | None = None,
    language: str | None = None,
    year: int | str | None = None,
    file_name: str | None = None,
    sections: Sequence[Section] = (),
    pages: Sequence[Page] = (),
    metadata: Mapping[str, Any] | None = None,
    volatile: Sequence[str] = (),
) -> Book:
    """Make a book of a text.

    Its chapters are found by their headings, as in a text file, but nothing is left out or joined. Line ends
    become "\\n", control characters spaces, and letters with marks one character (NFC); `clean` the text first if you
    give `sections` or `pages`.

    Args:
        text: the whole text; a book without text is refused when it is indexed.
        source: a lasting name that identifies the book.
        title: None for the one on the title page, else one made from `file_name`, else the first words.
        author, language, year: None where unknown; several authors as a list.
        file_name: for the title.
        sections: a partition of the text, if known; their metadata as the book's.
        pages: in text order.
        metadata: further values; those that JSON does not know become strings.
        volatile: keys of metadata whose change does not make the book a changed one (a file's dates).

    Raises:
        ReadingError: the sections are no partition of the text, a page begins outside of it, or a value is of another
            kind.
    """
    source = os.fspath(source) if isinstance(source, os.PathLike) else source
    author = ", ".join(map(str, author)) if isinstance(author, list | tuple) else author
    words = {"text": text, "source": source, "title": title or "", "author": author or "", "language": language or ""}
    for name, value in words.items():
        if not isinstance(value, str):
            raise ReadingError(f"a book's {name} must be a string, not {brief(value)}")
    if year is not None and to_year(year) is None:
        raise ReadingError(f"{source}: its year must be a number of at most four digits, not {brief(year)}")
    if not isinstance(metadata or {}, Mapping):
        raise ReadingError(f"{source}: its metadata must be a mapping of names to values, not {brief(metadata)}")
    text, author, year = clean(text), str(author or ""), to_year(year)
    printed, by = title_page(text) if not title else (None, None)
    values = _to_values(metadata or {})
    title = one_line(title or printed or "") or (title_from_name(PurePath(file_name)) if file_name else "")
    title = title or one_line(text[:1000], _TITLE_CHARS) or "Untitled"
    author = one_line(author or by or "") or None
    sections = several(sections, Section, f"{source}: its sections must be Section records", ReadingError)
    sections = sections or partition(text, find_headings(text), title)
    borders = [(0, 0), *((section.start, section.end) for section in sections)]
    if borders[-1][1] != len(text) or any(before[1] != after[0] for before, after in pairwise(borders)):
        raise ReadingError(f"{source}: its sections must cover its {len(text)} characters without gaps or overlaps")
    if wrong := [section.path for section in sections if isinstance(section.path, str)]:
        raise ReadingError(f"{source}: a section's path must be a tuple of titles, not {brief(wrong[0])}")
    pages = several(pages, Page, f"{source}: its pages must be Page records", ReadingError)
    starts = [0, *(page.start for page in pages), len(text)]
    if starts != sorted(starts) or not all(isinstance(page.label, str) for page in pages):
        raise ReadingError(
            f"{source}: its pages must begin in its {len(text)} characters, in order, with strings as labels"
        )
    sections = tuple(replace(section, metadata=_to_values(section.metadata)) for section in sections)
    content = {
        "about": [title, author, language, year, text],
        "sections": [[s.path, s.start, s.metadata] if s.metadata else [s.path, s.start] for s in sections],
        "pages": [[page.start, page.number, page.label] for page in pages],
        "metadata": {key: value for key, value in values.items() if key not in volatile},
    }
    content_hash = hashlib.sha256(json.dumps(content, sort_keys=True).encode("ascii")).hexdigest()
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
        pages=pages,
        metadata=values,
        from_file=False,
    )


def to_year(value: object) -> int | None:
    """A value as a year, if it is one."""
    found = re.fullmatch(r"\s*(-?\d{1,4})(?:\.0)?\s*", str(value))
    return int(found[1]) if found else None


def _to_values(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {_to_text(key): _to_json(value) for key, value in metadata.items()}


def _to_json(value: Any) -> Any:
    """A value as JSON and every store can hold it; any other becomes a string."""
    if isinstance(value, Mapping):
        return _to_values(value)
    if isinstance(value, set | frozenset):
        return sorted(map(_to_text, value))  # in an order that is the same in every run
    if isinstance(value, list | tuple):
        return [_to_json(each) for each in value]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return int(value)
    return float(value) if isinstance(value, float) and math.isfinite(value) else _to_text(value)


def _to_text(value: Any) -> str:
    return str(value).replace("\0", "").encode("utf-8", "replace").decode("utf-8")
