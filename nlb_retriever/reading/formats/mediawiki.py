"""MediaWiki: a page's text (.wiki, .mediawiki), or an export (.xml) with a section for each page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from nlb_retriever.reading.containers.xmltree import local_name, text_of
from nlb_retriever.reading.decode import decode
from nlb_retriever.reading.draft import Draft, clean
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.markup.blocks import Blocks
from nlb_retriever.reading.markup.wikitext import Wikitext
from nlb_retriever.reading.omissions import count_words

if TYPE_CHECKING:
    from lxml.etree import _Element

_HEADING = re.compile(r"[ \t]*(?P<marks>={1,6})(?P<title>[^=\n](?:[^\n]*[^=\n])?)={1,6}[ \t]*")
_ITEM = re.compile(r"(?P<marks>[*#:;]+)[ \t]*(?P<text>.*)")
_RULE = re.compile(r"-{4,}[ \t]*")
_REDIRECT = re.compile(r"\s*#\s*[^\W\d_]+\s*:?\s*\[\[", re.IGNORECASE)
_PROJECT, _HELP, _OWN, _MODULE = 4, 12, 100, 828
"""Numbers of namespaces; a wiki's own begin with the third."""


def read_mediawiki(data: bytes, limits: Limits) -> Draft:
    """Read the text of a page.

    Raises:
        NotABook: the file is binary (message without the path).
    """
    source, note = decode(data)
    draft = Draft("", warnings=[note] if note else [])
    reader = _Reader(draft)
    reader.read(clean(source))
    return reader.blocks.fill(draft)


def read_export(root: _Element, draft: Draft) -> Draft:
    """Read the newest version of each page of an export; talk, users' pages, templates and redirects are skipped."""
    pages = [*root.iterchildren("{*}page")]
    kept = [*map(_is_content, pages)]
    several = sum(kept) > 1
    draft.language = root.get("{http://www.w3.org/XML/1998/namespace}lang")
    draft.title = next(map(text_of, root.iterfind("{*}siteinfo/{*}sitename")), None) if several else None
    reader = _Reader(draft)
    for page, is_kept in zip(pages, kept, strict=True):
        title = next(map(text_of, page.iterchildren("{*}title")), "")
        text = clean(_newest(page))
        if not is_kept:
            draft.omissions.skip_element("redirect, talk or other page", count_words(text))
            continue
        if several:
            reader.open(1, title)
        else:
            draft.title = title
        reader.read(text, least=1 + several)
    return reader.blocks.fill(draft)


def _is_content(page: _Element) -> bool:
    number = next((text_of(each) for each in page.iterchildren("{*}ns")), "0")
    space = int(number) if number.lstrip("-").isdigit() else 0
    is_own = space >= _OWN and space % 2 == 0 and space < _MODULE
    is_redirect = any(local_name(each) == "redirect" for each in page) or _REDIRECT.match(_newest(page))
    return (space in {0, _PROJECT, _HELP} or is_own) and not is_redirect


def _newest(page: _Element) -> str:
    revisions = [*page.iterchildren("{*}revision")]
    if not revisions:
        return ""
    times = [next(map(text_of, each.iterchildren("{*}timestamp")), "") for each in revisions]
    newest = max(range(len(revisions)), key=lambda i: (times[i], i))
    return next((each.text or "" for each in revisions[newest].iterchildren("{*}text")), "")


class _Reader:
    """Reads pages line by line."""

    def __init__(self, draft: Draft) -> None:
        self.blocks = Blocks()
        self.wikitext = Wikitext(draft.omissions, self._note)
        self.notes = 0
        self.omissions = draft.omissions
        self.opened: list[tuple[int, str]] = []
        """Levels and titles of the headings with no text below them yet."""
        self.row: list[str] = []
        self.tables = 0
        """That are open."""

    def open(self, level: int, title: str) -> None:
        """A heading, which waits for text below it; those below which there is none are skipped."""
        while self.opened and self.opened[-1][0] >= level:
            self.omissions.skip_element("heading without text", count_words(self.opened.pop()[1]))
        self.opened.append((level, title))

    def _note(self, text: str) -> None:
        self.notes += 1
        self.blocks.note(f"{self.notes}.", text)

    def read(self, source: str, *, least: int = 1) -> None:
        """
        Args:
            source: of a page.
            least: level of its headings.
        """
        for line in self.wikitext.strip(source).split("\n"):
            self._read(line, least)
        self._end_row()
        self.tables = 0
        self.blocks.end()
        self.open(0, "")
        self.opened = []

    def _read(self, line: str, least: int) -> None:
        bare = line.strip()
        heading = _HEADING.fullmatch(line)
        if bare and not heading:
            for level, title in self.opened:
                self.blocks.heading(level, title)
            self.opened = []
        if bare.startswith("{|") or (self.tables and bare.startswith(("|", "!"))):
            self._table(bare)
        elif heading:
            self.tables = 0
            self._end_row()
            self.open(max(least, len(heading["marks"])), heading["title"].strip())
        elif self.tables and self.row:
            first, *cells = bare.lstrip("*#:; ").split("||")
            self.row[-1] += f" {first}"
            self.row += map(_without_attributes, cells)
        elif item := _ITEM.fullmatch(line):
            marks, text = item["marks"], item["text"]
            if marks[-1] == "#":
                self.blocks.item(text, len(marks), counted=True)
            else:
                self.blocks.item(text.replace(" : ", ": ", 1) if marks[-1] == ";" else text, len(marks))
        elif not bare or _RULE.fullmatch(line):
            self.blocks.end()
        elif line[0] in " \t":
            self.blocks.keep(line)
        else:
            self.blocks.add(bare)

    def _table(self, line: str) -> None:
        if line.startswith("{|"):
            self._end_row()
            self.tables += 1
            self.blocks.end()
        elif line.startswith("|}"):
            self._end_row()
            self.tables -= 1
            self.blocks.end()
        elif line.startswith("|-"):
            self._end_row()
        elif line.startswith("|+"):
            self.blocks.keep(_without_attributes(line[2:]))
        else:
            self.row += _cells(line)

    def _end_row(self) -> None:
        if cells := "  ".join(filter(None, map(str.strip, self.row))):
            self.blocks.keep(cells)
        self.row = []


def _cells(line: str) -> Iterator[str]:
    """The cells of a line of a table."""
    text = line.removeprefix(line[0]).removeprefix(line[0])
    cells = re.split(r"\|\||!!", text) if line[0] == "!" else text.split("||")
    return map(_without_attributes, cells)


def _without_attributes(cell: str) -> str:
    before, bar, text = cell.partition("|")
    return (text if bar and "=" in before and "[" not in before else cell).strip()
