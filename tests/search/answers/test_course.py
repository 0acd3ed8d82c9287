"""Textbooks and course material: chapters with exercises, and their solutions at the end."""

from __future__ import annotations

import pytest

from nlb_retriever import Retriever, book_from_text, index_books
from nlb_retriever.reading import read_book
from nlb_retriever.records import Section
from nlb_retriever.search.answers.labels import answer_label
from nlb_retriever.search.answers.places import answer_place
from nlb_retriever.search.request import SearchRequest

CLOCKS = """\
# Clocks for Beginners

## Chapter 1 Hands

### 1.1 The long hand

The long hand of a clock goes round once in an hour. It was added to clocks by a smith in the north.

**Figure 1.1** A clock with two hands. The long one is of iron.

**Figure 1.10** A clock without hands.

**Theorem 1.2** (Of the hands). The hands meet eleven times in half a day.

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

1. Once in an hour.
2. A smith in the north.

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


def test_a_chapter_is_told_without_its_exercises(course: Retriever) -> None:
    sections = {citation.hit.section[-1] for citation in course.answer("Summarize chapter 1").citations}
    assert sections == {"1.1 The long hand"}
    answer = course.answer("What is in chapter 1?", section="Review Questions", book="Clocks for Beginners")
    assert {citation.hit.section[-1] for citation in answer.citations} == {"Review Questions"}


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


LESSONS = (
    ("LESSON I. THE CAT", "The cat slept in a basket by the door. It woke when the milk was brought in."),
    ("LESSON II. THE FERRY", "The ferry crossed the river at noon. An old man rowed it with one oar."),
    ("LESSON III. THE KITE", "The kite flew over the barn until the string broke. A boy found it in the oak."),
)


@pytest.fixture(scope="module")
def lessons(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    folder = tmp_path_factory.mktemp("lessons")
    sections, text = [], ""
    for title, tale in LESSONS:
        start, text = len(text), f"{text}{title}\n\n{tale}\n\n"
        sections.append(Section(path=(title,), start=start, end=len(text)))
    books = [
        book_from_text(text, source="reader", title="The First Reader", sections=sections),
        book_from_text("A gull is a bird of the coast. " * 20, source="gulls", title="Gulls"),
    ]
    index_books(books, folder / "library")
    return Retriever(folder / "library")


@pytest.mark.parametrize(
    "question",
    [
        "What happens in lesson 2 of The First Reader?",
        "Summarize the second lesson of The First Reader",
        "What does lesson II of The First Reader teach us?",
        "What is covered in lesson two of The First Reader?",
        "What do we learn in lesson 2?",
        "Summarize lesson II",
    ],
)
def test_a_lesson_is_told(lessons: Retriever, question: str) -> None:
    answer = lessons.answer(question)
    assert {each.hit.section for each in answer.citations} == {(LESSONS[1][0],)}
    assert answer.confidence == "likely"


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("How many lessons does The First Reader have?", "3"),
        ("How many chapters does The First Reader have?", "no chapters, but 3 lessons"),
        ("List the lessons of The First Reader", "; ".join(title for title, _ in LESSONS)),
        ("In which lesson is the kite mentioned?", LESSONS[2][0]),
        ("Which lesson is about a cat?", LESSONS[0][0]),
        ("What is lesson 3 of The First Reader called?", LESSONS[2][0]),
    ],
)
def test_lessons_are_counted_and_found(lessons: Retriever, question: str, short: str) -> None:
    assert lessons.answer(question).short == short


def test_a_unit_may_be_no_part_of_a_book(lessons: Retriever) -> None:
    request = SearchRequest(query="In which unit did the old man row?")
    assert answer_place(request, lessons.store, lessons.run, None) is None


@pytest.mark.parametrize(
    ("question", "quote", "short"),
    [
        (
            "What does Figure 1.1 show?",
            "Figure 1.1 A clock with two hands. The long one is of iron.",
            "A clock with two hands. The long one is of iron.",
        ),
        ("What is fig. 1.10 of Clocks for Beginners?", "Figure 1.10 A clock without hands.", "A clock without hands."),
        (
            "State Theorem 1.2",
            "Theorem 1.2 (Of the hands). The hands meet eleven times in half a day.",
            "(Of the hands). The hands meet eleven times in half a day.",
        ),
        ("What is question 2 of chapter 1?", "2. Who added it?", None),
        (
            "What is review question 1 of chapter 1 of Clocks for Beginners?",
            "1. How often does the long hand go round?",
            None,
        ),
        ("What is the answer to question 2 of chapter 1?", "2. A smith in the north.", None),
        (
            "What are the review questions of chapter 1?",
            "Review Questions\n\n1. How often does the long hand go round?\n2. Who added it?",
            None,
        ),
        (
            "List the key terms in chapter 1",
            "Key Terms\n\nsmith a person who forges things of iron\n\n"
            "escapement the part of a clock that lets its wheels go on step by step",
            None,
        ),
    ],
)
def test_a_piece_of_a_chapter_is_quoted(course: Retriever, question: str, quote: str, short: str | None) -> None:
    answer = course.answer(question)
    assert [citation.quote for citation in answer.citations] == [quote]
    assert (answer.short, answer.confidence) == (short, "likely")


@pytest.mark.parametrize(
    "question",
    [
        "What does Figure 7.1 show?",
        "What is figure 1.1 of Emma?",
        "What is question 9 of chapter 1?",
        "What is the colour of chapter 1?",
        "What is question 1 of chapter 9?",
        "Who rings for the hours in chapter 2?",
    ],
)
def test_a_piece_that_is_not_there_is_no_answer(course: Retriever, question: str) -> None:
    assert answer_label(SearchRequest(query=question), course.store) is None
