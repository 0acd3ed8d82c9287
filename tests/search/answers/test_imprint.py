"""The year of a book: the library's, or its title page's."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever import Retriever, book_from_text, index_books

STORY = "CHAPTER I.\n\nThe keeper lit the lamp at midnight. It was late, and no ship came."


def _library(folder: Path, text: str, title: str, year: int | None = None) -> Retriever:
    index_books([book_from_text(text, source="voyage", title=title, year=year)], folder / "library")
    return Retriever(folder / "library")


@pytest.mark.parametrize("question", ["When was The Voyage written?", "In what year was it first published?"])
def test_the_year_is_the_librarys(tmp_path: Path, question: str) -> None:
    text = f"The Voyage\n\nLondon, 1901\n\n{STORY}"
    with _library(tmp_path, text, "The Voyage", 1901) as retriever:
        answer = retriever.answer(question)
        assert (answer.short, answer.confidence) == ("1901", "sure")
        assert "1901" in answer.text


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("Who translated The Voyage?", "A.M. Wick"),
        ("who edited the voyage", "JANE VAN REED"),
        ("Who illustrated The Voyage?", None),
    ],
)
def test_who_translated_a_book_its_title_page_says(tmp_path: Path, question: str, short: str | None) -> None:
    text = "The Voyage\n\n_Translated from the German by A.M. Wick_\n\nEDITED BY\n\nJANE VAN REED.\n\n"
    text += f"Illustrated by His Grace the Old Duke of Wick\n\n{STORY}"
    with _library(tmp_path, text, "The Voyage") as retriever:
        answer = retriever.answer(question)
        assert short is None or (answer.short, answer.confidence) == (short, "likely")
        assert short is not None or answer.confidence in (None, "unsure")


def test_a_year_that_no_sentence_has_is_cited_by_prose(tmp_path: Path) -> None:
    with _library(tmp_path, STORY, "The Voyage", 1901) as retriever:
        answer = retriever.answer("When was The Voyage written?")
        assert (answer.short, answer.text) == ("1901", "The keeper lit the lamp at midnight.")


@pytest.mark.parametrize(
    ("line", "year"),
    [
        ("First published by Stone and Company, 1897", "1897"),
        ("Copyright, 1905, by Ann One", "1905"),
        ("© Ann One 2015", "2015"),
        ("_1818._", "1818"),
        ("Printed for 18970 readers", None),
    ],
)
@pytest.mark.parametrize("question", ["When was The Voyage published?", "what year was the voyage written"])
def test_a_year_that_is_not_known_is_the_title_pages(
    tmp_path: Path, question: str, line: str, year: str | None
) -> None:
    with _library(tmp_path, f"The Voyage\n\n{line}\n\n{STORY}", "The Voyage") as retriever:
        answer = retriever.answer(question)
        assert (answer.short, answer.confidence) == (year, "likely" if year else None)
        assert answer.text == (line if year else "The library does not know when The Voyage was written.")


@pytest.mark.parametrize("question", ["When was Voyage written?", "When did Ann One write Voyage?"])
def test_a_part_of_a_title_has_no_year_either(tmp_path: Path, question: str) -> None:
    with _library(tmp_path, STORY, "Ann One The Voyage") as retriever:
        assert retriever.answer(question).text == "The library does not know when Ann One The Voyage was written."


def test_the_line_that_gives_the_year_is_cited(tmp_path: Path) -> None:
    lines = "Made from the edition of 1897.\n\nFirst published by Stone and Company, 1897."
    with _library(tmp_path, f"The Voyage\n\n{lines}\n\n{STORY}", "The Voyage") as retriever:
        answer = retriever.answer("When was The Voyage published?")
        assert answer.text == "First published by Stone and Company, 1897."


def test_a_title_is_no_year(tmp_path: Path) -> None:
    with _library(tmp_path, f"1984\n\n{STORY}", "1984") as retriever:
        assert retriever.answer("When was 1984 published?").short != "1984"


def test_a_year_without_a_word_for_it_is_left_to_the_reader(tmp_path: Path) -> None:
    with _library(tmp_path, f"On Fog\n\nLisbon, May 2017\n\n{STORY}", "On Fog") as retriever:
        assert (
            retriever.answer("When was On Fog published?").text != "The library does not know when On Fog was written."
        )


def test_what_is_no_title_may_have_a_year_in_the_text(tmp_path: Path) -> None:
    with _library(tmp_path, f"{STORY} The letter was written in 1745.", "The Letter of Anna") as retriever:
        assert retriever.answer("When was the letter written?").short == "1745"
