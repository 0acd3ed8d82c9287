"""What an EPUB says about itself: package document, navigation, reading order, protection."""

from __future__ import annotations

import posixpath
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nlb_retriever.errors import NotABook, ReadingError
from nlb_retriever.reading.authors import join_authors
from nlb_retriever.reading.containers.archive import Archive, resolve, shown_name
from nlb_retriever.reading.containers.xmltree import parse_xml, read_part, text_of

if TYPE_CHECKING:
    from lxml.etree import _Element

_CONTAINER = "META-INF/container.xml"
_TIMESTAMP = "calibre:timestamp"
"""When Calibre converted the file: it gives this date to books that have none."""
_FONT_ALGORITHMS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_FONTS = (".otf", ".ttf", ".ttc", ".woff", ".woff2")
_REPUBLISHERS = re.compile(
    r"gutenberg|standard ?ebooks|feedbooks|wikisource|manybooks|archive\.org|mobileread", re.IGNORECASE
)
_TEXT_TYPES = frozenset(
    {"application/xhtml+xml", "text/html", "text/x-oeb1-document", "application/x-dtbook+xml", "text/plain"}
)
_YEAR = re.compile(r"\s*(\d{4})\b")


@dataclass(frozen=True)
class Entry:
    """A line of the table of contents."""

    level: int
    title: str
    name: str
    fragment: str


@dataclass
class Package:
    """The package document's metadata and the names of the files to read, in order."""

    title: str | None = None
    author: str | None = None
    language: str | None = None
    year: int | None = None
    description: str = ""
    """Plain text or HTML; subjects where the file has no description."""
    spine: list[str] = field(default_factory=list)
    """Names of the files in reading order, each once."""
    aside: list[str] = field(default_factory=list)
    """Files of text that the package lists, but not in its reading order."""
    missing: list[str] = field(default_factory=list)
    roles: dict[str, str] = field(default_factory=dict)
    """Of files named by the EPUB 2 guide: "cover", "toc", "title-page", "copyright-page", ..."""
    toc: list[Entry] = field(default_factory=list)
    pages: list[Entry] = field(default_factory=list)
    navigation: str | None = None
    """The EPUB 3 navigation file, which may stand in the spine too."""


@dataclass(frozen=True)
class _Item:
    """A file that the package lists."""

    name: str
    media_type: str
    properties: str
    present: bool

    def is_text(self) -> bool:
        return self.media_type in _TEXT_TYPES or self.name.lower().endswith((".xhtml", ".html", ".htm"))


def open_package(archive: Archive, name: str) -> Package:
    """Read a package document and its table of contents.

    Raises:
        ReadingError: the file is protected, or the package document damaged.
    """
    check_protection(archive)
    root = parse_xml(archive.read(name))
    if root is None:
        raise ReadingError(f"its package document {name} is damaged")
    package = read_metadata(root)
    items: dict[str, deque[_Item]] = {}
    for item in _all(root, "item"):
        href = item.get("href") or ""
        if target := resolve(name, href):
            actual = archive.find(target[0]) or archive.find(_unescaped(name, href))
            found = _Item(actual or target[0], item.get("media-type") or "", item.get("properties") or "", bool(actual))
            items.setdefault(item.get("id") or "", deque()).append(found)
    spines = _all(root, "spine")
    listed = [item for same_id in items.values() for item in same_id]
    spine: dict[str, None] = {}
    for itemref in _all(root, "itemref"):
        same_id = items.get(itemref.get("idref") or "")
        if not same_id:
            package.missing.append(shown_name(itemref.get("idref") or "?"))
            continue
        found = same_id[0] if len(same_id) == 1 else same_id.popleft()  # files of one id take turns
        if found.present:
            spine[found.name] = None
        else:
            package.missing.append(shown_name(found.name))
    package.spine = list(spine)
    for reference in _all(root, "reference"):
        if (target := resolve(name, reference.get("href") or "")) and (actual := archive.find(target[0])):
            package.roles.setdefault(actual, (reference.get("type") or "").lower())
    _navigation(archive, package, listed, items.get(spines[0].get("toc") or "") if spines else None)
    package.aside = [
        item.name
        for item in listed
        if item.present and item.name not in spine and item.name != package.navigation and item.is_text()
    ]
    return package


def _unescaped(base: str, href: str) -> str:
    """The name that an href has where the archive's names are escaped as it is."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), href))


def check_protection(archive: Archive) -> None:
    """Encrypted fonts are fine; any other encryption means that the text cannot be read."""
    name = archive.find("META-INF/encryption.xml")
    root = parse_xml(archive.read(name)) if name else None
    if root is None:
        return
    for data in _all(root, "EncryptedData"):
        algorithm = next((m.get("Algorithm") or "" for m in _all(data, "EncryptionMethod")), "")
        files = [(reference.get("URI") or "").lower() for reference in _all(data, "CipherReference")]
        of_fonts = files and all(file.endswith(_FONTS) for file in files)
        if algorithm not in _FONT_ALGORITHMS and not of_fonts:
            raise ReadingError("is protected by DRM (encrypted): only unprotected EPUB files can be read")


def package_names(archive: Archive) -> list[str]:
    """The package documents: one, or one of each rendition, the first of which is the default.

    Raises:
        NotABook: the zip is no EPUB.
    """
    if container := archive.find(_CONTAINER):
        root = parse_xml(archive.read(container))
        files = _all(root, "rootfile") if root is not None else []
        targets = [resolve("", each.get("full-path") or "") for each in files]
        if names := [actual for target in targets if target and (actual := archive.find(target[0]))]:
            return [*dict.fromkeys(names)]
    found = sorted((n for n in archive.names() if n.lower().endswith(".opf")), key=lambda n: (n.count("/"), n))
    if not found:
        raise NotABook("is a zip file but no EPUB (no package document in it)")
    return found[:1]


def _all(root: _Element, name: str) -> list[_Element]:
    return list(root.iter("{*}" + name))


def read_metadata(root: _Element) -> Package:
    """What a package document says about its book, without its files."""
    package = Package()
    refined: dict[tuple[str, str], str] = {}
    for meta in _all(root, "meta"):
        if meta.get("refines") and meta.get("property"):
            key = (meta.get("refines") or "").lstrip("#"), meta.get("property") or ""
            refined[key] = f"{refined.get(key, '')} {text_of(meta)}".strip()
    titles = [e for e in _all(root, "title") if text_of(e)]
    main = [e for e in titles if refined.get((e.get("id") or "", "title-type")) == "main"] or titles
    package.title = text_of(main[0]) if main else None
    authors: list[str] = []
    for creator in _all(root, "creator"):
        roles = [str(v) for k, v in creator.attrib.items() if str(k).endswith("role")]
        roles += refined.get((creator.get("id") or "", "role"), "").split()
        if (not roles or "aut" in roles) and (name := text_of(creator)) and name not in authors:
            authors.append(name)
    package.author = join_authors(authors)
    package.language = next((t[:20] for e in _all(root, "language") if (t := text_of(e)) and t.lower() != "und"), None)
    package.description = next(
        (text for e in _all(root, "description") if (text := "".join(map(str, e.itertext())).strip())),
        "; ".join(dict.fromkeys(text for e in _all(root, "subject") if (text := text_of(e)))),
    )
    origin = " ".join(text_of(e) for tag in ("publisher", "identifier") for e in _all(root, tag))
    converted = {(meta.get("content") or "")[:10] for meta in _all(root, "meta") if meta.get("name") == _TIMESTAMP}
    for date in _all(root, "date"):
        if text_of(date)[:10] in converted:
            continue
        event = next((str(v).lower() for k, v in date.attrib.items() if str(k).endswith("event")), "")
        if event not in {"", "publication", "original-publication"}:
            continue
        if year := publication_year(text_of(date), "" if event == "original-publication" else origin):
            package.year = year
            if event:
                break
    return package


def publication_year(date: str, origin: str) -> int | None:
    """The year of a date, unless it is a republisher's.

    Args:
        origin: publisher and identifiers.
    """
    year = _YEAR.match(date)
    if not year or not 1000 <= int(year[1]) <= 2100 or _REPUBLISHERS.search(origin):
        return None
    return int(year[1])


def _navigation(archive: Archive, package: Package, items: Sequence[_Item], ncx: Sequence[_Item] | None) -> None:
    nav = next((item.name for item in items if item.present and "nav" in item.properties.split()), None)
    if nav and (root := read_part(archive, nav)) is not None:
        package.navigation = nav
        for element in _all(root, "nav"):
            kind = next((str(v) for k, v in element.attrib.items() if str(k).endswith("type")), "") or "toc"
            if "page-list" in kind:
                package.pages = _nav_entries(element, nav)
            elif "toc" in kind.split() and not package.toc:
                package.toc = _nav_entries(element, nav)
    named = next((item.name for item in ncx or () if item.present), None)
    named = named or next((i.name for i in items if i.present and i.media_type == "application/x-dtbncx+xml"), None)
    if named and (not package.toc or not package.pages) and (root := read_part(archive, named)) is not None:
        package.toc = package.toc or _ncx_entries(root, named, "navPoint")
        package.pages = package.pages or _ncx_entries(root, named, "pageTarget")


def _nav_entries(nav: _Element, base: str) -> list[Entry]:
    entries: list[Entry] = []
    for link in nav.iter("{*}a", "{*}span"):
        parent = link.getparent()
        if parent is None or not str(parent.tag).endswith("}li"):
            continue
        level = sum(1 for a in link.iterancestors("{*}ol"))
        target = resolve(base, link.get("href") or "") if link.get("href") else ("", "")
        if target and (title := text_of(link)):
            entries.append(Entry(level, title, *target))
    return entries


def _ncx_entries(root: _Element, base: str, tag: str) -> list[Entry]:
    entries: list[Entry] = []
    for point in root.iter("{*}" + tag):
        label = next((text_of(e) for e in point.iterchildren("{*}navLabel")), "")
        source = next((e.get("src") or "" for e in point.iterchildren("{*}content")), "")
        target = resolve(base, source) if source else ("", "")
        if target and label:
            entries.append(Entry(1 + sum(1 for a in point.iterancestors("{*}" + tag)), label, *target))
    return entries
