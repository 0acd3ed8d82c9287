"""Sentences of summaries as questions."""

from __future__ import annotations

import pytest

from nlb_training.encoder.questions import to_question


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("Lucy goes to Florence with her cousin.", "Who goes to Florence with her cousin?"),
        ("Mr. Silas Marner counted his gold at night.", "Who counted his gold at night?"),
        ("They are afraid of the storm.", "Who is afraid of the storm?"),
    ],
)
def test_a_person_who_does_something_is_asked_for(sentence: str, question: str) -> None:
    assert to_question(sentence) == question


@pytest.mark.parametrize(
    "sentence",
    [
        "The storm begins at night.",
        "When Lucy arrives, it rains hard.",
        "Lucy and her cousin arrive in Florence.",
        "Lucy of course arrives.",
        "He left.",
        "However they tried, it failed.",
        "",
    ],
)
def test_other_sentences_are_left_as_they_are(sentence: str) -> None:
    assert to_question(sentence) is None
