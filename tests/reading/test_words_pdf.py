"""PDF: every word of every page is in the book, or a warning names what was left out and why."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nlb_retriever.errors import NotABook
from nlb_retriever.reading import read_book
from nlb_retriever.records import Book

from .conftest import pdf_bytes
from .words import assert_all_words, named_words

Write = Callable[..., Path]


def body(page: int, lines: int = 8) -> list[str]:
    return [f"The line {chr(97 + i)} of page{page} tells of river{page}x{i} in the" for i in range(lines)]


def read(pdf: Write, pages: list[list[str]], **more: object) -> Book:
    book = read_book(pdf(pages, **more))
    assert_all_words("\n".join(line for lines in pages for line in lines), book)
    return book


DATED = {
    "diary": "{i} March 1901",
    "month first": "March {i}, 1901",
    "weekday": "Monday, {i} May",
    "numeric": "{i}.3.1901",
    "iso": "1901-03-{i:02}",
    "year": "The year {y}",
    "year alone": "{y}",
    "psalm": "Psalm {i}",
    "verse": "{i}:1 In the beginning",
    "french": "le {i} janvier",
    "german": "{i}. Januar 1901",
    "time": "{i} o'clock",
    "question": "Question {i}",
    "letter": "Letter {i}",
    "chapter": "Chapter {i}",
    "price": "{i} dollars",
    "sum": "{i} + 1 = {j}",
    "day": "Day {i}",
    "figure": "Figure {i}",
}


@pytest.mark.parametrize("pattern", DATED.values(), ids=DATED)
@pytest.mark.parametrize("at", ["top", "bottom"])
@pytest.mark.parametrize("count", [4, 12, 60])
@pytest.mark.parametrize("step", [1, 3])
def test_lines_that_differ_in_digits_only_are_kept_or_named(
    pdf: Write, pattern: str, at: str, count: int, step: int
) -> None:
    heads = [pattern.format(i=1 + i * step, j=2 + i * step, y=1890 + i * step) for i in range(count)]
    pages = [[head, *body(i)] if at == "top" else [*body(i), head] for i, head in enumerate(heads)]
    book = read(pdf, pages)
    if "March" in pattern or "y" in pattern or "Mon" in pattern:
        assert named_words(book.warnings) == 0
        assert all(head in book.text for head in heads)


@pytest.mark.parametrize("line", ["The same line on each page", "Page {i}", "3 March 190{i}", "{i}", "word"])
@pytest.mark.parametrize("count", [1, 2, 6, 40])
def test_pages_of_one_line_are_kept(pdf: Write, line: str, count: int) -> None:
    pages = [[line.format(i=i)] for i in range(count)]
    if sum(len(lines[0]) for lines in pages) < 2:
        pages[0][0] += " and more"
    book = read(pdf, pages)
    assert book.text.strip()


@pytest.mark.parametrize("count", [1, 5, 50])
def test_pages_of_two_equal_lines_are_kept(pdf: Write, count: int) -> None:
    assert read(pdf, [["THE CLOCK", "by Ann Author"]] * count).text.count("THE CLOCK") == count


def test_a_refrain_at_the_top_of_pages_is_named(pdf: Write) -> None:
    pages = [["And the clock struck one", *body(i)] for i in range(12)]
    assert "And the clock struck one" in " ".join(read(pdf, pages).warnings)


def test_running_heads_and_page_numbers_are_named_with_their_pages(pdf: Write) -> None:
    pages = [[f"{i + 10} THE CLOCK", *body(i)] if i % 2 else [f"ANN AUTHOR {i + 10}", *body(i)] for i in range(20)]
    book = read(pdf, pages)
    assert book.text.count("ANN AUTHOR") == 1  # the first of all heads may be a heading
    assert named_words(book.warnings) == 57


def test_numbers_that_are_no_page_numbers_are_kept(pdf: Write) -> None:
    pages = [[str(1000 + i * 37 % 101), *body(i)] for i in range(20)]
    book = read(pdf, pages)
    assert named_words(book.warnings) == 0


def test_a_short_document_is_a_book(pdf: Write) -> None:
    assert read(pdf, [["Hello."]]).text == "Hello.\n"


def test_a_title_page_before_blank_pages_is_a_book(pdf: Write) -> None:
    book = read(pdf, [["A short poem of two lines,"], [], ["and here is the second one."], []])
    assert "2 of 4 pages hold no text" in " ".join(book.warnings)


def test_words_cut_at_line_ends_are_joined_and_none_is_lost(pdf: Write) -> None:
    lines = [
        "The old clock struck the hour, and every-",
        "thing was as it had been, as well-",
        "known and quiet as be-",
        "Fore.",
    ]
    book = read_book(pdf([lines * 4]))
    letters = "".join(c for c in "".join(lines * 4) if c.isalnum())
    assert "".join(c for c in book.text if c.isalnum()) == letters


def test_words_with_capitals_and_numbers_are_joined_at_line_ends(pdf: Write) -> None:
    lines = [
        "The RopeRinger was made by Ann Perron-",
        "Frobenius, who called the new Rope-",
        "Ringer a machine for bells of the CALIB-",
        "19 kind. It was not pre-",
        "Roman, and it was sold IN ALL THE COUN-",
        "TIES OF THE NORTH.",
    ]
    text = read_book(pdf([lines])).text.replace("\n\n", " ")
    for words in ("Perron-Frobenius", "new RopeRinger a", "CALIB-19", "pre- Roman", "COUN-TIES OF THE"):
        assert words in text


def test_attached_files_are_named(pdf: Write) -> None:
    pypdf = pytest.importorskip("pypdf")
    path = pdf([body(0)])
    writer = pypdf.PdfWriter(clone_from=pypdf.PdfReader(io.BytesIO(path.read_bytes())))
    writer.add_attachment("notes.txt", b"Some words that are not on a page.")
    with path.open("wb") as stream:
        writer.write(stream)
    assert any("notes.txt" in warning for warning in read_book(path).warnings)


def test_text_written_over_a_page_and_into_its_fields_is_kept_or_named(pdf: Write) -> None:
    pypdf = pytest.importorskip("pypdf")
    from pypdf.annotations import FreeText, Text

    path = pdf([body(0), body(1)])
    writer = pypdf.PdfWriter(clone_from=pypdf.PdfReader(io.BytesIO(path.read_bytes())))
    writer.add_annotation(0, FreeText(text="Written over it", rect=(50, 50, 200, 90)))
    writer.add_annotation(1, Text(text="A comment of mine", rect=(50, 50, 200, 90)))
    with path.open("wb") as stream:
        writer.write(stream)
    book = read_book(path)
    assert_all_words("Written over it A comment of mine", book)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.lists(
            st.sampled_from(
                ["{n}", "Page {n}", "THE CLOCK", "THE CLOCK {n}", "{n} March 1901", "xii", "CHAPTER {n}", "He said so.",
                 "A line of it that is long enough to be one", "- {n} -", "* * *", "[{n}]", "II", "At", "1901", "end"]
            ),
            max_size=7,
        ),
        max_size=12,
    ),
    st.integers(10, 400),
)  # fmt: skip
def test_any_pages_keep_their_words_or_name_them(tmp_path: Path, pages: list[list[str]], first: int) -> None:
    written = [[line.replace("{n}", str(first + i)) for line in lines] for i, lines in enumerate(pages)]
    (tmp_path / "a.pdf").write_bytes(pdf_bytes(written or [[]]))
    try:
        book = read_book(tmp_path / "a.pdf")
    except NotABook:
        assert sum(len(line) for lines in written for line in lines) < 20
        return
    assert_all_words("\n".join(line for lines in written for line in lines), book)
