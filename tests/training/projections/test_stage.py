from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlb_cli.commands.train import _retrieval_lines
from nlb_retriever.errors import TrainingError
from nlb_retriever.model import checkpoint
from nlb_retriever.model.projections import Projections
from nlb_retriever.model.vectorizer import Vectorizer
from nlb_training.presets import read_preset
from nlb_training.projections import stage as retrieval_stage
from nlb_training.report import Request
from nlb_training.run import train
from tests.training.books import KEYWORDS, write_books
from tests.training.memory import no_old_garbage  # noqa: F401  (a fixture of every test here)
from tests.training.projections.test_training import one_thread  # noqa: F401  (likewise)
from tests.training.test_run import use

CHANGES = ("corpus.tokens=32", "retrieval.steps=5", "loop.device=cpu")


@pytest.fixture(autouse=True)
def keywords(monkeypatch: pytest.MonkeyPatch) -> None:
    """The chunk encoder of all runs here."""
    use(monkeypatch, KEYWORDS)


def ask(folder: Path, preset: str, out: str, *, changes: tuple[str, ...] = (), rows: bool = True) -> Request:
    if not (folder / "books").exists():
        write_books(folder / "books", 4)
    file = folder / "rows.jsonl"
    examples = [
        {"query": "A whale. A duel!", "file": f"book{book}.md", "start": 300, "end": 700, "kind": "summary"}
        for book in range(3)
    ]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in examples))
    return Request(
        books=(str(folder / "books"),),
        out=folder / out,
        preset=read_preset(preset, (*CHANGES, *changes)),
        examples=(file,) if rows else (),
    )


def test_the_released_preset_trains_projections_on_the_books_that_have_examples(
    tmp_path: Path,
) -> None:
    report = train(ask(tmp_path, "released", "made"))
    assert {book.file for book in report.corpus.books} == {"book0.md", "book1.md", "book2.md"}
    made = checkpoint.load(tmp_path / "made")
    assert (made.config.model.layers, made.config.model.chunk_dim, made.config.chunk_tokens) == (0, 7, None)
    assert made.projections is not None
    vector = Vectorizer(KEYWORDS, made).encode_query("Who sees the whale?").vector
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    assert report.retrieval is not None and report.retrieval["trained"]
    assert report.to_json()["retrieval"]["held_out"]["books"] == 1
    card = (tmp_path / "made" / "README.md").read_text()
    assert "- shape: no backbone, sections and books are means of chunk vectors; an affine projection" in card
    assert "No pretraining." in card
    again = replace(ask(tmp_path, "released", "again"), corpus=tmp_path / "made/run/corpus")
    assert train(again).checkpoint.config.weights_sha256 == made.config.weights_sha256


@pytest.mark.parametrize("start", ["untrained", "earlier"])
def test_a_users_domain_goes_on_from_a_checkpoint_with_projections_or_without(tmp_path: Path, start: str) -> None:
    changes = ("retrieval.learning_rate=1e-9", "retrieval.reranker=false")
    if start == "earlier":
        train(ask(tmp_path, "released", "earlier"))
    request = ask(tmp_path, "domain", "own", changes=changes, rows=False)
    report = train(replace(request, start=str(tmp_path / start if start == "earlier" else checkpoint.UNTRAINED)))
    assert report.retrieval is not None and report.retrieval["trained"]
    made = report.checkpoint.projections
    assert made is not None and report.pretraining is None
    if start == "earlier":
        begun = checkpoint.load(tmp_path / "earlier").projections
        assert begun is not None
        np.testing.assert_allclose(made.section.matrix, begun.section.matrix, atol=1e-5)
        assert "started from earlier projections" in (tmp_path / "own" / "README.md").read_text()


def test_a_preset_with_nothing_to_train_is_refused(tmp_path: Path) -> None:
    request = ask(tmp_path, "released", "made")
    with pytest.raises(TrainingError, match=r"has no \[retrieval\], no \[pretraining\], and there is no backbone"):
        train(replace(request, preset=replace(request.preset, retrieval=None)))
    with pytest.raises(TrainingError, match=r"has \[pretraining\] and no layers to pretrain: set model.layers"):
        train(ask(tmp_path, "tiny", "flat", changes=("model.layers=0",)))


def test_only_books_that_examples_name_are_named(tmp_path: Path) -> None:
    request = ask(tmp_path, "released", "made", rows=False)
    with pytest.raises(TrainingError, match=r"none of the 0 examples is about one of the 4 books: give examples"):
        train(request)
    assert not (tmp_path / "made" / "run" / "corpus").exists()


def test_projections_that_training_made_worse_on_books_held_out_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoil(*_: Any, start: Projections, **__: Any) -> tuple[Projections, list[float]]:
        turned = {name: replace(getattr(start, name), matrix=-start.section.matrix) for name in ("section", "book")}
        return replace(start, **turned), [1.0]

    monkeypatch.setattr(retrieval_stage, "train_projections", spoil)
    request = ask(tmp_path, "released", "made", changes=("examples.titles=true",))
    with request.examples[0].open("a") as rows:
        for book in range(3):
            for start, query in ((300, "A harpoon. An ocean!"), (1100, "A pistol. A meadow!")):
                row = {"query": query, "file": f"book{book}.md", "start": start, "end": start + 400, "kind": "summary"}
                rows.write(f"{json.dumps(row)}\n")
    report = train(request)
    learnt, made = report.retrieval, checkpoint.load(tmp_path / "made").projections
    assert learnt is not None and made is not None
    held_out = learnt["held_out"]
    assert sum(held_out["trained"].values()) < sum(held_out["start"].values())
    assert not learnt["trained"] and learnt["steps"] == 0
    np.testing.assert_array_equal(made.section.matrix, made.book.matrix)  # the whitened start
    np.testing.assert_array_less(0, np.diag(made.section.matrix))
    assert (
        "projections were not kept: those of this checkpoint are the start"
        in (tmp_path / "made" / "README.md").read_text()
    )


def test_the_reranker_alone_learns_from_books_that_are_new_to_the_start(tmp_path: Path) -> None:
    begun = train(ask(tmp_path, "released", "earlier")).checkpoint.projections
    request = ask(tmp_path, "reranker", "made", changes=("retrieval.steps=0",))
    with request.examples[0].open("a") as rows:
        for book, start in ((book, start) for book in range(3) for start in range(100, 1300, 100)):
            row = {"query": "A whale. A duel! An ocean.", "file": f"book{book}.md", "start": start, "end": start + 300}
            rows.write(f"{json.dumps(row)}\n")
    report = train(replace(request, start=str(tmp_path / "earlier")))
    made, learnt = report.checkpoint.projections, report.retrieval
    assert begun is not None and made is not None and learnt is not None
    assert not begun.reranker.any() and made.reranker.any()
    unchanged = replace(made, reranker=begun.reranker).tensors()
    assert all(np.array_equal(tensor, unchanged[name]) for name, tensor in begun.tensors().items())
    assert learnt["reranker"]["queries"] == 36 and "held_out" not in learnt
    assert len(report.corpus.books) == 4  # of the fourth, which nothing is asked about, sections are candidates
    assert "Only the reranker was trained, on 3 of 4 books" in (tmp_path / "made" / "README.md").read_text()
    assert next(_retrieval_lines(learnt)).spans[0][0].startswith("Reranker: trained on 36 summaries;")
