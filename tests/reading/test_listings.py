"""Printed tables of contents and indexes are skipped, and named; lines that only look so stay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nlb_retriever.reading import read_book
from nlb_retriever.reading.omissions import Omissions
from nlb_retriever.reading.pages.listings import without_listings

Write = Callable[..., Path]
TITLES = ["The Clock", "The Landing", "The Sea", "The Door", "The Bell", "The Stair", "The Rope", "The Lamp", "The End"]
PROSE = [f"The old clock on landing number {i} struck the hour, and nobody was awake to" for i in range(8)]


def kept(*pages: list[str]) -> list[list[str]]:
    return without_listings([*pages, *([PROSE] * 60)], Omissions())[: len(pages)]


@pytest.mark.parametrize("leader", [" . . . . . . . . ", ".............. ", " ......", "…………… ", ". . . . . . . "])
def test_dotted_contents_go(leader: str) -> None:
    contents = [f"{i} {title}{leader}{10 * i}" for i, title in enumerate(TITLES, 1)]
    assert kept(["Contents", *contents]) == [[]]
    assert kept(["The Clock", "by Ann", *contents, *PROSE]) == [["The Clock", "by Ann", *PROSE]]


def test_contents_without_dots_go_below_their_heading_alone() -> None:
    contents = [f"{i} {title} {10 * i}" for i, title in enumerate(TITLES, 1)]
    assert kept(["Table of Contents", *contents]) == [[]]
    assert kept([*PROSE, *contents]) == [[*PROSE, *contents]]


def test_titles_of_two_lines_and_the_next_page_go() -> None:
    first = [f"1.{i} {title} and what was\nbehind it . . . . . . . . {i}" for i, title in enumerate(TITLES, 1)]
    second = [f"{title} {i}" for i, title in enumerate(TITLES, 10)]
    assert kept([line for entry in first for line in entry.split("\n")], second) == [[], []]


def test_an_index_goes() -> None:
    words = [
        "A",
        "accent, 3, 12-14",
        "bell, 7",
        "clock, 1, 9",
        "C",
        "door, 20",
        "lamp, 7",
        "rope, 9",
        "stair, 4",
        "window, 31, 40",
    ]
    assert kept(["Index", *words]) == [[]]
    assert kept([f"{word} . . . . . . 1{i}, 22" for i, word in enumerate("abcdefgh")]) == [[]]


@pytest.mark.parametrize(
    "lines",
    [
        ["Steak .......... 25", "Soup .......... 8", "Apples .......... 12", "Wine .......... 9", "Bread .......... 2"],
        ["He waited ......", "and waited ......", "and then ......", "they came ......"],
        ["In the year 12", "she was 9", "and he was 40", "of age, and they had 3"],
        [f"{i}. The capital of country {i} is __________" for i in range(9)],
        [f"And then {'. . . . . .' if i else '. . . . .'}" for i in range(9)],
        ["Consumer price index", "Food 3", "Housing 5", "Medical care 7", "Transport 9"],
        ["Table of weights", "Pint 1", "Quart 2", "Gallon 8", "Bushel 64"],
        ["Contents of the box:", "a knife and the number 3", "and a coat with the buttons of a king", "and so on"],
    ],
)
def test_other_lines_stay(lines: list[str]) -> None:
    assert kept(lines) == [lines]


def test_the_page_after_contents_keeps_its_first_lines() -> None:
    contents = ["Contents", *(f"{i} {title} . . . . . . . . {10 * i}" for i, title in enumerate(TITLES, 1))]
    for first in (
        ["PART 1", "CHAPTER 1"],
        ["ACT 1", "SCENE 1"],
        ["May 3", "May 4", "May 5"],
        ["Room 101", "Level 102"],
    ):
        assert kept(contents, [*first, *PROSE]) == [[], [*first, *PROSE]]


def test_lines_of_many_dots_take_no_time() -> None:
    lines = [" . " * 2_000 + "x", "_ " * 2_000 + "x", "1 . " * 1_000, "Name " + ". " * 190 + "Signature"] * 20
    assert kept(lines) == [lines]


def test_what_goes_is_named_and_a_file_of_nothing_else_stays(pdf: Write) -> None:
    contents = [f"{i} {title} . . . . . . . . {i}" for i, title in enumerate(TITLES, 1)]
    book = read_book(pdf([contents, *([PROSE] * 8)]))
    assert "The Landing" not in book.text
    assert any("contents or index on 1 page (36 words)" in warning for warning in book.warnings), book.warnings
    assert without_listings([contents], Omissions()) == [contents]
