"""EPUB 2 and 3: chapters in spine order, titles from the table of contents, pages, footnotes apart."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from html import escape
from pathlib import PurePosixPath

from nlb_retriever.errors import NlbError, NotABook, ReadingLimit, counted
from nlb_retriever.reading.containers.archive import Archive, Files, shown_name
from nlb_retriever.reading.containers.package import Entry, Package, open_package, package_names
from nlb_retriever.reading.draft import Draft, Heading
from nlb_retriever.reading.formats.html import html_to_text
from nlb_retriever.reading.headings.omnibus import find_depths
from nlb_retriever.reading.headings.outline import add_unmarked
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.markup.html_writer import HtmlText
from nlb_retriever.reading.markup.repair import decode_markup
from nlb_retriever.reading.omissions import count_words
from nlb_retriever.reading.signatures import kind_of
from nlb_retriever.records import Page

_MATTER = {
    **dict.fromkeys(("cover", "titlepage", "halftitlepage"), 1_500),
    **dict.fromkeys(("imprint", "colophon", "copyright-page", "uncopyright"), 6_000),
    **dict.fromkeys(("toc", "loi", "lot", "landmarks"), 2_000),
}
"""EPUB types of sections that hold nothing of the author's, and up to how many characters that is believed."""
_ROLES = {"title-page": "titlepage", "copyright": "copyright-page", "contents": "toc", "table of contents": "toc",
          "title page": "titlepage", "copyright page": "copyright-page", "list of illustrations": "loi",
          "half title": "halftitlepage"}  # fmt: skip
"""What the EPUB 2 guide and tables of contents call such sections."""
_RIGHTS = re.compile(
    r"©|\(c\)|copyright \W*\d{4}|all rights reserved|\bISBN\b|library of congress|creative commons|public domain"
    r"|published (?:by|in)|printed (?:by|in)|first published|\bpress\b|standard ?ebooks|\bCC0\b",
    re.IGNORECASE,
)
_PARAGRAPH = 250
"""A line of more characters is prose: no title page or table of contents has it."""
_PUBLISHED = re.compile(
    r"\b(?:was|were) (?:first |originally )?(?:published|written|completed)\s[^.]{0,60}?\b(1[0-9]\d\d|20\d\d)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[a-z]{2}[.!?][\"”’)]*\s+[\"“‘(]*[A-Z]")
_MARKUP = re.compile(r"<[A-Za-z][\w:.-]*(?:\s[^<>]*)?/?>")
_TEXT_SUFFIXES = frozenset({".xhtml", ".html", ".htm", ".xml", ".txt"})
_OF_PROGRAM = re.compile(r"(?i)(page|section|unknown|untitled|start)\W*(\d*)")
"""A title in a table of contents that a program gave to a page or a file."""
_LONG = 90_000
"""A contents entry with more characters than this is cut further at the headings inside it."""
_GAP = "\n\n\n"


@dataclass
class _Part:
    name: str
    page: HtmlText
    start: int
    aside: bool
    """Whether it stands outside the reading order."""


def read_epub(data: bytes, limits: Limits) -> Draft:
    """Read an EPUB file.

    Raises:
        NotABook: no EPUB, or no text in it (messages without the path).
        ReadingError: damaged or protected.
        ReadingLimit: it inflates to too much.
    """
    archive = Archive(data, limits)
    *others, last = package_names(archive)
    for name in others:  # renditions: the first may be of pictures
        with suppress(NotABook):
            draft = read_package(archive, open_package(archive, name), limits)
            break
    else:
        draft = read_package(archive, open_package(archive, last), limits)
    archive.note_doubled(draft.omissions)
    return draft


def read_package(files: Files, package: Package, limits: Limits) -> Draft:
    """Read the files of a package.

    Raises:
        NotABook: no text in them (messages without the path).
        ReadingLimit: they hold too much.
    """
    draft = Draft("", title=package.title, author=package.author, language=package.language, year=package.year)
    draft.description = html_to_text(package.description).text
    for name in package.missing:
        draft.omissions.lose(name, "it is missing from the file")
    reader = _Chapters(files, package, draft, limits)
    parts = reader.read() or reader.read(everything=True)
    if not parts:
        raise NotABook("holds no text (its chapters are images, or missing)")
    draft.text = "".join(p.page.text + _GAP for p in parts).rstrip("\n") + "\n"
    by_name = {part.name: part for part in parts}
    draft.headings = _headings([], by_name, draft.text, parts)
    of_program = all(_OF_PROGRAM.fullmatch(entry.title) for entry in package.toc)
    if not of_program and (len(package.toc) > 1 or len(draft.headings) < 2):
        draft.headings = _headings(package.toc, by_name, draft.text, parts)
    add_unmarked(draft)
    draft.append_notes("".join(part.page.notes for part in parts))
    draft.pages = _pages(package.pages, by_name, parts)
    if of_program and not draft.pages:
        pages = [(entry, _OF_PROGRAM.fullmatch(entry.title)) for entry in package.toc]
        numbered = [replace(entry, title=m[2]) for entry, m in pages if m and m[1].casefold() == "page" and m[2]]
        draft.pages = _pages(numbered, by_name, parts)
    return draft


class _Chapters:
    """Reads the files of a package that hold text."""

    def __init__(self, files: Files, package: Package, draft: Draft, limits: Limits) -> None:
        self.files = files
        self.package = package
        self.draft = draft
        self.limits = limits
        self.entries: defaultdict[str, list[Entry]] = defaultdict(list)
        for entry in package.toc:
            self.entries[files.find(entry.name) or entry.name].append(entry)

    def read(self, *, everything: bool = False) -> list[_Part]:
        """The files of the reading order, then those that the package lists beside it.

        Args:
            everything: keep covers, title pages and tables of contents too.
        """
        self.draft.omissions.boilerplate.clear()
        self.draft.omissions.elements.clear()
        parts: list[_Part] = []
        encodings: Counter[str] = Counter()
        start = 0
        aside_names = [*self.package.aside, *filter(None, [self.package.navigation])]
        names = dict.fromkeys(aside_names, True) | dict.fromkeys(self.package.spine, False)
        for name in [*self.package.spine, *(n for n in aside_names if names[n])]:
            aside = names[name]
            if (source := self._source(name, encodings)) is None:
                continue
            page = html_to_text(source, _MATTER, everything=everything)
            page.text = page.text.strip("\n")
            for kind, text in page.matter:
                self._skip(name, kind, text)
            self.draft.omissions.add(page.omissions)
            if not everything and page.text and (kind := self._kind(name, page)):
                self._skip(name, kind, page.text + page.notes)
                continue
            if not page.text.strip() and not page.notes:
                continue
            if aside and not page.headings and page.title:
                page.headings.append(Heading(0, 1, page.title))
            parts.append(_Part(name, page, start, aside))
            start += len(page.text) + len(_GAP)
            if start > self.limits.chars:
                raise ReadingLimit(f"holds more than {self.limits.chars} characters")
        self.draft.warnings += [f"{warning} (in {counted(count, 'chapter')})" for warning, count in encodings.items()]
        self._note_unlisted(names)
        return parts

    def _source(self, name: str, encodings: Counter[str]) -> str | None:
        """A file's markup; None where it holds no text, which is noted."""
        try:
            data = self.files.read(name)
            if (kind := kind_of(data)) != "text" and not data.lstrip().startswith(b"<"):
                self.draft.omissions.lose(shown_name(name), f"it is {kind}")
                return None
            source, warning = decode_markup(data)
        except ReadingLimit:
            raise
        except NlbError as error:
            reason = str(error).removeprefix(f"{shown_name(name)} in it ")
            self.draft.omissions.lose(shown_name(name), f"it {reason}")
            return None
        if warning:
            encodings[warning] += 1
        if name.lower().endswith((".css", ".js")):
            self.draft.omissions.skip(shown_name(name), count_words(source), kind="style sheet")
            return None
        return source if _MARKUP.search(source) else f"<pre>{escape(source, quote=False)}</pre>"

    def _skip(self, name: str, kind: str, text: str) -> None:
        self.draft.omissions.skip(shown_name(name), count_words(text), kind=kind)
        if kind == "colophon" and self.draft.year is None and (year := _PUBLISHED.search(text)):
            self.draft.year = int(year[1])

    def _kind(self, name: str, page: HtmlText) -> str:
        """Which matter without the author's words a file is, by its name in the book and its look; empty for text."""
        if page.is_link_list and sum(page.links) > max(200, 0.7 * len(page.text)):
            return "toc"
        if name == self.package.navigation:
            return "toc" if len(page.text) < _MATTER["toc"] and not _is_prose(page) else ""
        for called in (self.package.roles.get(name, ""), self._title(name, page)):
            kind = _ROLES.get(called, called)
            if kind not in _MATTER or len(page.text) > _MATTER[kind]:
                continue
            if kind in {"imprint", "colophon", "copyright-page", "uncopyright"}:
                if len(set(map(str.lower, _RIGHTS.findall(page.text)))) > 1:
                    return kind
            elif not _is_prose(page) and (kind != "cover" or len(page.text) < _PARAGRAPH):
                return kind
        return ""

    def _title(self, name: str, page: HtmlText) -> str:
        """What the table of contents calls a file as a whole; empty where it calls it nothing, or parts of it."""
        entries = self.entries[name]
        whole = [e for e in entries if not e.fragment or (len(entries) == 1 and not page.anchors.get(e.fragment))]
        return whole[0].title.casefold().strip(" .") if whole else ""

    def _note_unlisted(self, listed: Mapping[str, bool]) -> None:
        """Name the files with text that the package does not list."""
        for name in self.files.names():
            suffix = PurePosixPath(name).suffix.lower()
            if name in listed or suffix not in _TEXT_SUFFIXES:
                continue
            try:
                source = decode_markup(self.files.read(name))[0]
            except NlbError:
                continue
            if suffix == ".xml" and "<body" not in source:
                continue
            page = html_to_text(source, everything=True)
            words = count_words(page.text + page.notes)
            self.draft.omissions.lose(shown_name(name), "the package does not list it", words)


def _is_prose(page: HtmlText) -> bool:
    """Whether a page has a paragraph of text, or sentences."""
    lines = page.text.split("\n")
    return max(map(len, lines)) > _PARAGRAPH or len(_SENTENCE.findall(page.text)) > 2


def _headings(toc: list[Entry], by_name: dict[str, _Part], text: str, parts: list[_Part]) -> list[Heading]:
    """Contents entries where they point; the documents' own headings where contents say nothing."""
    if len({entry.level for entry in toc}) == 1:
        depths = find_depths([entry.title for entry in toc])
        toc = [replace(entry, level=entry.level + depth) for entry, depth in zip(toc, depths, strict=True)]
    folded = {name.casefold(): part for name, part in by_name.items()}
    found: list[Heading] = []
    waiting: list[Entry] = []  # titles without a page of their own begin where their first child does
    entered: set[str] = set()
    for entry in toc:
        while waiting and waiting[-1].level >= entry.level:
            waiting.pop()
        part = by_name.get(entry.name) or folded.get(entry.name.casefold())
        if part is None:
            waiting.append(entry)
            continue
        start = part.start + part.page.anchors.get(entry.fragment, 0)
        found += [Heading(start, e.level, e.title) for e in (*waiting, entry)]
        waiting.clear()
        entered.add(part.name)
    own = [Heading(p.start + h.start, h.level, h.title) for p in parts for h in p.page.headings]
    if not found:
        return own
    starts = sorted({h.start for h in found} | {len(text)})
    highest, deepest = min(h.level for h in found), max(h.level for h in found)
    found += [
        Heading(p.start + h.start, highest + h.level - 1, h.title)
        for p in parts
        if p.aside and p.name not in entered
        for h in p.page.headings
    ]
    for heading in own:  # inside an entry as long as a book
        i = bisect_right(starts, heading.start)
        begin, end = starts[i - 1] if i else -_LONG, starts[i] if i < len(starts) else 0
        if end - max(0, begin) > _LONG and heading.start - begin > 300:
            found.append(Heading(heading.start, deepest + heading.level, heading.title))
    return found


def _pages(entries: list[Entry], by_name: dict[str, _Part], parts: list[_Part]) -> list[Page]:
    found: list[tuple[int, str]] = []
    for entry in entries:
        part = by_name.get(entry.name)
        if part is not None and (not entry.fragment or entry.fragment in part.page.anchors):
            found.append((part.start + part.page.anchors.get(entry.fragment, 0), entry.title))
    if not found:
        found = [(part.start + offset, label) for part in parts for offset, label in part.page.pages]
    found.sort(key=lambda f: f[0])
    return [Page(start=start, number=i, label=label) for i, (start, label) in enumerate(found, 1)]
