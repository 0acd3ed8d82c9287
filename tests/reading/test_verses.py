"""Books and chapters by the numbers of verses."""

from __future__ import annotations

import pytest

from nlb_retriever.reading.headings.outline import find_headings
from nlb_retriever.reading.structure import partition

FRONT = "The Holy Books\n\nThe First Book: Called Beginnings\n\nThe Second Book\n\n\n\n\n"
TITLES = ("The First Book: Called Beginnings", "The Second Book\n\nOtherwise Called:\n\nThe First Book of the Kings")


def verses(chapters: int, form: str = "{}:{} ") -> str:
    return "\n\n".join(
        f"{form.format(chapter, verse)}And the river was full of fish in the year {chapter} of the reign of the king."
        for chapter in range(1, chapters + 1)
        for verse in range(1, 31)
    )


def scripture(form: str = "{}:{} ") -> str:
    return FRONT + "\n\n\n\n\n".join(
        f"{title}\n\n\n{verses(chapters, form)}" for title, chapters in zip(TITLES, (3, 1), strict=True)
    )


@pytest.mark.parametrize("form", ["{}:{} ", "{{{}:{}}} ", "[{}:{}] ", "{:03}:{:03} "])
def test_chapters_begin_where_the_first_number_changes(form: str) -> None:
    text = scripture(form)
    sections = partition(text, find_headings(text), "The Holy Books")
    first, second = "The First Book: Called Beginnings", "The Second Book"
    assert [section.path for section in sections] == [
        *((first, f"Chapter {number}") for number in (1, 2, 3)),
        (second, "Chapter 1"),
    ]
    assert text[sections[3].start :].startswith("The Second Book\n\nOtherwise Called")
    assert text[sections[1].start :].startswith(form.format(2, 1))


@pytest.mark.parametrize("mark", ["|", "\t"])
def test_lines_of_fields_are_verses(mark: str) -> None:
    text = verses(2, f"{{}}{mark}{{}}{mark}")
    assert [heading.title for heading in find_headings(text)] == ["Chapter 1", "Chapter 2"]
    text = f"{verses(2, f'Ruth{mark}{{}}{mark}{{}}{mark}')}\n{verses(1, f'1 Kings{mark}{{}}{mark}{{}}{mark}')}"
    assert [heading.title for heading in find_headings(text)] == [
        "Ruth", "Chapter 1", "Chapter 2", "1 Kings", "Chapter 1"
    ]  # fmt: skip


def test_a_book_is_named_before_each_of_its_verses() -> None:
    text = f"{verses(2, 'Genesis {}:{} ')}\n{verses(2, '1 Kings {}:{} ')}"
    headings = [(heading.level, heading.title) for heading in find_headings(text)]
    assert headings == [
        (2, "Genesis"), (4, "Chapter 1"), (4, "Chapter 2"), (2, "1 Kings"), (4, "Chapter 1"), (4, "Chapter 2"),
    ]  # fmt: skip


def test_a_book_and_a_chapter_stand_above_verses_with_one_number() -> None:
    names = ["Genesis 1", "Genesis 2", "Ruth 1", "1 Kings 1", "1 Kings 2"]
    text = "\n\n\n".join(f"{name}\n\n{verses(1, '{1} ')}" for name in names)
    sections = partition(text, find_headings(text), "The Holy Books")
    assert [" ".join(section.path).replace("Chapter ", "") for section in sections] == names
    assert text[sections[2].start :].startswith("Ruth 1\n\n1 And the river")


def test_verses_without_a_title_above_them() -> None:
    assert [(heading.level, heading.title) for heading in find_headings(verses(2))] == [
        (4, "Chapter 1"),
        (4, "Chapter 2"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        verses(1)[:2000],  # too few
        "\n".join(
            f"{9 + n // 7}:{n * 17 % 60:02} Anna wrote to the miller, and he wrote back." for n in range(200)
        ),  # times
        "\n\n".join(f"1:{n} A note.\n\nA page of a sermon on it.\n\nAnother.\n\nAnd one." for n in range(1, 80)),
    ],
)
def test_other_numbers_are_no_verses(text: str) -> None:
    assert not [heading for heading in find_headings(text) if heading.title.startswith("Chapter")]


@pytest.mark.parametrize(
    "text",
    [
        "I " * 100_000,
        "ab " * 60_000,
        "abc def ghi jkl\n" * 20_000,
        "1|" * 60_000,
        "ab\t1\t" * 20_000,
        "1 ab cd 1:1 " * 20_000,
    ],
)
def test_hostile_lines_are_read_in_no_time(text: str) -> None:
    assert not [heading for heading in find_headings(text) if heading.title.startswith("Chapter")]
