"""RTF: paragraphs, headings, notes and what is left out."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from nlb_retriever.errors import NlbError, NotABook
from nlb_retriever.reading import read_book
from nlb_retriever.records import Book

LINE = "The clock of the town is wound on Mondays, and the bell is rung by whoever has wound it."
HEAD = (
    r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\froman\fcharset0 Times;}}"
    r"{\stylesheet{\s1\outlinelevel0 heading 1;}}"
    r"{\info{\title The Clock\rquote s Bell}{\author Ann Author}}" + "\n"
)


def read(tmp_path: Path, body: str, head: str = HEAD) -> Book:
    (tmp_path / "a.rtf").write_bytes((head + body + "}").encode("latin-1"))
    return read_book(tmp_path / "a.rtf")


def heading(title: str, level: int = 0) -> str:
    return rf"\pard\plain\s1\outlinelevel{level}{{\b {title}}}\par\pard\plain {'  '.join([LINE] * 6)}\par" + "\n"


def test_outline_levels_are_sections_and_properties_title_and_author(tmp_path: Path) -> None:
    book = read(tmp_path, heading("Door") + heading("Hinge", 1) + heading("Bell"))
    assert (book.title, book.author) == ("The Clock’s Bell", "Ann Author")
    assert [section.path for section in book.sections] == [("Door",), ("Door", "Hinge"), ("Bell",)]
    assert book.text.startswith(f"Door\n\n{LINE}")
    assert f"{LINE}\n\nHinge\n\n{LINE}" in book.text


def test_chapters_are_found_by_their_words_where_nothing_marks_them(tmp_path: Path) -> None:
    chapters = (rf"{{\b CHAPTER {n}}}\par " + rf"{LINE} {LINE}\par " * 9 for n in ("I", "II", "III"))
    assert [s.title for s in read(tmp_path, "".join(chapters)).sections] == ["CHAPTER I", "CHAPTER II", "CHAPTER III"]


def test_characters_lines_links_and_tables(tmp_path: Path) -> None:
    body = (
        r"Caf\'e9 \u8212? \u-10179?\u-8704? \{x\}\line second\par "
        r'{\field{\*\fldinst{HYPERLINK "http://example.org/a"}}{\fldrslt{the link}}} ends\par '
        r"\trowd\cellx900 one\cell two\cell\row three\cell four\cell\row\pard last\par"
    )
    paragraphs = read(tmp_path, body).text.split("\n\n")
    assert paragraphs[:2] == ["Café — \U0001f600 {x}\nsecond", "the link ends"]
    assert [line.split() for line in paragraphs[2].splitlines()] == [["one", "two"], ["three", "four"]]
    assert paragraphs[3] == "last"


def test_a_heading_behind_a_table_is_its_own_paragraph(tmp_path: Path) -> None:
    rows = (
        r"\trowd\cellx900\pard\intbl Casing\cell\pard\intbl 12\cell\row}"
        r"\pard\plain \b0\intbl{Ring\cell 40\cell}\pard{\trowd\cellx900 \row}" + "\n"
    )
    book = read(tmp_path, heading("Door") + "{" + rows + heading("Hinge"))
    assert [section.title for section in book.sections] == ["Door", "Hinge"]
    assert "Casing  12  \nRing  40\n\nHinge" in book.text


def test_footnotes_are_an_end_section_and_running_heads_are_skipped(tmp_path: Path) -> None:
    note = r"{\footnote\pard\plain{\chftn} A note\par on bells.}"
    body = r"{\header\pard The running head\par}" + heading("Door") + heading("Bell") + rf"Rung{note} twice.\par"
    book = read(tmp_path, body)
    assert "Rung twice." in book.text
    assert book.text.endswith("Notes\n\nA note on bells.")
    assert "running" not in book.text
    assert book.warnings == ("boilerplate skipped: 1 running head (3 words)",)


def test_pictures_are_no_text_and_text_boxes_are_named(tmp_path: Path) -> None:
    picture = r"{\pict\pngblip " + "89504e470d0a1a0a\n" * 400 + "}"
    box = r"{\shp{\*\shpinst{\shptxt \pard In a box\par}}}"
    book = read(tmp_path, rf"{LINE}{picture}{box}\par")
    assert book.text == LINE
    assert book.warnings == ("left out: text boxes: those of RTF files are not read",)


@pytest.mark.parametrize("body", [rf"{LINE}\par}} lost words", rf"{LINE}\par {{{{ open", rf"{LINE}{{\footnote x\par"])
def test_braces_that_do_not_match_are_named(tmp_path: Path, body: str) -> None:
    book = read(tmp_path, body)
    assert LINE in book.text
    assert book.warnings == ("its braces do not match: some of its text may be missing",)


def test_what_is_no_rtf_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.rtf").write_text(LINE)
    with pytest.raises(NotABook, match="is no RTF file"):
        read_book(tmp_path / "a.rtf")
    (tmp_path / "a.txt").write_text(HEAD + LINE + "}")
    with pytest.raises(NotABook, match=r"rename it to \.rtf"):
        read_book(tmp_path / "a.txt")


def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    rng = random.Random(0)
    whole = (HEAD + heading("Door") * 3 + r"\u8212?\uc1\'e9{\footnote x}\line" + "}").encode("latin-1")
    pieces = [
        b"{",
        b"}",
        b"\\",
        b"\\uc",
        b"\\u99999999?",
        b"\\'zz",
        b"\\bin9 ",
        b"\\footnote",
        b"\xff",
        b"\x00",
        b"{\\*",
    ]
    for _ in range(500):
        data = bytearray(whole)
        for _ in range(rng.choice((1, 3, 20))):
            at = rng.randrange(6, len(data))
            data[at : at + rng.choice((0, 1, 30))] = rng.choice(pieces)
        (tmp_path / "a.rtf").write_bytes(data)
        try:
            assert read_book(tmp_path / "a.rtf").text.strip()
        except NlbError as error:
            assert "a way that its reader does not know" not in str(error)


def test_hostile_files_take_no_time(tmp_path: Path) -> None:
    for body in (
        "{" * 200_000,
        r"{\footnote " * 60_000,
        r"{\field" * 60_000,
        r"\outlinelevel0" * 60_000,
        r"\'e9" * 99_999,
        r"\u57360?" * 60_000,
        r"\row" * 60_000,
    ):
        (tmp_path / "a.rtf").write_bytes((HEAD + LINE + body).encode())
        assert LINE in read_book(tmp_path / "a.rtf").text


def test_headings_are_known_by_the_name_of_their_style_and_soft_hyphens_go(tmp_path: Path) -> None:
    head = (
        r"{\rtf1\ansi{\fonttbl{\f0 Times;}}"
        r"{\stylesheet{\s1\sbasedon0\fs32\b Heading 1;}{\s2\fs28 Heading 2;}{\s10 Body;}}" + "\n"
    )
    body = "".join(
        rf"\pard\plain \s{style}\ql\fs32{{\b {title}}}\par\pard\plain \s10 {' '.join([LINE] * 6)} Re\-spon\-sible.\par"
        + "\n"
        for style, title in ((1, "Door"), (2, "Hinge"), (1, "Bell"))
    )
    book = read(tmp_path, body, head)
    assert [section.path for section in book.sections] == [("Door",), ("Door", "Hinge"), ("Bell",)]
    assert book.text.count("Responsible.") == 3


def test_deleted_and_hidden_stretches_are_left_out(tmp_path: Path) -> None:
    body = (
        r"Thirty is {\deleted\revauthdel1 thirty{\footnote Lost.}}{\revised ninety} days. {\deleted\revauthdel1 A\par}"
        r"{\mvf Moved} \deleted go\deleted0 Kept {\v Secret\plain  shown} and{\field{\*\fldinst{\v X}}{\fldrslt this}}"
        r"{\footnote It {\v never }was.}\par {\*\cs15\v none}\v The \v1 price\v0 \view Last \\v line\par"
    )
    book = read(tmp_path, body)
    assert book.text == "Thirty is ninety days.  Kept  shown andthis\n\nLast \\v line\n\nNotes\n\nIt was."
    assert book.warnings == (
        "boilerplate skipped: 3 deleted stretches (4 words), 1 moved stretch (1 word), 3 hidden stretches (4 words)",
    )


def test_formulas_and_objects_are_named(tmp_path: Path) -> None:
    formula = r"{\mmath {\*\moMath {\mr x}{\mr =1}}}"
    embedded = r"{\object\objemb{\*\objclass Equation.3}{\*\objdata 01}}"
    book = read(tmp_path, rf"{LINE}{formula}{formula}{embedded}{embedded}\par")
    assert book.text == LINE
    assert book.warnings == (
        "left out: 2 formulas: those of RTF files are not read",
        "left out: 2 × Equation.3: files inside the document are not read",
    )


def test_cells_of_pandoc_are_those_of_a_row(tmp_path: Path) -> None:
    def row(*cells: str) -> str:
        inner = "".join(rf"{{{{\pard\intbl \ql \f0 \sa0 {cell}\par}}" + "\n" + r"\cell}" for cell in cells)
        return rf"{{\trowd \trgaph120 \cellx4320\cellx8640 \trkeep\intbl {{{inner}}}" + "\n" + r"\intbl\row}" + "\n"

    table = row("Zone", "Plant") + row("Low marsh", "cordgrass")
    book = read(tmp_path, rf"{{\pard {LINE}\par}}" + table + rf"{{\pard {LINE}\par}}")
    lines = [line.split() for line in book.text.splitlines() if line]
    assert lines == [LINE.split(), ["Zone", "Plant"], ["Low", "marsh", "cordgrass"], LINE.split()]
