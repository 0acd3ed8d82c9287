"""What programs read on scanned pages, as one text without running heads, with pages: ALTO, ABBYY's XML, hOCR."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nlb_retriever.reading.containers.xmltree import attribute, local_name
from nlb_retriever.reading.draft import INVISIBLE, Draft, clean, one_line
from nlb_retriever.reading.headings.outline import find_headings
from nlb_retriever.reading.markup.repair import make_safe
from nlb_retriever.reading.markup.unwrap import cut_words, parts_of_word
from nlb_retriever.reading.omissions import count_words
from nlb_retriever.reading.pages.page_numbers import PageNumbers
from nlb_retriever.reading.pages.running_heads import without_running_heads
from nlb_retriever.reading.pages.title_page import title_page
from nlb_retriever.records import Page

if TYPE_CHECKING:
    from lxml.etree import _Element
    from selectolax.lexbor import LexborNode

Paragraphs = list[list[str]]
"""Of a page, each with its lines."""
_SOFT_END = re.compile(r"\xad\s*\Z")
_CUT = re.compile(r"[^\W\d_]-$")
_ENDS = frozenset(".!?:;\"'”’»“«)")
_LONG = 30
"""Characters of a line of text, at whose end a column may end: titles and their authors are shorter."""
_ENTRY = re.compile(r"(?:[IVXLC]{1,7}|\d{1,3})[.)] [“\"‘']?[^\W\d_a-z]")
"""The beginning of a line of a table of contents or of a list."""
_LINES = ".ocr_line, .ocrx_line, .ocr_header, .ocr_caption, .ocr_textfloat"


def read_alto(root: _Element, draft: Draft) -> Draft:
    """Read an ALTO file: pages, blocks, lines, words (Library of Congress, versions 1 to 4)."""
    pages = [*root.iter("{*}Page")]
    labels = [page.get("PRINTED_IMG_NR") or "" for page in pages]
    return _fill(draft, [[_alto_block(block) for block in page.iter("{*}TextBlock")] for page in pages], labels)


def _alto_block(block: _Element) -> list[str]:
    return [_alto_line(line) for line in block.iter("{*}TextLine")]


def _alto_line(line: _Element) -> str:
    words = " ".join(attribute(each, "CONTENT") for each in line if local_name(each) == "String")
    is_cut = any(local_name(each) == "HYP" for each in line)
    return f"{words.rstrip('-')}-" if is_cut else words


def read_abbyy(root: _Element, draft: Draft) -> Draft:
    """Read a file of ABBYY FineReader: pages, paragraphs, lines, characters."""
    pages = root.iter("{*}page")
    return _fill(draft, [[[*map(_abbyy_line, par.iter("{*}line"))] for par in page.iter("{*}par")] for page in pages])


def _abbyy_line(line: _Element) -> str:
    characters = [each.text or " " for each in line.iter("{*}charParams")]
    return "".join(characters or map(str, line.itertext()))


def read_hocr(source: str, draft: Draft) -> Draft:
    """Read hOCR: HTML whose classes say what is a page, a paragraph and a line; without text where it is other HTML."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(make_safe(source, draft.omissions))
    draft.title = next((one_line(node.text()) for node in tree.css("head title")), None)
    draft.language = next((node.attributes.get("lang") for node in tree.css("html")), None)
    pages = [_hocr_page(page) for page in tree.css(".ocr_page")]
    inside = sum(count_words(line) for page in pages for paragraph in page for line in paragraph)
    around = sum(count_words(body.text(separator=" ")) for body in tree.css("body")) - inside
    draft.omissions.skip("around the lines of pages", max(0, around))
    return _fill(draft, pages)


def _hocr_page(page: LexborNode) -> Paragraphs:
    paragraphs = page.css(".ocr_par") or page.css(".ocr_carea") or [page]
    return [[line.text(separator=" ") for line in paragraph.css(_LINES)] for paragraph in paragraphs]


def _fill(draft: Draft, pages: Sequence[Paragraphs], labels: Sequence[str] = ()) -> Draft:
    """Give a draft the text, headings, pages, title and author of a scan.

    Args:
        draft: without text.
        pages: what stands on each.
        labels: their numbers where the file gives them.
    """
    tidy = [_tidy(page) for page in pages]
    whole = [[line for paragraph in page for line in paragraph] for page in tidy]
    numbers = PageNumbers(whole, labels or [""] * len(pages))
    kept = without_running_heads(whole, numbers, draft.omissions)
    lines = [*_lines(tidy, whole, kept)]
    starts: dict[int, int] = {}
    words = cut_words("\n".join(line for _, line, _ in lines))
    parts: list[str] = []
    length = 0
    for i, (page, line, ends) in enumerate(lines):
        starts.setdefault(page, length)
        following = lines[i + 1] if i + 1 < len(lines) else (page, "", True)
        text, glue = line, "\n\n" if ends and not _goes_on(page, line, following) else " "
        if glue == " " and (cut := parts_of_word(line, following[1])):
            glue = ""
            text = line[:-1] if cut in words else line
        parts += [text, glue]
        length += len(text) + len(glue)
    draft.text = "".join(parts).rstrip() + "\n"
    draft.headings = find_headings(draft.text)
    shown = numbers.printed()
    draft.pages = [Page(start=start, number=page + 1, label=shown[page]) for page, start in starts.items()]
    title, draft.author = title_page(draft.text)
    draft.title = draft.title or title
    return draft


def _tidy(page: Paragraphs) -> Paragraphs:
    lines = (
        [" ".join(INVISIBLE.sub("", clean(_SOFT_END.sub("-", line))).split()) for line in paragraph]
        for paragraph in page
    )
    return [kept for paragraph in lines if (kept := [*filter(None, paragraph)])]


def _lines(
    pages: Sequence[Paragraphs], whole: Sequence[list[str]], kept: Sequence[list[str]]
) -> Iterator[tuple[int, str, bool]]:
    """Each line that is kept, with the index of its page and whether its paragraph ends there."""
    for i, (page, lines, own) in enumerate(zip(pages, whole, kept, strict=True)):
        ends = [
            at == len(paragraph) or all(map(_ENTRY.match, paragraph[at - 1 : at + 1]))
            for paragraph in page
            for at in range(1, len(paragraph) + 1)
        ]
        top = next(at for at in range(len(lines) + 1) if lines[at : at + len(own)] == own)
        yield from ((i, line, end) for line, end in zip(own, ends[top:], strict=False))


def _goes_on(page: int, line: str, following: tuple[int, str, bool]) -> bool:
    """Whether a paragraph at the end of a page, or of a column, goes on at the top of the next, or what is called one
    ends within a word."""
    if not following[1][:1].islower() or line[-1] in _ENDS:
        return False
    return page != following[0] or len(line) >= _LONG or _CUT.search(line) is not None
