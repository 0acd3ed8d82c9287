"""HTML to text by blocks: paragraphs apart by blank lines, headings, anchors and page breaks located.

Every text node below the body is written, or counted in the page's omissions (html_writer.py), as are scripts, styles
and comments.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from nlb_retriever.reading.draft import Draft, one_line, title_of
from nlb_retriever.reading.gutenberg import title_of_mention
from nlb_retriever.reading.html_writer import HtmlText, Writer, walk
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.markup import decode_markup, make_safe
from nlb_retriever.reading.omissions import Omissions
from nlb_retriever.reading.outline import find_headings
from nlb_retriever.reading.unwrap import cut_words

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser


def read_html(data: bytes, path: Path, limits: Limits) -> Draft:
    """Read an HTML file: its h1-h6 are the sections, else headings found in the text."""
    source, warning = decode_markup(data)
    page = html_to_text(source)
    if not page.text.strip():
        page = html_to_text(source, everything=True)
    draft = Draft(page.text, page.headings, warnings=[warning] if warning else [], omissions=page.omissions)
    draft.title = page.title or title_of(page.headings)
    draft.author, draft.language = page.author or None, page.language or None
    draft.description = page.description
    if draft.title and (mention := title_of_mention(draft.title)):
        draft.title, draft.author = mention[0], draft.author or mention[1]
    if page.notes:
        draft.append_notes(page.notes)
    if len(draft.headings) < 2:
        draft.headings = find_headings(draft.text) or draft.headings
    return draft


def html_to_text(source: str, matter: Mapping[str, int] | None = None, *, everything: bool = False) -> HtmlText:
    """Walk an HTML (or XHTML) document without recursion.

    Args:
        source: the document.
        matter: EPUB types of sections to skip, and up to how many characters.
        everything: skip nothing.
    """
    from selectolax.lexbor import LexborHTMLParser

    omissions = Omissions()
    tree = LexborHTMLParser(make_safe(source, omissions))
    budget = -1 if everything else 4 * len(source) + 10_000
    writer = Writer(matter or {}, budget, places_words="absolute" in source and _places_words(tree))
    root = tree.root
    if root is not None:
        if "-</" in source:
            writer.cut_words = cut_words(root.text())
        walk(root, writer)
    page = writer.finish()
    page.omissions.add(omissions)
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
        if name in {"description", "dc.description", "dcterms.description"}:
            page.description = page.description or node.attributes.get("content") or ""
    return page


def _places_words(tree: LexborHTMLParser) -> bool:
    """Whether each word has a place of its own on the page, and none a blank to part it from the next."""
    placed = [node.text() for node in tree.css('span[style*="absolute"]')]
    return bool(placed) and not any(text[:1].isspace() or text[-1:].isspace() for text in placed)
