from __future__ import annotations

import re
from pathlib import Path

import pytest

from nlb_retriever.errors import EncoderError, TrainingError
from nlb_training.corpus import Chunking
from nlb_training.presets import FOLDER, CorpusSettings, list_presets, read_preset


def test_the_packages_presets_are_these_and_each_can_be_read() -> None:
    assert {"tiny", "small", "paper", "domain"} <= set(list_presets())
    for name in list_presets():
        preset = read_preset(name)
        assert preset.name == name and preset.about
        assert preset.new_model(384).chunk_dim == 384
        assert preset.corpus.chunkings()[0] == Chunking(tokens=preset.corpus.tokens)


def test_every_table_of_a_preset_gives_reasons() -> None:
    for name in list_presets():
        tables = re.split(r"(?m)^\[", (FOLDER / f"{name}.toml").read_text())
        silent = [table.split("]")[0] for table in tables[1:] if "#" not in table and not table.startswith("examples")]
        assert silent == [], f"{name}.toml says nothing on its {silent}"


def test_the_papers_preset_has_the_papers_numbers() -> None:
    paper = read_preset("paper")
    assert paper.pretraining is not None
    assert (paper.pretraining.masking, paper.pretraining.as_mask, paper.pretraining.as_other) == (0.15, 0.8, 0.1)
    assert (paper.pretraining.objective, paper.pretraining.start) == ("smooth_l1", "chunk_encoder")
    assert (paper.loop.learning_rate, paper.loop.warmup, paper.loop.epochs) == (1e-4, 0.05, 20)
    assert (paper.start, paper.corpus.tokens, paper.new_model(384).positions) == ("scratch", 256, 512)


def test_the_resolved_preset_names_what_its_file_leaves_out() -> None:
    resolved = read_preset("tiny").to_dict()
    assert resolved["loop"]["weight_decay"] == 0.01
    assert resolved["model"]["dropout"] == 0.1
    assert "chunk_dim" not in resolved["model"]


def test_values_are_changed_by_name() -> None:
    preset = read_preset(
        "tiny", ["loop.steps=7", "loop.learning_rate = 1e-3", "pretraining.objective=cosine", "start=released"]
    )
    assert (preset.loop.steps, preset.loop.learning_rate, preset.start) == (7, 1e-3, "released")
    assert preset.pretraining is not None and preset.pretraining.objective == "cosine"
    assert read_preset("tiny", ["corpus.offsets=[0, 0.5]"]).corpus.offsets == (0, 0.5)
    assert read_preset("tiny", ["model.hidden=64"]).new_model(7).hidden == 64


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ("loop.stepz=7", r"\[loop\] has unknown keys \['stepz'\]; known: .*'steps'"),
        ("lop.steps=7", r"unknown tables or keys \['lop'\]; known: .*'loop'"),
        ("loop.steps=many", "steps = 'many' should be of type int"),
        ("loop.steps=7.5", "steps = 7.5 should be of type int"),
        ("loop.steps=-1", "steps is -1, must be 0 or more"),
        ("pretraining.objective=l3", "objective = 'l3'; known: 'smooth_l1'"),
        ("start=somewhere", "start = 'somewhere'; known: 'released', 'scratch'"),
        ("corpus.also=128", "also = 128 should be a list of numbers"),
        ("corpus.also=[true]", r"also = \(True,\) should be a list of numbers"),
        ("corpus.offsets=[0.5]", r"offsets \[0.5\] must be shares of a chunk below 1, the first 0"),
        ("corpus.tokens=9", "chunks of 9 tokens: use 16 to 512"),
        ("corpus.held_out=1", r"held_out = 1|held_out \(1\) must be a share"),
        ("examples.least=9", r"least \(9\) 1 to most \(4\)"),
        ("model.chunk_dim=384", "chunk_dim is the chunk encoder's: remove it"),
        ("model.dephts=2", r"\[model\] has unknown keys \['dephts'\]"),
        ("loop=3", "loop is not a table"),
        ("loop.steps", "write table.key=value, as in loop.steps=100"),
        ("a.b.c=1", "write table.key=value"),
        ("start.x=1", "start is not a table"),
    ],
)
def test_what_is_not_known_is_refused_by_name(change: str, complaint: str) -> None:
    with pytest.raises(TrainingError, match=complaint) as caught:
        read_preset("tiny", [change])
    assert "\n" not in str(caught.value)


def test_a_shape_that_cannot_be_is_refused() -> None:
    with pytest.raises(EncoderError, match="hidden 33 must be a multiple of heads 2"):
        read_preset("tiny", ["model.hidden=33"])


def test_a_preset_of_ones_own_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('about = "Mine."\n[loop]\nsteps = 3\n')
    preset = read_preset(file)
    assert (preset.name, preset.about, preset.loop.steps, preset.pretraining) == ("mine", "Mine.", 3, None)
    file.write_text("steps = ")
    with pytest.raises(TrainingError, match=r"preset .*mine.toml is not valid TOML \("):
        read_preset(file)
    for name in ("huge", "../presets/tiny"):
        with pytest.raises(TrainingError, match=rf"no preset '{name}'; known: domain, paper, .*or a .toml file"):
            read_preset(name)
    with pytest.raises(TrainingError, match=r"none.toml cannot be read \(No such file"):
        read_preset(tmp_path / "none.toml")


def test_chunkings_are_every_length_at_every_offset_and_none_twice() -> None:
    settings = CorpusSettings(tokens=64, also=(16, 0), offsets=(0.0, 0.25, 0.5))
    assert [str(chunking) for chunking in settings.chunkings()] == [
        "64 tokens",
        "64 tokens from 16",
        "64 tokens from 32",
        "16 tokens",
        "16 tokens from 8",
        "sentences",
    ]
