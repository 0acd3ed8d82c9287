"""`nlb train-reader`: what it prints, how it is stopped and goes on, and how its reader is used."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, RUN, InProcess, environment
from tests.training.encoder.small import write_model
from tests.training.reader.small import SMALL, write_data

pytest.importorskip("nncf")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("train-reader")
    write_data(folder / "data")
    write_model(folder / "model")
    return folder


def test_a_stopped_run_goes_on_and_its_reader_answers(nlb: InProcess, folder: Path, shelf: Path) -> None:
    small = [*SMALL, "short.tokens=100", "short.steps=30"]  # enough steps left for the signal to arrive in
    changes = [argument for change in small for argument in ("--set", change)]
    command = ["train-reader", folder / "data", "--from", folder / "model", "--out", folder / "run", *changes]
    with subprocess.Popen(
        [sys.executable, "-c", RUN, *map(str, command)], env=environment(), stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        assert next(lines) == "making examples\n"
        assert next(lines) == "training on short passages\n"
        assert next(lines).startswith("[ 3/30] loss ")
        process.send_signal(signal.SIGINT)
        rest = list(lines)
    assert process.returncode == 130
    assert rest[-1].startswith("nlb: interrupted: training was stopped after step ")
    assert rest[-1].endswith("run the same command with --resume to go on from there\n")
    ran = nlb(*command, "--resume", "--json")
    assert ran.code == 0, ran.err
    report = json.loads(ran.out)
    assert set(report) == {"reader", "start", "stages", "seconds"}
    assert [(stage["name"], stage["steps"]) for stage in report["stages"]] == [
        ("short", 30),
        ("passages", 4),
        ("novels", 3),
        ("altered", 2),
        ("books", 2),
        ("plots", 2),
    ]
    question = "Who slept under the telescope?"
    answer = nlb("ask", question, "--json", "--library", shelf, "--reader", report["reader"])
    assert (answer.code, json.loads(answer.out)["question"]) == (0, question)
    hits = nlb("search", question, "--rerank", "--json", "--library", shelf, "--reader", report["reader"])
    assert json.loads(hits.out)["hits"] != json.loads(nlb("search", question, "--json", "--library", shelf).out)["hits"]
    again = nlb(*command)
    assert (again.code, len(again.err.splitlines())) == (2, 1)
    assert "holds an earlier run: go on with it (--resume)" in again.err


def test_the_extra_that_is_named_where_quantizing_is_not_installed_brings_it(
    nlb: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    ran = nlb("train-reader", "data")
    assert (ran.code, ran.err) == (2, "nlb: nncf is not installed: run `pip install 'nlb-retriever[train]'`\n")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert "nlb-retriever[eval,quantize]" in extras["train"]
    assert any(each.startswith("nncf>=") for each in extras["quantize"])


@pytest.mark.parametrize("command", [("ask",), ("search", "--rerank")])
def test_a_folder_that_holds_no_reader_is_one_line(
    nlb: InProcess, shelf: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    ran = nlb(*command, "Who slept under the telescope?", "--library", shelf, "--reader", tmp_path)
    assert (ran.code, ran.err) == (2, f"nlb: {tmp_path} holds no reader: it has no reader.json\n")


def test_no_data_and_a_wrong_setting_are_one_line(nlb: InProcess, folder: Path, tmp_path: Path) -> None:
    for arguments, message in (
        ((tmp_path / "nothing",), f"nlb: {tmp_path / 'nothing'} lacks eval/squad_dev.jsonl.bz2, "),
        ((folder / "data", "--set", "speed=9"), "nlb: there is no setting 'speed': known are short.steps, "),
        ((folder / "data", "--from", folder / "data"), f"nlb: {folder / 'data'} holds no BERT encoder"),
        ((folder / "data", "--device", "abacus"), "nlb: torch cannot use a device 'abacus' on this machine: give"),
    ):
        ran = nlb("train-reader", *arguments, "--out", tmp_path / "run")
        assert (ran.code, len(ran.err.splitlines())) == (2, 1)
        assert ran.err.startswith(message)
    assert not (tmp_path / "run").exists()
