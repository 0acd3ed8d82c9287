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
    "first", ["SEPTEMBER 1666\n\n", "September 1666\n\nSeptember 1st. Up.\n\n", "Sept. 1st. Up.\n\n"]
)
def test_days_are_of_the_month_before_them(first: str) -> None:
    days = "\n\n".join(
        f"{day}th{note}. Up, and {TEXT}" for day, note in zip(range(4, 12), ["", " (Lord’s day)"] * 4, strict=True)
    )
    sections = partition(text := f"{first}\n\n{days}", find_headings(text), "Diary")
    assert sections[-1].path[-1] == "September 11th (Lord’s day)"
    assert len(sections) >= 8
    assert text[sections[-1].start :].startswith("11th")


def test_letters_begin_with_place_and_date() -> None:
    letters = "".join(
        f"TO MISS {name}\n\n_Ghent_, {month} {day}d, 1839\n\nMy dear,\n\n{TEXT} {TEXT}\n\nYOUR OWN TOM.\n\n"
        for name, month, day in zip("ABCABCAB", ["March"] * 4 + ["Novr."] * 4, [2, 3, 22, 23] * 2, strict=True)
    )
    assert [heading.title for heading in find_headings(letters)][:2] == [
        "TO MISS A. Ghent, March 2d, 1839",
        "TO MISS B. Ghent, March 3d, 1839",
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
