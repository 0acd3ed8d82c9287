"""Raised numbers and formulas: "10²³" is not 1023, and a fraction has its line."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import docx
import pytest
from docx.oxml import parse_xml

from nlb_retriever.reading import read_book


def read(tmp_path: Path, body: str) -> str:
    (tmp_path / "a.html").write_text(f"<html><body><p>{body}</p></body></html>", encoding="utf-8")
    return read_book(tmp_path / "a.html").text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("6 × 10<sup>23</sup> in 20 cm<sup>3</sup>", "6 × 10²³ in 20 cm³"),
        ("10<sup>−3</sup> of Na<sup>+</sup> and SO<sub>4</sub><sup>2−</sup>", "10⁻³ of Na⁺ and SO4²⁻"),
        ("(<i>a</i> + 1)<sup><i>n</i></sup>", "(a + 1)ⁿ"),
        ("the 1<sup>st</sup> and M<sup>me</sup> Roux", "the 1st and Mme Roux"),
        ("a word<sup>1</sup> with a note", "a word¹ with a note"),
        ("<sup>16</sup>For <sup>14</sup>C", "16For 14C"),
    ],
)
def test_raised_numbers_stay_raised(tmp_path: Path, body: str, text: str) -> None:
    assert read(tmp_path, body) == text


def tags(names: str) -> str:
    """MathML of letters, digits and signs: "x=2" as `mi`, `mo` and `mn`."""
    kinds = {True: "mi", False: "mo"}
    return "".join(
        f"<mn>{c}</mn>" if c.isdigit() else f"<{kinds[c.isalpha()]}>{c}</{kinds[c.isalpha()]}>" for c in names
    )


def row(names: str) -> str:
    return f"<mrow>{tags(names)}</mrow>"


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (f"{tags('K=')}<mfrac>{tags('12')}</mfrac>{tags('m')}<msup>{tags('v2')}</msup>", "K = (1/2)mv²"),
        (f"<mstyle><mfrac>{tags('12')}</mfrac></mstyle><mi>m</mi>", "(1/2)m"),
        (f"<mfrac>{tags('12')}</mfrac><mi>.</mi>", "1/2."),
        (f"<mfrac>{row('−b')}{row('2a')}</mfrac>", "(−b)/(2a)"),
        (f"<msub>{tags('x0')}</msub>{tags('y')}", "x_0 y"),
        (f"<msubsup>{tags('v02')}</msubsup>", "v_0²"),
        (f"<msup>{tags('e')}{row('ix')}</msup>", "e^(ix)"),
        (f"<msup>{tags('e')}{row('n+1')}</msup>", "e^(n + 1)"),
        ("<msup><mn>60</mn><mo>∘</mo></msup>", "60°"),
        ("<mover><mi>F</mi><mo>→</mo></mover>", "F⃗"),
        (f"<mi>sin</mi><mo>⁡</mo>{tags('x')}", "sin x"),
        (f"<msqrt>{tags('a+b')}</msqrt>", "√(a + b)"),
        (f"<munderover><mo>∑</mo>{row('i=1')}{tags('n')}</munderover>{tags('i')}", "∑_(i = 1)^n i"),
        (f"{tags('f(x,y)')}", "f(x, y)"),
        ("<msup><mi>x</mi></msup><mfrac></mfrac>", "x"),
    ],
)
def test_a_formula_is_a_line(tmp_path: Path, formula: str, text: str) -> None:
    assert read(tmp_path, f"Here <math>{formula}</math>.") == f"Here {text}."


def test_a_deep_formula_keeps_its_words(tmp_path: Path) -> None:
    deep = 500
    assert read(tmp_path, f"<math>{'<mrow>' * deep}{tags('x')}{'</mrow>' * deep}</math>") == "x"


def test_raised_numbers_of_word_stay_raised(tmp_path: Path) -> None:
    made = docx.Document()
    paragraph = made.add_paragraph("It holds 10")
    paragraph.add_run("23").font.superscript = True
    paragraph.add_run(" of CO")
    paragraph.add_run("2").font.subscript = True
    space = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    for base, above in (("v", "2"), ("e", "ix")):
        power = f"<m:e><m:r><m:t>{base}</m:t></m:r></m:e><m:sup><m:r><m:t>{above}</m:t></m:r></m:sup>"
        made.add_paragraph()._p.append(parse_xml(f"<m:oMath {space}><m:sSup>{power}</m:sSup></m:oMath>"))
    made.save(str(tmp_path / "a.docx"))
    assert read_book(tmp_path / "a.docx").text == "It holds 10²³ of CO2\n\nv²\n\ne^(ix)"


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("<m:f><m:num>{x+1}</m:num><m:den>{2}</m:den></m:f>{y}", "((x + 1)/2)y"),
        ("<m:rad><m:radPr><m:degHide m:val='1'/></m:radPr><m:deg/><m:e>{a+b}</m:e></m:rad>", "√(a + b)"),
        ("<m:sSubSup><m:e>{v}</m:e><m:sub>{0}</m:sub><m:sup>{2}</m:sup></m:sSubSup>", "v_0²"),
        (
            "<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr>"
            "<m:sub>{i=1}</m:sub><m:sup>{n}</m:sup><m:e>{i}</m:e></m:nary>",
            "∑_(i = 1)^n i",
        ),
        ("<m:nary><m:sub/><m:sup/><m:e>{f}</m:e></m:nary>", "∫ f"),
        ("{f}<m:d><m:e>{x}</m:e></m:d>", "f(x)"),
        ("<m:d><m:dPr><m:begChr m:val='['/><m:endChr m:val=']'/></m:dPr><m:e>{a}</m:e></m:d>", "[a]"),
        ("<m:func><m:fName>{sin}</m:fName><m:e>{x}</m:e></m:func>", "sin x"),
        ("<m:r><m:rPr><m:nor/></m:rPr><m:t>if so</m:t></m:r>", "if so"),
    ],
)
def test_a_formula_of_word_is_a_line(tmp_path: Path, formula: str, text: str) -> None:
    made = docx.Document()
    space = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    inner = formula.replace("{", "<m:r><m:t>").replace("}", "</m:t></m:r>")
    made.add_paragraph("Here ")._p.append(parse_xml(f"<m:oMath {space}>{inner}</m:oMath>"))
    made.save(str(tmp_path / "a.docx"))
    assert read_book(tmp_path / "a.docx").text == f"Here {text}"


def test_a_deep_formula_of_word_keeps_its_words(tmp_path: Path) -> None:
    made = docx.Document()
    space = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    deep = f"{'<m:box><m:e>' * 100}<m:r><m:t>x</m:t></m:r>{'</m:e></m:box>' * 100}"
    made.add_paragraph()._p.append(parse_xml(f"<m:oMath {space}>{deep}</m:oMath>"))
    made.save(str(tmp_path / "a.docx"))
    assert read_book(tmp_path / "a.docx").text == "x"


def test_raised_numbers_of_open_document_stay_raised(tmp_path: Path) -> None:
    names = "".join(f' xmlns:{each}="urn:oasis:names:tc:opendocument:xmlns:{each}:1.0"' for each in ("text", "style"))
    style = '<style:style style:name="{}"><style:text-properties style:text-position="{} 58%"/></style:style>'
    body = '10<text:span text:style-name="up">23</text:span> of CO<text:span text:style-name="low">2</text:span>'
    content = (
        f'<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"{names}>'
        f"<office:automatic-styles>{style.format('up', 'super')}{style.format('low', 'sub')}</office:automatic-styles>"
        f"<office:body><office:text><text:p>It holds {body}</text:p></office:text></office:body>"
        "</office:document-content>"
    )
    with zipfile.ZipFile(tmp_path / "a.odt", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", content)
    assert read_book(tmp_path / "a.odt").text == "It holds 10²³ of CO2"


def test_raised_numbers_of_markdown_stay_raised(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "# A\n\n10^23^ of CO~2~ and Cl^−^, `x^2^`, ~~5~~ and 2^nd^, ~3 or ~4\n", encoding="utf-8"
    )
    assert read_book(tmp_path / "a.md").text == "A\n\n10²³ of CO2 and Cl⁻, x^2^, and 2^nd^, ~3 or ~4"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("It holds 10^23^ of them in 20 cm^3^ of air.", "It holds 10²³ of them in 20 cm³ of air."),
        ("The error is 10^-3^ or x^2^ or (a + b)^2^ here.", "The error is 10⁻³ or x² or (a + b)² here."),
        ("He died in 1920^4^ in the town^5^ by the sea.", "He died in 1920⁴ in the town5 by the sea."),
        ("There were 1023 of them in room B12.", "There were 1023 of them in room B12."),
    ],
)
def test_raised_numbers_of_a_page_stay_raised(pdf: Callable[..., Path], line: str, text: str) -> None:
    assert text in read_book(pdf([[line, "A line of text that has no number in it at all."]])).text
