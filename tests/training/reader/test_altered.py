"""Questions altered so that their paragraph does not answer them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from nlb_training.reader.altered import alter_question, altered_examples
from nlb_training.reader.sources import squad_rows

TEXT = (
    "In 1851 Herman Melville published a long novel in London. Nathaniel Hawthorne praised it. "
    "In 1924 Ezra Pound read it."
)


def _all_alterations(question: str, answers: list[str], *, others: tuple[str, ...] = ()) -> set[str | None]:
    return {alter_question(question, TEXT, answers, random.Random(seed), others=others) for seed in range(60)}


def test_a_name_becomes_another_one_of_the_text_but_not_the_answer() -> None:
    assert _all_alterations("What does Herman Melville publish?", ["Ezra Pound"]) == {
        "What doesn't Herman Melville publish?",
        "What does Nathaniel Hawthorne publish?",
    }


def test_a_name_comes_from_the_article_where_the_text_has_none() -> None:
    altered = alter_question("Who praised Ahab?", "it has no names", ["nobody"], random.Random(0), others=["Moby Dick"])
    assert altered == "Who praised Moby Dick?"


@pytest.mark.parametrize(
    ("question", "altered"),
    [
        ("Who published it in 1851?", {"Who published it in 1924?"}),
        ("Which novel is long?", {"Which novel is short?", "Which novel isn't long?"}),
        ("Who praised it?", {None}),
        ("Who read Ezra Pound?", {None}),
    ],
)
def test_numbers_and_words_are_exchanged_some_questions_negated_and_no_answer_taken(
    question: str, altered: set[str | None]
) -> None:
    answers = ["Herman Melville and Nathaniel Hawthorne in London"]
    assert _all_alterations(question, answers, others=("Nathaniel Hawthorne",)) == altered


def test_every_altered_question_of_squad_is_followed_by_its_own(data_dir: Path) -> None:
    examples = list(altered_examples(data_dir, random.Random(0), (90, 150), share=0.1))
    own = {row["question"] for row in squad_rows(data_dir, held=False) if row["answers"]}
    assert len(examples) > 1000
    for altered, question in zip(examples[::2], examples[1::2], strict=True):
        (without,), (answers,) = altered.candidates, question.candidates
        assert altered.question != question.question
        assert question.question in own
        assert (without.relevant, without.spans, answers.relevant) == (False, (), True)
        assert answers.spans
        assert without.text == answers.text
