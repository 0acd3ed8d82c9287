"""Numbered pieces that are no sections."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever import Retriever, book_from_text, index_books
from nlb_retriever.reading import read_book

REPORT = """\
3.1 The lamp was lit by the keeper on 4 May. Recommendation 2 is on this.

3.2 Finding 1. The keeper was asleep when the boat came in.

3.3 Finding 2. Nobody had trimmed the wick. The glass was black.

Recommendation 1

The harbour board should keep two lamps. One of them should be of iron.

Recommendation 2

A lamp should be trimmed at noon.

Recommendation 3

Nobody should sleep by day.
"""
HEARING = """\
Q1 Chair: Who keeps the lamp? When is it lit?

Ann Wick: My brother does. At dusk, in all weathers.

Q2 Chair: Who pays him?

Ann Wick: The town pays him a crown a week.
"""
RULES = """\
# By-laws of the Lamp Society

## ARTICLE I

**Section 1.1. Place.** The members meet in the tower of the lighthouse.

**Section 1.2. Quorum.** One third of the members is a quorum. Proxies count.

## ARTICLE II

**Section 2.1. Keeper.** The keeper is elected for two years.
"""
CONTRACT = """\
# Oil Agreement

## 1. Supply

1.1 The Supplier delivers oil by boat.

1.2 The Supplier may be late if:

(a) there is fog; or

(b) the sea is frozen.

1.3 The oil is clear.

## 2. Price

2.1 The price is a crown a barrel.
"""
CODE = """\
# Lamp Code

## Article 1

Sleep.—(1) Nobody may sleep by day. (2) Nobody may sing.

## Article 2

1. The lamp is lit:

(a) at dusk;

(b) in fog.

2. The wick is trimmed at noon.
"""


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    library = tmp_path_factory.mktemp("numbered") / "library"
    texts = {"The Lamp Inquiry": REPORT, "Oral Evidence": HEARING}
    books = [book_from_text(text, source=title, title=title) for title, text in texts.items()]
    for name, text in (("rules.md", RULES), ("contract.md", CONTRACT), ("code.md", CODE)):
        (library.parent / name).write_text(text)
        books.append(read_book(library.parent / name))
    index_books(books, library)
    return Retriever(library)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (
            "What does recommendation 1 of the Lamp Inquiry say?",
            "Recommendation 1 The harbour board should keep two lamps. One of them should be of iron.",
        ),
        ("What does Recommendation 2 say?", "Recommendation 2 A lamp should be trimmed at noon."),
        ("What is recommendation 3?", "Recommendation 3 Nobody should sleep by day."),
        ("What does finding 1 say?", "3.2 Finding 1. The keeper was asleep when the boat came in."),
        (
            "What is in paragraph 3.3 of the Lamp Inquiry?",
            "3.3 Finding 2. Nobody had trimmed the wick. The glass was black.",
        ),
        (
            "What was question 1 in Oral Evidence?",
            "Q1 Chair: Who keeps the lamp? When is it lit? Ann Wick: My brother does. At dusk, in all weathers.",
        ),
        (
            "What does section 1.2 of the by-laws say?",
            "Section 1.2. Quorum. One third of the members is a quorum. Proxies count.",
        ),
        (
            "What does clause 1.2 of the Oil Agreement provide?",
            "1.2 The Supplier may be late if: (a) there is fog; or (b) the sea is frozen.",
        ),
    ],
)
def test_a_piece_is_quoted_to_where_the_next_begins(retriever: Retriever, question: str, text: str) -> None:
    found = retriever.answer(question)
    if question.startswith("What is in"):  # the paragraph is followed by no other
        assert found.text.startswith(text)
    else:
        assert (found.text, found.confidence) == (text, "likely")


def test_a_book_that_has_others_does_not_have_one_of_another_number(retriever: Retriever) -> None:
    assert not retriever.answer("What does recommendation 7 of the Lamp Inquiry say?").found


def test_a_bare_number_is_a_piece_of_a_book_that_is_named(tmp_path: Path) -> None:
    text = "1. Oil\n\nThe keeper said that there was oil for a week.\n\n2. Wick\n\nThe wick was to be trimmed at noon."
    index_books([book_from_text(text, source=each, title=each) for each in ("Minutes", "Notes")], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        assert retriever.answer("What is item 1?", book="Minutes").text.startswith("1. Oil The keeper said")
        assert not retriever.answer("What is item 1?").text.startswith("1. Oil The")


def test_at_most_so_many_sentences_are_quoted(retriever: Retriever) -> None:
    found = retriever.answer("What does recommendation 1 say?", limit=1)
    assert len(found.citations) == 1
    assert "iron" not in found.text


def test_a_section_of_that_number_comes_before_a_paragraph(retriever: Retriever) -> None:
    found = retriever.answer("What does clause 2 of the agreement say?")
    assert (found.citations[0].hit.section, "crown a barrel" in found.text) == (("2. Price",), True)
    assert not retriever.answer("What does clause 7.4 of the agreement say?").found


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What does clause 1.2(b) of the Oil Agreement say?", "(b) the sea is frozen."),
        ("What does point (a) of clause 1.2 of the agreement allow?", "(a) there is fog; or"),
        ("What does Article 2(1) of the Lamp Code say?", "1. The lamp is lit: (a) at dusk; (b) in fog."),
        ("What does paragraph 2 of Article 2 of the Lamp Code say?", "2. The wick is trimmed at noon."),
        ("What is in Article 2(1)(b)?", "(b) in fog."),
        ("What does Article 1(1) of the Lamp Code say?", "(1) Nobody may sleep by day."),
    ],
)
def test_a_paragraph_of_an_article_is_quoted(retriever: Retriever, question: str, text: str) -> None:
    found = retriever.answer(question)
    assert (" ".join(found.text.split()), found.confidence) == (text, "likely")


def test_a_paragraph_that_an_article_has_not_is_looked_for_in_the_text(retriever: Retriever) -> None:
    assert retriever.answer("What does Article 2(7) of the Lamp Code say?").confidence != "likely"
