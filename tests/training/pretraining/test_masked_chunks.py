"""Pretraining learns, with every objective and backbone, and comes back as a plain encoder."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from nlb_retriever.encoding import EncoderIdentity
from nlb_retriever.encoding.load import load_torch_encoder
from nlb_retriever.errors import EncoderError, TrainingError, TrainingInterrupted
from nlb_retriever.model import checkpoint
from nlb_retriever.model.config import Backbone, NextLevelConfig
from nlb_retriever.model.next_level import NextLevelEncoder
from nlb_training.corpus import Chunking, build_corpus, open_corpus
from nlb_training.events import TrainingEvent
from nlb_training.pretraining.masked_chunks import (
    MaskedChunkModel,
    new_encoder,
    pretrain,
    validate_pretraining,
)
from nlb_training.pretraining.sequences import Sequences, pad_rows
from nlb_training.pretraining.settings import LoopSettings, Objective, PretrainingSettings
from nlb_training.settings import read_settings
from tests.training.books import KEYWORDS, write_books
from tests.training.memory import no_old_garbage, numbered_books  # noqa: F401  (a fixture of every test here)

TINY = NextLevelConfig(chunk_dim=8, hidden=24, layers=2, heads=3, intermediate=48, positions=34)
RANDOM = PretrainingSettings(start="random")
LOOP = LoopSettings(steps=30, batch_size=8, learning_rate=1e-2, validate_every=30, device="cpu")
BOOKS = numbered_books(*range(20, 120, 7), 5, 3, 1, seed=1)
HELD_OUT = numbered_books(60, 90, 10, 32, 64, 31, seed=2)


def batch() -> dict[str, Tensor]:
    rows = Sequences(numbered_books(30, 12, 15, 2), 32)
    return pad_rows([rows[index] for index in range(len(rows))])


def lively(config: NextLevelConfig) -> NextLevelEncoder:
    """A new encoder with weights as large as so narrow a backbone needs to learn at once."""
    encoder = new_encoder(config, RANDOM)
    torch.manual_seed(0)
    for parameter in encoder.backbone.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=config.hidden**-0.5)
    return encoder


@pytest.mark.parametrize(
    ("objective", "backbone"),
    [*((objective, "bert") for objective in get_args(Objective)), ("cosine", "modernbert"), ("smooth_l1", "neobert")],
)
def test_every_objective_and_backbone_learns_to_guess_hidden_chunks(
    tmp_path: Path, objective: Objective, backbone: Backbone
) -> None:
    encoder = lively(replace(TINY, backbone=backbone))
    settings = replace(RANDOM, masking=0.3, objective=objective, temperature=0.1)
    history = pretrain(encoder, BOOKS, settings, LOOP, tmp_path, held_out=HELD_OUT)
    before, after = history.validation[0], history.validation[-1]
    assert after["loss"] < 0.95 * before["loss"]
    assert after["cosine"] > before["cosine"] + 0.08
    assert all(parameter.isfinite().all() for parameter in encoder.parameters())


def test_what_comes_back_is_a_plain_encoder_in_the_chunks_space(tmp_path: Path) -> None:
    encoder = new_encoder(TINY, RANDOM)
    before = {name: tensor.clone() for name, tensor in encoder.state_dict().items()}
    pretrain(encoder, BOOKS, RANDOM, replace(LOOP, steps=3), tmp_path / "run")
    after = encoder.state_dict()
    assert list(after) == list(before) and not encoder.training
    assert not torch.equal(
        after["backbone.encoder.layer.0.output.dense.weight"], before["backbone.encoder.layer.0.output.dense.weight"]
    )
    chunks = torch.from_numpy(HELD_OUT.vectors(HELD_OUT.books[0])).float()
    chunks = normalize(chunks, dim=-1)
    torch.testing.assert_close(encoder.contextualize(chunks), chunks)  # the residual is not touched
    saved = checkpoint.save(encoder, tmp_path / "saved", name="x", chunk_encoder=BOOKS.encoder, chunk_tokens=256)
    again = saved.build().state_dict()
    assert all(torch.equal(again[name], tensor) for name, tensor in after.items())


def test_the_backbone_never_sees_what_it_has_to_guess_behind_a_mask() -> None:
    torch.manual_seed(0)
    model = MaskedChunkModel(NextLevelEncoder(TINY), replace(RANDOM, as_mask=1.0, as_other=0.0)).eval()
    rows = batch()
    hidden = model.mask(rows["chunks"], rows["mask"] & ~rows["separators"], torch.Generator().manual_seed(0))
    guesses = model.predict(hidden, rows["mask"], rows["separators"])
    changed = torch.where(hidden.chosen[..., None], -rows["chunks"], rows["chunks"])
    torch.testing.assert_close(guesses, model.predict(replace(hidden, shown=changed), rows["mask"], rows["separators"]))


def test_special_vectors_are_never_masked_and_padding_is_not_guessed() -> None:
    model = MaskedChunkModel(NextLevelEncoder(TINY), replace(RANDOM, masking=0.9))
    rows = batch()
    maskable = rows["mask"] & ~rows["separators"]
    assert rows["separators"].any() and not rows["mask"].all()
    for seed in range(20):
        hidden = model.mask(rows["chunks"], maskable, torch.Generator().manual_seed(seed))
        assert not (hidden.chosen & ~maskable).any()
        assert (hidden.shown[rows["separators"]] == 0).all()  # where the backbone puts [SEP]


def test_the_contrastive_loss_is_over_all_chunks_of_the_batch_and_averaged_per_row() -> None:
    torch.manual_seed(0)
    settings = replace(RANDOM, objective="contrastive", temperature=0.1)
    model = MaskedChunkModel(NextLevelEncoder(TINY), settings).eval()
    rows = batch()
    maskable = rows["mask"] & ~rows["separators"]
    hidden = model.mask(rows["chunks"], maskable, torch.Generator().manual_seed(0))
    guesses = model.predict(hidden, rows["mask"], rows["separators"])
    found = model.compute_loss(guesses, rows["chunks"], maskable, hidden.chosen)
    candidates = rows["chunks"][maskable]
    expected, number = [], 0
    for row in range(len(maskable)):
        losses = []
        for slot in hidden.chosen[row].nonzero()[:, 0].tolist():
            cosines = normalize(guesses[number], dim=0) @ candidates.T
            own = int(maskable.flatten()[: row * maskable.shape[1] + slot].sum())
            losses.append(torch.logsumexp(cosines / 0.1, 0) - cosines[own] / 0.1)
            number += 1
        expected.append(torch.stack(losses).mean())
    torch.testing.assert_close(found, torch.stack(expected).mean())


def test_figures_on_held_out_books_are_the_same_each_time_and_draw_nothing() -> None:
    torch.manual_seed(0)
    model = MaskedChunkModel(NextLevelEncoder(TINY), RANDOM).eval()
    rows = Sequences(HELD_OUT, 32)
    with torch.no_grad():
        state = torch.get_rng_state()
        one = validate_pretraining(model, rows, batch_size=2)
        assert torch.equal(torch.get_rng_state(), state)
        assert one == validate_pretraining(model, rows, batch_size=2)
    assert set(one) == {"loss", "cosine", "accuracy"} and -1 <= one["cosine"] <= 1


def test_a_resumed_pretraining_is_the_unbroken_one_bit_for_bit(tmp_path: Path) -> None:
    def stop(event: TrainingEvent) -> None:
        if event.kind == "step" and event.step == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    loop = replace(LOOP, steps=6, batch_size=4)
    unbroken, broken, resumed = (new_encoder(TINY, RANDOM) for _ in range(3))
    expected = pretrain(unbroken, BOOKS, RANDOM, loop, tmp_path / "a", held_out=HELD_OUT)
    with pytest.raises(TrainingInterrupted):
        pretrain(broken, BOOKS, RANDOM, loop, tmp_path / "b", held_out=HELD_OUT, observer=stop)
    found = pretrain(resumed, BOOKS, RANDOM, loop, tmp_path / "b", held_out=HELD_OUT)
    assert (found.losses, found.validation) == (expected.losses, expected.validation)
    one, other = unbroken.state_dict(), resumed.state_dict()
    assert all(torch.equal(other[name], tensor) for name, tensor in one.items())


def test_masks_differ_from_step_to_step() -> None:
    model = MaskedChunkModel(NextLevelEncoder(replace(TINY, dropout=0.0)), RANDOM)
    rows = batch()
    assert len({model(**rows)["loss"].item() for _ in range(5)}) == 5


def test_a_new_encoder_starts_from_the_chunk_encoders_weights_and_its_seed() -> None:
    config = NextLevelConfig(chunk_dim=384)
    one, same, other = (new_encoder(config, PretrainingSettings(), seed=seed) for seed in (1, 1, 2))
    assert all(torch.equal(tensor, same.state_dict()[name]) for name, tensor in one.state_dict().items())
    key = "encoder.layer.5.output.dense.weight"
    source = load_torch_encoder().model[0].auto_model.state_dict()
    assert torch.equal(one.backbone.state_dict()[key], source[key])
    assert torch.equal(other.backbone.state_dict()[key], source[key])
    assert not torch.equal(one.specials, other.specials)
    with pytest.raises(EncoderError, match="or start it at random"):
        new_encoder(replace(config, layers=2), PretrainingSettings())


def test_a_corpus_of_another_encoder_is_refused(tmp_path: Path) -> None:
    other = replace(BOOKS, encoder=EncoderIdentity(name="big", sha256="1", dim=768, max_tokens=512))
    with pytest.raises(TrainingError, match="768-d vectors of big, the encoder takes 8-d ones"):
        pretrain(new_encoder(TINY, RANDOM), other, RANDOM, LOOP, tmp_path)


def test_books_are_trained_on_from_a_corpus_on_disk(tmp_path: Path) -> None:
    chunkings = [Chunking(tokens=32), Chunking(tokens=32, offset=16), Chunking(tokens=0)]
    build_corpus(write_books(tmp_path / "books"), tmp_path / "corpus", encoder=KEYWORDS, chunkings=chunkings)
    corpus = open_corpus(tmp_path / "corpus")
    rows = Sequences(corpus, 32)
    assert sum(int((~rows[index]["separators"]).sum()) for index in range(len(rows))) == corpus.chunks
    encoder = new_encoder(replace(TINY, chunk_dim=KEYWORDS.identity.dim), RANDOM)
    history = pretrain(encoder, corpus, RANDOM, replace(LOOP, steps=2), tmp_path / "run", held_out=corpus)
    assert len(history.losses) == 2 and [row["step"] for row in history.validation] == [0, 2]


def test_an_encoder_without_layers_cannot_be_pretrained(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="without layers has nothing to pretrain"):
        pretrain(NextLevelEncoder(replace(TINY, layers=0)), BOOKS, RANDOM, LOOP, tmp_path)


def test_settings_come_from_a_table_and_refuse_what_they_do_not_know() -> None:
    table = {"masking": 0.3, "objective": "contrastive"}
    found = read_settings(PretrainingSettings, table, "paper.toml [pretraining]")
    assert found == PretrainingSettings(masking=0.3, objective="contrastive")
    assert read_settings(LoopSettings, {"epochs": 20}, "x") == LoopSettings(epochs=20)
    for wrong, message in (
        ({"maskin": 0.3}, r"paper.toml \[pretraining\] has unknown keys \['maskin'\]; known: \['masking'"),
        ({"objective": "huber"}, r"objective = 'huber'; known: 'smooth_l1', 'cosine', 'contrastive'"),
        ({"masking": "much"}, "masking = 'much' should be of type float"),
        ({"masking": 1.5}, r"masking \(1.5\) must lie between 0 and 1"),
        ({"as_mask": 0.95}, r"as_mask \(0.95\) and as_other \(0.1\) must be 0 or more"),
    ):
        with pytest.raises(TrainingError, match=message):
            read_settings(PretrainingSettings, wrong, "paper.toml [pretraining]")
