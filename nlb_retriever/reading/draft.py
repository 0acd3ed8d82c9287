"""What a format's reader returns, and the cleaning that every text goes through."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from nlb_retriever.reading.omissions import Omissions
from nlb_retriever.records import Page

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\x81\x8d\x8f\x90\x9d]")
_MISREAD = re.compile("[\x80-\x9f]")
"""Characters that no text holds on purpose: Windows-1252 quotes and dashes, once read as Latin-1."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
INVISIBLE = re.compile("[\xad\u200b\u2060\ufeff]")
"""Soft hyphens and the like: a word that has one is not found."""
PARTS = r"\u0300-\u036f\u0591-\u05c7\u0653-\u0655\u093c\u1100-\u11ff\u3099\u309a\ufb00-\ufb06"
"""Marks and letters that are, with the one before, one character in NFC, and ligatures: no word with one is found."""
_PARTED = re.compile(f"[{PARTS}]")
_LIGATURE = re.compile("[\ufb00-\ufb06]")
_PIECE = re.compile(r"\S{1,200}(?![\u0300-\u036f\u1160-\u11ff\u3099\u309a])|\S{1,200}")
"""What is brought to NFC at once, which takes quadratic time where mark follows mark."""
_HYPHEN_AT_END = re.compile("(?<=\\w)[\u2010\xac][ \t]*$", re.MULTILINE)
"""What browsers print and programs for scans write where they part a word: no word is put together at one."""
_SPACE = re.compile(r"\s+")
YEAR = re.compile(r"\b(?:1\d|20)\d\d\b")
"""In what a file says of when it was written."""
FRONT = 1_000
"""Characters in which a text says what it is."""


@dataclass(frozen=True)
class Heading:
    """A title in the text; smaller levels are further out."""

    start: int
    level: int
    title: str


def title_of(headings: Sequence[Heading]) -> str | None:
    """A document's title: its only heading of level 1, which is the first of all and stands at the front."""
    tops = [heading for heading in headings if heading.level == 1]
    return tops[0].title if len(tops) == 1 and tops[0] is headings[0] and tops[0].start < FRONT else None


@dataclass
class Draft:
    """A book before its sections are cut: text, headings and what the file says about itself."""

    text: str
    headings: list[Heading] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)
    title: str | None = None
    author: str | None = None
    language: str | None = None
    year: int | None = None
    description: str | None = None
    warnings: list[str] = field(default_factory=list)
    """What was mended or guessed."""
    omissions: Omissions = field(default_factory=Omissions)
    is_page: bool = False
    """Whether it is a page of a web site, whose headings stand above text of their own, however short."""
    is_marked: bool = False
    """Whether its headings are marked as such, and not found by how they look."""

    def add_page(self, text: str, headings: Sequence[Heading]) -> None:
        """Put a page of text behind what there is."""
        if text.strip():
            self.text += "\n\n" if self.text else ""
            self.headings += [Heading(h.start + len(self.text), h.level, h.title) for h in headings]
            self.text += text

    def keep(self, pieces: Sequence[tuple[int, str]]) -> None:
        """Reduce the text to pieces of it, three line ends apart, with their headings and pages.

        Args:
            pieces: where each begins, and its text; in order.
        """
        text, headings, pages = "", [], []
        for start, piece in pieces:
            text += "\n\n\n" if text else ""
            shift, end = len(text) - start, start + len(piece)
            headings += [replace(h, start=h.start + shift) for h in self.headings if start <= h.start < end]
            opened = [page for page in self.pages if page.start <= start][-1:]
            inside = [page for page in self.pages if start < page.start < end]
            pages += [replace(page, start=max(page.start, start) + shift) for page in opened + inside]
            text += piece
        self.text, self.headings, self.pages = text, headings, pages

    def append_notes(self, notes: str) -> None:
        """Put footnotes into a section of their own at the end."""
        if not notes.strip():
            return
        level = min((h.level for h in self.headings), default=1)
        self.headings.append(Heading(len(self.text) + 2, level, "Notes"))
        self.text += f"\n\nNotes\n\n{notes}"


def clean(text: str) -> str:
    """Line ends become "\\n", letters with marks one character (NFC), ligatures their letters, hyphens at line ends
    "-"; control characters and lone surrogates are replaced one for one."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\u2010" in text or "\xac" in text:
        text = _HYPHEN_AT_END.sub("-", text)
    if _PARTED.search(text):
        text = _LIGATURE.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
        text = _PIECE.sub(lambda match: unicodedata.normalize("NFC", match[0]), text)
    if not _ODD.search(text):
        return text
    text = _SURROGATE.sub("\ufffd", _CONTROL.sub(" ", text))
    return _MISREAD.sub(lambda m: m[0].encode("latin-1").decode("cp1252"), text)


def one_line(text: str, limit: int = 200) -> str:
    """A title or name as one line of at most `limit` characters."""
    text = _SPACE.sub(" ", clean(text[: 10 * limit])).strip()
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
