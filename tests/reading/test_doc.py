"""Word 97 to 2003: styles, fields, tables, notes, what is refused, damage."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from nlb_retriever.errors import NlbError, NotABook, ReadingError
from nlb_retriever.reading import read_book
from nlb_retriever.records import Book
from tests.reading.conftest import SENTENCE
from tests.reading.doc_files import compound, document, summary

FILLER = (0, f"{SENTENCE * 8}\r")
CHAPTERS = [(1, "The Door\r"), FILLER, (2, "A hinge\r"), FILLER, (1, "The Bell\r"), FILLER]


def read(tmp_path: Path, streams: Mapping[str, bytes], name: str = "the-clock.doc") -> Book:
    (tmp_path / name).write_bytes(compound(streams))
    return read_book(tmp_path / name)


@pytest.mark.parametrize("wide", [False, True])
def test_paragraphs_of_heading_styles_are_sections(tmp_path: Path, wide: bool) -> None:
    book = read(tmp_path, document(CHAPTERS, wide=wide))
    assert [section.path for section in book.sections] == [("The Door",), ("The Door", "A hinge"), ("The Bell",)]
    assert book.text.startswith(f"The Door\n\n{SENTENCE}")
    assert book.text.count(SENTENCE.strip()) == 24
    assert book.warnings == ()


@pytest.mark.parametrize("page", [1252, 65001])
def test_properties_name_title_and_author(tmp_path: Path, page: int) -> None:
    name = "\x05SummaryInformation"
    book = read(tmp_path, document(CHAPTERS) | {name: summary("The Café’s Clock", "Ann Author", page=page)})
    assert (book.title, book.author) == ("The Café’s Clock", "Ann Author")
    assert read(tmp_path, document(CHAPTERS) | {name: summary("untitled", "unknown")}).title == "The Clock"
    assert read(tmp_path, document(CHAPTERS) | {name: b"\xff" * 400}).author is None


def test_characters_of_both_widths(tmp_path: Path) -> None:
    text = "It’s “the café” — no\x1ehyphen, soft\x1fly, a\x0bline, a\xa0blank, \x01\x02none.\r"
    shown = "It’s “the café” — no-hyphen, softly, a\nline, a blank, none."
    assert read(tmp_path, document([(0, text)])).text == shown
    assert read(tmp_path, document([(0, f"Ω \U0001f600 {text}")], wide=True)).text == f"Ω \U0001f600 {shown}"


def test_fields_show_their_results_and_tables_of_contents_are_left_out(tmp_path: Path) -> None:
    toc = '\x13 TOC \\o "1-3" \x14The Door\t\x13PAGEREF _1\x141\x15\rThe Bell\t2\x15\r'
    link = 'See \x13HYPERLINK "http://example.org"\x14the clock\x15 and \x13 PAGE \x15this.\r'
    book = read(tmp_path, document([(0, toc), *CHAPTERS, (0, link)]))
    assert book.text.startswith("The Door\n\nThe old clock")
    assert book.text.endswith("See the clock and this.")
    assert [section.title for section in book.sections] == ["The Door", "A hinge", "The Bell"]
    assert "table of contents (6 words)" in " ".join(book.warnings)
    cut = read(tmp_path, document([FILLER, (0, "\x13 TOC \x14 lost\r")], notes="A note.\r"))
    assert "does not end" in " ".join(cut.warnings)
    assert cut.text.endswith("Notes\n\nA note.")


def test_objects_of_other_programs_are_named(tmp_path: Path) -> None:
    one = "\x13 EMBED Equation.3 \x14\x01\x15"
    book = read(tmp_path, document([FILLER, (0, f"So {one} and {one} and \x13 EMBED  \x14\x01\x15.\r")]))
    assert book.text.endswith("So  and  and .")
    assert book.warnings == ("left out: 2 × Equation.3, object: files inside the document are not read",)


def test_rows_of_tables_are_lines(tmp_path: Path) -> None:
    table = "one\x07two\x07\x07three\x07four\x07\x07"
    book = read(tmp_path, document([FILLER, (0, table), (0, "Behind it.\r")]))
    assert book.text.endswith("one  two\nthree  four\n\nBehind it.")


@pytest.mark.parametrize("wide", [False, True])
def test_deleted_and_hidden_stretches_are_left_out(tmp_path: Path, wide: bool) -> None:
    runs = [
        *[(each, 0) for _, each in CHAPTERS],
        ("The notice is ", 0), ("thirty ", 0x0800), ("ninety days.\r", 0), ("All gone.\r", 0x0800),
        ("A \x13 XE ", 0), ("no word \x15", 0x083C), ("secret", 0x083C), (" sum.\r", 0),
    ]  # fmt: skip
    text = [*CHAPTERS, (0, "".join(each for each, _ in runs[len(CHAPTERS) :]))]
    streams = document(text, looks=[(len(each), number) for each, number in runs], wide=wide)
    book = read(tmp_path, streams)
    assert book.text.endswith("The notice is ninety days.\n\nA  sum.")
    assert [section.title for section in book.sections] == ["The Door", "A hinge", "The Bell"]
    assert book.warnings == ("boilerplate skipped: 2 deleted stretches (3 words), 1 hidden stretch (1 word)",)
    main = bytearray(streams["WordDocument"])
    main[0xFE:0x102] = (1 << 20).to_bytes(4, "little")
    damaged = read(tmp_path, streams | {"WordDocument": bytes(main)})
    assert "thirty ninety" in damaged.text
    assert "character properties are damaged" in " ".join(damaged.warnings)


def test_notes_are_an_end_section_and_heads_and_comments_are_skipped(tmp_path: Path) -> None:
    streams = document(CHAPTERS, notes="\x02 Cast in 1700.\r", heads="The clock, 12\r", comments="\x05Is it so?\r")
    book = read(tmp_path, streams)
    assert book.text.endswith("Notes\n\nCast in 1700.")
    warnings = " ".join(book.warnings)
    assert "1 running head (3 words)" in warnings
    assert "1 reader's comment (3 words)" in warnings
    assert "Is it so" not in book.text


def test_a_web_page_named_doc_is_to_be_renamed(tmp_path: Path) -> None:
    (tmp_path / "a.doc").write_text("<html><body><p>The clock.</p></body></html>")
    with pytest.raises(NotABook, match=r"is a web page: rename it to \.html, though its suffix is \.doc"):
        read_book(tmp_path / "a.doc")


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadingError, match=r"the-clock\.doc: is protected with a password"):
        read(tmp_path, document(CHAPTERS, flags=0x0100))
    with pytest.raises(NotABook, match="older Word than 97"):
        read(tmp_path, document(CHAPTERS, version=104))
    with pytest.raises(NotABook, match="is no Word document, or one with a password"):
        read(tmp_path, {"Workbook": b"cells"})
    with pytest.raises(NotABook, match=r"is an old Office file, or one with a password, though its suffix is \.txt"):
        read(tmp_path, document(CHAPTERS), "a.txt")
    (tmp_path / "b.doc").write_text("Only text.")
    with pytest.raises(NotABook, match=r"is no Office file, though its suffix is \.doc"):
        read_book(tmp_path / "b.doc")


def test_damaged_styles_cost_headings_and_no_text(tmp_path: Path) -> None:
    streams = document(CHAPTERS)
    main = bytearray(streams["WordDocument"])
    main[-1] = 255  # more paragraphs than a page of styles holds
    main[0x106:0x10A] = (1 << 20).to_bytes(4, "little")
    book = read(tmp_path, streams | {"WordDocument": bytes(main)})
    assert book.text.split() == read(tmp_path, streams).text.split()
    assert "styles are damaged" in " ".join(book.warnings)


def test_a_long_document_is_read_in_a_moment(tmp_path: Path) -> None:
    lines = "".join(f"Line {n} of the book.\r" for n in range(100_000))
    assert read(tmp_path, document([(0, lines)])).text.count("\n\n") == 99_999


def test_no_damage_is_a_traceback(tmp_path: Path) -> None:
    looks = [(9, 0), (40, 0x0800), (50, 0x083C), (900, 0)]
    whole = compound(document(CHAPTERS, notes="A note.\r", looks=looks) | {"\x05SummaryInformation": summary("A", "B")})
    chance = random.Random(5)
    path = tmp_path / "a.doc"
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 3, 30))):
            data[chance.choice((chance.randrange(len(data)), chance.randrange(3_000)))] = chance.randrange(256)
        path.write_bytes(data[: chance.randrange(100, len(data)) if chance.random() < 0.2 else None])
        try:
            read_book(path)
        except NlbError as error:
            assert "does not know" not in str(error)
