"""Multiple choice: QuALITY's format, baselines by hand, and what the classifier can and cannot know."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from nlb_retriever.errors import QueryError
from nlb_training.evaluation import multiple_choice
from nlb_training.evaluation.documents import Document
from nlb_training.evaluation.multiple_choice import Choice, ClassifierSettings, choose_by_classifier
from nlb_training.evaluation.vectors import ChunkVectors
from tests.doubles import KeywordEncoder

ARTICLE = {"article_id": "7", "article": "A whale. A duel.", "title": "T"}


def question(gold: int | None = 2, **changes: object) -> dict[str, object]:
    row = {"question": "Who won?", "options": ["the whale", "the duel", "both", "none"], "gold_label": gold}
    return {key: value for key, value in (row | changes).items() if value is not None}


def make(gold: int, number: int) -> Choice:
    document = Document(name=str(number), text="whale")
    return Choice(document=document, question="q", options=("a", "b"), gold=gold, group=str(number))


def test_articles_of_quality_become_questions_with_labels_from_0(tmp_path: Path) -> None:
    file = tmp_path / "quality.jsonl"
    file.write_text(json.dumps(ARTICLE | {"questions": [question(), question(4)]}) + "\n")
    assert multiple_choice.is_quality(file)
    found, problems = multiple_choice.read_quality(file)
    assert [(each.gold, each.group, each.document.text) for each in found] == [
        (1, "7", "A whale. A duel."),
        (3, "7", "A whale. A duel."),
    ]
    assert found[0].pairs[1] == "Who won? the duel"
    assert not problems


def test_questions_without_a_right_option_are_named_and_the_others_count(tmp_path: Path) -> None:
    file = tmp_path / "quality.jsonl"
    questions = [question(), question(None), question(5), question(options=["one", ""])]
    file.write_text(json.dumps(ARTICLE | {"questions": questions}) + "\n{}\n")
    found, problems = multiple_choice.read_quality(file)
    assert len(found) == 1
    assert [problem.split(":")[0] for problem in problems] == [
        "quality.jsonl, line 1, question 2",
        "quality.jsonl, line 1, question 3",
        "quality.jsonl, line 1, question 4",
        "quality.jsonl, line 2",
    ]
    file.write_text("{}\n")
    with pytest.raises(QueryError, match=r"line 1: not an article.*give QuALITY's JSONL"):
        multiple_choice.read_quality(file)


def test_a_tie_with_the_right_option_is_wrong() -> None:
    scores = [np.array([0.9, 0.1], dtype=np.float32), np.array([0.5, 0.5], dtype=np.float32)]
    assert multiple_choice.choose_by_scores(scores, [make(0, 0), make(0, 1)]).tolist() == [1, 0]


def test_the_baselines_are_cosines_with_the_question_and_with_the_nearest_chunk(tmp_path: Path) -> None:
    encoder = KeywordEncoder("whale", "duel")
    choice = Choice(
        document=Document(name="d", text="The whale swam."), question="a duel", options=("whale", "duel"), gold=0,
        group="d",
    )  # fmt: skip
    chunks = ChunkVectors(tmp_path, encoder)
    questions, options, pairs = multiple_choice.encode([choice], chunks)
    assert multiple_choice.compare_options_to_questions(questions, options)[0] == pytest.approx([0, 1], abs=1e-3)
    book = chunks.book("d", choice.document.text, ()).vectors
    assert multiple_choice.compare_pairs_to_chunks(pairs, [book])[0] == pytest.approx([0.7071, 0], abs=1e-3)


def test_only_with_the_document_can_it_be_known_which_option_is_right() -> None:
    """The right option is the one on the document's axis; by itself each is right as often as not."""
    random = np.random.default_rng(0)
    axes = np.eye(2, dtype=np.float32)
    sides = random.integers(0, 2, 160)
    choices = [make(int(side), number) for number, side in enumerate(sides)]
    pairs = [axes for _ in choices]
    settings = ClassifierSettings(epochs=40, batch=128, rate=2e-2, hidden=16, dropout=0)
    known = choose_by_classifier(choices, pairs, axes[sides], 0, settings)
    guessed = choose_by_classifier(choices, pairs, None, 0, settings)
    assert known.mean() > 0.95
    assert 0.3 < guessed.mean() < 0.7
    assert np.array_equal(known, choose_by_classifier(choices, pairs, axes[sides], 0, settings))


def test_questions_on_one_document_stay_on_one_side() -> None:
    choices = [make(0, number // 3) for number in range(30)]
    judged: list[int] = []
    for training, others in multiple_choice.split_folds(choices, seed=0):
        assert not {choices[index].group for index in training} & {choices[index].group for index in others}
        judged += others
    assert sorted(judged) == list(range(30))
    with pytest.raises(QueryError, match="3 questions on one document"):
        list(multiple_choice.split_folds(choices[:3], seed=0))
