"""Labelled questions as examples, from the real data."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from nlb_retriever.errors import TrainingError
from nlb_training.reader.examples import Example
from nlb_training.reader.litbank import litbank_examples
from nlb_training.reader.sources import qamr_examples, squad_examples, squad_rows, tale_examples
from nlb_training.training_data import HELD_ARTICLES, read_rows


def _check(examples: Iterable[Example]) -> list[Example]:
    result = list(examples)
    for example in result:
        for candidate in example.candidates:
            assert candidate.text.strip()
            assert candidate.relevant or not candidate.spans
            assert all(candidate.text[start:end].strip() for start, end in candidate.spans)
    return result


def test_squad_has_answers_word_for_word_and_no_held_article(data_dir: Path) -> None:
    examples = _check(squad_examples(data_dir, random.Random(0), (90, 140, 200, 250)))
    held = {row["question"] for row in squad_rows(data_dir, held=True)}
    wanted: dict[str, set[str]] = {}
    for row in squad_rows(data_dir, held=False):
        wanted.setdefault(row["question"], set()).update(answer["text"] for answer in row["answers"])
    shared = held & wanted.keys()
    assert {each.question for each in examples} & held <= shared
    assert len(examples) == sum(row["article"] not in HELD_ARTICLES for row in read_rows(data_dir, "squad_dev"))
    for example in examples:
        good = example.candidates[0]
        assert {good.text[start:end] for start, end in good.spans} <= wanted[example.question]
        assert good.relevant == bool(good.spans)


def test_qamr_has_its_answers_wherever_the_sentence_is_put(data_dir: Path) -> None:
    rows = read_rows(data_dir, "qamr_dev_test")
    examples = _check(qamr_examples(data_dir, random.Random(0), alone=0.5))
    for row, example in zip(rows, examples, strict=True):
        candidate = example.candidates[0]
        if candidate.relevant:
            texts = {candidate.text[start:end] for start, end in candidate.spans}
            assert texts == {answer["text"] for answer in row["answers"]}


def test_most_tales_questions_have_a_span(data_dir: Path) -> None:
    examples = _check(tale_examples(data_dir, random.Random(0), (90, 140, 200, 250)))
    assert len(examples) == 8524
    assert sum(bool(each.candidates[0].spans) for each in examples) > 7500


def test_litbank_asks_for_people_that_the_passage_names(data_dir: Path) -> None:
    examples = _check(litbank_examples(data_dir, random.Random(0)))
    assert len(examples) > 2000
    assert all(example.question.startswith("Who ") and example.candidates[0].spans for example in examples)


def test_a_folder_without_data_is_named(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="squad_dev"):
        read_rows(tmp_path, "squad_dev")
