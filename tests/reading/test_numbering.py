"""Sections by their numbers: papers and manuals without an outline."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nlb_retriever import book_from_text
from nlb_retriever.reading import read_book
from nlb_retriever.reading.headings.numbering import numbered_lines

Write = Callable[..., Path]
PROSE = [f"The clock on landing number {i} struck the hour, and nobody was awake to" for i in range(6)]
NUMBERS = [
    "1 Introduction",
    "1.1 What is a clock?",
    "1.2 Bells",
    "2 Methods",
    "2.1 data",
    "2.1.1 Sources",
    "2.2 Models",
]


def titles(lines: list[str]) -> list[str]:
    return [lines[found.line] for found in numbered_lines(lines)]


def test_a_chain_is_found_among_other_lines() -> None:
    lines = [
        line for title in NUMBERS for line in (title, "3 apples and 2.5 pears were left", "7.1 of them", "4. Wash")
    ]
    assert titles(lines) == NUMBERS


@pytest.mark.parametrize("mark", [".", ":"])
def test_a_point_or_colon_may_stand_behind_the_number(mark: str) -> None:
    lines = [title.replace(" ", f"{mark} ", 1) for title in NUMBERS]
    assert titles(lines) == lines


def test_contents_and_running_heads_are_not_taken_for_sections() -> None:
    contents = [f"{title} {i}" for i, title in enumerate(NUMBERS, 1)]
    lines = [*contents, *(line for title in NUMBERS for line in (title, *PROSE, f"{title} 17"))]
    assert titles(lines) == NUMBERS
    assert numbered_lines(lines)[0].line == len(contents)


def test_a_missing_number_and_chapters_of_another_look_do_not_end_it() -> None:
    lines = ["1.1 Bells", "1.2 Clocks", "2.1 Doors", "2.3 Stairs", "4.1 Seas", "A.1 Tables", "A.2 Maps"]
    assert titles(lines) == lines


def test_chapters_and_appendices_by_name_are_of_the_chain() -> None:
    lines = [
        *("Chapter 1. Clocks", "1.1.\N{NO-BREAK SPACE}Bells", "1.2. Hands... and what else?", "Chapter 2. Doors"),
        *("Chapter 3. Stairs", "Chapter 4. Seas", "4.1. /dev : Devices", "Appendix A. Tables", "A.1. Maps"),
    ]
    assert titles(lines) == lines
    heads = [line for line in lines for line in (line, "Chapter 4. Seas")]
    assert [line for line in titles(heads) if not line.startswith("Chap")] == [
        line for line in lines if not line.startswith("Chap")
    ]


def test_letters_are_appendices_where_their_first_section_follows() -> None:
    lines = ["1. Clocks", "1.1. Bells", "2. Doors", "2.1. Locks", "A. Tables", "A.1. Maps", "A.2. Lists", "B. Nothing"]
    assert titles(lines) == lines[:-1]


def test_indented_numbers_are_sections() -> None:
    paragraph = "   " + " ".join(PROSE) + " bed."
    text = "\n\n".join(f"  {title}\n\n{paragraph}" for title in NUMBERS)
    assert [section.path[-1] for section in book_from_text(text, source="a.txt").sections] == NUMBERS


@pytest.mark.parametrize(
    "lines",
    [
        ["1 Apples", "2 Pears", "3 Plums", "4 Figs", "5 Nuts", "6 Dates"],
        ["1.1 Bells", "1.2 Clocks"],
        ["3.5 miles away", "2.25 of these", "7.1 at most", "1.9 and more", "8.2 in all", "6.6 or so"],
        ["1.00 Coffee", "2.00 Tea", "3.00 Wine", "4.00 Cake", "5.00 Bread"],
        ["1.1. Monday", "2.1. Thursday", "3.1. Friday", "4.1. Sunday", "5.1. Tuesday"],
        ["1:1 In the beginning", "1:2 And the earth", "1:3 And God said", "1:4 And God saw", "1:5 And God called"],
    ],
)
def test_other_numbers_are_no_sections(lines: list[str]) -> None:
    assert numbered_lines(lines) == []


def test_the_sections_of_a_pdf_without_an_outline(pdf: Write) -> None:
    long = "2.2 Why the output of the bell depends on the"
    pages = [[title, *PROSE, *PROSE, "It stopped."] for title in NUMBERS[:-1]]
    book = read_book(pdf([*pages, [long, "order of the clocks", "Since it rang.", *PROSE]]))
    assert [section.path[-1] for section in book.sections] == [*NUMBERS[:-1], f"{long} order of the clocks"]
    assert book.sections[-2].path == ("2 Methods", "2.1 data", "2.1.1 Sources")


def test_parts_and_chapters_hold_them() -> None:
    paragraph = "\n\n" + " ".join(PROSE) + " bed.\n\n"
    heads = [
        "PART I",
        "Chapter 1. Time",
        "1.1 Bells",
        "1.2 Clocks",
        "Chapter 2. Sea",
        "2.1 Ships",
        "2.2 Waves",
        "2.3 Sand",
        "PART II",
        "Chapter 3. Sky",
        "3.1 Stars",
    ]
    book = book_from_text(paragraph.join(heads) + paragraph, source="x", title="x")
    assert book.sections[-1].path == ("PART II", "Chapter 3. Sky", "3.1 Stars")


def test_paragraphs_of_a_lease_are_no_headings(pdf: Write) -> None:
    lease = [
        line
        for i in range(1, 4)
        for k in range(1, 4)
        for line in (
            f"{i}.{k} The tenant shall pay rent number {k} and shall not keep animals in the",
            "house unless the landlord has agreed in writing to that before the first of the",
            "month of May.",
        )
    ]
    assert len(read_book(pdf([lease, lease])).sections) == 1


def test_an_appendix_with_numbers_does_not_replace_the_chapters() -> None:
    paragraph = "\n\n" + " ".join(PROSE * 4) + " bed.\n\n"
    chapters = [f"CHAPTER {n}" for n in ("I", "II", "III", "IV", "V", "VI", "VII")]
    text = paragraph.join([*chapters, "Appendix A", *NUMBERS]) + paragraph
    book = book_from_text(text, source="x", title="x")
    assert [section.path[-1] for section in book.sections if section.path[-1] in chapters] == chapters
