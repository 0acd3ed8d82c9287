"""Levels in flat tables of contents."""

from __future__ import annotations

import pytest

from nlb_retriever.reading.headings.omnibus import find_depths


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
