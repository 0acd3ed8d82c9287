"""Numbers that a Word document counts: they are shown, and stand in no text."""

from __future__ import annotations

from pathlib import Path

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn

from nlb_retriever.reading import read_book

LINE = "The clock of the town is wound on Mondays, and the bell is rung by whoever has wound it."


def level(index: int, kind: str, text: str, more: str = "") -> str:
    inner = f'<w:start w:val="1"/><w:numFmt w:val="{kind}"/>{more}<w:lvlText w:val="{text}"/>'
    return f'<w:lvl w:ilvl="{index}">{inner}</w:lvl>'


def document(levels: str, override: str = "") -> docx.document.Document:
    made = docx.Document()
    lists = made.part.numbering_part.element
    for each in list(lists):
        lists.remove(each)
    space = nsdecls("w")
    lists.append(parse_xml(f'<w:abstractNum {space} w:abstractNumId="7">{levels}</w:abstractNum>'))
    for number, more in ((1, ""), (2, override)):
        lists.append(parse_xml(f'<w:num {space} w:numId="{number}"><w:abstractNumId w:val="7"/>{more}</w:num>'))
    return made


def number(element: object, num: int, depth: int | None) -> None:
    ilvl = "" if depth is None else f'<w:ilvl w:val="{depth}"/>'
    properties = element.get_or_add_pPr()  # type: ignore[attr-defined]
    properties.append(parse_xml(f'<w:numPr {nsdecls("w")}>{ilvl}<w:numId w:val="{num}"/></w:numPr>'))


def lines(made: docx.document.Document, path: Path, *paragraphs: tuple[str, int, int]) -> list[str]:
    for text, num, depth in paragraphs:
        number(made.add_paragraph(text)._p, num, depth)
    made.save(str(path))
    return read_book(path).text.split("\n\n")


def test_levels_count_and_begin_anew(tmp_path: Path) -> None:
    made = document(level(0, "decimal", "%1.") + level(1, "lowerLetter", "(%2)") + level(2, "upperRoman", "%1.%2.%3"))
    found = lines(
        made,
        tmp_path / "a.docx",
        *(("one", 1, 0), ("inner", 1, 1), ("inner", 1, 1), ("deep", 1, 2), ("two", 1, 0), ("inner", 1, 1), ("", 1, 1)),
        ("last", 1, 1),
    )
    assert found == ["1. one", "(a) inner", "(b) inner", "1.b.I deep", "2. two", "(a) inner", "(c) last"]


def test_a_list_may_begin_again_and_bullets_have_no_number(tmp_path: Path) -> None:
    override = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'
    made = document(level(0, "decimalZero", "%1)") + level(1, "bullet", "•"), override)
    found = lines(
        made, tmp_path / "a.docx", ("one", 1, 0), ("dot", 1, 1), ("five", 2, 0), ("six", 2, 0), ("none", 0, 0)
    )
    assert found == ["01) one", "dot", "05) five", "06) six", "none"]


def test_legal_numbers_are_digits_and_unknown_ones_too(tmp_path: Path) -> None:
    made = document(level(0, "upperLetter", "%1") + level(1, "chineseCounting", "%1.%2", "<w:isLgl/>"))
    found = lines(made, tmp_path / "a.docx", ("part", 1, 0), ("clause", 1, 1), *[("part", 1, 0)] * 27)
    assert found[:3] == ["A part", "1.1 clause", "B part"]
    assert found[-2:] == ["AA part", "BB part"]


def test_headings_are_numbered_by_their_styles(tmp_path: Path) -> None:
    made = document(
        level(0, "decimal", "%1.", '<w:pStyle w:val="Heading1"/>')
        + level(1, "decimal", "%1.%2", '<w:pStyle w:val="Heading2"/>')
    )
    for name in ("Heading 1", "Heading 2"):
        number(made.styles[name].element, 1, None)
    made.add_paragraph("THE CLOCK RULES", style="Title")
    for title, depth in (("Bells", 1), ("Ringing", 2), ("Winding", 2), ("Payment", 1)):
        made.add_heading(title, depth)
        made.add_paragraph(f"{LINE} " * 8)
    made.save(str(tmp_path / "a.docx"))
    book = read_book(tmp_path / "a.docx")
    assert [section.path for section in book.sections] == [
        ("1. Bells",),
        ("1. Bells", "1.1 Ringing"),
        ("1. Bells", "1.2 Winding"),
        ("2. Payment",),
    ]
    assert book.title == "THE CLOCK RULES"


def test_clauses_without_styles_are_sections(tmp_path: Path) -> None:
    made = document(level(0, "decimal", "%1."))
    titles = ["Definitions", "Payment", "Delivery", "Warranty", "Liability", "Term"]
    lines(made, tmp_path / "a.docx", *((f"{title}. {LINE} {LINE} {LINE}", 1, 0) for title in titles))
    sections = read_book(tmp_path / "a.docx").sections
    assert [section.title for section in sections] == [f"{n}. {title}" for n, title in enumerate(titles, 1)]


@pytest.mark.parametrize("broken", ["<w:lvl/>", level(0, "decimal", "%1" * 50), level(0, "lowerRoman", "%9")])
def test_odd_lists_lose_no_text(tmp_path: Path, broken: str) -> None:
    found = lines(document(broken), tmp_path / "a.docx", ("one", 1, 0), ("two", 1, 3), ("three", 99, 0))
    assert found == ["one", "two", "three"]


def test_a_style_based_on_itself_ends(tmp_path: Path) -> None:
    made = document(level(0, "lowerRoman", "%1."))
    style = made.styles["List Paragraph"].element
    style.find(qn("w:basedOn")).set(qn("w:val"), "ListParagraph")
    made.add_paragraph("text", style="List Paragraph")
    found = lines(made, tmp_path / "a.docx", ("one", 1, 0))
    assert found == ["text", "i. one"]


def html_lines(tmp_path: Path, body: str) -> list[str]:
    (tmp_path / "a.html").write_text(f"<html><body>{body}</body></html>")
    return [line for line in read_book(tmp_path / "a.html").text.split("\n") if line]


def test_items_of_html_lists_have_their_numbers(tmp_path: Path) -> None:
    inner = "<ol type=a><li>three a<li><p>three b</p><p>more</p></ol>"
    roman = "<ol start=7 type=I><li><b>seven</b></ol>"
    found = html_lines(
        tmp_path,
        f"<ol><li>one<li value=3>three{inner}<li>four</ol><ul><li>dot</ul>{roman}after",
    )
    assert found == [
        "1. one", "3. three", "a. three a", "b. three b", "more", "4. four", "dot", "VII. seven", "after",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "body", ["<ol><li>1. one</ol>", "<ol reversed><li>1. one</ol>", "<ol style='list-style: none'><li>1. one</ol>"]
)
def test_numbers_that_the_text_or_the_page_has_otherwise_are_not_added(tmp_path: Path, body: str) -> None:
    assert html_lines(tmp_path, body) == ["1. one"]


@pytest.mark.parametrize("body", ["<li>one", "</ol><li>one", "<ol><li></ol>one", "<ol><li></li></ol><ul><li>one</ul>"])
def test_items_without_a_list_or_text_have_none(tmp_path: Path, body: str) -> None:
    assert html_lines(tmp_path, body) == ["one"]


def test_items_of_markdown_have_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Steps\n\n2. Wind it.\n3. Ring it.\n")
    assert "2. Wind it.\n3. Ring it." in read_book(tmp_path / "a.md").text
