"""`nlb train-encoder`: what it prints, how it is stopped and goes on, and what it refuses."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import RUN, InProcess, environment
from tests.training.encoder.small import write_data, write_model

SMALL = [
    argument
    for change in (
        "steps=40",
        "cooldown=5",
        *("mix.steps=40", "mix.summary=1", "mix.summary_books=1", "mix.novel=0", "mix.plot=0", "mix.book=0"),
        *(
            "mix.title=0",
            "mix.tale=0",
            "mix.tale_books=1",
            "mix.article=0",
            "mix.article_books=1",
            "mix.cloze=0",
            "mix.cloze_books=1",
        ),
    )
    for argument in ("--set", change)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("train-encoder")
    write_data(folder / "data")
    write_model(folder / "model")
    return folder


def test_ctrl_c_says_how_to_go_on_and_resume_does(nlb: InProcess, folder: Path) -> None:
    command = ["train-encoder", folder / "data", "--from", folder / "model", "--out", folder / "run", *SMALL]
    with subprocess.Popen(
        [sys.executable, "-c", RUN, *map(str, command)], env=environment(), stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "training the chunk encoder\n"
        assert process.stderr.readline().startswith("[ 4/40] loss ")
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 130
    stopped = re.fullmatch(r"nlb: interrupted: stopped after step (\d+): go on with --resume", rest.splitlines()[-1])
    assert stopped and 4 <= int(stopped[1]) < 40
    ran = nlb(*command, "--resume")
    assert ran.code == 0
    assert ran.out == f"Chunk encoder: {folder / 'run' / 'encoder'}\n"
    assert ran.err.splitlines()[-1].startswith("[40/40] loss ")
    again = nlb(*command)
    assert again.code == 2
    assert (
        again.err
        == f"nlb: {folder / 'run'} holds an earlier run: go on with it (--resume), or name another folder (--out)\n"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("speed=9", "there is no setting 'speed': known are steps, "),
        ("steps=many", "steps=many is no number of the right kind"),
        ("learning_rate=-1", "learning_rate=-1 is below zero"),
    ],
)
def test_a_wrong_setting_is_one_line(nlb: InProcess, folder: Path, change: str, message: str) -> None:
    ran = nlb("train-encoder", folder / "data", "--set", change, "--out", folder / "other")
    assert ran.code == 2
    assert ran.err.startswith(f"nlb: {message}")
    assert len(ran.err.splitlines()) == 1
    assert not (folder / "other").exists()


@pytest.mark.parametrize("model", ["nothing/at-all", "model-without-tokenizer"])
def test_a_start_that_is_none_is_one_line(
    nlb: InProcess, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    if model == "model-without-tokenizer":
        model = str(write_model(tmp_path / model))
        (Path(model) / "tokenizer.json").unlink()
    ran = nlb("train-encoder", folder / "data", "--from", model, "--out", tmp_path / "run", *SMALL)
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1
    assert ran.err.startswith("nlb: ")


def test_a_reader_that_is_none_is_one_line(nlb: InProcess, folder: Path, tmp_path: Path) -> None:
    ran = nlb("train-encoder", folder / "data", "--reader", tmp_path, "--out", tmp_path / "run", *SMALL)
    assert (ran.code, ran.err) == (2, f"nlb: {tmp_path} holds no reader: it has no reader.json\n")
    assert not (tmp_path / "run").exists()
