"""A teacher's scores: made once, kept, and what a network learns from them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from nlb_retriever.errors import TrainingError
from nlb_retriever.reader.network import ReaderNetwork
from nlb_training.reader import distillation
from nlb_training.reader.distillation import score_rows
from nlb_training.reader.loop import LoopSettings, run_stage
from nlb_training.reader.losses import LossWeights, reader_loss, taught_loss
from nlb_training.reader.rows import Batch, RowSet, make_batch, tokenize
from tests.training.reader.questions import make_examples


@pytest.fixture
def rows(tokenizer: Tokenizer) -> RowSet:
    return tokenize(make_examples(30), tokenizer, longest=64)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distillation, "_PIECE", 7)


def _all(rows: RowSet) -> Batch:
    return make_batch(rows, np.arange(len(rows)))


def _same(one: RowSet, other: RowSet) -> bool:
    return all(np.array_equal(each, vars(other)[name]) for name, each in vars(one).items())


def test_scores_are_the_teachers_own(network: ReaderNetwork, rows: RowSet, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    scored = score_rows(network, rows, tmp_path, tokens=200, observer=lambda done, total: seen.append((done, total)))
    assert (seen[0], seen[-1], len(seen)) == ((7, 60), (60, 60), 9)
    batch = _all(scored)
    with torch.no_grad():
        spans, relevance = network.eval()(batch.ids, batch.types, batch.mask)
    assert batch.taught_spans is not None
    assert batch.taught_relevance is not None
    inside = batch.mask > 0
    assert torch.allclose(batch.taught_spans[inside], spans[inside], atol=0.02)
    assert torch.allclose(batch.taught_relevance, relevance, atol=0.02)
    assert relevance.std() > 0
    scored.save(tmp_path / "rows.npz")
    assert _same(RowSet.load(tmp_path / "rows.npz"), scored)


def test_an_interrupt_loses_one_piece(network: ReaderNetwork, rows: RowSet, tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        if done == 21:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score_rows(network, rows, tmp_path, observer=stop)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert len(kept) == 3
    resumed = score_rows(network, rows, tmp_path)
    assert kept == {path: path.stat().st_mtime_ns for path in kept}
    whole = score_rows(network, rows, tmp_path / "whole")
    assert _same(resumed, whole)


def test_a_damaged_piece_and_one_of_other_rows_are_one_line(
    network: ReaderNetwork, rows: RowSet, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    score_rows(network, rows, tmp_path)
    with pytest.raises(TrainingError, match=r"scores-0\.npz is damaged \(it is of other rows\): delete it"):
        score_rows(network, tokenize(make_examples(30, seed=5), tokenizer, longest=64), tmp_path)
    (tmp_path / "scores-1.npz").write_bytes(b"nothing")
    with pytest.raises(TrainingError, match=r"scores-1\.npz is damaged .*: delete it, and it is made again"):
        score_rows(network, rows, tmp_path)


def test_who_agrees_with_the_teacher_has_nothing_to_learn(network: ReaderNetwork, rows: RowSet, tmp_path: Path) -> None:
    batch = _all(score_rows(network, rows, tmp_path))
    weights = LossWeights(relevance=0.0, ranking=0.8)
    assert batch.taught_spans is not None
    assert batch.taught_relevance is not None
    same = taught_loss(batch.taught_spans, batch.taught_relevance, batch, weights)
    assert same.item() == pytest.approx(0, abs=1e-5)
    other = taught_loss(-batch.taught_spans, -batch.taught_relevance, batch, weights)
    assert other.item() > 0.01
    spans, relevance = torch.zeros_like(batch.taught_spans), torch.zeros_like(batch.taught_relevance)
    untaught = reader_loss(spans, relevance, replace(batch, taught_spans=None, taught_relevance=None), weights)
    total = reader_loss(spans, relevance, batch, weights)
    learnt = taught_loss(spans, relevance, batch, weights)
    assert total.item() == pytest.approx(0.3 * untaught.item() + learnt.item(), rel=1e-5)


def test_a_network_learns_what_its_teacher_says(network: ReaderNetwork, tokenizer: Tokenizer, tmp_path: Path) -> None:
    rows = tokenize(make_examples(400), tokenizer, longest=64)
    spans = np.zeros((len(rows.ids), 2), dtype=np.float16)
    spans[rows.ends - rows.lengths + rows.firsts] = 12  # the passage's first word, which no label names
    taught = replace(rows, taught_spans=spans, taught_relevance=np.full(len(rows), -4, dtype=np.float32))
    settings = LoopSettings(tokens=400, learning_rate=5e-3, dropout=0.0, mean_decay=0.5)
    run_stage(network, taught, tmp_path, settings)
    batch = _all(taught)
    with torch.no_grad():
        scores, relevance = network.eval()(batch.ids, batch.types, batch.mask)
    chosen = scores.masked_fill((batch.types == 0)[..., None], -1e4).argmax(1)
    firsts = torch.from_numpy(rows.firsts.astype(np.int64))
    assert (chosen == firsts[:, None]).float().mean() > 0.8
    assert relevance.mean() < 0
