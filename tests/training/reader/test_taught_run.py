"""A training run with a teacher: its stages, an interrupt in each of them, and what it refuses."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from nlb_retriever.errors import EncoderError, TrainingError, TrainingInterrupted
from nlb_retriever.reader import load_reader
from nlb_retriever.reader.files import LAYERS, WEIGHTS
from nlb_training.events import QueryEvent, StageEvent, TrainingEvent
from nlb_training.reader.run import ReaderReport, ReaderRequest, read_stages, train_reader
from tests.training.encoder.small import write_model
from tests.training.reader.small import SMALL_TAUGHT, write_data
from tests.training.reader.teachers import write_teacher

pytest.importorskip("nncf")


@pytest.fixture(scope="module")
def request_of_run(tmp_path_factory: pytest.TempPathFactory) -> ReaderRequest:
    folder = tmp_path_factory.mktemp("taught")
    return ReaderRequest(
        data=write_data(folder / "data"),
        out=folder / "run",
        start=str(write_model(folder / "model")),
        teacher=str(write_teacher(folder / "teacher")),
        stages=read_stages(SMALL_TAUGHT, taught=True),
    )


@pytest.fixture(scope="module")
def whole(request_of_run: ReaderRequest, few_written_questions: None) -> ReaderReport:
    return train_reader(request_of_run)


def test_the_reader_is_the_pupil(request_of_run: ReaderRequest, whole: ReaderReport) -> None:
    steps = [("teacher", 2), ("distilled", 3), ("altered", 2), ("books", 2), ("plots", 2)]
    assert [(stage.name, stage.steps) for stage in whole.stages][3:] == steps
    (reading,) = load_reader(whole.reader).read("Who carried a lamp?", ["Anna carried a lamp over the bridge of Dorn."])
    assert reading.spans
    name = "layers.0.down.weight"
    stages = ("novels", "distilled", "altered", "books", "plots")
    novels, pupil, altered, books, last = (
        load_file(request_of_run.out / each / "final.safetensors")[name] for each in stages
    )
    assert load_file(whole.reader / LAYERS)[name].equal(last.half())
    assert not pupil.equal(novels)
    assert not altered.equal(pupil)
    assert not books.equal(altered)
    assert not last.equal(books)


def test_a_run_stopped_in_every_stage_of_the_teacher_makes_the_same_reader(
    request_of_run: ReaderRequest, whole: ReaderReport, tmp_path: Path
) -> None:
    request = replace(request_of_run, out=tmp_path / "run")
    stage = ""

    def stop(event: Any) -> None:
        nonlocal stage
        stage = event.stage if isinstance(event, StageEvent) else stage
        if isinstance(event, QueryEvent) and stage == "scores":
            raise KeyboardInterrupt
        if isinstance(event, TrainingEvent) and stage in ("teacher", "distilled") and event.step == 1:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(TrainingInterrupted, match="after step 1 of 2, .* --resume"):
        train_reader(request, observer=stop)
    with pytest.raises(KeyboardInterrupt):
        train_reader(request, resume=True, observer=stop)
    assert (request.out / "distilled" / "scores-0.npz").is_file()
    report = train_reader(request, resume=True)
    assert report.stages == whole.stages
    for name in (LAYERS, WEIGHTS):
        assert (report.reader / name).read_bytes() == (whole.reader / name).read_bytes()


def test_another_teacher_and_none_are_refused(
    request_of_run: ReaderRequest, whole: ReaderReport, tmp_path: Path
) -> None:
    assert whole.reader.is_dir()
    untaught = replace(request_of_run, teacher=None, stages=read_stages(()))
    with pytest.raises(TrainingError, match="with other settings: "):
        train_reader(untaught, resume=True)
    with pytest.raises(TrainingError, match="holds no MPNet encoder to learn from: it is a model of the kind bert"):
        train_reader(replace(request_of_run, teacher=request_of_run.start, out=tmp_path / "run"))
    with pytest.raises(EncoderError):
        train_reader(replace(request_of_run, teacher=str(tmp_path / "nowhere"), out=tmp_path / "run"))
    assert not (tmp_path / "run").exists()
    with pytest.raises(TrainingError, match="no setting 'distilled.steps'"):
        read_stages(["distilled.steps=3"])
