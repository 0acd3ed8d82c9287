"""How well a section's heading fits a question."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever import Retriever, book_from_text, index_books
from nlb_retriever.records import Hit
from nlb_retriever.search.heading_fit import heading_fits, is_heading_of


def hit_of(*section: str) -> Hit:
    return Hit(level="passage", id="1", book_id="2", title="Lamps", author=None, source="", section=section,
               section_id=None, start=0, end=1, page=None, score=1.0, text="x", metadata={})  # fmt: skip


@pytest.mark.parametrize(
    ("heading", "fit"),
    [
        ("How can lamps be trimmed?", 1.0),
        ("2.4 Trimming lamps", 1.0),
        ("Chapter 3. Trim the lamp", 1.0),
        ("IV. Trimming lamps", 1.0),
        ("Trimming lamps and cleaning windows", 1 / 3),
        ("Lamps of the north, and the south", 0.0),
        ("I", 0.0),
        ("", 0.0),
    ],
)
def test_a_heading_fits_by_the_words_in_common(heading: str, fit: float) -> None:
    assert heading_fits("How do I trim a lamp?", [hit_of(heading)]) == pytest.approx((fit,), abs=0.01)


def test_a_heading_fits_with_those_above_it() -> None:
    places = [
        hit_of("Portugal", "1. Faro", "Where to Eat"),
        hit_of("Portugal", "Faro"),
        hit_of("Braga", "Where to Eat"),
    ]
    fits = heading_fits("Where can I eat in Faro?", places)
    assert fits == pytest.approx((1.0, 1 / 3, 1 / 3), abs=0.01)


def test_a_passage_without_a_section_has_no_heading() -> None:
    assert heading_fits("How do I trim a lamp?", [hit_of()]) == (0.0,)
    assert heading_fits("the of", [hit_of("Lamps")]) == (0.0,)


@pytest.mark.parametrize("heading", ["Norm", "norms", "3.2 Norms", "What is a norm?", "What are norms?", "The Norm"])
def test_a_heading_is_of_a_term(heading: str) -> None:
    assert is_heading_of("norm", heading)


@pytest.mark.parametrize("heading", ["This document", "Norms and laws", "", "3"])
def test_another_heading_is_not(heading: str) -> None:
    assert not is_heading_of("here document", heading)
    assert not is_heading_of("norm", heading)


def test_the_section_that_asks_the_question_answers(tmp_path: Path) -> None:
    others = "\n\n".join(
        f"CHAPTER {number}. Of the lamp\n\nThe keeper trims the lamp with care, and how he trims it nobody knows. "
        f"The wick of lamp {number} is short. " + "The boats pass by the rock at night. " * 20
        for number in ("I", "II", "III")
    )
    text = others + "\n\nCHAPTER IV. How do I trim a lamp?\n\nCut the wick straight across. Then light it again.\n"
    library = tmp_path / "library"
    index_books([book_from_text(text, source="lamps", title="Lamps")], library)
    with Retriever(library) as retriever:
        answer = retriever.answer("How do I trim a lamp?")
    assert answer.citations[0].hit.section[-1] == "CHAPTER IV. How do I trim a lamp?"
