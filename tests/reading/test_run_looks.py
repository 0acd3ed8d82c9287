"""Titles of Word documents whose headings have no heading style: by the size and weight of their runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.shared import Pt

from nlb_retriever.reading import read_book
from nlb_retriever.records import Book

PROSE = "The old clock on the landing struck the hour and nobody in the house was awake to count it. " * 8
TITLES = ["The Landing", "Of Clocks and Bells", "Who hears them?", "The Sea", "What the moon saw"]


def titles(book: Book) -> list[str]:
    return [section.path[-1] for section in book.sections if section.path[-1] != "Front matter"]


def write(path: Path, dress: Callable[..., None], names: list[str] = TITLES, **more: str) -> Path:
    document = docx.Document()
    document.core_properties.title = more.get("title", "")
    document.add_paragraph().add_run("The Book of Bells").font.size = Pt(28)
    document.add_paragraph("Ann Author")
    dressed = document.styles.add_style("Dressed", WD_STYLE_TYPE.PARAGRAPH)
    dressed.font.size, dressed.font.bold = Pt(15), True
    based = document.styles.add_style("Based", WD_STYLE_TYPE.PARAGRAPH)
    based.base_style = dressed
    for name in names:
        paragraph = document.add_paragraph()
        dress(paragraph, paragraph.add_run(name))
        document.add_paragraph(PROSE)
        table = document.add_table(1, 1).cell(0, 0).paragraphs[0].add_run(f"{name} in a table")
        table.bold, table.font.size = True, Pt(15)
        document.add_paragraph(PROSE)
    document.save(str(path))
    return path


def bold(_: object, run: docx.text.run.Run) -> None:
    run.bold = True


def large(_: object, run: docx.text.run.Run) -> None:
    run.font.size = Pt(16)


def styled(name: str) -> Callable[..., None]:
    def dress(paragraph: docx.text.paragraph.Paragraph, _: object) -> None:
        paragraph.style = name

    return dress


@pytest.mark.parametrize("dress", [bold, large, styled("Dressed"), styled("Based")])
def test_larger_or_bold_paragraphs_cut_a_document_into_sections(tmp_path: Path, dress: Callable[..., None]) -> None:
    book = read_book(write(tmp_path / "bells.docx", dress))
    assert titles(book) == TITLES
    assert book.title == "The Book of Bells"
    assert book.text[book.sections[-1].start :].startswith("What the moon saw\n\nThe old clock")


def test_heading_styles_outdo_looks(tmp_path: Path) -> None:
    def dress(paragraph: docx.text.paragraph.Paragraph, run: docx.text.run.Run) -> None:
        paragraph.style = "Heading 1" if run.text in TITLES[:3] else "Normal"
        run.bold = True

    assert titles(read_book(write(tmp_path / "bells.docx", dress))) == TITLES[:3]


def test_a_number_and_the_title_below_it_are_one(tmp_path: Path) -> None:
    names = [part for n, name in enumerate(TITLES, 1) for part in (f"Chapter {n}", name)]
    document = docx.Document()
    for name in names:
        document.add_paragraph().add_run(name).bold = True
        if name in TITLES:
            document.add_paragraph(PROSE * 2)
    document.save(str(tmp_path / "bells.docx"))
    book = read_book(tmp_path / "bells.docx")
    assert titles(book) == [f"Chapter {n} {name}" for n, name in enumerate(TITLES, 1)]
    assert "Chapter 2 Of Clocks and Bells\n\nThe old clock" in book.text


def test_a_plain_document_keeps_its_chapters_and_its_file_s_name(tmp_path: Path) -> None:
    document = docx.Document()
    for n in ("I", "II", "III"):
        document.add_paragraph(f"CHAPTER {n}")
        document.add_paragraph(PROSE * 3)
    document.save(str(tmp_path / "my bells.docx"))
    book = read_book(tmp_path / "my bells.docx")
    assert titles(book) == ["CHAPTER I", "CHAPTER II", "CHAPTER III"]
    assert book.title == "My Bells"


def test_the_title_that_the_file_names_is_kept(tmp_path: Path) -> None:
    assert read_book(write(tmp_path / "bells.docx", bold, title="From the file")).title == "From the file"


def test_a_title_page_in_one_size_may_say_by(tmp_path: Path) -> None:
    document = docx.Document()
    for line in ("THE BOOK OF BELLS", "by", "Ann Author", "CHAPTER I", PROSE, "CHAPTER II", PROSE):
        document.add_paragraph(line)
    document.save(str(tmp_path / "bells.docx"))
    book = read_book(tmp_path / "bells.docx")
    assert (book.title, book.author) == ("THE BOOK OF BELLS", "Ann Author")


@pytest.mark.parametrize(("first", "are_titles"), [("34. ", True), ("", False)])
def test_items_of_minutes_may_be_short_where_they_count(tmp_path: Path, first: str, are_titles: bool) -> None:
    document = docx.Document()
    document.add_paragraph("Minutes of the meeting of the Bell Committee on 4 May 1903 in the old town hall")
    names = [f"{34 + n}. {name}" if first else name for n, name in enumerate(TITLES)]
    for name in names:
        document.add_paragraph().add_run(name).bold = True
        document.add_paragraph(PROSE[:150])
    document.save(str(tmp_path / "minutes.docx"))
    assert titles(read_book(tmp_path / "minutes.docx")) == (names if are_titles else ["Minutes"])
