"""Questions made from statements."""

from __future__ import annotations

import random

from nlb_training.reader.cloze import Phrase, find_names, find_phrases, index_passages, make_example, make_question

NAMES = frozenset({"Captain Ahab", "Ishmael", "Nantucket"})
PLACES = frozenset({"Nantucket"})


def _phrases(statement: str) -> dict[str, str]:
    return {statement[each.start : each.end]: each.question_word for each in find_phrases(statement, NAMES, PLACES)}


def test_names_places_years_numbers_and_things_are_found() -> None:
    assert _phrases("In 1841 Captain Ahab sails from Nantucket with thirty sailors and a golden doubloon.") == {
        "1841": "when",
        "Captain Ahab": "who",
        "Nantucket": "where",
        "thirty": "how many",
        "golden doubloon": "what",
    }


def test_a_subject_becomes_the_question_word() -> None:
    statement = "Captain Ahab nails a doubloon to the mast."
    phrase = Phrase(start=0, end=len("Captain Ahab"), question_word="who")
    assert make_question(statement, phrase, random.Random(0)) == "Who nails a doubloon to the mast?"


def test_a_possessive_becomes_whose() -> None:
    phrase = Phrase(start=0, end=len("Ishmael"), question_word="who")
    assert make_question("Ishmael's coffin floats up.", phrase, random.Random(0)) == "Whose coffin floats up?"


def test_the_phrase_is_not_in_its_question() -> None:
    statement = "The crew fears that Captain Ahab will nail the golden doubloon to the tall mast."
    for seed in range(20):
        for phrase in find_phrases(statement, NAMES, PLACES):
            question = make_question(statement, phrase, random.Random(seed))
            assert statement[phrase.start : phrase.end] not in question
            assert phrase.question_word in question.lower()


def test_names_are_what_is_written_large_in_the_middle_of_sentences() -> None:
    text = "Then came Starbuck and saw Starbuck. He went to Nantucket, far from Nantucket. However this ended."
    names, places = find_names(text)
    assert names == {"Starbuck", "Nantucket"}
    assert places == {"Nantucket"}


def test_the_passage_with_the_phrase_that_shares_most_with_the_question_is_read() -> None:
    filler = " ".join(f"Nothing of importance happened on day {number} of that slow voyage." for number in range(40))
    wanted = "With a hammer Captain Ahab fixed the coin upon the mast before all sailors."
    other = "Captain Ahab slept below."
    passages = index_passages(f"{other} {filler} {wanted} {filler}", 40)
    statement = "Captain Ahab nails a coin to the mast with his hammer."
    phrase = Phrase(start=0, end=len("Captain Ahab"), question_word="who")
    example = make_example(statement, phrase, passages, random.Random(0))
    assert example is not None
    passage = example.candidates[0]
    assert wanted in passage.text
    assert [passage.text[start:end] for start, end in passage.spans] == ["Captain Ahab"]


def test_a_statement_that_no_passage_supports_makes_no_question() -> None:
    passages = index_passages("Captain Ahab slept below. The sea was calm. Birds flew over the ship.", 10)
    statement = "Captain Ahab nails a coin to the mast with his hammer."
    phrase = Phrase(start=0, end=len("Captain Ahab"), question_word="who")
    assert make_example(statement, phrase, passages, random.Random(0)) is None
