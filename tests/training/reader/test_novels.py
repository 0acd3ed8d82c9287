"""Questions made of summaries in the present tense, and the passages of the novel that they are trained with."""

from __future__ import annotations

import random
from typing import Any

import pytest

from nlb_training.reader.candidates import Candidates, Found
from nlb_training.reader.examples import Example
from nlb_training.reader.novels import novel_examples
from nlb_training.reader.statements import make_questions

NAMES = frozenset({"Emily", "Captain Ahab", "Starbuck", "Nantucket"})
PLACES = frozenset({"Nantucket"})


@pytest.mark.parametrize(
    ("statement", "questions"),
    [
        (
            "Emily finds a letter in the old chest.",
            {
                "Who finds a letter in the old chest?": "Emily",
                "What does Emily find in the old chest?": "letter",
                "What does Emily find a letter in?": "old chest",
            },
        ),
        (
            "The next day, Emily and Starbuck bury the chest in Nantucket.",
            {
                "Who bury the chest in Nantucket?": "Emily and Starbuck",
                "What do Emily and Starbuck bury in Nantucket?": "chest",
                "Where do Emily and Starbuck bury the chest?": "Nantucket",
            },
        ),
        (
            "Captain Ahab is nailing a doubloon to the mast, and Starbuck watches.",
            {
                "Who is nailing a doubloon to the mast?": "Captain Ahab",
                "What is Captain Ahab nailing to the mast?": "doubloon",
                "What is Captain Ahab nailing a doubloon to?": "mast",
            },
        ),
        (
            "Starbuck carries no lamp because his old eyes are sharp.",
            {
                "Who carries no lamp because his old eyes are sharp?": "Starbuck",
                "Why does Starbuck carry no lamp?": None,
                "What does Starbuck carry because his old eyes are sharp?": "lamp",
                "What does Starbuck carry no lamp because are sharp?": "old eyes",
            },
        ),
        (
            "Starbuck teaches Emily by drawing maps.",
            {
                "Who teaches Emily by drawing maps?": "Starbuck",
                "How does Starbuck teach Emily?": None,
                "Who does Starbuck teach by drawing maps?": "Emily",
            },
        ),
        ("The old sailor teaches Emily by drawing maps.", {}),
        ("Emily can't open the chest in the cellar.", {}),
        ("Pip jumps out of the boat and the crew leaves him.", {}),
        ("It rains all day in the dark streets of the town.", {}),
        ("Emily walked along the beach with a lantern.", {}),
    ],
)
def test_a_statement_becomes_the_questions_that_it_answers(statement: str, questions: dict[str, str | None]) -> None:
    made = {each.text: each.answer for each in make_questions(statement, NAMES, PLACES, random.Random(0))}
    assert made == questions


ROW = {"id": "1", "question": "What does Emily find in the chest?", "answer": "letter", "place": 0.5}
CHAPTER = {"start": 1000, "end": 2000}


def found(start: int, text: str) -> Found:
    return Found(file="novel.txt", start=start, end=start + 100, score=1.0, text=text)


def examples(*candidates: Found, **changes: Any) -> list[Example]:
    row = {**ROW, **CHAPTER, **changes}
    everything = {"1": Candidates(id="1", found=candidates)}
    return list(novel_examples([row], everything, random.Random(0), negatives=2, lengths=(100,)))


OTHERS = [found(place, f"Emily opened the chest at {place}. A letter lay there.") for place in (0, 300, 2000, 5000)]


def test_right_are_passages_about_the_place_that_the_summary_tells_of_and_that_have_the_answer() -> None:
    [example] = examples(
        found(1100, "Emily opened the chest. A letter was in it."),  # too early in the chapter
        found(1400, "Emily opened the chest again, and no paper was in it."),
        found(1500, "There was an old chest. Under its cloth lay a letter."),
        *OTHERS,
    )
    assert (example.source, example.question) == ("novels", ROW["question"])
    [right] = [each for each in example.candidates if each.relevant]
    assert right.text.startswith("There was an old chest.")
    assert [right.text[start:end] for start, end in right.spans] == ["letter"]
    wrong = [each for each in example.candidates if not each.relevant]
    assert len(wrong) == 2 and {each.text for each in wrong} <= {each.text for each in OTHERS}


def test_the_second_right_passage_has_no_spans_and_why_has_none_at_all() -> None:
    both = found(1450, "The chest had a letter."), found(1550, "This chest too had a letter.")
    first, second, *_ = examples(*both, *OTHERS)[0].candidates
    assert first.relevant and second.relevant
    assert first.spans and not second.spans
    [reason] = examples(*both, *OTHERS, question="Why does Emily open the chest?", answer=None)
    assert not any(each.spans for each in reason.candidates)


def test_without_a_right_passage_or_enough_wrong_ones_there_is_nothing_to_learn() -> None:
    assert not examples(*OTHERS)
    assert not examples(found(1500, "The chest had a letter."), OTHERS[0])
    assert not list(novel_examples([{**ROW, **CHAPTER}], {}, random.Random(0), negatives=2, lengths=(100,)))


def test_a_person_is_found_by_the_last_of_the_names() -> None:
    passage = found(1500, "The chest was opened by Ahab himself.")
    [example] = examples(passage, *OTHERS, question="Who opens the chest?", answer="Captain Ahab")
    assert [passage.text[start:end] for start, end in example.candidates[0].spans] == ["Ahab"]
