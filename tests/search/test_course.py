"""Textbooks and course material: chapters with exercises, and their solutions at the end."""

from __future__ import annotations

import pytest

from nlb_retriever import Retriever, index_books
from nlb_retriever.reading import read_book

CLOCKS = """\
# Clocks for Beginners

## Chapter 1 Hands

### 1.1 The long hand

The long hand of a clock goes round once in an hour. It was added to clocks by a smith in the north.

### Key Terms

**smith**
a person who forges things of iron

**escapement** the part of a clock that lets its wheels go on step by step

### Review Questions

1. How often does the long hand go round?
2. Who added it?

## Chapter 2 Bells

### 2.1 The bronze bell

A bronze bell is cast in one piece of copper and tin. It rings for the hours of the day.

### 2.2 The iron bell

An iron bell is forged from plates by two smiths. It rings only when there is fire in the town.

## Answer Key

### Chapter 1

1. Once in an hour. 2. A smith in the north.

### Chapter 2

1. Of copper and tin, as is said above in the text.
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    folder = tmp_path_factory.mktemp("course")
    (folder / "clocks.md").write_text(CLOCKS)
    index_books([read_book(folder / "clocks.md")], folder / "library")
    return Retriever(folder / "library")


@pytest.mark.parametrize("question", ["Summarize chapter 2 of Clocks for Beginners", "What happens in chapter 2?"])
def test_a_chapter_is_not_its_answers(course: Retriever, question: str) -> None:
    sections = {citation.hit.section for citation in course.answer(question).citations}
    assert sections == {("Chapter 2 Bells", "2.1 The bronze bell"), ("Chapter 2 Bells", "2.2 The iron bell")}


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("How many chapters does Clocks for Beginners have?", "2"),
        ("List the chapters of Clocks for Beginners", "Chapter 1 Hands; Chapter 2 Bells"),
        ("What is chapter 2 of Clocks for Beginners called?", "Chapter 2 Bells"),
        ("Which chapter is the shortest in Clocks for Beginners?", "Chapter 2 Bells (51 words)"),
    ],
)
def test_answers_are_no_chapters(course: Retriever, question: str, short: str) -> None:
    assert course.answer(question).short == short


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("What is an escapement?", "the part of a clock that lets its wheels go on step by step"),
        ("What does escapement mean?", "the part of a clock that lets its wheels go on step by step"),
        ("Define smith", "a person who forges things of iron"),
    ],
)
def test_key_terms_are_explained_by_their_list(course: Retriever, question: str, short: str) -> None:
    answer = course.answer(question)
    assert answer.short == short
    assert answer.confidence in {"likely", "sure"}
