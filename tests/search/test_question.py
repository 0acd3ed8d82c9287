"""What kind of answer a question asks for."""

from __future__ import annotations

import pytest

from nlb_retriever.search.question import MOST_WORDS, Kind, kind_of


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who hunts the whale?", "words"),
        ("In which year did the bridge fall", "words"),
        ("How many coins did he pay?", "words"),
        ("How did the princess feel when the frog came?", "words"),
        ("How old is the keeper?", "words"),
        ("Why did he burn the boat?", "sentence"),
        ("How did he cross the river?", "sentence"),
        ("Did the keeper sleep?", "yes or no"),
        ("the white whale", None),
        ("???", None),
        ("Who?", None),
        ("Wer hat das Boot gebaut?", None),
        ("who " * 5000, None),
    ],
)
def test_a_question_asks_for_words_or_a_sentence_or_is_none(question: str, kind: Kind | None) -> None:
    assert kind_of(question) == kind


def test_a_page_of_text_is_no_question() -> None:
    assert kind_of("What " + "is it " * MOST_WORDS) is None
