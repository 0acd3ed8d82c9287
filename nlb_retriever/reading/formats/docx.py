"""DOCX: the document with its boxes, formulas and notes, by its own parts; heading styles become sections."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from nlb_retriever.errors import NlbError, NotABook, ReadingError, ReadingLimit
from nlb_retriever.reading.containers.archive import Archive, resolve, shown_name
from nlb_retriever.reading.containers.xmltree import attribute, local_name, text_of
from nlb_retriever.reading.decode import decode
from nlb_retriever.reading.draft import Draft, clean
from nlb_retriever.reading.formats.html import html_to_text
from nlb_retriever.reading.headings.outline import MARKED, add_unmarked, choose_headings
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.markup.html_writer import HtmlText
from nlb_retriever.reading.markup.repair import decode_markup
from nlb_retriever.reading.office.list_labels import word_labels
from nlb_retriever.reading.office.run_looks import SetParagraph, set_paragraphs
from nlb_retriever.reading.office.word_styles import Styles, hidden_runs
from nlb_retriever.reading.office.wordprocessing import (
    HtmlRenderer,
    TitleLine,
    contents_lines,
    paragraph_level,
    plain_text,
)
from nlb_retriever.reading.omissions import count_words
from nlb_retriever.reading.pages.title_page import is_given, read_title_page, title_page
from nlb_retriever.reading.pages.typography import find_titles

if TYPE_CHECKING:
    from lxml.etree import _Element

_MAIN = "word/document.xml"
_DEEPEST = 3
"""Word files inside Word files."""
_UNSHOWN = {
    "comments": "readers' comments", "header": "running head", "footer": "running head",
    "glossaryDocument": "building blocks", "diagramDrawing": "copy of a diagram",
}  # fmt: skip
"""Parts with text that is no part of the document's, by the type of relationship."""
_TITLE_PAGE = 12
"""First paragraphs in which the document's title is looked for."""


@dataclass(frozen=True)
class _Link:
    """A relationship of a part."""

    kind: str
    """The last word of its type: "footnotes", "aFChunk"."""
    target: str
    """Name of the other part."""


def read_docx(data: bytes, limits: Limits) -> Draft:
    """Read a Word document: heading styles become sections, footnotes an end section.

    Raises:
        NotABook, ReadingError, ReadingLimit: as for any zip (messages without the path).
    """
    return _Document(Archive(data, limits), limits, depth=0).read()


def _titles_by_look(paragraphs: Sequence[SetParagraph], styles: Styles) -> dict[_Element, TitleLine]:
    """The paragraphs that are titles by how they are set; none where styles tell the headings."""
    if sum(paragraph_level(paragraph.element, styles) > 0 for paragraph in paragraphs) >= MARKED:
        return {}
    titles = find_titles([p.text for p in paragraphs], [0] * len(paragraphs), [p.look for p in paragraphs])
    outermost = min((title.level for title in titles), default=0)
    return {
        paragraphs[i].element: TitleLine(min(title.level - outermost + 1, 6), i == title.first, i == title.last)
        for title in titles
        for i in range(title.first, title.last + 1)
    }


def _title_page(others: Sequence[SetParagraph]) -> tuple[str | None, str | None]:
    """The title and authors that the document begins with, by its styles or by sizes; None where none stand out.

    Args:
        others: the paragraphs that are no headings.
    """
    front = others[:_TITLE_PAGE]
    title, authors = read_title_page([p.text for p in front], [p.look for p in others])
    styled = next((paragraph.text for paragraph in front if paragraph.style == "title"), None)
    return styled or title, authors


class _Document:
    """One Word file: its parts and how they refer to each other."""

    def __init__(self, archive: Archive, limits: Limits, depth: int) -> None:
        self._archive = archive
        self._limits = limits
        self._depth = depth
        self._draft = Draft("")
        archive.note_doubled(self._draft.omissions)
        self._used: set[str] = set()
        """Parts whose text is read or noted."""

    def read(self) -> Draft:
        main = self._main_part()
        root = self._parse(main)
        links = self._links(main)
        parts = {link.kind: link.target for link in reversed(links.values())}
        styles = Styles(self._optional(parts.get("styles")))
        paragraphs = [*set_paragraphs(root, styles, hidden_runs(root, styles))]
        titles = _titles_by_look(paragraphs, styles)
        labels = word_labels(root, self._optional(parts.get("numbering")), styles)
        self._renderer = HtmlRenderer(
            styles,
            lambda key: self._drawing(links, key),
            self._draft.omissions,
            titles,
            contents_lines(root, styles),
            labels,
        )
        rendered = self._renderer.render(root)
        pages = [self._chunk(links, piece) if i % 2 else html_to_text(piece) for i, piece in enumerate(rendered.pieces)]
        draft = self._draft
        for page in pages:
            draft.omissions.add(page.omissions)
            draft.add_page(page.text, page.headings)
        if titles:
            draft.headings = choose_headings(draft.headings, draft.text)
        else:
            add_unmarked(draft)
        draft.append_notes(self._notes(links, rendered.notes))
        self._properties()
        headings = {heading.title for heading in draft.headings}
        others = [p for p in paragraphs if f"{labels.get(p.element, '')} {p.text}".strip() not in headings]
        title, authors = _title_page(others)
        if not (draft.title or title):
            title, authors = title_page(draft.text)
        draft.title, draft.author = draft.title or title, draft.author or authors
        self._note_the_rest(links)
        return draft

    def _main_part(self) -> str:
        for link in self._links("").values():
            if link.kind == "officeDocument" and (name := self._archive.find(link.target)):
                return name
        if name := self._archive.find(_MAIN):
            return name
        raise NotABook(f"is a zip file but no Word document (no {_MAIN} in it)")

    def _parse(self, name: str) -> _Element:
        """
        Raises:
            ReadingError: the part is damaged, or declares entities.
        """
        from lxml import etree

        self._used.add(name)
        data = self._archive.read(name)
        if b"<!DOCTYPE" in (head := data[:65_536]) or b"<!ENTITY" in head:
            raise ReadingError(f"{shown_name(name)} in it declares XML entities, as no Word document does")
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, huge_tree=True, remove_comments=True, remove_pis=True
        )
        try:
            return etree.fromstring(data, parser)
        except (etree.XMLSyntaxError, ValueError) as error:
            raise ReadingError(f"{shown_name(name)} in it is damaged ({error})") from error

    def _optional(self, name: str | None) -> _Element | None:
        """A part that the document can do without; a damaged one is noted."""
        actual = self._archive.find(name) if name else None
        if actual is None:
            return None
        try:
            return self._parse(actual)
        except ReadingLimit:
            raise
        except ReadingError as error:
            self._draft.omissions.lose(shown_name(actual), str(error).partition(" in it ")[2] or str(error))
            return None

    def _links(self, part: str) -> dict[str, _Link]:
        """Relationship id -> what it refers to, of a part or (of "") of the whole file."""
        folder, name = posixpath.split(part)
        root = self._optional(posixpath.join(folder, "_rels", f"{name}.rels"))
        links: dict[str, _Link] = {}
        for element in root.iter("{*}Relationship") if root is not None else ():
            if attribute(element, "TargetMode") != "External" and (
                target := resolve(part, attribute(element, "Target"))
            ):
                links[attribute(element, "Id")] = _Link(attribute(element, "Type").rpartition("/")[2], target[0])
        return links

    def _notes(self, links: dict[str, _Link], references: list[tuple[str, str]]) -> str:
        """The text of footnotes and endnotes, in the order of the references to them."""
        notes: dict[tuple[str, str], str] = {}
        for kind in ("footnote", "endnote"):
            for link in links.values():
                root = self._optional(link.target) if link.kind == f"{kind}s" else None
                for note in root.iter(f"{{*}}{kind}") if root is not None else ():
                    pages = [html_to_text(piece) for piece in self._renderer.render(note).pieces[::2]]
                    for page in pages:
                        self._draft.omissions.add(page.omissions)
                    text = "\n\n".join(page.text for page in pages if page.text.strip())
                    if text:
                        notes[kind, attribute(note, "id")] = text
        order = [key for key in dict.fromkeys([*references, *notes]) if key in notes]
        return "\n\n".join(notes[key] for key in order)

    def _drawing(self, links: dict[str, _Link], key: str) -> str:
        root = self._optional(links[key].target) if key in links else None
        return plain_text(root) if root is not None else ""

    def _chunk(self, links: dict[str, _Link], key: str) -> HtmlText:
        """The text of a file of another format that stands in the document (w:altChunk)."""
        name = self._archive.find(links[key].target) if key in links else None
        if name is None:
            self._draft.omissions.lose(f"inserted file {shown_name(key)}", "it is missing from the file")
            return HtmlText()
        self._used.add(name)
        try:
            return self._read_chunk(name, self._archive.read(name))
        except ReadingLimit:
            raise
        except NlbError as error:
            self._draft.omissions.lose(shown_name(name), f"it {str(error).removeprefix(f'{shown_name(name)} in it ')}")
            return HtmlText()

    def _read_chunk(self, name: str, data: bytes) -> HtmlText:
        match PurePosixPath(name).suffix.lower():
            case ".html" | ".htm" | ".xhtml":
                return html_to_text(decode_markup(data)[0])
            case ".txt":
                return HtmlText(text=clean(decode(data)[0]).strip("\n"))
            case ".docx" | ".docm" if self._depth < _DEEPEST:
                inner = _Document(Archive(data, self._limits), self._limits, self._depth + 1).read()
                self._draft.warnings += inner.warnings
                return HtmlText(text=inner.text, headings=inner.headings, omissions=inner.omissions)
            case suffix:
                self._draft.omissions.lose(
                    shown_name(name), f"inserted files of the format {suffix or '?'} are not read"
                )
                return HtmlText()

    def _note_the_rest(self, links: dict[str, _Link]) -> None:
        """Name the parts with text that is not in the book, and the files in the file."""
        kinds = {self._archive.find(link.target): _UNSHOWN.get(link.kind, "") for link in links.values()}
        for name in self._archive.names():
            if name in self._used or not name.startswith("word/"):
                continue
            if name.startswith("word/embeddings/"):
                self._draft.omissions.lose(shown_name(name), "files inside the document are not read")
                continue
            if not name.endswith(".xml") or (root := self._optional(name)) is None:
                continue
            words = count_words(plain_text(root))
            kind = kinds.get(name) or ("building blocks" if name.startswith("word/glossary/") else "")
            if kind:
                self._draft.omissions.skip(shown_name(name), words, kind=kind)
            else:
                self._draft.omissions.lose(shown_name(name), "the document does not show it", words)

    def _properties(self) -> None:
        root = self._optional("docProps/core.xml")
        if root is None:
            return
        values = {local_name(element): text_of(element) for element in root}
        self._draft.title, self._draft.author = (
            value if is_given(value := values.get(key, "")) else None for key in ("title", "creator")
        )
        self._draft.language = values.get("language") or None
