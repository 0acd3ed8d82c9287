"""A checkpoint runs as a model of mteb: on a task of whole books, made of small ones, and on dev data."""

from __future__ import annotations

import tarfile
from pathlib import Path

import numpy as np
import pytest

from nlb_retriever.model.checkpoint import UNTRAINED
from nlb_training.evaluation.mteb_model import CheckpointModel
from nlb_training.evaluation.rows import read_rows
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


def test_one_similarity_is_a_number() -> None:  # which mteb makes of it in tasks of summaries
    vectors = model().encode([{"text": ["A duel."]}])
    assert float(model().similarity(vectors, vectors)) == pytest.approx(1.0)
    assert float(model().similarity_pairwise(vectors, vectors)) == pytest.approx(1.0)


def test_mteb_ranks_books_with_it(tmp_path: Path) -> None:
    mteb = pytest.importorskip("mteb", reason="mteb is not installed: pip install 'nlb-retriever[eval]'")
    from tests.training.evaluation.mteb_task import make_task

    task = make_task(BOOKS, QUERIES, RIGHT)
    results = mteb.evaluate(model(), task, cache=None, co2_tracker=False, show_progress_bar=False)
    [scores] = results.task_results[0].scores["test"]
    assert scores["ndcg_at_10"] == pytest.approx(1.0)
    assert results.model_name == "nlb-retriever/mean"


def test_mteb_ranks_the_evidence_of_real_questions_with_the_released_checkpoint(data_dir: Path) -> None:
    mteb = pytest.importorskip("mteb", reason="mteb is not installed: pip install 'nlb-retriever[eval]'")
    from tests.training.evaluation.mteb_task import make_task

    documents: dict[str, str] = {}
    queries: dict[str, str] = {}
    right: dict[str, str] = {}
    rows = read_rows(data_dir / "eval" / "fairytaleqa_val.jsonl.bz2").rows[:40]
    with tarfile.open(data_dir / "corpus" / "fairytaleqa.tar.bz2") as tar:
        for number, row in enumerate(rows):
            stream = tar.extractfile(row.file)
            assert stream is not None
            start, end = row.spans[0]
            evidence = f"{row.file}:{start}"
            documents.setdefault(evidence, stream.read().decode()[start:end])
            queries[f"q{number}"], right[f"q{number}"] = row.query, evidence
    task = make_task(documents, queries, right)
    results = mteb.evaluate(CheckpointModel(), task, cache=None, co2_tracker=False, show_progress_bar=False)
    [scores] = results.task_results[0].scores["test"]
    assert len(documents) > 10
    assert scores["ndcg_at_10"] > 0.6  # by chance 0.3
    assert results.model_name == "nlb-retriever/nlb-minilm-books"
