"""What a file says its book is about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nlb_retriever.reading import read_book

from .conftest import SENTENCE

Write = Callable[..., Path]
TEXT = SENTENCE * 5


@pytest.mark.parametrize(
    ("declared", "description"),
    [
        ("A clock\n that  runs.", "A clock that runs."),
        (
            "&lt;p&gt;A &lt;i&gt;clock&lt;/i&gt; &amp;amp; a key.&lt;/p&gt; &lt;p&gt;It runs.&lt;/p&gt;",
            "A clock & a key. It runs.",
        ),
        ("word " * 1_000, "word " * 199 + "word…"),
        (" ", None),
    ],
)
def test_a_description_is_one_line_of_plain_text(simple_epub: Write, declared: str, description: str | None) -> None:
    metadata = f"<dc:description/><dc:description>{declared}</dc:description>"
    assert read_book(simple_epub(metadata=metadata)).description == description


def test_subjects_stand_for_a_description(simple_epub: Write) -> None:
    subjects = "<dc:subject>Clocks -- Fiction</dc:subject><dc:subject>Love stories</dc:subject><dc:subject/>"
    assert read_book(simple_epub(metadata=subjects)).description == "Clocks -- Fiction; Love stories"
    described = read_book(simple_epub(metadata=f"{subjects}<dc:description>A clock.</dc:description>"))
    assert described.description == "A clock."


@pytest.mark.parametrize(
    ("name", "source"),
    [
        (
            "a.html",
            '<meta name="Description" content="About\n a clock."><meta name="dc.description" content="More.">' + TEXT,
        ),
        ("a.md", f'---\ntitle: The Clock\ndescription: "About a clock."\n---\n\n{TEXT}'),
        ("b.md", f"---\ndescription: >-\n  About\n  a clock.\ntitle: The Clock\n---\n\n{TEXT}"),
    ],
)
def test_a_file_says_what_it_is_about(tmp_path: Path, name: str, source: str) -> None:
    path = tmp_path / name
    path.write_text(source)
    book = read_book(path)
    assert book.description == "About a clock."
    assert "About" not in book.text
