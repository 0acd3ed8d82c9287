"""Which files of a folder are the chapters of one work, and in which order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath

import pytest

from nlb_retriever.records import BookRecord
from nlb_retriever.store.works import find_works, name_chapters


def _book(source: str, title: str | None = None, *, tokens: int = 3_000, author: str | None = None) -> BookRecord:
    return BookRecord(
        id=source,
        uuid=source,
        version="1",
        title=title or PurePath(source).stem,
        author=author,
        language=None,
        year=None,
        source=source,
        content_hash="",
        sections=2,
        passages=9,
        chars=9_000,
        tokens=tokens,
    )


def _files(folder: str, *names: str) -> list[BookRecord]:
    return [_book(f"/books/{folder}/{name}") for name in names]


@pytest.mark.parametrize(
    "names",
    [
        ["01 The Lamp.txt", "02 The Storm.txt", "03 The Boat.txt", "04 Spring.txt"],
        ["preface.md", "chapter1.md", "chapter2.md", "chapter10.md", *(f"chapter{i}.md" for i in range(3, 10))],
        ["index.html", "ch00-00-start.html", "ch01-00-lamps.html", "ch01-01-oil.html", "ch02-00-sea.html"],
        ["Chapter I.txt", "Chapter II.txt", "Chapter III.txt", "Chapter IV.txt"],
        [f"{number:03} CHAPTER Fog.txt" for number in range(1, 60)],
        [f"ch{number // 5:02}-{number % 5:02}-fog.txt" for number in range(60)],
    ],
)
def test_numbered_files_of_a_folder_are_a_work(names: list[str]) -> None:
    [work] = find_works(reversed(_files("Sea Lamp", *names)))
    assert work.title == ("index" if names[0] == "index.html" else "Sea Lamp")
    assert (work.id, work.source) == ("/books/Sea Lamp", "/books/Sea Lamp")
    assert (work.sections, work.chars) == (2 * len(names), 9_000 * len(names))
    order = [*names[:3], *names[4:], names[3]] if "chapter10.md" in names else names
    assert [PurePath(part.source).name for part in work.parts] == order


@pytest.mark.parametrize(
    "names",
    [
        ["01 The Lamp.txt", "02 The Storm.txt", "03 The Boat.txt"],  # few
        ["dracula.txt", "emma.epub", "moby-dick.txt", "republic.md", "the-99-steps.txt"],
        ["rfc793.txt", "rfc791.txt", "rfc768.txt", "rfc792.txt"],
        ["gpl-1.txt", "gpl-2.txt", "gpl-3.txt", "mit.txt"],
        ["2024-01-01.md", "2024-01-02.md", "2024-01-03.md", "2024-01-04.md"],
        ["7 Samurai.txt", "12 Angry Men.txt", "39 Steps.txt", "101 Dalmatians.txt"],
        ["001.txt", "002.txt", "003.txt", "004.txt", "005.txt"],  # any texts
        [f"{number:03} Oxygen.txt" for number in range(1, 60)],  # articles
        ["00 01.txt", "00 02.txt", "00 03.txt", "01 01.txt", "01 02.txt", "01 03.txt"],  # two novels
    ],
)
def test_other_files_are_books_of_their_own(names: list[str]) -> None:
    assert len(find_works(_files("mine", *names))) == len(names)


def test_the_titles_of_bare_numbers_say_that_they_are_chapters() -> None:
    chapters = [_book(f"/books/Lamp/{number:03}.txt", f"CHAPTER {number}. Fog") for number in range(1, 60)]
    assert len(find_works(chapters)) == 1


def test_numbered_novels_are_a_series() -> None:
    novels = [
        replace(book, tokens=90_000) for book in _files("Lamp", "1 Oil.txt", "2 Sea.txt", "3 Fog.txt", "4 Ice.txt")
    ]
    assert len(find_works(novels)) == 4


def test_texts_that_are_no_files_are_books_of_their_own() -> None:
    books = [replace(book, from_file=False) for book in _files("x", "1.txt", "2.txt", "3.txt", "4.txt")]
    assert len(find_works(books)) == 4


def test_the_title_page_names_a_work() -> None:
    chapters = _files("sea-lamp", "02 Storm.txt", "03 Boat.txt", "04 Spring.txt")
    [work] = find_works([_book("/books/sea-lamp/01 Title.txt", "THE SEA LAMP; or, Oil", author="Ann One"), *chapters])
    assert (work.title, work.author) == ("THE SEA LAMP; or, Oil", "Ann One")


def test_pages_are_in_the_chapters_that_their_titles_or_files_say() -> None:
    pages = {
        "/docs/oil.html": "2.1. Oil",
        "/docs/lamps.html": "Chapter 2. Lamps",
        "/docs/ch03-01-fog.html": "Fog - The Lamp Book",
        "/docs/ch03-00-sea.html": "Sea - The Lamp Book",
        "/docs/4-ice.html": "Ice",
        "/docs/preface.html": "Preface",
        "/docs/ch01.html": "Start",
    }
    [work] = find_works(_book(source, title) for source, title in pages.items())
    assert name_chapters(work.parts) == {
        "/docs/ch01.html": "Chapter 1. Start",
        "/docs/lamps.html": "Chapter 2. Lamps",
        "/docs/oil.html": "Chapter 2. Lamps",
        "/docs/ch03-00-sea.html": "Chapter 3. Sea",
        "/docs/ch03-01-fog.html": "Chapter 3. Sea",
    }
