"""Questions on a day are put to the section whose heading has its date."""

from __future__ import annotations

import pytest

from nlb_retriever import Retriever, index_files
from nlb_retriever.search.answers.narrowing import Date, narrow_to_date, read_dates
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.scope import resolve_scope

MINUTES = """# Minutes of the Harbour Committee

## Meeting of 2024-02-13

### Present

Okafor, Lund and Reyes.

### Business

The committee voted against the marina.

## Meeting of 2024-03-12

### Business

The lease of the boathouse was renewed for five years.
"""
DIARY = """# Diary

## 1665

### Tuesday, 3 March

To the Tower, where I saw the lions fed, and the keeper lost a finger.

### 4 March

At church I heard a dull sermon.

## 1665-1666

### 3 March

A great fire at the ropeyard.

### May 21st

Walked in the fields and saw a comet.

### Dec. 25th

Dined on a goose.
"""

DAY = """## Morning

The Dutch ships came up the river and burnt the fort.

## Evening

I sent my gold away with my father.
"""


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    folder = tmp_path_factory.mktemp("days")
    for name, text in (("minutes", MINUTES), ("diary", DIARY), ("1667-06-10", DAY), ("1667_06_11", "Rain all day.")):
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    index_files([folder], folder / "library")
    return Retriever(folder / "library")


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("What was decided on 2024-03-12?", [Date(2024, 3, 12)]),
        ("Tuesday, 3 March 1665", [Date(1665, 3, 3)]),
        ("on March 3, 1665, and on the 4th of March", [Date(None, 3, 4), Date(1665, 3, 3)]),
        ("the 21st day of May", [Date(None, 5, 21)]),
        ("Sept. 9", [Date(None, 9, 9)]),
        ("the 2d of ſeptember, 3 ſeptember 1665", [Date(None, 9, 2), Date(1665, 9, 3)]),
        ("2024-00-12, 2024-13-12", []),
        ("Boston, April 2d, 1839", [Date(1839, 4, 2)]),
        ("on Christmas Eve, 1665, or New Year’s Day", [Date(1665, 12, 24), Date(None, 1, 1)]),
        ("How far did they march in 1665?", []),
        ("Chapter 3 of Mayhem", []),
    ],
)
def test_dates_are_read_as_people_write_them(text: str, dates: list[Date]) -> None:
    assert [date for date, _ in read_dates(text)] == dates


@pytest.mark.parametrize(
    ("question", "section", "put"),
    [
        ("What was decided on 12 March 2024?", "Meeting of 2024-03-12", "What was decided?"),
        ("What happened on February 13th, 2024?", "Meeting of 2024-02-13", "What happened here?"),
        ("What did he do on 4 March 1665?", "4 March", "What happened here?"),
        ("What happened in the Diary on 4 March 1665?", "4 March", "What happened here?"),
        ("What happened on 4 March 1665 in Diary?", "4 March", "What happened here?"),
        ("What did Samuel Pepys write on 4 March 1665?", "4 March", "What happened here?"),
        ("What did Pepys do on Christmas Day?", "Dec. 25th", "What happened here?"),
        ("What happened to London on 4 March 1665?", "4 March", "What happened to London?"),
        ("What happened in London on 4 March 1665?", "4 March", "What happened in London?"),
        ("On 4 March 1665, what did he hear?", "4 March", "what did he hear?"),
        ("What did he hear on the 4th of March?", "4 March", "What did he hear?"),
        ("What did he see on 3 March 1665?", "Tuesday, 3 March", "What did he see?"),
        ("1666-05-21", "May 21st", "1666-05-21"),
        ("What did he see on 3 March?", None, None),  # in two years
        ("What did Okafor do on Christmas Day?", None, None),  # the committee's, not the diary's
        ("What did he see on 3 March 1667?", None, None),
        ("What did he see between 3 March 1665 and 4 March 1665?", None, None),
        ("What did he see on day 99-99-99 or 1666-99-99?", None, None),
    ],
)
def test_a_question_is_put_to_the_day_that_it_names(
    shelf: Retriever, question: str, section: str | None, put: str | None
) -> None:
    request = narrow_to_date(SearchRequest(query=question), shelf.store)
    assert request.query == (put or question)
    scope = resolve_scope(request, shelf.store)
    assert (scope.book is None) == (section is None)
    if scope.book:
        sections = shelf.store.sections(scope.book.id)
        assert {section in sections[number].path for number in scope.sections or ()} == {True}


@pytest.mark.parametrize(
    ("question", "title", "put"),
    [
        ("What happened on 10 June 1667?", "1667-06-10", "What happened here?"),
        ("What did I send away on 10 June?", "1667-06-10", "What did I send away?"),
    ],
)
def test_a_question_is_put_to_the_note_of_its_day(shelf: Retriever, question: str, title: str, put: str) -> None:
    request = narrow_to_date(SearchRequest(query=question), shelf.store)
    scope = resolve_scope(request, shelf.store)
    assert (request.query, scope.book and scope.book.title, request.section) == (put, title, None)
    within = SearchRequest(query=question, book="Diary")
    assert narrow_to_date(within, shelf.store) == within


def test_what_happened_on_the_day_of_a_note_is_told_from_all_of_it(shelf: Retriever) -> None:
    quotes = [citation.quote for citation in shelf.answer("What happened on 10 June 1667?").citations]
    assert quotes == ["The Dutch ships came up the river and burnt the fort.", "I sent my gold away with my father."]
    assert shelf.answer("What did I do on 1667-06-11?").citations[0].hit.title == "1667-06-11"


def test_a_section_or_a_spoiler_s_end_that_is_given_stays(shelf: Retriever) -> None:
    request = SearchRequest(query="What did he see on 3 March?", book="Diary", section="4 March")
    assert narrow_to_date(request, shelf.store) == request
    request = SearchRequest(query="What did he see on 3 March?", book="Diary", before="4 March")
    assert resolve_scope(narrow_to_date(request, shelf.store), shelf.store).sections == (0,)


def test_an_answer_is_of_the_day_that_is_named(shelf: Retriever) -> None:
    answer = shelf.answer("What did he see on 3 March 1665?")
    assert answer.question == "What did he see on 3 March 1665?"
    assert answer.citations[0].quote.startswith("To the Tower, where I saw the lions fed")
