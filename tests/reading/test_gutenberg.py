"""Project Gutenberg's header and license in books of other formats that were made of its texts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import docx

from nlb_retriever.reading import read_book
from nlb_retriever.reading.draft import Draft, Heading
from nlb_retriever.reading.gutenberg import without_wrapper
from nlb_retriever.records import Page

from .conftest import SENTENCE
from .words import read_all_words

HEADER = [
    "The Project Gutenberg eBook of The Clock, by Ann Author",
    "This eBook is for the use of anyone anywhere.",
    "Title: The Clock",
    "Author: Ann Author",
    "Language: French",
    "*** START OF THE PROJECT GUTENBERG EBOOK THE CLOCK ***",
]
LICENSE = [
    "*** END OF THE PROJECT GUTENBERG EBOOK THE CLOCK ***",
    "Updated editions will replace the previous one.",
    "Section 1. General Terms of Use",
    "You may copy it.",
]
STORY = ["Chapter 1", SENTENCE * 3, "Chapter 2", SENTENCE * 3]


def test_a_word_document_made_of_such_a_text_has_neither(tmp_path: Path) -> None:
    document = docx.Document()
    document.core_properties.title, document.core_properties.author = "clock", "Unknown"
    for line in HEADER + STORY + LICENSE:
        document.add_paragraph(line)
    document.save(str(tmp_path / "a.docx"))
    book = read_all_words(tmp_path / "a.docx")
    assert (book.title, book.author, book.language) == ("The Clock", "Ann Author", "fr")
    assert book.text.startswith("Chapter 1")
    assert [s.title for s in book.sections] == ["Chapter 1", "Chapter 2"]
    assert any("Project Gutenberg's license" in warning for warning in book.warnings)


def test_pages_of_a_pdf_stay_where_they_were(pdf: Callable[..., Path]) -> None:
    lines = [[*HEADER, "Ding."], ["Dong.", SENTENCE[:70]], [SENTENCE[70:], *LICENSE], ["You may not."]]
    book = read_book(pdf(lines, labels="0 << /S /D /St 11 >>"))
    assert book.text.startswith("Ding.")
    assert book.text.endswith(SENTENCE[70:].strip())
    assert [page.label for page in book.pages] == ["11", "12", "13"]
    assert book.text[book.pages[1].start :].startswith("Dong.")


def test_pieces_keep_their_headings_and_the_page_that_they_begin_on() -> None:
    text = "\n".join([*HEADER, "Tick.", *LICENSE])
    start = text.index("Tick.")
    draft = Draft(text, [Heading(start, 1, "Tick"), Heading(text.index("Section 1"), 1, "Terms")])
    draft.pages = [Page(start=0, number=1, label="i"), Page(start=start - 9, number=2, label="ii")]
    without_wrapper(draft)
    assert (draft.text, draft.headings) == ("Tick.", [Heading(0, 1, "Tick")])
    assert [(page.start, page.label) for page in draft.pages] == [(0, "ii")]


def test_the_title_stands_in_the_first_line_where_a_header_was_joined() -> None:
    header = "Contents\n\nThe Project Gutenberg EBook of The Clock, by Ann Author For the use of anyone Title: x"
    draft = Draft(f"{header}\n\n*** START OF THIS PROJECT GUTENBERG EBOOK THE CLOCK ***\n\nTick.", title="clock-1")
    without_wrapper(draft)
    assert (draft.text, draft.title) == ("Tick.", "The Clock")


def test_a_book_that_names_the_project_keeps_its_text_title_and_author() -> None:
    draft = Draft("This Project Gutenberg text was bound by hand.", title="The Clock", author="Ann Author")
    without_wrapper(draft)
    assert draft.text.endswith("bound by hand.")
    assert (draft.title, draft.author) == ("The Clock", "Ann Author")


def test_an_author_that_a_program_wrote_is_none(epub: Callable[..., Path]) -> None:
    files = {"OPS/book.opf": _package("Unknown"), "OPS/a.xhtml": f"<html><body><p>{SENTENCE}</p></body></html>"}
    assert read_book(epub(files)).author is None
    assert read_book(epub({**files, "OPS/book.opf": _package("Ann Unknown")})).author == "Ann Unknown"


def _package(author: str) -> str:
    return (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>x</dc:title><dc:creator>{author}</dc:creator></metadata><manifest>"
        '<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="a"/></spine></package>'
    )
