"""HTML to text by blocks: paragraphs apart by blank lines, headings, anchors and page breaks located.

Every text node below the body is written, or counted in the page's omissions (html_writer.py), as are scripts, styles
and comments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from nlb_retriever.reading.authors import join_authors
from nlb_retriever.reading.draft import Draft, one_line, title_of
from nlb_retriever.reading.formats.ocr import read_hocr
from nlb_retriever.reading.gutenberg import title_of_mention
from nlb_retriever.reading.headings.outline import add_unmarked
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.markup.html_writer import HtmlText, Writer, walk
from nlb_retriever.reading.markup.repair import decode_markup, make_safe
from nlb_retriever.reading.markup.unwrap import cut_words
from nlb_retriever.reading.omissions import Omissions, count_words

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode


def read_html(data: bytes, limits: Limits) -> Draft:
    """Read an HTML file: its h1-h6 are the sections, else headings found in the text."""
    source, warning = decode_markup(data)
    if "ocr_page" in source and "ocr-system" in source:
        scan = read_hocr(source, Draft("", warnings=[warning] if warning else []))
        if scan.text.strip():
            return scan
    page = html_to_text(source, article=True)
    if not page.text.strip():
        page = html_to_text(source, everything=True)
    draft = Draft(page.text, page.headings, warnings=[warning] if warning else [], omissions=page.omissions)
    draft.title = page.title or title_of(page.headings)
    draft.author, draft.language = page.author or None, page.language or None
    draft.description, draft.is_page = page.description, page.is_article
    draft.is_marked = True
    if draft.title and (mention := title_of_mention(draft.title)):
        draft.title, draft.author = mention[0], draft.author or mention[1]
    add_unmarked(draft)
    draft.append_notes(page.notes)
    return draft


def html_to_text(
    source: str, matter: Mapping[str, int] | None = None, *, everything: bool = False, article: bool = False
) -> HtmlText:
    """Walk an HTML (or XHTML) document without recursion.

    Args:
        source: the document.
        matter: EPUB types of sections to skip, and up to how many characters.
        everything: skip nothing.
        article: read the page's main part or article alone, where it has one.
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
    if article and (node := _article(tree)) is not None:
        page = _of_article(page, node, writer)
    page.omissions.add(omissions)
    for node in tree.css("html")[:1]:
        page.language = one_line(node.attributes.get("lang") or node.attributes.get("xml:lang") or "", 20)
    for node in tree.css("head title")[:1]:
        page.title = one_line(node.text() or "")
    authors: dict[str, list[str]] = {}
    for node in tree.css("meta[name]"):
        name = (node.attributes.get("name") or "").lower()
        if name in {"author", "dc.creator", "dcterms.creator", "citation_author"}:
            authors.setdefault(name, []).append(one_line(node.attributes.get("content") or ""))
        if name in {"dc.title", "dcterms.title"}:
            page.title = one_line(node.attributes.get("content") or "") or page.title
        if name in {"description", "dc.description", "dcterms.description"}:
            page.description = page.description or node.attributes.get("content") or ""
    page.author = next((joined for each in authors.values() if (joined := join_authors(each))), None) or ""
    return page


def _places_words(tree: LexborHTMLParser) -> bool:
    """Whether each word has a place of its own on the page, and none a blank to part it from the next."""
    placed = [node.text() for node in tree.css('span[style*="absolute"]')]
    return bool(placed) and not any(text[:1].isspace() or text[-1:].isspace() for text in placed)


def _article(tree: LexborHTMLParser) -> LexborNode | None:
    """A page's main part, or the one article in it that has the page's title and most words of its paragraphs.

    Comments may be other articles. In mdBook's pages only the book's title is h1.
    """
    mains = tree.css("main") or tree.css("[role=main]")
    titled = tree.css_first("h1") is not None
    main = mains[0] if len(mains) == 1 and (mains[0].css_first("h1, h2") or not titled) else None
    around = main or tree
    articles = [node for node in around.css("article") if not any(_holds_others(each) for each in _around(node))]
    if len(articles) != 1 or (titled and not articles[0].css_first("h1")):
        return main
    words = sum(count_words(node.text()) for node in around.css("p"))
    inside = sum(count_words(node.text()) for node in articles[0].css("p"))
    return articles[0] if 2 * inside > words else main


def _around(node: LexborNode) -> Iterator[LexborNode]:
    parent = node.parent
    while parent is not None and parent.tag != "body":
        yield parent
        parent = parent.parent


def _holds_others(node: LexborNode) -> bool:
    """Whether the articles in an element are parts of another, or comments on it."""
    return node.tag == "article" or "comment" in f"{node.attributes.get('class')} {node.attributes.get('id')}".lower()


def _of_article(whole: HtmlText, node: LexborNode, writer: Writer) -> HtmlText:
    """The text of an article, and what the page has around it as boilerplate; all where that is far more."""
    alone = Writer({}, writer.budget, places_words=writer.places_words)
    alone.cut_words = writer.cut_words
    walk(node, alone)
    page = alone.finish()
    words, of_all = count_words(page.text + page.notes), count_words(whole.text + whole.notes)
    if 3 * words < of_all:
        return whole
    page.omissions = whole.omissions
    page.omissions.skip("around the article", of_all - words)
    page.is_article = True
    return page
