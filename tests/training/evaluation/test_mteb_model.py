"""A checkpoint runs as a model of mteb: on a task of whole books, made of small ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nlb_retriever.model.checkpoint import UNTRAINED
from nlb_training.evaluation.mteb_model import CheckpointModel
from tests.doubles import KeywordEncoder

ENCODER = KeywordEncoder("whale", "duel", "comet")
BOOKS = {
    "sea": "The whale swam far. " * 300,
    "honour": "The duel was fought at dawn. " * 300,
    "sky": "The comet came back. " * 300,
}
QUERIES = {"q0": "Where is the comet?", "q1": "Who saw the whale?", "q2": "What was the duel about?"}
RIGHT = {"q0": "sky", "q1": "sea", "q2": "honour"}


def model() -> CheckpointModel:
    return CheckpointModel(UNTRAINED, encoder=ENCODER)


def test_a_book_has_one_vector_and_a_query_is_most_similar_to_the_book_that_answers_it() -> None:
    books = model().encode([{"text": [*BOOKS.values()]}], prompt_type="document")
    queries = model().encode([{"text": [text]} for text in QUERIES.values()], prompt_type="query")
    assert books.shape == (3, ENCODER.identity.dim)
    best = model().similarity(queries, books).argmax(axis=1)
    assert [[*BOOKS][index] for index in best] == [*RIGHT.values()]


def test_an_empty_text_has_a_zero_vector_and_no_text_none() -> None:
    assert not model().encode([{"text": ["", "  "]}], prompt_type="document").any()
    assert not model().encode([{"text": ["\x00"]}], prompt_type="query").any()
    assert model().encode([], prompt_type="query").shape == (0, ENCODER.identity.dim)


def test_a_short_document_has_its_passage_vector() -> None:
    [one] = model().encode([{"text": ["A duel."]}])
    np.testing.assert_allclose(one, ENCODER.encode(["A duel."])[0], atol=1e-6)


def test_mteb_ranks_books_with_it(tmp_path: Path) -> None:
    mteb = pytest.importorskip("mteb", reason="mteb is not installed: pip install 'nlb-retriever[eval]'")
    from tests.training.evaluation.mteb_task import make_task

    task = make_task(BOOKS, QUERIES, RIGHT)
    results = mteb.evaluate(model(), task, cache=None, co2_tracker=False, show_progress_bar=False)
    [scores] = results.task_results[0].scores["test"]
    assert scores["ndcg_at_10"] == pytest.approx(1.0)
    assert results.model_name == "nlb-retriever/mean"
