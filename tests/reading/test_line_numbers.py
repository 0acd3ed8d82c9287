"""Numbers of lines in the margins of papers for review."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nlb_retriever.reading import read_book
from nlb_retriever.reading.omissions import Omissions
from nlb_retriever.reading.pages.line_numbers import find_line_numbers

Write = Callable[..., Path]
LINES = ["The keeper went up the stair in the", "dark of the night, and nobody saw him.", "The bell rang twice, and"]


def numbered(first: int, count: int = 24, *, behind: bool) -> list[str]:
    words = [LINES[n % 3] for n in range(count)]
    return [f"{line} {n}" if behind else f"{n} {line}" for n, line in enumerate(words, first)]


@pytest.mark.parametrize("sides", ["bbb", "abab", "aaab"])
def test_numbers_in_the_right_or_outer_margin_are_skipped(pdf: Write, sides: str) -> None:
    pages = [numbered(1 + 24 * i, behind=side == "b") for i, side in enumerate(sides)]
    book = read_book(pdf(pages))
    assert not any(map(str.isdigit, book.text))
    assert f"{24 * len(sides)} line numbers" in book.warnings[0]


def test_two_columns_have_them_before_the_left_and_behind_the_right(pdf: Write) -> None:
    pages = [[*numbered(n, behind=False), *numbered(n + 24, behind=True)] for n in (1, 49, 97)]
    assert not any(map(str.isdigit, read_book(pdf(pages)).text))


def test_lines_of_a_list_that_end_with_rising_numbers_keep_them(pdf: Write) -> None:
    pages = [[f"Bell of the tower {n}" for n in range(first, first + 20)] for first in (1, 21, 41)]
    assert "Bell of the tower 57" in read_book(pdf(pages)).text


def test_a_first_page_has_names_and_notes_between_its_numbered_lines() -> None:
    names = ["Ann Bell, Tom Ringer", "Harbour School", "Tower House", "a.bell@tower.example", "Preprint"]
    first = ["1 Of Bells", *names, "2 Abstract", *names, *numbered(3, 4, behind=False)]
    following = [numbered(n, behind=False) for n in (7, 31, 55)]
    found = find_line_numbers([first, *following], Omissions())
    assert [*found[0]] == ["1 Of Bells", "2 Abstract", *numbered(3, 4, behind=False)]
    assert not find_line_numbers([[*first[:-1]], *following], Omissions())[0]


def test_small_numbers_beside_a_line_do_not_tell_how_it_is_set(pdf: Write) -> None:
    def lines(n: int) -> list[str]:
        text = [(f"60,{600 - 14 * i},10\t{LINES[i % 3]}", f"300,{600 - 14 * i},5\t{n + i}") for i in range(1, 20)]
        return [f"60,600,14\t{['The Stair', 'The Bell', 'The Lamp'][n // 20 - 5]}", f"300,600,5\t{n}", *sum(text, ())]

    book = read_book(pdf([lines(n) for n in (101, 121, 141)]))
    assert [section.path[-1] for section in book.sections] == ["The Stair", "The Bell", "The Lamp"]
