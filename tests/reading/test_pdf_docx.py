"""PDF and DOCX: pages and labels, outlines, running heads, and damaged files in one line."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from nlb_retriever.errors import NotABook, ReadingError
from nlb_retriever.reading import Limits, read_book
from nlb_retriever.reading.formats.docx import read_docx
from nlb_retriever.records import Book

Write = Callable[..., Path]
LINES = [
    "The old clock on the landing struck the hour and nobody in the",
    "house was awake to count it, for the whole family had gone down",
    "to the sea. It went on striking all the same, as faithful as any-",
    "thing that was ever made, and the moon came up.",
]


def pages(count: int) -> list[list[str]]:
    return [
        ["THE CLOCK", f"The {'very ' * i}old clock.", *LINES, *LINES, "It stopped.", f"{i + 10}"] for i in range(count)
    ]


def test_lines_become_paragraphs_without_running_heads(pdf: Write) -> None:
    book = read_book(pdf(pages(5)))
    assert "nobody in the house was awake" in book.text
    assert "as anything that was" in book.text
    assert "THE CLOCK" not in book.text.replace("THE CLOCK", "", 1)
    assert not any(str(n) in book.text for n in range(11, 15))


@pytest.mark.parametrize("head", ["Chapter {n}: Bells {page}", "{n}.2. Bells {page}", "{page} Chapter {n}. Bells"])
def test_running_heads_with_chapter_and_page_are_skipped(pdf: Write, head: str) -> None:
    numbered = [[head.format(n=i // 2 + 1, page=i + 1), f"{'Very ' * i}old.", *LINES, "It rang."] for i in range(8)]
    book = read_book(pdf(numbered))
    assert "Bells" not in book.text
    assert any("Bells" in warning and "on 8 pages" in warning for warning in book.warnings)
    chapters = [[f"Chapter {i}: Bells {1900 + 7 * i % 5}", f"{'Very ' * i}old.", *LINES, *LINES] for i in range(1, 9)]
    assert read_book(pdf(chapters)).text.count("Bells") == 8


@pytest.mark.parametrize("head", ["{name} {page}", "CHAPTER {n}. {page}", "{n}. {name} {page}", "The {name} | {page}"])
def test_running_heads_with_few_pages_each_are_skipped_where_others_count_the_pages(pdf: Write, head: str) -> None:
    names = ["Bells", "Clocks", "Hands", "Wheels", "Springs"]
    heads = [
        head.format(name=names[i // 4], n="I" * (i // 4 + 1), page=i + 11) if i % 2 else f"{i + 11} THE CLOCK"
        for i in range(20)
    ]
    book = read_book(pdf([[line, f"{'Very ' * i}old.", *LINES, *LINES] for i, line in enumerate(heads)]))
    assert not [line for line in heads[1:] if line in book.text]
    assert any("on 10 pages" in warning for warning in book.warnings)


def test_the_first_running_head_with_its_page_s_number_is_skipped_but_on_the_first_page(pdf: Write) -> None:
    heads = [f"{i + 1} Bells" if i < 5 else f"Ann Author {i + 1}" if i % 2 else f"{i + 1} The Clock" for i in range(11)]
    book = read_book(pdf([[line, f"{'Very ' * i}old.", *LINES, "It rang and"] for i, line in enumerate(heads)]))
    assert [line for line in heads if line in book.text] == ["1 Bells"]


def test_names_with_numbers_are_kept_on_pages_that_others_count(pdf: Write) -> None:
    heads = [f"Psalm {i + 11}" if i == 5 else f"{i + 11} THE CLOCK" for i in range(9)]
    assert "Psalm 16" in read_book(pdf([[line, f"{'Very ' * i}old.", *LINES] for i, line in enumerate(heads)])).text
    heads[5] = "The keeper is a bell. 16"
    assert "a bell. 16" in read_book(pdf([[line, f"{'Very ' * i}old.", *LINES] for i, line in enumerate(heads)])).text
    songs = [[f"{i + 1} {'La ' * i}la", *LINES, str(i + 1)] for i in range(12)]
    text = read_book(pdf(songs)).text
    assert all(f"{i + 1} {'La ' * i}la" in text for i in range(12))


def test_short_sentences_at_the_edges_of_pages_are_kept(pdf: Write) -> None:
    said = [["THE CLOCK", "Yes." if i % 9 == 4 else f"The {'very ' * i}old clock.", *LINES, *LINES] for i in range(40)]
    assert read_book(pdf(said)).text.count("Yes.") == 4
    ends = [[f"The {'very ' * i}old clock.", *LINES, "Nobody asked", "what it was for."] for i in range(8)]
    assert read_book(pdf(ends)).text.count("Nobody asked what it was for.") == 8
    under = [[f"The {'very ' * i}old clock.", *LINES, "The Clock."] for i in range(8)]
    assert "The Clock." not in read_book(pdf(under)).text


def test_pages_carry_printed_labels_and_physical_numbers(pdf: Write) -> None:
    book = read_book(pdf(pages(4), labels="0 << /S /r /St 9 >> 2 << /S /D /St 1 >>"))
    assert [(p.number, p.label) for p in book.pages] == [(1, "ix"), (2, "x"), (3, "1"), (4, "2")]
    assert [p.start for p in book.pages] == sorted(p.start for p in book.pages)
    assert book.text[book.pages[2].start :].startswith("The very very old clock.")


def labels(book: Book) -> list[str]:
    return [page.label for page in book.pages]


def test_pages_without_labels_have_the_numbers_that_are_printed_on_them(pdf: Write) -> None:
    printed = ["", "", "iv", "v", "vi", *(str(n) if n % 4 else "" for n in range(1, 12))]
    content = [
        [f"The {'very ' * i}old clock.", *LINES, *([number] if number else [])] for i, number in enumerate(printed)
    ]
    assert labels(read_book(pdf(content))) == ["1", "2", "iv", "v", "vi", *(str(n) for n in range(1, 12))]
    assert labels(read_book(pdf(content, labels="0 << /S /A >>")))[:3] == ["A", "B", "C"]


def test_numbers_that_do_not_count_the_pages_around_are_no_page_s(pdf: Write) -> None:
    rows = ["387", "", "388", "", "", "", "", "", "40", "", "", "", "", "2", "2", "2", "I", "II", "", "2", "21", "22"]
    content = [[f"The {'very ' * i}old clock.", *LINES, *([number] if number else [])] for i, number in enumerate(rows)]
    assert labels(read_book(pdf(content))) == [str(i + 1) for i in range(len(rows))]
    both = [[str(n + 7), f"The {'very ' * n}old clock.", *LINES, str(n + 40)] for n in range(9)]
    assert labels(read_book(pdf(both))) == [str(i + 1) for i in range(9)]


def test_heads_of_a_paper_with_its_page_s_number_before_or_behind_them_are_skipped(pdf: Write) -> None:
    head = "A. Bell et al. / Journal of Bells 40 (2007) 1240-1245"
    heads = [f"{page} {head}" if page % 2 == 0 else f"{head} {page}" for page in range(1241, 1245)]
    content = [[line, f"The {'very ' * i}old clock.", *LINES, *LINES] for i, line in enumerate(heads, 1)]
    book = read_book(pdf([["The Old Clock", *LINES, *LINES], *content]))
    assert "et al." not in book.text
    assert labels(book)[1:] == ["1241", "1242", "1243", "1244"]


def test_the_outline_gives_the_sections_even_on_one_page(pdf: Write) -> None:
    content = [["Door", *LINES, *LINES, "Stair", *LINES, *LINES], ["Bell", *LINES, *LINES]]
    book = read_book(
        pdf(content, outline=[("Door", 0), ("Stair", 0), ("Bell", 1)], info="/Title (My Clock) /Author (Ann)")
    )
    assert [s.path for s in book.sections] == [("Door",), ("Stair",), ("Bell",)]
    assert book.text[book.sections[1].start :].startswith("Stair")
    assert (book.title, book.author) == ("My Clock", "Ann")


def test_a_title_of_the_outline_that_ends_another_stands_where_it_is_alone(pdf: Write) -> None:
    lines = ["2. Of clocks and bells", *LINES, "2.1. Clocks", *LINES, "2.2. Bells", *LINES]
    outline = [("Of clocks and bells", 0), ("Clocks", 0), ("Bells", 0)]
    book = read_book(pdf([lines], outline=outline))
    assert [section.title for section in book.sections] == ["2. Of clocks and bells", "2.1. Clocks", "2.2. Bells"]
    assert book.text[book.sections[2].start :].startswith("2.2. Bells")


def test_without_an_outline_chapter_lines_are_found(pdf: Write) -> None:
    content = [line for n in ("I", "II", "III") for line in ([f"CHAPTER {n}", *LINES * 5], [*LINES * 6])]
    assert [s.path for s in read_book(pdf(content)).sections] == [("CHAPTER I",), ("CHAPTER II",), ("CHAPTER III",)]


def test_a_scan_without_text_says_what_to_do(pdf: Write) -> None:
    with pytest.raises(NotABook, match="no text layer: run OCR"):
        read_book(pdf([[], []]))


def test_pages_without_text_are_reported(pdf: Write) -> None:
    assert "1 of 3 pages hold no text" in read_book(pdf([LINES, [], LINES])).warnings[0]


@pytest.mark.parametrize("keep", [20, 300])
def test_a_truncated_pdf_gives_one_line(pdf: Write, keep: int) -> None:
    path = pdf(pages(2))
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ReadingError, match=r"book\.pdf: ") as caught:
        read_book(path)
    assert "\n" not in str(caught.value)


def test_a_pdf_without_pages_is_no_book(pdf: Write) -> None:
    with pytest.raises(ReadingError):
        read_book(pdf([]))


def test_an_encrypted_pdf_asks_for_a_copy_without_password(pdf: Write) -> None:
    pypdf = pytest.importorskip("pypdf")
    path = pdf(pages(1))
    writer = pypdf.PdfWriter(clone_from=pypdf.PdfReader(io.BytesIO(path.read_bytes())))
    writer.encrypt("secret", algorithm="RC4-128")
    with path.open("wb") as stream:
        writer.write(stream)
    with pytest.raises(ReadingError, match="encrypted with a password"):
        read_book(path)
    with pytest.raises(ReadingError, match="damaged"):  # and PDFium's error is that of the file before
        read_book(pdf([]))


def make_docx(path: Path) -> Path:
    document = docx.Document()
    document.core_properties.title = "The Clock"
    document.core_properties.author = "Ann Author"
    for chapter in ("Door", "Stair", "Bell"):
        document.add_heading(chapter, level=1)
        document.add_paragraph(" ".join(LINES) * 3)
    document.save(str(path))
    return path


def test_word_headings_become_sections_and_properties_are_read(tmp_path: Path) -> None:
    book = read_book(make_docx(tmp_path / "a.docx"))
    assert (book.title, book.author) == ("The Clock", "Ann Author")
    assert [s.path for s in book.sections] == [("Door",), ("Stair",), ("Bell",)]


def repack(path: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    with zipfile.ZipFile(path) as archive:
        entries = {n: archive.read(n) for n in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, content in entries.items():
            archive.writestr(entry, change(content) if entry == name else content)


def test_a_word_file_that_declares_entities_is_refused(tmp_path: Path) -> None:
    path = make_docx(tmp_path / "a.docx")
    repack(
        path, "word/document.xml", lambda c: c.replace(b"<w:document", b'<!DOCTYPE x [<!ENTITY a "b">]><w:document', 1)
    )
    with pytest.raises(ReadingError, match="declares XML entities"):
        read_book(path)


def test_a_word_bomb_is_refused(tmp_path: Path) -> None:
    path = make_docx(tmp_path / "a.docx")
    repack(path, "word/styles.xml", lambda c: c + b" " * (60 << 20))
    with pytest.raises(ReadingError, match="inflates more than"):
        read_book(path)


def test_a_truncated_word_file_gives_one_line(tmp_path: Path) -> None:
    path = make_docx(tmp_path / "a.docx")
    path.write_bytes(path.read_bytes()[:5_000])
    with pytest.raises(ReadingError, match="damaged or truncated"):
        read_book(path)


def test_a_broken_document_part_gives_one_line(tmp_path: Path) -> None:
    path = make_docx(tmp_path / "a.docx")
    repack(path, "word/document.xml", lambda c: c[: len(c) // 2])
    with pytest.raises(ReadingError, match=r"a\.docx: ") as caught:
        read_book(path)
    assert "\n" not in str(caught.value)


def test_large_first_letters_deleted_ends_fractions_and_headings_in_tables(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_heading("The Tower", 1)
    frame = '<w:framePr {ns} w:dropCap="drop" w:lines="3"/>'
    first, _ = document.add_paragraph("O"), document.add_paragraph("nce there was a keeper.")
    first._p.get_or_add_pPr().append(parse_xml(frame.format(ns=nsdecls("w"))))
    half, other = document.add_paragraph("He kept "), document.add_paragraph("the lamp.")
    half._p.get_or_add_pPr().append(parse_xml(f'<w:rPr {nsdecls("w")}><w:del w:id="1"/></w:rPr>'))
    other._p.append(
        parse_xml(
            '<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:f><m:num><m:r><m:t>a</m:t>'
            "</m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath>"
        )
    )
    cell = document.add_table(1, 1).cell(0, 0)
    cell.paragraphs[0].text, cell.paragraphs[0].style = "The Storm", "Heading 1"
    cell.add_paragraph(" ".join(LINES) * 3)
    wide = document.add_table(1, 2)
    wide.cell(0, 0).paragraphs[0].text, wide.cell(0, 0).paragraphs[0].style = "Wick", "Heading 2"
    wide.cell(0, 1).text = "Four"
    path = tmp_path / "b.docx"
    document.save(str(path))
    book = read_book(path)
    assert book.text.startswith("The Tower\n\nOnce there was a keeper.\n\nHe kept the lamp.a/b\n\n")
    assert [heading.title for heading in read_docx(path.read_bytes(), Limits()).headings] == [
        "The Tower", "The Storm",
    ]  # fmt: skip


def test_what_is_said_on_pages_with_numbered_lines_is_read_without_the_numbers(pdf: Write) -> None:
    said = ["Q. Who has the key?", "A. The baker has it, and she keeps it in a", "jar. Nobody else has one.", "Q. Why?"]
    content = [[f"Day 4, 9 May 1903 {page}", *(f"{n} {line}" for n, line in enumerate(said * 4, 1))] for page in "123"]
    book = read_book(pdf(content))
    assert book.text.count("Q. Who has the key?\n\nA. The baker has it, and she keeps it in a jar. Nobody else") == 12
    assert "48 line numbers (48 words)" in book.warnings[0]


@pytest.mark.parametrize("step", [1, 5])
def test_numbers_of_lines_that_go_on_from_page_to_page_are_skipped(pdf: Write, step: int) -> None:
    lines = [*LINES, "The keeper went up the stair in the", "dark of the night, and nobody saw him."] * 6
    numbers = [
        [f"{line}" if n % step else f"{n} {line}" for n, line in enumerate(lines, first)] for first in (1, 37, 73)
    ]
    book = read_book(pdf([*numbers, ["20000 bells rang"]]))
    assert "20000 bells rang" in book.text
    book = read_book(pdf([*numbers, [f"{110 if step > 1 else 109} bells rang."]]))
    assert book.text.count("The keeper went up the stair in the dark of the night, and nobody saw him.") == 18
    assert not any(map(str.isdigit, book.text))
    assert f"{108 // step + 1} line numbers" in book.warnings[0]


def test_numbers_in_the_margin_are_skipped_and_those_of_a_list_stay(pdf: Write) -> None:
    margins = [[*(f"{n}" for n in range(first, first + 20)), *LINES * 4] for first in (1, 21, 41)]
    assert not any(map(str.isdigit, read_book(pdf(margins)).text))
    bells = [[f"{n} Bell of the tower" for n in range(first, first + 20)] for first in (1, 21, 41)]
    assert "57 Bell of the tower" in read_book(pdf(bells)).text
    proofs = [[*(f"{n} step of proof {page}" for n in range(1, 14)), *LINES * 3] for page in "ABC"]
    assert "12 step of proof C" in read_book(pdf(proofs)).text


def test_numbered_paragraphs_begin_anew_below_a_full_line(pdf: Write) -> None:
    full = "The keeper of the old clock went up the stair, and rang the bell."
    first = "The town has kept a clock for all of two hundred years, they say."
    text = read_book(pdf([[first, full, "3.4 He came down when it was dark.", full, "Recommendation 12", full]])).text
    assert f"{full}\n\n3.4 He came down" in text
    assert f"{full}\n\nRecommendation 12\n\n{full}" in text
