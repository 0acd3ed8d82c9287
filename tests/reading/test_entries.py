"""Diaries without other headings."""

from __future__ import annotations

import pytest

from nlb_retriever.reading.headings.outline import find_headings
from nlb_retriever.reading.structure import partition

DAYS = ["{m} 3", "{m} 4", "{m} 11", "{m} 30", "{n} 2", "{n} 17", "{n} 28"]
TEXT = "the keeper walked down to the harbour before the gulls woke, and found the boat gone.\n\nHe mended the lamp."


def diary(form: str, month: str = "January", following: str = "February") -> str:
    days = [day.format(m=month, n=following) for day in DAYS]
    return "My Diary\n\n" + "\n\n".join(form.format(day, *reversed(day.split())) + TEXT for day in days)


@pytest.mark.parametrize(
    ("form", "title"),
    [
        ("{}.--", "January 3"),
        ("{}. ", "January 3"),
        ("_{}._—", "January 3"),
        ("{}th, 1861: ", "January 3th, 1861"),
        ("{1} {2}.--", "3 January"),
        ("Tuesday, {1} {2} 1911\n\n", "Tuesday, 3 January 1911"),
        ("{1}th of {2}; ", "3th of January"),
    ],
)
def test_entries_begin_with_their_dates(form: str, title: str) -> None:
    text = diary(form)
    sections = partition(text, find_headings(text), "Diary")
    assert len(sections) == 7
    assert sections[0].path == (title,)
    assert text[sections[1].start :].lstrip("_").startswith(title.replace("3", "4"))


def test_months_may_be_short_and_dates_numbers() -> None:
    assert [heading.title for heading in find_headings(diary("{}. Went out. ", "Jan.", "Feb."))][:2] == [
        "Jan. 3",
        "Jan. 4",
    ]
    text = "\n\n".join(f"2024-03-{day:02}: {TEXT}" for day in range(1, 9))
    assert find_headings(text)[1].title == "2024-03-02"


def test_entries_lie_below_the_years_that_stand_alone() -> None:
    text = "1861\n\n" + diary("{}. ")[10:] + "\n\n1862\n\n" + diary("{}. ")[10:]
    assert [section.path for section in partition(text, find_headings(text), "Diary")][6:8] == [
        ("1861", "February 28"),
        ("1862", "January 3"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        diary("{} was a fine day, and "),  # no entry: the sentence goes on
        diary("{}. ")[:300],  # too few
        "\n\n".join(f"May {day}. {TEXT}" for day in (9, 3, 8, 2, 7, 1, 6)),  # in no order
        "\n\n".join(f"It was May {day}. {TEXT}" for day in range(1, 9)),
        f"{TEXT * 40}\n\n" + diary("{}. "),  # at the end alone
        diary("{}. ") + f"\n\n{TEXT * 40}",  # at the beginning alone
    ],
)
def test_other_dates_are_no_entries(text: str) -> None:
    assert not find_headings(text)


def test_chapters_come_before_dates() -> None:
    text = f"CHAPTER I. My Year\n\n{diary('{}.--')}\n\nCHAPTER II\n\n{TEXT}"
    assert [heading.title for heading in find_headings(text)] == ["CHAPTER I. My Year", "CHAPTER II"]
