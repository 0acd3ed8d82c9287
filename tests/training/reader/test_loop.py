"""The loop: it learns, and goes on after an interrupt as if there had been none."""

from __future__ import annotations

import copy
import os
import signal
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer

from nlb_retriever.errors import TrainingError, TrainingInterrupted
from nlb_retriever.reader.interface import Scores, read_passages
from nlb_retriever.reader.network import ReaderNetwork
from nlb_retriever.reader.pairs import Row, pad_rows
from nlb_training.evaluation.reading import Paragraph, measure_reading
from nlb_training.events import TrainingEvent
from nlb_training.reader.distillation import score_rows
from nlb_training.reader.loop import FINAL, STATE, LoopSettings, read_final, run_stage
from nlb_training.reader.rows import tokenize
from tests.training.reader.questions import make_examples

SHORT = LoopSettings(tokens=400, learning_rate=1e-3, checkpoint_every=3, start_share=0.25)


def test_a_tiny_network_learns_who_has_what(network: ReaderNetwork, tokenizer: Tokenizer, tmp_path: Path) -> None:
    rows = tokenize(make_examples(2000), tokenizer, longest=64)
    run_stage(network, rows, tmp_path, LoopSettings(tokens=1000, learning_rate=5e-3, dropout=0.0, mean_decay=0.9))
    unseen = [
        Paragraph(question=each.question, text=text.text, answers=(text.text[slice(*text.spans[0])],))
        for each in make_examples(40, seed=9)
        for text in each.candidates[:1]
    ]
    none = [
        Paragraph(question=each.question, text=each.candidates[1].text, answers=())
        for each in make_examples(40, seed=9)
    ]
    network.eval()

    def forward(batches: list[list[Row]]) -> list[Scores]:
        with torch.inference_mode():
            scores = [network(*map(torch.from_numpy, pad_rows(batch))) for batch in batches]
        return [(spans.numpy(), relevance.numpy()) for spans, relevance in scores]

    read = partial(read_passages, tokenizer=tokenizer, batch_tokens=8192, forward=forward)
    figures = {each.metric: each.value for each in measure_reading(SimpleNamespace(read=read), "own", [*unseen, *none])}
    assert figures["f1"] > 0.9
    assert figures["auc-relevance"] > 0.9


@pytest.mark.parametrize("step", [1, 3, 4])
def test_a_run_stopped_at_any_step_resumes_to_the_bit(
    step: int, network: ReaderNetwork, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    rows = tokenize(make_examples(60), tokenizer, longest=64)
    unbroken = copy.deepcopy(network)
    run_stage(unbroken, rows, tmp_path / "unbroken", SHORT)

    def stop(event: TrainingEvent) -> None:
        if event.step == step:
            os.kill(os.getpid(), signal.SIGTERM)

    broken = copy.deepcopy(network)
    with pytest.raises(TrainingInterrupted, match="--resume"):
        run_stage(broken, rows, tmp_path / "broken", SHORT, observer=stop)
    resumed = copy.deepcopy(network)
    run_stage(resumed, rows, tmp_path / "broken", SHORT)
    for file in (STATE, FINAL):
        one, other = load_file(tmp_path / "unbroken" / file), load_file(tmp_path / "broken" / file)
        assert all(torch.equal(tensor, other[name]) for name, tensor in one.items())


def test_a_run_killed_between_checkpoints_loses_only_the_steps_since(
    network: ReaderNetwork, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    rows = tokenize(make_examples(60), tokenizer, longest=64)
    run_stage(copy.deepcopy(network), rows, tmp_path / "unbroken", SHORT)

    def fail(event: TrainingEvent) -> None:
        if event.step == 5:
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        run_stage(copy.deepcopy(network), rows, tmp_path / "killed", SHORT, observer=fail)
    run_stage(copy.deepcopy(network), rows, tmp_path / "killed", SHORT)
    one, other = (load_file(tmp_path / name / FINAL) for name in ("unbroken", "killed"))
    assert all(torch.equal(tensor, other[name]) for name, tensor in one.items())


def test_a_stop_at_the_last_step_keeps_the_result(network: ReaderNetwork, tokenizer: Tokenizer, tmp_path: Path) -> None:
    rows = tokenize(make_examples(10), tokenizer, longest=64)

    def stop(event: TrainingEvent) -> None:
        if event.step == event.steps:
            os.kill(os.getpid(), signal.SIGTERM)

    stopped, again = copy.deepcopy(network), copy.deepcopy(network)
    with pytest.raises(TrainingInterrupted):
        run_stage(stopped, rows, tmp_path, SHORT, observer=stop)
    assert read_final(again, tmp_path) == run_stage(network, rows, tmp_path, SHORT)
    for mine, other, first in zip(again.parameters(), network.parameters(), stopped.parameters(), strict=True):
        assert torch.equal(mine, other) and torch.equal(mine, first)


def test_a_run_may_have_fewer_steps_than_its_rows_make(
    network: ReaderNetwork, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    rows = tokenize(make_examples(60), tokenizer, longest=64)
    rates: list[float | None] = []
    losses = run_stage(
        network, rows, tmp_path, replace(SHORT, steps=3), observer=lambda event: rates.append(event.learning_rate)
    )
    assert len(losses) == 3
    assert rates == sorted(rates, key=lambda rate: -(rate or 0))


def test_a_share_of_the_weights_at_the_start_is_kept(
    network: ReaderNetwork, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    rows = tokenize(make_examples(60), tokenizer, longest=64)
    start = {name: each.detach().clone() for name, each in network.named_parameters() if each.requires_grad}
    run_stage(network, rows, tmp_path, SHORT)
    final, mean = load_file(tmp_path / FINAL), load_file(tmp_path / STATE)
    assert not final["layers.0.down.weight"].equal(start["layers.0.down.weight"])
    for name, before in start.items():
        torch.testing.assert_close(final[name], 0.75 * mean[f"mean.{name}"] + 0.25 * before)


@pytest.mark.parametrize("key", ["tokens", "learning_rate", "clip", "checkpoint_every"])
def test_a_setting_out_of_range_is_named(key: str) -> None:
    with pytest.raises(TrainingError, match=f"^{key} is 0, must be "):
        LoopSettings(**{key: 0})  # type: ignore[arg-type]


def test_a_damaged_state_is_named(network: ReaderNetwork, tokenizer: Tokenizer, tmp_path: Path) -> None:
    rows = tokenize(make_examples(10), tokenizer, longest=64)
    (tmp_path / STATE).write_bytes(b"no tensors")
    with pytest.raises(TrainingError, match="is damaged"):
        run_stage(network, rows, tmp_path, SHORT)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA here")
def test_on_cuda_a_network_learns_what_it_learns_on_the_cpu(
    network: ReaderNetwork, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    rows = tokenize(make_examples(60), tokenizer, longest=64)
    settings = replace(SHORT, dropout=0.0)
    on_cpu, on_cuda = copy.deepcopy(network), copy.deepcopy(network).to("cuda")
    losses = run_stage(on_cpu, rows, tmp_path / "cpu", settings)
    assert run_stage(on_cuda, rows, tmp_path / "cuda", settings) == pytest.approx(losses, rel=0.02)
    assert score_rows(on_cuda, rows, tmp_path / "scores").taught_relevance == pytest.approx(
        score_rows(on_cpu, rows, tmp_path / "cpu-scores").taught_relevance, abs=0.1
    )
