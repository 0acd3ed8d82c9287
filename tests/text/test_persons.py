"""Nouns that say what kind of person somebody is."""

from __future__ import annotations

import pytest

from nlb_retriever.text.persons import find_gender, find_person, gender_of


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


@pytest.mark.parametrize(
    ("name", "gender"),
    [
        ("Mrs. Hall", "female"),  # by the title
        ("Sir Tom", "male"),
        ("Anna Reed", "female"),  # by "Anna", three times behind her own name
        ("Captain Reed", "male"),
        ("Ilsa", None),  # twice
        ("Kim", None),  # of both
        ("Captain", None),
    ],
)
def test_pronouns_behind_a_name_tell_its_gender(name: str, gender: str | None) -> None:
    texts = [
        "Anna said that she would come. Anna Reed took her hat, and Anna asked herself why. Anna, with Reed, saw him.",
        "Reed took his boat. Reed knew that he was late, and Reed called himself a fool.",
        "Ilsa sang while she rowed. Ilsa lost her oar. Kim had his lamp, Kim had her lamp, and Kim saw herself.",
        "Kim lost his way. Reed’s wife had her own, and Reed: she is late.",
    ]
    assert find_gender(name, texts) == gender


@pytest.mark.parametrize(
    ("noun", "gender"),
    [("aunt", "female"), ("Mr", "male"), ("charwoman", "female"), ("fisherman", None), ("clerk", None)],
)
def test_some_nouns_tell_a_gender(noun: str, gender: str | None) -> None:
    assert gender_of(noun) == gender
