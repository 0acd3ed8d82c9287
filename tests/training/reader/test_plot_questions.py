"""The questions on plots that come with the package, and examples made of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from nlb_retriever.reader import Reading
from nlb_training.reader.candidates import Candidates, Found
from nlb_training.reader.examples import Example
from nlb_training.reader.plot_questions import plot_examples, read_plot_questions
from nlb_training.reader.sources import read_train_books


def test_no_question_is_empty_or_there_twice() -> None:
    rows = read_plot_questions()
    assert all(row["question"].endswith("?") and all(row["answers"]) and row["answers"] for row in rows)
    assert len({(row["book_file"], row["question"]) for row in rows}) == len(rows) > 22_000


def test_chapters_lie_in_their_books(data_dir: Path) -> None:
    rows = read_plot_questions()
    texts = read_train_books(data_dir, {row["book_file"] for row in rows})
    assert len(texts) == len({row["book_file"] for row in rows})
    for row in rows:
        if "span" in row:
            start, end = row["span"]
            assert 0 <= start < end <= len(texts[row["book_file"]])


class _Teacher:
    """Holds a passage for as relevant as the digit in it."""

    def read(self, question: str, passages: Sequence[str]) -> list[Reading]:
        scores = [float(next((each for each in text if each.isdigit()), "0")) for text in passages]
        return [Reading(relevance=score, no_answer_score=0.0, spans=()) for score in scores]


ROW = {
    "id": "plots-1",
    "question": "Who rescues Clara?",
    "answers": ["The old miller", "Mr. Tom Wells"],
    "book_file": "b",
}


def _examples(texts: Sequence[str], span: tuple[int, int] | None, book: str = "") -> list[Example]:
    row: dict[str, Any] = ROW if span is None else {**ROW, "span": span}
    found = tuple(
        Found(file="b", start=5000 * at, end=5000 * at + 100, score=1.0, text=text) for at, text in enumerate(texts)
    )
    candidates = {"plots-1": Candidates(id="plots-1", found=found)}
    made = plot_examples(
        [row], {"b": book or "-" * 40_000}, candidates, _Teacher(), random.Random(0), negatives=4, lengths=(60,)
    )
    return list(made)


def test_the_most_relevant_passage_of_the_chapter_with_the_answers_words_is_right() -> None:
    texts = [
        "1 Wells ran.",
        "5 Wells jumped.",
        "2 Wells ate.",
        "9 Wells slept.",
        "Rain.",
        "Snow.",
        "Hail.",
    ]
    [example] = _examples(texts, (0, 12_000))
    right, *wrong = example.candidates
    assert right.text == "5 Wells jumped." and right.relevant
    assert [right.text[start:end] for start, end in right.spans] == ["Wells"]
    assert not any(each.relevant for each in wrong)
    assert {each.text for each in wrong} == {"Rain.", "Snow.", "Hail."}


def test_a_second_passage_about_as_relevant_is_right_too_but_marks_no_words() -> None:
    first, second, *wrong = _examples(["5 Wells ran.", "4 An old miller sat.", "Rain.", "Snow."], None)[0].candidates
    assert (first.relevant, second.relevant, second.spans) == (True, True, ())
    assert len(wrong) == 2


def test_a_passage_that_the_retriever_did_not_find_is_right_by_the_answers_words() -> None:
    book = "-" * 5000 + " 7 Then Tom Wells pulled her out. " + "-" * 30_000
    right, *wrong = _examples(["Rain.", "3 Wells sat.", "Snow.", "Hail."], (4000, 7000), book)[0].candidates
    assert right.text == "7 Then Tom Wells pulled her out."
    assert [right.text[start:end] for start, end in right.spans] == ["Tom Wells"]
    assert {each.text for each in wrong} == {"Rain.", "Snow.", "Hail."}
    assert not _examples(["Rain.", "Snow.", "Hail."], (4000, 7000), book.replace("7 Then", "Then Wells " * 151))


@pytest.mark.parametrize(("relevance", "made"), [("2", True), ("0", False)])
def test_without_the_words_a_passage_of_the_chapter_must_be_relevant(relevance: str, made: bool) -> None:
    examples = _examples([f"{relevance} He jumped.", "Rain.", "Snow.", "Hail."], (0, 1000))
    assert bool(examples) is made
    assert all(not example.candidates[0].spans for example in examples)


@pytest.mark.parametrize("texts", [[], ["5 Wells ran."], ["Rain.", "Snow.", "Hail."]])
def test_without_a_right_or_enough_wrong_passages_there_is_nothing(texts: list[str]) -> None:
    assert not _examples(texts, None)
