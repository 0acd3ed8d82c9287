"""A reader's training run: from a folder of data to a reader, stopped and resumed, and what it refuses."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file
from transformers import BertConfig, BertModel

from nlb_retriever.encoding.load import find_weights
from nlb_retriever.errors import TrainingError, TrainingInterrupted
from nlb_retriever.reader import load_reader
from nlb_retriever.reader.files import LAYERS, MODEL, WEIGHTS, WORDS
from nlb_training.events import StageEvent, TrainingEvent
from nlb_training.reader.loop import FINAL
from nlb_training.reader.run import ReaderReport, ReaderRequest, read_stages, train_reader
from tests.training.encoder.small import write_model
from tests.training.reader.small import SMALL, write_data

pytest.importorskip("nncf")


class _Left(Exception):
    """Raised by an observer."""


@pytest.fixture(scope="module")
def request_of_run(tmp_path_factory: pytest.TempPathFactory) -> ReaderRequest:
    folder = tmp_path_factory.mktemp("small")
    data, start = write_data(folder / "data"), write_model(folder / "model")
    return ReaderRequest(data=data, out=folder / "run", start=str(start), stages=read_stages(SMALL))


@pytest.fixture(scope="module")
def whole(request_of_run: ReaderRequest, few_written_questions: None) -> ReaderReport:
    """A run that nothing interrupted."""
    return train_reader(request_of_run)


def test_a_run_starts_from_an_encoder_with_weights() -> None:
    _, weights = find_weights(ReaderRequest(data=Path("data"), out=Path("run")).start)
    assert (weights / "model.safetensors").is_file()


def test_the_reader_reads_on_the_cpu_and_through_torch(request_of_run: ReaderRequest, whole: ReaderReport) -> None:
    assert whole.reader == request_of_run.out / "reader"
    steps = [("short", 5), ("passages", 4), ("novels", 3), ("altered", 2), ("books", 2), ("plots", 2)]
    assert [(stage.name, stage.steps) for stage in whole.stages] == steps
    for device in ("cpu", "torch"):
        folder = whole.reader
        if device == "torch":
            folder = shutil.copytree(folder, request_of_run.out.parent / "torch", dirs_exist_ok=True)
            (folder / MODEL).unlink()
        (reading,) = load_reader(folder).read("Who carried a lamp?", ["Anna carried a lamp over the bridge of Dorn."])
        assert reading.spans
    before = load_file(Path(request_of_run.start) / "model.safetensors")["encoder.layer.0.output.dense.weight"]
    assert not before.half().equal(load_file(whole.reader / LAYERS)["layers.0.down.weight"])


def test_a_run_stopped_twice_makes_the_same_reader_as_an_unbroken_one(
    request_of_run: ReaderRequest, whole: ReaderReport, tmp_path: Path
) -> None:
    request = replace(request_of_run, out=tmp_path / "run")
    seen: list[str] = []

    def stop(event: Any) -> None:
        if isinstance(event, StageEvent):
            seen.append(f"{event.stage}{' done' if event.done else ''}")
        if isinstance(event, TrainingEvent) and event.step == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(TrainingInterrupted, match="after step 3 of 5, .* --resume"):
        train_reader(request, observer=stop)
    with pytest.raises(TrainingInterrupted, match="after step 3 of 4, .* --resume"):
        train_reader(request, resume=True, observer=stop)
    report = train_reader(request, resume=True, observer=lambda event: seen.append(getattr(event, "stage", "")))
    assert [stage for stage in seen if stage] == [
        *("examples", "short"),
        *("short", "examples", "passages"),
        *("short", "passages", "examples", "novels", "examples", "altered"),
        *("examples", "books", "examples", "plots", "saving"),
    ]
    assert report.stages == whole.stages
    for name in (WORDS, LAYERS, WEIGHTS):
        assert (report.reader / name).read_bytes() == (whole.reader / name).read_bytes()


def test_a_finished_run_is_not_trained_again(request_of_run: ReaderRequest, whole: ReaderReport) -> None:
    steps: list[Any] = []
    written = (whole.reader / WEIGHTS).stat().st_mtime_ns
    again = train_reader(
        request_of_run,
        resume=True,
        observer=lambda event: steps.append(event) if isinstance(event, TrainingEvent) else None,
    )
    assert (steps, again.stages) == ([], whole.stages)
    assert (whole.reader / WEIGHTS).stat().st_mtime_ns == written


def test_another_run_is_neither_overwritten_nor_resumed_with_other_settings(
    request_of_run: ReaderRequest, whole: ReaderReport
) -> None:
    assert whole.reader.is_dir()
    with pytest.raises(TrainingError, match=r"holds an earlier run: go on with it \(--resume\)"):
        train_reader(request_of_run)
    other = replace(request_of_run, stages=read_stages([*SMALL, "short.seed=7", "passages.checkpoint_every=1"]))
    with pytest.raises(TrainingError, match=r"with other settings: short\.seed is 7, was 1: use the same"):
        train_reader(other, resume=True)


def test_a_run_is_not_resumed_with_another_start(
    request_of_run: ReaderRequest, whole: ReaderReport, tmp_path: Path
) -> None:
    assert whole.reader.is_dir()
    other = replace(request_of_run, start=str(write_model(tmp_path / "model", seed=5)))
    with pytest.raises(TrainingError, match="other settings: start is '"):
        train_reader(other, resume=True)


def test_a_folder_with_other_files_is_left_alone(request_of_run: ReaderRequest, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(TrainingError, match="holds other files"):
        train_reader(replace(request_of_run, out=tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_there_must_be_a_run_to_resume(request_of_run: ReaderRequest, tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="holds no run to resume"):
        train_reader(replace(request_of_run, out=tmp_path / "run"), resume=True)
    assert not (tmp_path / "run").exists()


def test_missing_and_damaged_data_are_named(request_of_run: ReaderRequest, tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match=r"lacks eval/squad_dev\.jsonl\.bz2, .*: give the folder of the training"):
        train_reader(replace(request_of_run, data=tmp_path / "nothing", out=tmp_path / "run"))
    assert not (tmp_path / "run").exists()
    damaged = shutil.copytree(request_of_run.data, tmp_path / "data")
    (damaged / "eval" / "squad_dev.jsonl.bz2").write_bytes(b"no bzip2")
    with pytest.raises(TrainingError, match=r"squad_dev\.jsonl\.bz2 cannot be read .*: give the folder"):
        train_reader(replace(request_of_run, data=damaged, out=tmp_path / "run"))


def test_a_start_of_another_kind_is_one_line(request_of_run: ReaderRequest, tmp_path: Path) -> None:
    def refusal(folder: Path) -> str:
        with pytest.raises(TrainingError) as caught:
            train_reader(replace(request_of_run, start=str(folder), out=tmp_path / "run"))
        assert "\n" not in str(caught.value)
        assert not (tmp_path / "run").exists()
        return str(caught.value)

    assert "holds no BERT encoder to start a reader from" in refusal(request_of_run.data)
    other = write_model(tmp_path / "other")
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(config | {"model_type": "xlm-roberta"}))
    assert "it is a model of the kind xlm-roberta" in refusal(other)
    (other / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 5}))
    assert "it lacks 'encoder.layer.2." in refusal(other)
    (other / "config.json").write_text(json.dumps(config))
    (other / "tokenizer.json").unlink()
    assert "tokenizer.json is missing or no tokenizer" in refusal(other)
    short = BertConfig(
        vocab_size=30522, hidden_size=24, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=128,
    )  # fmt: skip
    BertModel(short, add_pooling_layer=False).save_pretrained(tmp_path / "short")
    shutil.copy(Path(request_of_run.start) / "tokenizer.json", tmp_path / "short")
    assert "it reads 128 tokens at most, not 384" in refusal(tmp_path / "short")


def test_a_full_disk_is_one_line_and_the_run_goes_on_after_it(
    request_of_run: ReaderRequest, whole: ReaderReport, tmp_path: Path
) -> None:
    request = replace(request_of_run, out=tmp_path / "run")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def fill(event: Any) -> None:
        if isinstance(event, TrainingEvent) and event.step == 3:
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))

    try:
        with pytest.raises(TrainingError, match=r"state\.safetensors cannot be written .*--resume") as caught:
            train_reader(request, observer=fill)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert "\n" not in str(caught.value)

    def leave_behind_passages(event: Any) -> None:
        if isinstance(event, StageEvent) and event.stage == "novels":
            raise _Left

    with pytest.raises(_Left):
        train_reader(request, resume=True, observer=leave_behind_passages)
    final = Path("passages") / FINAL
    assert (request.out / final).read_bytes() == (request_of_run.out / final).read_bytes()


def test_two_runs_do_not_share_a_folder(request_of_run: ReaderRequest, whole: ReaderReport) -> None:
    assert whole.reader.is_dir()
    code = "import fcntl,sys; f=open(sys.argv[1],'w'); fcntl.flock(f,fcntl.LOCK_EX); print('held',flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(request_of_run.out / "lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(TrainingError, match="another process trains in"):
            train_reader(request_of_run, resume=True)
        other.communicate("\n")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("speed=9", "there is no setting 'speed': known are short.steps, "),
        ("short.steps=many", "short.steps=many is no number of the right kind"),
        ("short.clip=nan", "short.clip=nan is no number of the right kind"),
        ("passages.learning_rate=-1", "passages.learning_rate=-1 is below zero"),
        ("passages.warmup=2", "warmup is 2.0, must be 0 or more and less than 1"),
    ],
)
def test_a_wrong_setting_is_named(change: str, message: str) -> None:
    with pytest.raises(TrainingError) as caught:
        read_stages([change])
    assert str(caught.value).startswith(message)
