"""EPUB 2 and 3: chapters in spine order, titles from the table of contents, pages, footnotes apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from nlb_retriever.errors import NlbError, NotABook, ReadingLimit
from nlb_retriever.reading.archive import Archive, shown_name
from nlb_retriever.reading.draft import Draft, Heading
from nlb_retriever.reading.html import HtmlText, decode_markup, html_to_text
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.outline import find_headings
from nlb_retriever.reading.package import Entry, Package, open_package
from nlb_retriever.records import Page

_DROPPED_TEXT = "cover titlepage halftitlepage imprint colophon copyright-page toc loi lot landmarks uncopyright"
_DROPPED = frozenset(_DROPPED_TEXT.split())
"""EPUB types of pages that hold nothing of the book's content."""
_DROPPED_ROLES = frozenset({"cover", "toc", "title-page", "titlepage", "copyright-page", "loi"})
_DROPPED_TITLES = frozenset({
    "cover", "titlepage", "imprint", "colophon", "uncopyright", "copyright", "title page", "copyright page",
    "table of contents", "contents", "list of illustrations", "half title",
})  # fmt: skip
_PUBLISHED = re.compile(
    r"\b(?:was|were) (?:first |originally )?(?:published|written|completed)\s[^.]{0,60}?\b(1[0-9]\d\d|20\d\d)\b",
    re.IGNORECASE,
)
_LONG = 90_000
"""A contents entry with more characters than this is cut further at the headings inside it."""
_GAP = "\n\n\n"


@dataclass
class _Part:
    name: str
    page: HtmlText
    start: int


def read_epub(data: bytes, path: Path, limits: Limits) -> Draft:
    """Read an EPUB file.

    Raises:
        NotABook: no EPUB, or no text in it (messages without the path).
        ReadingError: damaged or protected.
        ReadingLimit: it inflates to too much.
    """
    archive = Archive(data, limits)
    package = open_package(archive)
    draft = Draft("", title=package.title, author=package.author, language=package.language, year=package.year)
    draft.warnings += archive.warnings + [f"{name} is missing from the file" for name in package.missing]
    parts = _read_parts(archive, package, draft, limits)
    if not parts:
        raise NotABook("holds no text (its chapters are images, or missing)")
    draft.text = "".join(p.page.text + _GAP for p in parts).rstrip("\n") + "\n"
    places = {part.name: part for part in parts}
    draft.headings = _headings(package.toc, places, draft.text, parts)
    if not draft.headings:
        draft.headings = find_headings(draft.text)
    draft.append_notes("".join(part.page.notes for part in parts))
    draft.pages = _pages(package.pages, places, parts)
    return draft


def _read_parts(archive: Archive, package: Package, draft: Draft, limits: Limits) -> list[_Part]:
    titles = {
        archive.find(e.name) or e.name: e.title.casefold().strip(" .") for e in reversed(package.toc) if not e.fragment
    }
    parts: list[_Part] = []
    start = 0
    for name in package.spine:
        try:
            source, warning = decode_markup(archive.read(name))
        except ReadingLimit:
            raise
        except NlbError as error:
            draft.warnings.append(f"{shown_name(name)} was left out: it {error}")
            continue
        if warning:
            draft.warnings.append(f"{shown_name(name)}: {warning}")
        page = html_to_text(source)
        page.text = page.text.strip("\n")
        if "colophon" in page.kinds and draft.year is None and (year := _PUBLISHED.search(page.text)):
            draft.year = int(year[1])
        if _boilerplate(name, page, package, titles.get(name, "")) or not page.text.strip():
            continue
        parts.append(_Part(name, page, start))
        start += len(page.text) + len(_GAP)
        if start > limits.chars:
            raise ReadingLimit(f"holds more than {limits.chars} characters")
    return parts


def _boilerplate(name: str, page: HtmlText, package: Package, title: str) -> bool:
    if page.kinds & _DROPPED or name == package.navigation:
        return True
    short = len(page.text) < 12_000
    if short and (package.roles.get(name) in _DROPPED_ROLES or title in _DROPPED_TITLES):
        return True
    return short and page.links > 200 and page.links > 0.7 * len(page.text)


def _headings(toc: list[Entry], places: dict[str, _Part], text: str, parts: list[_Part]) -> list[Heading]:
    """Contents entries at their places; the documents' own headings where contents say nothing."""
    folded = {name.casefold(): part for name, part in places.items()}
    found: list[Heading] = []
    for i, entry in enumerate(toc):
        target: Entry | None = entry
        if entry.name not in places and entry.name.casefold() not in folded:
            # a title without a page of its own begins where its first child does
            target = next((e for e in toc[i + 1 :] if e.name in places or e.level <= entry.level), None)
            if target is None or target.level <= entry.level:
                continue
        assert target is not None
        part = places.get(target.name) or folded[target.name.casefold()]
        found.append(Heading(part.start + part.page.anchors.get(target.fragment, 0), entry.level, entry.title))
    own = [Heading(p.start + h.start, h.level, h.title) for p in parts for h in p.page.headings]
    if not found:
        return own
    starts = sorted({h.start for h in found} | {len(text)})
    deepest = max(h.level for h in found)
    for a, b in [(0, starts[0]), *pairwise(starts)]:
        if b - a > _LONG:
            near = {h.start for h in found if a <= h.start < b}
            found += [
                Heading(h.start, deepest + h.level, h.title)
                for h in own
                if a <= h.start < b and all(abs(h.start - n) > 300 for n in near)
            ]
    return found


def _pages(entries: list[Entry], places: dict[str, _Part], parts: list[_Part]) -> list[Page]:
    found: list[tuple[int, str]] = []
    for entry in entries:
        part = places.get(entry.name)
        if part is not None and (not entry.fragment or entry.fragment in part.page.anchors):
            found.append((part.start + part.page.anchors.get(entry.fragment, 0), entry.title))
    if not found:
        found = [(part.start + offset, label) for part in parts for offset, label in part.page.pages]
    found.sort(key=lambda f: f[0])
    return [Page(start=start, number=i, label=label) for i, (start, label) in enumerate(found, 1)]
