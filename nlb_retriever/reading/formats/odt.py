"""ODT (OpenDocument text): headings become sections, footnotes and endnotes an end section."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from nlb_retriever.errors import NotABook, ReadingError
from nlb_retriever.reading.containers.archive import Archive, resolve, shown_name
from nlb_retriever.reading.containers.xmltree import attribute, local_name, parse_xml, read_part, text_of
from nlb_retriever.reading.draft import Draft
from nlb_retriever.reading.formats.html import html_to_text
from nlb_retriever.reading.headings.outline import add_unmarked
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.office.list_labels import open_document_labels
from nlb_retriever.reading.omissions import Omissions, count_words
from nlb_retriever.reading.pages.title_page import is_given, title_page

if TYPE_CHECKING:
    from lxml.etree import _Element

_CONTENT = "content.xml"
_SKIPPED = {
    "tracked-changes": "deleted stretch", "annotation": "reader's comment", "table-of-content": "table of contents",
    "note-citation": "note reference", "desc": "picture's description", "forms": "form",
}  # fmt: skip
"""Elements with text that is none of the document's."""
_MAY_HIDE = frozenset({"p", "h", "span", "section", "hidden-text"})
_EMPTY = frozenset({"tab", "s", "line-break"})
_TAGS = {"table": "table", "table-row": "tr", "table-cell": "td", "ruby-text": "rt"}
_HEADING = re.compile(r"Heading_20_([1-9])")
_PREFIX = re.compile(r"(</?)[\w.-]+:")
"""Of a tag: HTML knows none."""


def read_odt(data: bytes, limits: Limits) -> Draft:
    """Read an OpenDocument text.

    Raises:
        NotABook, ReadingError, ReadingLimit: as for any zip (messages without the path); it is encrypted.
    """
    archive = Archive(data, limits)
    draft = Draft("")
    archive.note_doubled(draft.omissions)
    manifest = read_part(archive, "META-INF/manifest.xml")
    if manifest is not None and next(manifest.iter("{*}encryption-data"), None) is not None:
        raise ReadingError("is encrypted with a password: save it without one")
    content = archive.find(_CONTENT)
    if not content:
        raise NotABook(f"is a zip file but no OpenDocument text (no {_CONTENT} in it)")
    root = parse_xml(archive.read(content), draft.warnings)
    body = root.find("{*}body/{*}text") if root is not None else None
    if root is None or body is None:
        raise NotABook("holds no OpenDocument text (a spreadsheet, slides, or damaged)")
    sheet = read_part(archive, "styles.xml")
    made_from = _parent_styles(root, sheet)
    hidden = {*_styles_with("display", "none", root, sheet)}
    raised = {*_styles_with("text-position", "super", root, sheet)}
    renderer = _Renderer(archive, draft.omissions, made_from, hidden, raised, open_document_labels(root, sheet))
    page = html_to_text(renderer.render(body))
    draft.omissions.add(page.omissions)
    draft.add_page(page.text, page.headings)
    add_unmarked(draft)
    draft.append_notes("\n\n".join(text for note in renderer.notes if (text := html_to_text(note).text.strip())))
    _properties(archive, draft)
    if not draft.title:
        title, author = title_page(draft.text)
        draft.title, draft.author = _styled_title(root, made_from) or title, draft.author or author
    return draft


@dataclass
class _Renderer:
    """OpenDocument's XML to HTML."""

    archive: Archive
    omissions: Omissions
    made_from: dict[str, str]
    """Style -> the one that it is made from."""
    hidden: set[str]
    """Styles whose text is not shown."""
    raised: set[str]
    """Styles of raised text."""
    labels: dict[_Element, str]
    """Numbers that are counted, of paragraphs."""
    notes: list[str] = field(default_factory=list)
    """HTML of each, in order."""
    _out: list[str] = field(default_factory=list)
    _outer: list[list[str]] = field(default_factory=list)
    """Outputs around the boxes and notes that are open."""
    _boxes: list[str] = field(default_factory=list)
    """HTML of boxes to stand behind the paragraph in which they are anchored."""
    _cells: list[int] = field(default_factory=list)
    """Paragraphs so far in each open table cell; -1 in a box."""

    def render(self, body: _Element) -> str:
        from lxml.etree import iterwalk

        skipped: _Element | None = None
        walker = iterwalk(body, events=("start", "end"))
        for event, element in walker:
            name = local_name(element)
            if event == "end":
                if element is not skipped:
                    self._end(name, element)
                if element is not body:
                    self._out.append(escape(element.tail or "", quote=False))
            elif name in _MAY_HIDE and self._is_hidden(name, element):
                skipped = element
                self.omissions.skip_element("hidden stretch", count_words(" ".join(map(str, element.itertext()))))
                walker.skip_subtree()
            elif name in _SKIPPED or (name == "title" and element.prefix == "svg"):
                words = count_words(" ".join(map(str, element.itertext())))
                self.omissions.skip_element(_SKIPPED.get(name, "picture's description"), words)
                walker.skip_subtree()
            else:
                self._start(name, element)
                self._out.append(escape(element.text or "", quote=False))
        return "".join([*self._out, *self._boxes])

    def _is_hidden(self, name: str, element: _Element) -> bool:
        """By its style, or as a section or by a field as its condition was when the file was saved."""
        if name in {"section", "hidden-text"}:
            return attribute(element, "display") == "none" or attribute(element, "is-hidden") == "true"
        fields = element.iterchildren("{*}hidden-paragraph")
        return not self.hidden.isdisjoint(_styles_of(element, self.made_from)) or any(
            attribute(each, "is-hidden") == "true" for each in fields
        )

    def _start(self, name: str, element: _Element) -> None:
        if name in {"p", "h"}:
            self._out.append(self._tag(name, element, ""))
            if label := self.labels.get(element):
                self._out.append(f"{escape(label, quote=False)} ")
        elif name == "span" and attribute(element, "style-name") in self.raised:
            self._out.append("<sup>")
        elif name in _EMPTY:
            self._out.append("<br>" if name == "line-break" else " ")
        elif name in _TAGS:
            if name == "table":
                self._cells.append(0)
            elif name == "table-cell" and self._cells:
                self._cells[-1] = 0
            self._out.append(f"<{_TAGS[name]}>")
        elif name in {"text-box", "note-body"}:
            self._outer.append(self._out)
            self._out = []
            self._cells.append(-1)
        elif name == "object":
            self._out.append(self._object(attribute(element, "href")))

    def _end(self, name: str, element: _Element) -> None:
        if name in {"p", "h"}:
            self._out.append(self._tag(name, element, "/"))
            if not self._outer and not self._in_cell():
                self._out += self._boxes
                self._boxes = []
        elif name == "span" and attribute(element, "style-name") in self.raised:
            self._out.append("</sup>")
        elif name in _TAGS:
            self._out.append(f"</{_TAGS[name]}>")
            if name == "table" and self._cells:
                self._cells.pop()
        elif name in {"text-box", "note-body"} and self._outer:
            (self._boxes if name == "text-box" else self.notes).append("".join(self._out))
            self._out = self._outer.pop()
            self._cells.pop()

    def _tag(self, name: str, element: _Element, slash: str) -> str:
        if self._in_cell():
            self._cells[-1] += not slash
            return "<br>" if not slash and self._cells[-1] > 1 else ""
        level = self._level(name, element)
        if level and not self._outer:
            return f"<{slash}h{level}>"
        parent = element.getparent()
        return f"<{slash}li>" if parent is not None and local_name(parent) == "list-item" else f"<{slash}p>"

    def _level(self, name: str, element: _Element) -> int:
        """From 1; 0 for text. A paragraph may have a heading's style, too."""
        if name == "p":
            styles = map(_HEADING.fullmatch, _styles_of(element, self.made_from))
            return next((min(int(style[1]), 6) for style in styles if style), 0)
        level = attribute(element, "outline-level")
        return min(int(level), 6) if level.isdecimal() and int(level) else 1

    def _in_cell(self) -> bool:
        return bool(self._cells) and self._cells[-1] >= 0

    def _object(self, href: str) -> str:
        """The MathML of a formula; other things inside the document are named as left out."""
        from lxml.etree import tostring

        target = resolve("", f"{href.rstrip('/')}/{_CONTENT}") if href else None
        root = read_part(self.archive, target[0]) if target else None
        if root is None:
            return ""
        if local_name(root) == "math":
            return _PREFIX.sub(r"\1", tostring(root, encoding="unicode"))
        words = count_words(" ".join(map(str, root.itertext())))
        self.omissions.lose(shown_name(href), "files inside the document are not read", words)
        return ""


def _properties(archive: Archive, draft: Draft) -> None:
    root = read_part(archive, "meta.xml")
    values = (
        {local_name(element): text_of(element) for meta in root.iter("{*}meta") for element in meta}
        if root is not None
        else {}
    )
    authors = (values.get("initial-creator", ""), values.get("creator", ""))
    draft.title = title if is_given(title := values.get("title", "")) else None
    draft.author = next((author for author in authors if is_given(author)), None)
    draft.language = values.get("language") or None
    draft.description = values.get("description")


def _parent_styles(root: _Element, sheet: _Element | None) -> dict[str, str]:
    """Style -> the one that it is made from."""
    return {
        attribute(style, "name"): attribute(style, "parent-style-name")
        for tree in (sheet, root)
        for style in (tree.iter("{*}style") if tree is not None else ())
    }


def _styles_with(name: str, value: str, *trees: _Element | None) -> Iterator[str]:
    """Styles whose own text has a property with such a value, or one that begins so."""
    for tree in trees:
        for style in tree.iter("{*}style") if tree is not None else ():
            if any(attribute(each, name).startswith(value) for each in style.iterchildren("{*}text-properties")):
                yield attribute(style, "name")


def _styles_of(paragraph: _Element, made_from: dict[str, str]) -> list[str]:
    """The style of a paragraph and the two that it is made from."""
    style = attribute(paragraph, "style-name")
    parent = made_from.get(style, "")
    return [style, parent, made_from.get(parent, "")]


def _styled_title(root: _Element, made_from: dict[str, str]) -> str | None:
    """The first paragraph with the style "Title" or one that is made from it."""
    titles = (paragraph for paragraph in root.iter("{*}p") if "Title" in _styles_of(paragraph, made_from))
    return next((text_of(paragraph) or None for paragraph in titles), None)
