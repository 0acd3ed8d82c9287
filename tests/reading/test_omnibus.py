"""Levels in flat tables of contents."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nlb_retriever.reading import read_book
from nlb_retriever.reading.headings.omnibus import find_depths

from .conftest import chapter, nav_document, opf


@pytest.mark.parametrize(
    ("titles", "depths"),
    [
        (
            "The Road|Part One|Chapter 1|Chapter 2|Part Two|Chapter 1|Chapter 2|The Pear|Part One|Chapter 1|Chapter 2",
            "01221220122",
        ),
        (
            "Preface|Volume I|Book I|1. Dawn|2. Noon|Book II|1. Dusk|2. Stars|Volume II|Book I|1. Rain|2. Snow",
            "001221220122",
        ),
        (
            "Part I|Book I|Chapter 1|Chapter 2|Book II|Chapter 1|Chapter 2|Part II|Book III|Chapter 1|Chapter 2|Notes",
            "012212201222",
        ),
        ("The Road|Part One|I|II|The Pear|I|II", "0122011"),
        ("Cover|Part One|I|II|The Storm|Part Two|I|II|The Calm|Part Three|I|II", "001110111011"),
        ("Part One|I|II|Part Two|I|II|Part One|I|II", "000000000"),
    ],
)
def test_depths(titles: str, depths: str) -> None:
    assert "".join(map(str, find_depths(titles.split("|")))) == depths


@pytest.mark.parametrize(
    ("titles", "inner"),
    [
        (
            ["The Road", "Chapter 1", "Chapter 2", "The Pear", "Prologue", "Chapter 1", "Chapter 2", "Epilogue"],
            "124567",
        ),
        (["Cover", "Part One", "1. Dawn", "2. Noon", "Part Two", "1. Dusk", "2. Stars"], "2356"),
        (["The Road", "Chapter 1", "Chapter 2", "The Pear", "Chapter 3"], ""),
        (["Preface", "Chapter 1", "Chapter 2", "Preface", "Chapter 1", "Chapter 2"], ""),
        (["The Road", "Part One", "I", "II", "The Pear", "I", "II"], "1235"),
    ],
)
def test_chapters_of_several_novels_lie_below_them(epub: Callable[..., Path], titles: list[str], inner: str) -> None:
    names = [f"c{i}.xhtml" for i in range(len(titles))]
    nav = nav_document(
        "".join(f'<li><a href="{name}">{title}</a></li>' for name, title in zip(names, titles, strict=True))
    )
    files = {name: chapter(title) for name, title in zip(names, titles, strict=True)}
    book = read_book(epub({"content.opf": opf(names, nav="nav.xhtml"), "nav.xhtml": nav, **files}))
    deep = {section.path[-1] for section in book.sections if len(section.path) > 1}
    assert deep == {titles[int(i)] for i in inner}
