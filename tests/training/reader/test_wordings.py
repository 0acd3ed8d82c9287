"""Where a text has the words of an answer."""

from __future__ import annotations

import pytest

from nlb_training.reader.wordings import find_wordings


@pytest.mark.parametrize(
    ("text", "answers", "found"),
    [
        ("Then Wells ran, and Tom followed.", ["Mr. Tom Wells"], ["Wells", "Tom"]),
        ("By the old  mill he sat.", ["In the old mill"], ["old  mill"]),
        ("She cut a lock of her dark hair off.", ["A lock of hair"], ["lock of her dark hair"]),
        (
            "Throw her forth to beasts and birds!",
            ["Thrown to the birds and beasts"],
            ["Throw her forth to beasts and birds"],
        ),
        ("A lock. " + "It rained. " * 6 + "Her hair was wet.", ["A lock of hair"], []),
        ("The mills were milling.", ["mill"], []),
        ("Clara saw the house.", ["Clara's house"], []),
        ("Nobody was there.", ["A lock of hair"], []),
    ],
)
def test_an_answer_is_found_as_it_is_worded_or_by_its_words(text: str, answers: list[str], found: list[str]) -> None:
    spans = find_wordings(text, "Where is the house of Clara?", answers)
    assert [text[start:end] for start, end in spans] == found


def test_the_closest_words_are_taken_and_none_twice() -> None:
    text = "Hair and a lock, a lock of hair, then hair."
    assert [text[a:b] for a, b in find_wordings(text, "What?", ["the lock and the hair"])] == [
        "Hair and a lock",
        "lock of hair",
    ]
