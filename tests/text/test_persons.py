"""Nouns that say what kind of person somebody is."""

from __future__ import annotations

import pytest

from nlb_retriever.text.persons import find_person


@pytest.mark.parametrize(
    ("phrase", "noun"),
    [
        ("the chief mate of the Pequod", "mate"),
        ("recipient of Kemp's letter, the chief of the Burdock police", "chief"),
        ("most gifted physicist the world has ever seen", "physicist"),
        ("his old friend and master", "friend"),
        ("Lucy’s father", "father"),
        ("one of that crew", "one"),
        ("a queer man", "man"),
        ("two sisters", "sister"),
        ("an unmixed Indian from Gay Head", "indian"),
        ("step-brother", "brother"),
        ("a clock-jobber", "jobber"),
        ("a politician", "politician"),
    ],
)
def test_the_noun_of_a_phrase_is_found(phrase: str, noun: str) -> None:
    assert find_person(phrase) == noun


@pytest.mark.parametrize(
    "phrase",
    ["", "backgammon", "a man", "woman", "the kindness of a friend", "very day", "post town", "Elizabeth", "—"],
)
def test_what_names_no_kind_of_person_is_none(phrase: str) -> None:
    assert find_person(phrase) is None
