"""HTML to text by blocks: paragraphs apart by blank lines, headings, anchors and page breaks located."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nlb_retriever.reading.decode import decode
from nlb_retriever.reading.draft import Draft, Heading, clean, one_line
from nlb_retriever.reading.gutenberg import find_wrapper, title_of_mention
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.outline import find_headings

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_BLOCK_TAGS = """address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure
    footer form h1 h2 h3 h4 h5 h6 header hgroup hr html li main ol p pre section summary table tbody tfoot thead tr
    ul caption"""
_BLOCKS = frozenset(_BLOCK_TAGS.split())
_TIGHT = frozenset({"li", "tr", "dt", "dd", "caption"})
_SKIPPED_TAGS = """head script style template svg iframe object audio video canvas select button textarea input nav
    rt rp noscript"""
_SKIPPED = frozenset(_SKIPPED_TAGS.split())
_HEADINGS = {f"h{i}": i for i in range(1, 7)}
_WHITE = re.compile(r"[ \t\n\r\f\xa0\u2002-\u200a\u202f]+")
_INVISIBLE = re.compile("[\xad\u200b\u2060\ufeff]")
_SELF_CLOSED = re.compile(r"<([A-Za-z][\w:-]*)((?:\s[^<>]*)?)/>")
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
_CHARSET = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9._:-]{2,40})""", re.IGNORECASE)
_BOILERPLATE = re.compile(r"\bpg-boilerplate\b|\bpgheader\b|\bpgfooter\b|^pg-(?:header|footer)")


@dataclass
class HtmlText:
    """The text of one HTML document and what lies where in it."""

    text: str = ""
    headings: list[Heading] = field(default_factory=list)
    anchors: dict[str, int] = field(default_factory=dict)
    pages: list[tuple[int, str]] = field(default_factory=list)
    """Offset and printed label of page breaks."""
    notes: str = ""
    """Footnotes that stood among the text, taken out of it."""
    links: int = 0
    """Characters inside links: a page that is mostly links is a table of contents."""
    kinds: frozenset[str] = frozenset()
    """EPUB types of the body and its outermost sections ("titlepage", "colophon", "chapter")."""
    title: str = ""
    author: str = ""
    language: str = ""


def read_html(data: bytes, path: Path, limits: Limits) -> Draft:
    """Read an HTML file: its h1-h6 are the sections, else headings found in the text."""
    source, warning = decode_markup(data)
    page = html_to_text(source)
    draft = Draft(page.text, page.headings, warnings=[warning] if warning else [])
    draft.title, draft.author, draft.language = page.title or None, page.author or None, page.language or None
    if draft.title and (mention := title_of_mention(draft.title)):
        draft.title, draft.author = mention[0], draft.author or mention[1]
    if wrapper := find_wrapper(draft.text):
        draft.text = draft.text[wrapper.start : wrapper.end]
        draft.headings = [
            Heading(h.start - wrapper.start, h.level, h.title)
            for h in draft.headings
            if wrapper.start <= h.start < wrapper.end
        ]
        draft.title, draft.author = wrapper.title or draft.title, wrapper.author or draft.author
    if page.notes:
        draft.append_notes(page.notes)
    if len(draft.headings) < 2:
        draft.headings = find_headings(draft.text) or draft.headings
    return draft


def decode_markup(data: bytes) -> tuple[str, str | None]:
    """Decode HTML or XHTML by BOM, declaration or guess; the second value is a warning or None."""
    declared = _CHARSET.search(data[:2048])
    text, guessed = decode(data, declared[1].decode("ascii") if declared else None)
    return text, f"the encoding was guessed: {guessed}" if guessed else None


def html_to_text(source: str) -> HtmlText:
    """Walk an HTML (or XHTML) document without recursion."""
    from selectolax.lexbor import LexborHTMLParser

    source = _SELF_CLOSED.sub(_expand, _without_doctype(source.replace("\x00", " ")))
    tree = LexborHTMLParser(source)
    writer = _Writer()
    root = tree.root
    if root is not None:
        _walk(root, writer)
    page = writer.finish()
    for node in tree.css("html")[:1]:
        page.language = one_line(node.attributes.get("lang") or node.attributes.get("xml:lang") or "", 20)
    for node in tree.css("head title")[:1]:
        page.title = one_line(node.text() or "")
    for node in tree.css("meta[name]"):
        name = (node.attributes.get("name") or "").lower()
        if name in {"author", "dc.creator", "dcterms.creator", "citation_author"} and not page.author:
            page.author = one_line(node.attributes.get("content") or "")
        if name in {"dc.title", "dcterms.title"}:
            page.title = one_line(node.attributes.get("content") or "") or page.title
    return page


def _expand(match: re.Match[str]) -> str:
    return match[0] if match[1].lower() in _VOID else f"<{match[1]}{match[2]}></{match[1]}>"


def _without_doctype(source: str) -> str:
    """Drop the document type with its entity declarations: nothing is expanded, nothing is shown."""
    start = source[:4096].upper().find("<!DOCTYPE")
    if start < 0:
        return source
    end, subset = source.find(">", start), source.find("[", start)
    if 0 <= subset < end:
        close = source.find("]", subset)
        end = source.find(">", close) if close >= 0 else end
    return source[:start] + source[end + 1 :] if end >= 0 else source


def _walk(root: LexborNode, writer: _Writer) -> None:
    """Depth first with a stack of open elements, so that any depth of nesting is fine."""
    open_nodes: list[tuple[LexborNode, str]] = []
    node: LexborNode | None = root
    while node is not None or open_nodes:
        if node is None:
            done, tag = open_nodes.pop()
            writer.leave(tag)
            node = done.next
            continue
        tag = node.tag or ""
        if tag == "-text":
            writer.write(node.text_content or "")
            node = node.next
            continue
        if tag in _SKIPPED or tag.startswith("-") or not writer.enter(tag, node.attributes):
            node = node.next
            continue
        open_nodes.append((node, tag))
        node = node.first_child


class _Writer:
    """Collects text; what is about to come (breaks, anchors) waits until there is text after it."""

    def __init__(self) -> None:
        self.page = HtmlText()
        self.parts: list[str] = []
        self.length = 0
        self.breaks = 0
        self.space = ""
        self.pre = self.in_link = 0
        self.waiting: list[str] = []
        self.waiting_pages: list[str] = []
        self.open_headings: list[tuple[int, int]] = []
        self.kinds: set[str] = set()
        self.aside: _Writer | None = None
        self.aside_depth = 0

    def enter(self, tag: str, attributes: dict[str, str | None]) -> bool:
        """Note an element's beginning; False where its content is not to be read."""
        if self.aside:
            self.aside_depth += 1
            return self.aside.enter(tag, {})
        if attributes:
            kinds = set(f"{attributes.get('epub:type') or ''} {attributes.get('role') or ''}".split())
            if tag in {"body", "section", "article"} and not self.length:
                self.kinds |= kinds
            for name in (attributes.get("id"), attributes.get("name") if tag == "a" else None):
                if name:
                    self.waiting.append(name)
            if kinds & {"pagebreak", "doc-pagebreak"}:
                label = attributes.get("title") or attributes.get("aria-label") or attributes.get("id") or ""
                self.waiting_pages.append(re.sub(r"(?i)^[\s.]*(?:page|pg|p)?[\s_.-]*(?=\w)", "", label).strip(" ."))
                return False
            if kinds & {"noteref", "doc-noteref", "backlink", "doc-backlink", "annoref"}:
                return False
            names = attributes.get("class") or "", attributes.get("id") or ""
            if "hidden" in attributes or any(map(_BOILERPLATE.search, names)):
                return False
            if tag == "aside" and kinds & {"footnote", "doc-footnote", "rearnote", "endnote"}:
                self.aside, self.aside_depth = _Writer(), 1
                return True
        if tag in _BLOCKS:
            self.breaks = max(self.breaks, 1 if tag in _TIGHT else 2)
            self.space = ""
        elif tag == "br":
            self.breaks = min(self.breaks + 1, 3)
            self.space = ""
        elif tag in {"td", "th"}:
            self.space = "  "
        elif tag == "a":
            self.in_link += 1
        if tag in _HEADINGS:
            self.open_headings.append((len(self.parts), self.length))
        elif tag == "pre":
            self.pre += 1
        elif tag == "hr":
            self.write("* * *")
            self.breaks = 2
        return True

    def leave(self, tag: str) -> None:
        if self.aside:
            self.aside_depth -= 1
            self.aside.leave(tag)
            if self.aside_depth == 0:
                note = self.aside.finish().text.strip()
                self.page.notes += f"{note}\n\n" if note else ""
                self.aside = None
            return
        if tag in _BLOCKS:
            self.breaks = max(self.breaks, 1 if tag in _TIGHT else 2)
            self.space = ""
        elif tag == "a":
            self.in_link -= 1
        if tag in _HEADINGS and self.open_headings:
            first, length = self.open_headings.pop()
            title = one_line(" ".join(self.parts[first:]))
            if first < len(self.parts) and not self.parts[first].strip():  # the break before it
                length += len(self.parts[first])
            if title:
                self.page.headings.append(Heading(length, _HEADINGS[tag], title))
        elif tag == "pre":
            self.pre -= 1

    def write(self, text: str) -> None:
        if self.aside:
            self.aside.write(text)
            return
        text = _INVISIBLE.sub("", clean(text))
        if not self.pre:
            text = _WHITE.sub(" ", text)
        body = text.strip("\n" if self.pre else " ")
        if not body:
            self.space = self.space or (" " if text else "")
            return
        if self.length:
            lead = "\n" * self.breaks or self.space or (" " if text[0] == " " and not self.pre else "")
            if lead:
                self._put(lead)
        for name in self.waiting:
            self.page.anchors.setdefault(name, self.length)
        self.page.pages += [(self.length, label) for label in self.waiting_pages if label]
        self.waiting.clear()
        self.waiting_pages.clear()
        self._put(body)
        self.page.links += len(body) if self.in_link > 0 else 0
        self.breaks, self.space = 0, " " if text[-1] == " " and not self.pre else ""

    def _put(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)

    def finish(self) -> HtmlText:
        self.page.text = "".join(self.parts)
        self.page.kinds = frozenset(self.kinds)
        for name in self.waiting:
            self.page.anchors.setdefault(name, self.length)
        return self.page
