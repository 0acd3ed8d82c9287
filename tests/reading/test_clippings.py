"""A Kindle's clippings: what is marked stands under the title of its book."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever.reading import read_book
from nlb_retriever.records import Book

SEA, HOUSE = "The Grey Sea (Ann Miller)", "A House: In Three Parts (Miller, Ben)"


def clipping(title: str, place: str, text: str) -> str:
    return f"{title}\r\n- Your Highlight on {place}\r\n\r\n{text}\r\n==========\r\n"


def read(folder: Path, text: str) -> Book:
    (folder / "My Clippings.txt").write_bytes(f"\ufeff{text}".encode())
    return read_book(folder / "My Clippings.txt")


def test_clippings_stand_by_book_with_their_places(tmp_path: Path) -> None:
    text = (
        clipping(SEA, "page 9 | Location 126", "The sea was grey.")
        + clipping(HOUSE, "page 3", "The house had no door.")
        + clipping(SEA, "page 12", "Nobody came.")
        + clipping(HOUSE, "Location 420", "")
    )
    book = read(tmp_path, text)
    assert book.title == "My Clippings"
    assert [section.path for section in book.sections] == [(SEA,), (HOUSE,)]
    first = book.text[: book.sections[0].end].split()
    assert " ".join(first) == (
        f"{SEA} The sea was grey. Your Highlight on page 9 | Location 126 Nobody came. Your Highlight on page 12"
    )
    assert book.warnings == ("boilerplate skipped: 2 clipping's titles (12 words)",)


def test_the_last_clipping_may_be_cut(tmp_path: Path) -> None:
    text = clipping(SEA, "page 9", "The sea was grey.") * 2 + "The Gr"
    book = read(tmp_path, text)
    assert [section.path for section in book.sections] == [(SEA,)]
    assert book.text.rstrip().endswith("The Gr")


@pytest.mark.parametrize(
    "text", ["One\n==========\n\nTwo.\n\nThree\n==========\n\n- Four.\n", clipping(SEA, "page 9", "Grey.")]
)
def test_other_texts_with_rules_are_no_clippings(tmp_path: Path, text: str) -> None:
    assert "==========" in read(tmp_path, text).text
