"""What `book_from_text` takes, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlb_retriever.errors import ReadingError
from nlb_retriever.reading.text import book_from_text
from nlb_retriever.records import Page, Section

TEXT = "The dog ran away."


@pytest.mark.parametrize("year", [1890, "1890", 1890.0, np.int64(1890), np.float32(1890)])
def test_a_year_is_a_whole_number_however_it_is_given(year: Any) -> None:
    book = book_from_text(TEXT, source="dog", year=year)
    assert (book.year, type(book.year)) == (1890, int)
    assert book.content_hash == book_from_text(TEXT, source="dog", year=1890).content_hash


def test_a_path_names_a_book_and_several_authors_are_joined() -> None:
    book = book_from_text(TEXT, source=Path("pets/dog.txt"), author=["Ann Harbour", "Peter Miller"])
    assert (book.source, book.author) == ("pets/dog.txt", "Ann Harbour, Peter Miller")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"text": None}, "a book's text must be a string, not None"),
        ({"text": TEXT.encode()}, "a book's text must be a string, not b'The dog"),
        ({"source": 1}, "a book's source must be a string, not 1"),
        ({"title": 1}, "a book's title must be a string, not 1"),
        ({"author": 1}, "a book's author must be a string, not 1"),
        ({"language": ["en"]}, r"a book's language must be a string, not \['en'\]"),
        ({"year": "c. 1870"}, "dog: its year must be a number of at most four digits, not 'c. 1870'"),
        ({"year": True}, "dog: its year must be"),
        ({"year": 1870.5}, "dog: its year must be"),
        ({"metadata": [("shelf", "sea")]}, r"dog: its metadata must be a mapping of names to values, not \[\('shelf"),
        ({"sections": ["Dog"]}, "dog: its sections must be Section records, not 'Dog'"),
        ({"sections": Section(path="Dog", start=0, end=17)}, "dog: a section's path must be a tuple of titles"),  # type: ignore[arg-type]
        ({"pages": [1]}, "dog: its pages must be Page records, not 1"),
        ({"pages": Page(start=500, number=1, label="1")}, "dog: its pages must begin in its 17 characters, in order"),
        ({"pages": [Page(start=each, number=1, label="1") for each in (9, 3)]}, "dog: its pages must begin in"),
        ({"pages": Page(start=0, number=1, label=1)}, "with strings as labels"),  # type: ignore[arg-type]
    ],
)
def test_other_values_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ReadingError, match=message):
        book_from_text(**{"text": TEXT, "source": "dog", **wrong})
