"""The records of the library's interfaces: frozen, keyword-only, plain values.

A book's text is one string. Sections cut it without gaps or overlaps; passages lie inside
sections; both are spans (`start`, `end`) of Python string indexes into that text, so
`text[start:end]` is always exactly what is shown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

_ESCAPED = re.compile(r"\\x([89a-f][0-9a-f])")
"""A byte that is no UTF-8, as `source_of` writes it."""
_LINE = 60
"""Characters of a line of prose: shorter ones, of verse and lists, end where they like."""
Level = Literal["book", "section", "passage"]
LEVELS: tuple[Level, ...] = ("book", "section", "passage")
Mode = Literal["fused", "dense", "bm25"]
"""How a level is searched: by vectors and words together, or by one of them."""
Strategy = Literal["coarse-to-fine", "flat"]
"""Whether the scores of books, sections and passages are combined, or only the wanted level's are used."""
Confidence = Literal["sure", "likely", "unsure"]
"""How far to trust a short answer."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A span of a book under its own heading.

    The sections of a book partition its text: the first starts at 0, each next one where the one
    before ends, the last ends at len(text). The tree is in `path`: sections of one part share the
    part's title as their first element. A part's heading belongs to its first section.
    """

    path: tuple[str, ...]
    """Titles from the outermost to this section's own: ("Part One", "Chapter 3"). Never empty."""
    start: int
    end: int
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Further values of a section of a text that a program gave; before the book's own of the same keys."""

    @property
    def title(self) -> str:
        """The section's own, the last of its path."""
        return self.path[-1]


@dataclass(frozen=True, kw_only=True)
class Page:
    """Where a page of the printed or paginated original begins."""

    start: int
    """Offset in the book's text of the page's first character."""
    number: int
    """Physical page, from 1."""
    label: str
    """Label as printed ("xii", "237"); the physical number as text where neither the file nor its pages name one.

    Of subtitles the time ("4:07")."""


def page_name(label: str) -> str:
    """A page as citations name it: "p. 237", or the time of subtitles."""
    return label if ":" in label else f"p. {label}"


@dataclass(frozen=True, kw_only=True)
class Book:
    """A book as read from a file or made by a program, before anything is computed from it."""

    id: str
    """16 hexadecimal digits: the start of `content_hash`, until the indexer assigns a lasting one."""
    content_hash: str
    """SHA-256 of the file's bytes, hexadecimal, and "-" and 16 digits more where Calibre's file beside it describes the
    book; of a book without a file, SHA-256 of its text and values."""
    title: str
    author: str | None
    language: str | None
    """BCP 47 tag as declared by the file ("en", "pt-BR"); None where there is none."""
    year: int | None
    source: str
    """Absolute path of the file; of a book without one, the lasting name that identifies it."""
    text: str
    sections: tuple[Section, ...]
    pages: tuple[Page, ...] = ()
    """In text order; empty for formats without pages."""
    warnings: tuple[str, ...] = ()
    """What was lost or repaired in reading, one line each ("chapter3.xhtml is missing from the file")."""
    description: str | None = None
    """What the file says the book is about, in one line; None where it says nothing."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Further values, as JSON has them; filters name them "metadata.KEY"."""
    from_file: bool = True
    """False for a book that was never a file, such as `book_from_text` makes."""


@dataclass(frozen=True, kw_only=True)
class Passage:
    """One chunk of a section, which the chunk encoder encodes as a whole."""

    start: int
    end: int
    section: int
    """Index of its section in `Book.sections`."""
    tokens: int
    """Its length in the chunk encoder's tokens, without [CLS] and [SEP]."""


@dataclass(frozen=True, kw_only=True)
class BookRecord:
    """A published book as a library holds it, without its text."""

    id: str
    """16 hexadecimal digits; lasts for all versions of the book."""
    uuid: str
    """Of its point in the store: the id of a hit at book level."""
    version: str
    """Changes with the content and with what the vectors are made with."""
    title: str
    author: str | None
    language: str | None
    year: int | None
    source: str
    content_hash: str
    sections: int
    passages: int
    chars: int
    tokens: int
    warnings: tuple[str, ...] = ()
    description: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    from_file: bool = True
    work: str | None = None
    """Title of the work that it is a chapter of."""
    parts: tuple[BookRecord, ...] = ()
    """Of a work (store/works.py) the books that are its chapters, in order; its id is the path of its folder."""


@dataclass(frozen=True, kw_only=True)
class _TextRecord:
    """What sections and passages of a library have in common."""

    id: str
    """UUID of its point in the store; stable as long as the book's content is unchanged."""
    book_id: str
    version: str
    """Of the book."""
    title: str
    """Of the book."""
    author: str | None
    language: str | None
    year: int | None
    source: str
    metadata: Mapping[str, Any]
    """Of the book."""
    section: int
    """Number of the section in its book, from 0."""
    section_id: str
    path: tuple[str, ...]
    """Titles from the outermost part to the section's own."""
    ordinal: int
    """Number of the section or passage in its book, from 0."""
    start: int
    end: int
    """Span in the book's text."""
    page: str | None
    """Printed label of the page on which it begins."""
    page_number: int | None
    """Physical page, from 1."""
    text: str
    work: str | None = None
    """Title of the work (store/works.py) that its book is a chapter of."""


@dataclass(frozen=True, kw_only=True)
class SectionRecord(_TextRecord):
    """A section as a library holds it."""

    passages: tuple[int, int]
    """Ordinal of its first passage, and of the one after its last."""
    pages: tuple[Page, ...] = ()
    """Pages that begin in it."""


@dataclass(frozen=True, kw_only=True)
class PassageRecord(_TextRecord):
    """A passage as a library holds it."""

    tokens: int


@dataclass(frozen=True, kw_only=True)
class Hit:
    """One search result at one level."""

    level: Level
    id: str
    """The point's UUID in the store; stable as long as the book's content is unchanged."""
    book_id: str
    title: str
    author: str | None
    source: str
    section: tuple[str, ...]
    """Path of the section's titles; empty at book level."""
    section_id: str | None
    """UUID of the section; None at book level."""
    start: int
    end: int
    """Span in the book's text; at book level that of the passage shown as its best."""
    page: str | None
    """Printed label of the page on which the span begins."""
    score: float
    """Higher is better; comparable within one result list only."""
    text: str
    metadata: Mapping[str, Any]
    """Further values. Of all: version, language, year and the book's metadata (where it has any), of sections and
    passages with their section's own. Of these: ordinal (number in the book, from 0), section (number of the section,
    from 0), page_number."""
    work: str | None = None
    """Title of the work that the book is a chapter of (store/works.py)."""

    @property
    def titles(self) -> tuple[str, ...]:
        """The work's title, where there is one, and the book's; once where they are the same."""
        return tuple(dict.fromkeys((self.work or self.title, self.title)))

    def to_json(self) -> dict[str, Any]:
        """The hit as the keys that programs may rely on (docs/cli.md)."""
        return {
            "level": self.level,
            "book_id": self.book_id,
            "title": self.title,
            "work": self.work,
            "author": self.author,
            "source": self.source,
            "section": list(self.section),
            "section_id": self.section_id,
            "start": self.start,
            "end": self.end,
            "page": self.page,
            "score": self.score,
            "text": self.text,
        }


@dataclass(frozen=True, kw_only=True)
class Citation:
    """A hit and the part of its text that answers."""

    hit: Hit
    """The passage; in an answer its page is that on which the quote begins."""
    quote: str
    """Verbatim in the book's text: `text[quote_start:quote_end]`."""
    quote_start: int
    quote_end: int
    answer: tuple[int, int] | None = None
    """Span in the book's text of the words in the quote that answer; None where the reader named none."""

    @property
    def is_cut(self) -> tuple[bool, bool]:
        """Whether it begins, and whether it ends, within a long sentence, where its passage does."""
        first, _, _ = self.quote.partition("\n")
        _, _, last = self.quote.rpartition("\n")
        return (
            self.quote_start == self.hit.start and first[:1].islower() and len(first) >= _LINE,
            self.quote_end == self.hit.end and (last[-1:].isalnum() or last[-1:] in ",;") and len(last) >= _LINE,
        )

    def to_json(self) -> dict[str, Any]:
        """The hit's keys, and the quote's."""
        return {**self.hit.to_json(), "quote": self.quote, "quote_start": self.quote_start, "quote_end": self.quote_end}


@dataclass(frozen=True, kw_only=True)
class ShortAnswer:
    """A few words that answer a question."""

    text: str
    """Verbatim from the book but for line ends; titles, authors and numbers as the library has them."""
    citation: int
    """Number of the citation that says so, or of that book, from 0."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An answer made of what the library holds."""

    question: str
    found: bool
    """False where the library is not likely to hold an answer; then there are no citations."""
    text: str
    """The quotes, the best first, of what happens in a chapter in order; where there are none, "Not in your library.",
    or what the library does not know: that the book has no such chapter, or no author."""
    citations: tuple[Citation, ...] = ()
    shorts: tuple[ShortAnswer, ...] = ()
    """The best one, and a second one where the two are close; a clause or a sentence for why and how. None where no
    reader took part, and for questions of yes or no."""
    confidence: Confidence | None = None
    """In the first citation; None where no reader took part."""
    searched: str | None = None
    """The question in the books' spelling, where that is another and was searched for instead."""

    @property
    def short(self) -> str | None:
        """The best short answer."""
        return self.shorts[0].text if self.shorts else None

    def to_json(self) -> dict[str, Any]:
        """The answer as the keys that programs may rely on (docs/cli.md)."""
        return {
            "question": self.question,
            "searched": self.searched,
            "found": self.found,
            "short": self.short,
            "confidence": self.confidence,
            "answer": self.text,
            "citations": [citation.to_json() for citation in self.citations],
        }


@dataclass(frozen=True, kw_only=True)
class FailedFile:
    """A file or text that could not be indexed."""

    source: str
    """As in `Book.source`."""
    reason: str
    """One line that names the source."""


def source_of(path: str | Path) -> str:
    """A file's path as text that every store takes, whatever bytes its name holds."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def path_of(source: str) -> Path:
    """The path that `source_of` made this text of; a file whose name is the text itself goes before."""
    if "\\x" not in source or os.path.lexists(source):
        return Path(source)
    return Path(_ESCAPED.sub(lambda match: chr(0xDC00 + int(match[1], 16)), source))
