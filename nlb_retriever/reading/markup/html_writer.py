"""The writer that makes text of elements: paragraphs apart by blank lines, headings, anchors and page breaks located.

What it skips are menus, page numbers, references to notes and the like, where they are as short as such things are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nlb_retriever.reading.draft import INVISIBLE, PARTS, Heading, clean, one_line
from nlb_retriever.reading.markup.mathml import read_math
from nlb_retriever.reading.markup.menus import SKIPPED, is_everywhere, lists_notes, name_menu
from nlb_retriever.reading.markup.unwrap import parts_of_word
from nlb_retriever.reading.office.list_labels import HtmlLists
from nlb_retriever.reading.omissions import Omissions, count_words
from nlb_retriever.reading.raised import raise_behind

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_BLOCK_TAGS = """address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure
    footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main nav ol p pre section summary table tbody tfoot
    thead tr ul caption x-template x-noframes x-noembed x-iframe
    x-frameset x-select x-option x-textarea x-plaintext"""
_BLOCKS = frozenset(_BLOCK_TAGS.split())
_TIGHT = frozenset({"li", "tr", "dt", "dd", "caption", "x-option"})
_INLINE_TAGS = """a abbr acronym b bdi bdo big blink button cite code data del dfn em font i img ins kbd mark
    nobr object q rb rp rt ruby s samp small span strike strong sub sup svg time tt u var wbr"""
_INLINE = frozenset(_INLINE_TAGS.split())
"""Elements at whose borders words go on, as in those of a name with a hyphen or a prefix."""
_LISTS = frozenset({"ol", "ul", "li"})
_CODE = frozenset({"head", "script", "style"})
_HEADINGS = {f"h{i}": i for i in range(1, 7)}
_BLANKS = r"\t\n\r\f\xa0\u2002-\u200a\u202f"
_WHITE = re.compile(rf" *[{_BLANKS}][ {_BLANKS}]*|  +")
"""White space that is more than one blank."""
_UNUSUAL = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b\u2060\ufeff\ud800-\udfff{PARTS}]")
"""What cleaning changes."""
_PERMALINKS = frozenset("#¶§🔗")  # links of a heading to itself
_BACKLINKS = frozenset(("↩", "↩\ufe0e", "↩\ufe0f", "¶", "§"))  # of a note to where it is called, or to a place itself
_BOILERPLATE = re.compile(r"\bpg-boilerplate\b|\bpgheader\b|\bpgfooter\b|(?:^|\s)pg-(?:header|footer)")
_PAGE_BREAKS = frozenset({"pagebreak", "doc-pagebreak", ".pagenum", ".pageno", ".x-ebookmaker-pageno"})
_REFERENCES = frozenset({"noteref", "doc-noteref", "backlink", "doc-backlink", "annoref", ".noteref", ".fnanchor"})
"""EPUB types, roles and (with a dot) classes, those of Project Gutenberg."""
_UNSEEN = re.compile(r"\bdisplay\s*:\s*none\b", re.IGNORECASE)
_MARK = re.compile(r"[\d*†‡§()\[\],]{1,5}")  # what a raised link to a note reads
_NOTES = frozenset({"footnote", "doc-footnote", "rearnote", "endnote"})
_LABEL = re.compile(r"(?i)^[\s.(\[{]*+(?:page|pg|p)?[\s_.-]*(?=\w)")
_SHORT = 20
"""Characters of a page number or a reference to a note."""
_LONG_LINK = 120
"""Characters of a link on average from which on a list of links is no menu."""
_HIDDEN, _LONGEST_NOTE, _GUTENBERG, _SHORT_MENU, _LONGEST_LIST = 2_000, 20_000, 25_000, 200, 200_000
"""Characters up to which hidden elements, footnotes, licenses, menus and lists of links are what they are called."""
_SECTIONS = frozenset({"body", "section", "article", "main", "div"})


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
    links: list[int] = field(default_factory=list)
    """Characters of each link: a page that is mostly short links is a table of contents."""
    matter: list[tuple[str, str]] = field(default_factory=list)
    """EPUB type and text of skipped sections ("titlepage", "colophon")."""
    omissions: Omissions = field(default_factory=Omissions)
    title: str = ""
    author: str = ""
    language: str = ""
    description: str = ""
    is_article: bool = False

    @property
    def is_link_list(self) -> bool:
        """Whether it is mostly short links."""
        return 0.5 * len(self.text) < sum(self.links) < _LONG_LINK * len(self.links)


def walk(root: LexborNode, writer: Writer) -> None:
    """Depth first with a stack of open elements, so that any depth of nesting is fine."""
    open_nodes: list[tuple[LexborNode, str]] = []
    node: LexborNode | None = root
    while node is not None or open_nodes:
        if node is None:
            done, tag = open_nodes.pop()
            writer.leave(tag)
            if not open_nodes:  # the root's siblings are not its text
                return
            node = done.next
            continue
        tag = node.tag or ""
        if tag == "-text":
            writer.write(node.text_content or "")
            node = node.next
            continue
        if tag in _CODE or tag.startswith("-") or not writer.enter(tag, node):
            if tag == "-comment":
                writer.page.omissions.skip_element("comment", count_words(node.comment_content or ""))
            if not open_nodes:
                return
            node = node.next
            continue
        open_nodes.append((node, tag))
        node = node.first_child


def _ends_words(tag: str) -> bool:
    """Whether an element that is no block parts words all the same: an unknown one, of another kind of XML."""
    return not (tag in _INLINE or tag in {"td", "th", "br"} or "-" in tag or ":" in tag)


def _dropped_capital(node: LexborNode, attributes: Mapping[str, str | None]) -> str:
    """The letter that an image shows before the rest of its word; "" for another image."""
    letter = attributes.get("alt") or ""
    if len(letter) != 1 or not letter.isupper():
        return ""
    around: LexborNode | None = node
    while around is not None and around.next is None and around.parent is not None and around.parent.tag in _INLINE:
        around = around.parent
    text = around.next if around is not None else None
    while text is not None and text.tag != "-text":
        text = text.first_child if text.tag in _INLINE else None
    return letter if text is not None and (text.text_content or "")[:1].isalpha() else ""


def _is_unseen(tag: str, attributes: Mapping[str, str | None], node: LexborNode) -> bool:
    """Whether a style hides an element: no heading, and no formula, of which a picture is shown."""
    style = attributes.get("style") or ""
    return bool(_UNSEEN.search(style)) and tag not in _HEADINGS and node.css_first("math") is None


class Writer:
    """Collects text; what is about to come (breaks, anchors) waits until there is text after it."""

    def __init__(self, matter: Mapping[str, int], budget: int, *, places_words: bool = False) -> None:
        self.page = HtmlText()
        self.parts: list[str] = []
        self.length = 0
        self.breaks = 0
        self.space = ""
        self.pre = 0
        self.raised = 0
        self.open_links: list[tuple[str, int]] = []  # address and characters so far
        self.last_href: str | None = None
        self.waiting: list[str] = []
        self.waiting_pages: list[str] = []
        self.open_headings: list[tuple[int, int]] = []
        self.lists = HtmlLists()
        self.counts_items = True
        self.matter = matter
        self.budget = budget
        """Characters that may still be looked at to decide what is skipped; without them nothing is."""
        self.cut_words: set[tuple[str, str]] = set()
        """The words that hyphens part at the ends of scanned lines, each as its two parts."""
        self.places_words = places_words
        """Whether elements with a place of their own on the page are words, as in EPUB with a fixed layout."""

    def enter(self, tag: str, node: LexborNode) -> bool:
        """Note an element's beginning; False where its content is not to be read."""
        attributes = node.attributes
        if attributes:
            for name in (attributes.get("id"), attributes.get("name") if tag == "a" else None):
                if name:
                    self.waiting.append(name)
        if (attributes or tag in SKIPPED or tag in {"nav", "sup"}) and self._skip(tag, attributes, node):
            return False
        if tag == "math":
            apart = " " * (attributes.get("display") == "block")
            self.write(f"{apart}{read_math(node, self.page.omissions)}{apart}")
            return False
        if tag in _BLOCKS:
            self.breaks = max(self.breaks, 1 if tag in _TIGHT else 2)
            self.space = ""
        elif tag == "br":
            self.breaks = min(self.breaks + 1, 3)
            self.space = ""
        elif tag in {"td", "th"}:
            self.space = "  "
        elif tag == "a":
            self.open_links.append((attributes.get("href") or "", 0))
        elif _ends_words(tag) or (self.places_words and "absolute" in (attributes.get("style") or "")):
            self.space = self.space or " "
        self.raised += tag == "sup"
        if tag in _LISTS:
            self.lists.enter(tag, attributes)
        elif tag in _HEADINGS:
            self.open_headings.append((len(self.parts), self.length))
        elif tag == "pre":
            self.pre += 1
        elif tag == "img" and (self.breaks or not self.length) and (letter := _dropped_capital(node, attributes)):
            self.write(letter)
        elif tag == "hr":
            self.write("* * *")
            self.breaks = 2
        return True

    def _skip(self, tag: str, attributes: Mapping[str, str | None], node: LexborNode) -> bool:
        """Whether an element is none of the text; then it is noted, or kept apart."""
        kinds = {tag, *f"{attributes.get('epub:type') or ''} {attributes.get('role') or ''}".split()}
        if classes := attributes.get("class"):
            kinds.update([f".{each}" for each in classes.split()])
        if kinds & _PAGE_BREAKS and (content := self._short(node, _SHORT)) is not None:
            label = attributes.get("title") or attributes.get("aria-label") or content or attributes.get("id") or ""
            self.waiting_pages.append(_LABEL.sub("", label).strip(" .)]}"))
            self.waiting += [name for each in node.css("[id]") if (name := each.attributes.get("id"))]
            self.page.omissions.skip_element("page number", count_words(content))
            return True
        calls = kinds & _REFERENCES or (tag in {"a", "sup"} and self._is_raised_link(tag, kinds, node))
        if calls and (content := self._short(node, _SHORT)) is not None:
            self.page.omissions.skip_element("note reference", count_words(content))
            return True
        for name in sorted(kinds & SKIPPED.keys()):
            if (content := self._short(node, SKIPPED[name][1])) is not None:
                self.page.omissions.skip_element(SKIPPED[name][0], count_words(content))
                return True
        hidden = "hidden" in attributes
        is_note = ((hidden or tag == "aside") and kinds & _NOTES) or (tag in _SECTIONS and lists_notes(kinds, node))
        if is_note and (content := self._short(node, _LONGEST_NOTE)) is not None:
            self.page.notes += f"{content.removeprefix('* * *').strip()}\n\n" if content else ""
            return True
        if (hidden or _is_unseen(tag, attributes, node)) and (content := self._short(node, _HIDDEN)) is not None:
            self.page.omissions.skip_element("hidden element", count_words(content))
            return True
        matter = sorted(kinds & self.matter.keys()) if tag in _SECTIONS else []
        names = f"{classes or ''} {attributes.get('id') or ''}"
        menu, short = name_menu(tag, names)
        if menu and is_everywhere(node, classes):
            menu = ""
        page = self._page(node, _LONGEST_LIST) if matter or menu else None
        if matter and page and (len(page.text) <= self.matter[matter[0]] or page.is_link_list):
            self.page.matter.append((matter[0], page.text))
            return True
        if _BOILERPLATE.search(names) and (content := self._short(node, _GUTENBERG)) and "Gutenberg" in content:
            self.page.omissions.skip("Project Gutenberg's header and license", count_words(content))
            return True
        is_short = page and len(page.text) <= _SHORT_MENU and (page.links or tag == "nav")
        if menu and page and (page.is_link_list or (short and is_short)):
            self.page.omissions.skip_element(menu, count_words(page.text))
            return True
        return False

    def _is_raised_link(self, tag: str, kinds: set[str], node: LexborNode) -> bool:
        """Whether an element is a raised number or mark directly behind a word, with a link to its note."""
        if tag == "sup" and ".reference" in kinds:  # Wikipedia's, "[note 1]"
            return True
        if self.breaks or self.space or not self.length:
            return False
        inner = node.first_child
        while inner is not None and inner.tag != ("sup" if tag == "a" else "a"):
            inner = inner.next
        link = node if tag == "a" else inner
        if inner is None or link is None or "#" not in (link.attributes.get("href") or ""):
            return False
        return _MARK.fullmatch(self._short(node, _SHORT) or "") is not None

    def _short(self, node: LexborNode, limit: int) -> str | None:
        """An element's text where it has at most `limit` characters."""
        page = self._page(node, limit)
        return None if page is None or len(page.text) > limit else page.text.strip()

    def _page(self, node: LexborNode, limit: int) -> HtmlText | None:
        """An element alone, with nothing in it skipped; None where it is far longer than `limit`."""
        if self.budget < 0:
            return None
        length = len(node.text())
        self.budget -= length
        if length > 2 * limit + 1_000:
            return None
        writer = Writer({}, budget=-1, places_words=self.places_words)
        writer.counts_items = False
        walk(node, writer)
        return writer.finish()

    def leave(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.breaks = max(self.breaks, 1 if tag in _TIGHT else 2)
            self.space = ""
        elif tag == "a":
            href, length = self.open_links.pop()
            if length and href == self.last_href:  # one that was not closed goes on in every paragraph
                self.page.links[-1] += length
            elif length:
                self.page.links.append(length)
                self.last_href = href
        elif _ends_words(tag):
            self.space = self.space or " "
        self.raised -= tag == "sup"
        if tag in _LISTS:
            self.lists.leave(tag)
        elif tag in _HEADINGS and self.open_headings:
            first, length = self.open_headings.pop()
            title = one_line("".join(self.parts[first:]))
            if first < len(self.parts) and not self.parts[first].strip():  # the break before it
                length += len(self.parts[first])
            if title:
                self.page.headings.append(Heading(length, _HEADINGS[tag], title))
        elif tag == "pre":
            self.pre -= 1

    def write(self, text: str) -> None:
        if _UNUSUAL.search(text):
            text = INVISIBLE.sub("", clean(text))
        if not self.pre:
            text = _WHITE.sub(" ", text)
        body = text.strip("\n" if self.pre else " ")
        if self.pre and self.length:
            self.breaks = max(self.breaks, len(text) - len(text.lstrip("\n")))
        if not body or (self.open_links and body in (_PERMALINKS if self.open_headings else _BACKLINKS)):
            self.space = self.space or (" " if text else "")
            return
        if self.counts_items:
            body = f"{self.lists.take_label(body)}{body}"
        if self.cut_words and self.parts and not self.breaks and parts_of_word(self.parts[-1], body) in self.cut_words:
            self.parts[-1] = self.parts[-1][:-1]
            self.length -= 1
        elif self.length:
            if self.raised and not (self.breaks or self.space or text[0] == " "):
                body = raise_behind(self.parts[-1], body)
            self._put("\n" * self.breaks or self.space or (" " if text[0] == " " and not self.pre else ""))
        for name in self.waiting:
            self.page.anchors.setdefault(name, self.length)
        self.page.pages += [(self.length, label) for label in self.waiting_pages if label]
        self.waiting.clear()
        self.waiting_pages.clear()
        self._put(body)
        if self.open_links:
            href, length = self.open_links[-1]
            self.open_links[-1] = (href, length + len(body))
        self.breaks = len(text) - len(text.rstrip("\n")) if self.pre else 0
        self.space = " " if text[-1] == " " and not self.pre else ""

    def _put(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)

    def finish(self) -> HtmlText:
        self.page.text = "".join(self.parts)
        for name in self.waiting:
            self.page.anchors.setdefault(name, self.length)
        return self.page
