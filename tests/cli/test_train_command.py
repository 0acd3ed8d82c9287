"""`nlb train`: what it prints, what `nlb index` makes of its result, and how it is stopped."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nlb_retriever import open_store
from nlb_retriever.errors import TrainingInterrupted
from nlb_retriever.indexing.report import IndexEvent
from nlb_retriever.model import checkpoint
from nlb_training.events import StageEvent
from tests.cli.conftest import InProcess, environment, write_books
from tests.cli.test_help import LOADED
from tests.training.memory import no_old_garbage  # noqa: F401  (a fixture of every test here)

TINY = ("--preset", "tiny", "--set", "loop.steps=4", "--device", "cpu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the tests below train on three small books, one after the other."""
    folder = tmp_path_factory.mktemp("training")
    write_books(folder / "books")
    return folder


def test_books_become_an_encoder_that_index_takes(nlb: InProcess, folder: Path, tmp_path: Path) -> None:
    ran = nlb("train", folder / "books", *TINY, "--out", folder / "sea", "--licence", "books=CC0", "--seed", "5")
    assert ran.code == 0
    told = re.sub(r"in (?:\d+ min )?[\d.]+ s|loss \S+ -> \S+", "N", ran.out)
    sea = folder / "sea"
    assert told == (
        "Trained on 3 books N: 19 chunks.\n"
        "Pretraining: 4 steps, N\nRetrieval training: 1 example, 5 steps.\n"
        f"Checkpoint: {sea}\nUse it: nlb index --checkpoint {sea} --rebuild\n"
    )
    assert re.sub("[0-9][.0-9e+-]*$", "", ran.err, flags=re.MULTILINE).splitlines() == [
        "encoding books",
        "[1/3] A NIGHT AT THE OBSERVATORY",
        "[2/3] THE LAMP OF SKERRY",
        "[3/3] Orchard Letters",
        "making examples",
        "pretraining",
        *(f"[{step}/4] loss " for step in (1, 2, 3, 4)),
        "retrieval training",
        "[1/1] queries encoded",
        *(f"[{step}/5] loss " for step in (1, 2, 3, 4, 5)),
        "saving",
        "nlb: boilerplate was skipped in 1 file",
    ]
    assert "Licence: CC0" in (sea / "README.md").read_text()

    indexed = nlb("index", folder / "books", "--library", tmp_path / "library", "--checkpoint", sea, "--json")
    assert (indexed.code, len(json.loads(indexed.out)["indexed"])) == (0, 3)
    with open_store(tmp_path / "library") as store:
        assert store.manifest.checkpoint_sha256 == checkpoint.load(sea).sha256
        assert store.manifest.chunk_tokens == 32
    found = nlb("search", "Who kept the lamp?", "--library", tmp_path / "library", "--level", "book", "--json")
    assert json.loads(found.out)["hits"][0]["title"] == "THE LAMP OF SKERRY"


def test_json_is_one_document_and_a_finished_run_is_told_again(nlb: InProcess, folder: Path) -> None:
    (folder / "rows.jsonl").write_text('{"query": "Who?", "file": "nowhere.txt"}\n')
    rows = ("--examples", folder / "rows.jsonl")
    command = ("train", folder / "books", *TINY, *rows, "--out", folder / "json", "--json")
    ran = nlb(*command)
    made = json.loads(ran.out)
    assert ran.code == 1  # a row could not be used
    assert f"nlb: left out: {folder}/rows.jsonl line 1: its book nowhere.txt is not among the books\n" in ran.err
    assert (made["books"], made["chunks"], made["failed"]) == (3, 19, [])
    assert made["checkpoint"] == str(folder / "json")
    assert made["sha256"] == checkpoint.load(folder / "json").sha256
    assert made["problems"] == [
        {"row": f"{folder}/rows.jsonl line 1", "reason": "its book nowhere.txt is not among the books"}
    ]
    again = json.loads(nlb(*command, "--resume").out)
    assert {**again, "seconds": 0} == {**made, "seconds": 0}
    quiet = nlb(*command[:-1], "--resume", "--quiet")
    assert (quiet.code, quiet.out) == (1, "")
    assert quiet.err == f"nlb: left out: {folder}/rows.jsonl line 1: its book nowhere.txt is not among the books\n"


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (("--preset", "huge"), "nlb: there is no preset 'huge'; known: domain, "),
        (("--set", "loop.stepz=1"), "nlb: preset domain [loop] has unknown keys ['stepz']"),
        (("--from", "nowhere"), "nlb: cannot read nowhere/config.json (No such file or directory)"),
        (("--resume",), "holds no run to resume: start it without --resume"),
        (("--examples", "none.jsonl"), "nlb: examples none.jsonl cannot be read (No such file or directory)"),
        (("--licence", "mine"), "write WHAT=TEXT, as in books='public domain'"),
    ],
)
def test_what_cannot_be_is_one_line(nlb: InProcess, tmp_path: Path, args: tuple[str, ...], complaint: str) -> None:
    ran = nlb("train", tmp_path / "books", "--out", tmp_path / "out", *args)
    assert (ran.code, ran.out) == (2, "")
    assert complaint in ran.err
    assert not (tmp_path / "out").exists()


def test_no_usable_book_is_one_line(nlb: InProcess, tmp_path: Path) -> None:
    ran = nlb("train", tmp_path / "none", *TINY, "--out", tmp_path / "out", "-q")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert ran.err.startswith("nlb: there is no book to train on: 1 cannot be used, the first: ")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            KeyboardInterrupt(),
            "nlb: interrupted while encoding books: run the same command with --resume to continue",
        ),
        (
            TrainingInterrupted("training was stopped after step 3"),
            "nlb: interrupted: training was stopped after step 3",
        ),
    ],
)
def test_ctrl_c_says_how_to_go_on(
    nlb: InProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, line: str
) -> None:
    def stop(_request: object, *, observer: Any, resume: bool) -> None:
        observer(StageEvent(stage="corpus"))
        observer(IndexEvent(kind="plan"))
        raise error

    monkeypatch.setattr("nlb_training.run.train", stop)
    ran = nlb("train", tmp_path, "--preset", "tiny")
    assert (ran.code, ran.out, ran.err) == (130, "", f"encoding books\n{line}\n")


def test_its_help_loads_nothing_heavy() -> None:
    heavy = "torch,numpy,transformers,pyarrow,datasets,rich,nlb_training.presets"
    command = [sys.executable, "-c", LOADED, "train", "--help", heavy]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    assert "--preset" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"
