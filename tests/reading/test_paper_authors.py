"""The authors of papers as publishers' styles set them below the title."""

from __future__ import annotations

import pytest

from nlb_retriever.reading.pages.title_page import find_authors, read_title_page
from nlb_retriever.reading.pages.typography import Look

AT = ["Department of Bells", "University of Ropes", "ann@bells.example"]
THREE = "Ann Bell, Tom Anders Ringer, Wei Chen"


@pytest.mark.parametrize(
    "lines",
    [
        [
            "Ann Bell",
            *AT,
            "Tom Anders Ringer",
            "Institute of Nets",
            "Wei Chen",
            "School of Sails",
            "Abstract",
            "Bells.",
        ],
        ["Ann Bell∗", *AT[1:2], "Tom Anders Ringer†", "Institute of Nets", "Wei Chen‡", "School of Sails", "Bells."],
        ["Ann Bell, Tom Anders Ringer, Senior Member, IEEE, and Wei Chen", "Abstract—Bells."],
        ["Ann Bell1[0000−1111−2222−333X], Tom Anders Ringer2", ", and Wei", "Chen3", "1 University of Ropes"],
        ["Ann Bella,∗", ", Tom Anders Ringerb", ", Wei Chenc", "aUniversity of Ropes", "b", "Institute of Nets, UK"],
        ["Ann Bell,1⋆ Tom Anders Ringer2 and Wei Chen3", "1University of Ropes", "ABSTRACT"],
        [f"{name}, Institute of Nets, UK" for name in ("ANN BELL", "TOM ANDERS RINGER", "WEI CHEN")],
    ],
)
def test_authors_are_read_in_the_styles_of_publishers(lines: list[str]) -> None:
    assert find_authors(lines) == THREE


def test_places_and_sections_below_an_author_are_no_authors() -> None:
    places = ["New Bedford, Rhode Island", "ann@bells.example", "Abstract", "Bell Towers", "The college has many."]
    assert find_authors(["Ann Bell", *AT[:2], *places]) == "Ann Bell"
    assert find_authors(["THE BELLS", "Of the north, and of the south", "They rang."]) is None


@pytest.mark.parametrize(
    ("below", "authors"),
    [
        (["Ada Penwick,1 Tom Ringer2", "1Tower University"], "Ada Penwick, Tom Ringer"),
        (["Ada Penwick", "Abstract"], "Ada Penwick"),
        (["4 Quay Street", "Abstract"], None),
    ],
)
def test_a_title_in_bold_stands_above_authors_or_an_abstract(below: list[str], authors: str | None) -> None:
    title = ["Ropes and Bells, and the", "Towers of the North"]
    lines = ["Draft of May 2023", *title, *below, *["The bells rang in the night and nobody came."] * 4]
    looks = [Look(10.0, line in title) for line in lines]
    assert read_title_page(lines, looks) == (" ".join(title), authors)
    assert read_title_page([*lines[:3], *lines[5:]], [*looks[:3], *looks[5:]]) == (None, None)
    assert read_title_page(lines, [Look(10.0, True)] * len(lines)) == (None, None)
