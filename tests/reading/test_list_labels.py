"""Numbers that a Word document counts: they are shown, and stand in no text."""

from __future__ import annotations

import zipfile
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


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("1. Ten metres.\n3. It is round.\n5. Yes.", "1. Ten metres.\n3. It is round.\n5. Yes."),
        ("1066. They land.\n\n1087. He dies.", "1066. They land.\n\n1087. He dies."),
        ("3. c\n2. b\n1. a", "3. c\n2. b\n1. a"),
        ("1. a\n1. b\n1. c", "1. a\n2. b\n3. c"),
        ("1. a\n   - x\n   - y\n4. b", "1. a\n\nx\ny\n\n4. b"),
        ("1. 2.7 g\n2. 298.15 K\n3. 10:30 Tea", "1. 2.7 g\n2. 298.15 K\n3. 10:30 Tea"),
        ("1. 7.\n2. 2.\n3. 40)", "1. 7.\n2. 2.\n3. 40)"),
        ("- 7.\n- 8.", "7.\n8."),
        ("```\n1. 7.\n```", "1. 7."),
    ],
)
def test_items_of_markdown_have_the_numbers_that_are_written(tmp_path: Path, source: str, text: str) -> None:
    (tmp_path / "a.md").write_text(f"# Steps\n\n{source}\n")
    assert read_book(tmp_path / "a.md").text == f"Steps\n\n{text}"


def test_a_clause_that_has_its_number_has_no_other(tmp_path: Path) -> None:
    assert html_lines(tmp_path, "<ol><li>5.1 The hirer<li>5.2 The owner<li>5.5 metres</ol>") == [
        "5.1 The hirer", "5.2 The owner", "3. 5.5 metres",
    ]  # fmt: skip


ODT = """<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0">
{styles}<office:body><office:text>{body}</office:text></office:body></office:document-content>"""
STYLES = """<text:outline-style style:name="Outline">
 <text:outline-level-style text:level="1" style:num-format="1" style:num-suffix="."/>
 <text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/>
 <text:outline-level-style text:level="3" style:num-format=""/></text:outline-style>
<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="A" style:num-suffix=")"/>
 <text:list-level-style-number text:level="2" style:num-format="i" style:num-prefix="(" style:num-suffix=")"/>
 <text:list-level-style-bullet text:level="3"/></text:list-style>"""


def odt_lines(tmp_path: Path, body: str) -> list[str]:
    with zipfile.ZipFile(tmp_path / "a.odt", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", ODT.format(styles=STYLES, body=body))
    return [line for line in read_book(tmp_path / "a.odt").text.split("\n") if line]


def item(text: str, more: str = "", start: str = "") -> str:
    return f"<text:list-item{start}><text:p>{text}</text:p>{more}</text:list-item>"


def listed(items: str, more: str = "", style: str = "L") -> str:
    return f'<text:list text:style-name="{style}"{more}>{items}</text:list>'


def test_lists_of_odt_count_continue_and_begin_anew(tmp_path: Path) -> None:
    inner = "<text:list>" + item("in", "<text:list>" + item("dot") + "</text:list>") + item("in") + "</text:list>"
    first = item("one", "<text:p>more</text:p>" + inner) + item("two")
    fourth = item("four", start=' text:start-value="4"') + item("five")
    lists = [
        listed(first),
        "<text:p>between</text:p>",
        listed(item("three"), ' text:continue-numbering="true"'),
        listed(fourth),
        listed(item("one")),
        listed(item("none"), style="X"),
    ]
    found = odt_lines(tmp_path, "".join(lists))
    assert found == [
        "A) one", "more", "(i) in", "dot", "(ii) in", "B) two", "between", "C) three", "D) four", "E) five", "A) one",
        "none",
    ]  # fmt: skip


def test_inner_lists_of_odt_with_a_style_of_their_own_begin_anew(tmp_path: Path) -> None:
    body = listed("".join(item(name, listed(item("x") + item("y"))) for name in ("one", "two")))
    assert odt_lines(tmp_path, body) == ["A) one", "(i) x", "(ii) y", "B) two", "(i) x", "(ii) y"]


def test_headings_of_odt_have_the_numbers_of_their_outline(tmp_path: Path) -> None:
    levels = (1, 2, 2, 3, 1, 2)
    body = "".join(f'<text:h text:outline-level="{n}">Bells</text:h><text:p>{LINE * 6}</text:p>' for n in levels)
    found = odt_lines(tmp_path, body)[::2]
    assert found == ["1. Bells", "1.1 Bells", "1.2 Bells", "Bells", "2. Bells", "2.1 Bells"]
