"""Chapters that a text numbers with a word of its own."""

from __future__ import annotations

import re

import pytest

from nlb_retriever.reading.headings.outline import find_headings
from nlb_retriever.reading.headings.series import find_series, read_series
from tests.reading.test_headings import BODY, WORDS, book

PAPERS = [f"FEDERALIST No. {number}" for number in range(1, 8)]


@pytest.mark.parametrize(
    "headings",
    [
        [f"FEDERALIST No. {number}" for number in range(1, 90)],
        [f"Lesson {number}" for number in range(1, 6)],
        ["Meditation I", "Meditation II", "Meditation III", "Meditation IV", "Meditation V"],
        ["HOLY HYMN THE FIRST", "HOLY HYMN THE SECOND", *(f"HOLY HYMN THE {n}" for n in ("THIRD", "FOURTH", "FIFTH"))],
    ],
)
def test_every_chapter_of_a_series_is_one(headings: list[str]) -> None:
    assert [h.title for h in find_headings(book(*headings))] == headings


def test_chapters_may_have_the_same_title_and_names_around_it() -> None:
    text = "".join(
        f"{paper}\n\n{'The Same Subject Continued' if number % 2 else f'Of {WORDS[number].title()}'}\n\nHAMILTON\n\n"
        f"To the People of New York:\n\n{BODY}\n\nPUBLIUS\n\n\n\n"
        for number, paper in enumerate(PAPERS)
    )
    titles = [h.title for h in find_headings(text)]
    assert [title.split(". ")[1] for title in titles] == [f"{number}" for number in range(1, 8)]
    assert titles[1] == "FEDERALIST No. 2. The Same Subject Continued"
    assert titles[4] == f"FEDERALIST No. 5. Of {WORDS[4].title()}"


def test_its_table_of_contents_is_none() -> None:
    text = "\n".join(["THE PAPERS", "", *PAPERS, "", "", book(*PAPERS)])
    assert [h.title for h in find_headings(text)] == PAPERS


@pytest.mark.parametrize("word", ["Figure", "TABLE", "Plate", "Lesson"])
def test_what_has_no_text_below_is_no_series(word: str) -> None:
    text = book(*(f"{word} {number}" for number in range(1, 8)))
    spans = [match.span() for match in re.finditer(r"[^\n]+", text)]
    found = find_series(text, spans, [True] * len(spans))
    assert len(found) == (7 if word == "Lesson" else 0)


def test_chapters_count_more() -> None:
    chapters = book("CHAPTER I", "CHAPTER II", "CHAPTER III")
    exercises = "\n\n".join(f"Exercise {number}\n\n{BODY}" for number in range(1, 6))
    titles = [h.title for h in find_headings(f"{chapters}\n\n{exercises}")]
    assert titles == ["CHAPTER I", "CHAPTER II", "CHAPTER III"]


@pytest.mark.parametrize(
    ("title", "read"),
    [
        ("FEDERALIST No. 10", ("federalist", 10, "")),
        ("FEDERALIST No. 10. The Same", ("federalist", 10, "The Same")),
        ("Lesson 3: Greetings", ("lesson", 3, "Greetings")),
        ("Meditation II", ("meditation", 2, "")),
        ("lesson 3", None),
        ("Greetings", None),
    ],
)
def test_a_title_is_read_as_word_and_number(title: str, read: tuple[str, int, str] | None) -> None:
    assert read_series(title) == read
