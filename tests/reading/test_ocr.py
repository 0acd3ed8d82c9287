"""What programs read on scanned pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever.reading import discover, read_book
from nlb_retriever.records import Book

THINGS = "letters ropes lamps boats nets oars sails barrels".split()
KEEPER = ("The keeper went down to the har-", "bour before the well-known gulls woke, and he found the", "boat gone.")
LAMP = ("He mended the lamp in the harbour, as he had in a well-", "known winter, and after {} asked for the")


def pages() -> list[list[tuple[str, ...]]]:
    """Of two chapters, with running heads; a paragraph goes on over each page's end."""
    found: list[list[tuple[str, ...]]] = []
    for i, thing in enumerate(THINGS):
        top = (
            [(f"CHAPTER {'I' if i == 0 else 'II'}",)] if i in {0, 4} else [(f"THE SALT ROAD {12 + i}",), (f"{thing}.",)]
        )
        found.append([*top, KEEPER, (LAMP[0], LAMP[1].format(thing))])
    return found


def hocr() -> str:
    body = "".join(
        "<div class='ocr_page' title='ppageno 0'>"
        + "".join(
            "<div class='ocr_carea'><p class='ocr_par'>"
            + "\n".join(
                "<span class='ocr_line'>"
                + "\n".join(f"<span class='ocrx_word'>{w}</span>" for w in line.split())
                + "</span>"
                for line in paragraph
            )
            + "</p></div>"
            for paragraph in page
        )
        + "</div>"
        for page in pages()
    )
    return (
        f"<html lang='en'><head><title></title><meta name='ocr-system' content='x'/></head><body>{body}</body></html>"
    )


def alto() -> str:
    def line(text: str) -> str:
        words = "<SP/>".join(f'<String CONTENT="{word}"/>' for word in text.removesuffix("-").split())
        return f"<TextLine>{words}{'<HYP CONTENT=`-`/>'.replace('`', chr(34)) if text[-1] == '-' else ''}</TextLine>"

    body = "".join(
        "<Page>" + "".join(f"<TextBlock>{''.join(map(line, each))}</TextBlock>" for each in page) + "</Page>"
        for page in pages()
    )
    return f'<alto xmlns="http://www.loc.gov/standards/alto/ns-v3#"><Layout>{body}</Layout></alto>'


def abbyy() -> str:
    def line(text: str) -> str:
        return "<line><formatting>" + "\n".join(f"<charParams>{c}</charParams>" for c in text) + "</formatting></line>"

    body = "".join(
        "<page>"
        + "".join(f"<block><text><par>{''.join(map(line, each))}</par></text></block>" for each in page)
        + "</page>"
        for page in pages()
    )
    return f'<document xmlns="http://www.abbyy.com/FineReader_xml/FineReader6-schema-v1.xml">{body}</document>'


def read(tmp_path: Path, name: str, text: str) -> Book:
    (tmp_path / name).write_text(text)
    return read_book(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "text"), [("a.hocr", hocr()), ("a.html", hocr()), ("alto.xml", alto()), ("abbyy.xml", abbyy())]
)
def test_pages_are_one_text_with_chapters_and_page_numbers(tmp_path: Path, name: str, text: str) -> None:
    book = read(tmp_path, name, text)
    assert [section.path for section in book.sections] == [("CHAPTER I",), ("CHAPTER II",)]
    first = "The keeper went down to the harbour before the well-known gulls woke, and he found the boat gone."
    second = (
        "He mended the lamp in the harbour, as he had in a well-known winter, and after letters asked for the ropes."
    )
    assert book.text.startswith(f"CHAPTER I\n\n{first}\n\n{second}\n\n{first}")
    assert "SALT ROAD" not in book.text
    assert [page.label for page in book.pages][1:] == [str(number) for number in range(13, 20)]
    assert all(book.text[page.start :].startswith((*THINGS, "CHAPTER")) for page in book.pages)
    assert any("running head" in warning for warning in book.warnings)


def test_scans_are_found_in_folders(tmp_path: Path) -> None:
    for name, text in (("a.hocr", hocr()), ("b.xml", alto()), ("c.xml", abbyy())):
        (tmp_path / name).write_text(text)
    assert len(discover([tmp_path]).files) == 3


def test_a_page_about_hocr_is_read_as_a_page(tmp_path: Path) -> None:
    book = read(tmp_path, "a.html", "<h1>hOCR</h1><p>The class ocr_page and the field ocr-system are required.</p>")
    assert "are required" in book.text
