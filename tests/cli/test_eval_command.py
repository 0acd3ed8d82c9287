"""`nlb eval` on three small books and a user's own questions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import LAMP, InProcess, environment

pytestmark = pytest.mark.usefixtures("few_everyday_questions")
ROWS: list[dict[str, object]] = [
    {"query": "Who rowed out alone to the schooner on the reef?", "file": "lamp.txt", "at": "Tomas rowed out alone"},
    {"query": "Which letter came with the herring boat?", "file": "lamp.txt", "at": "One day a letter came"},
    {"query": "Who discovered the comet while her assistant slept?", "file": "comet.txt"},
    {"query": "Who sold the grey mare to a miller?", "file": "orchard.md"},
]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    lines = []
    for given in ROWS:
        row = dict(given)
        if at := row.pop("at", None):
            start = LAMP.index(str(at))
            row |= {"start": start, "end": start + 60}
        lines.append(json.dumps(row))
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(lines) + "\n")
    return file


def test_own_questions_are_asked_at_every_level_they_have_an_answer_for(
    nlb: InProcess, questions: Path, books: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    ran = nlb("eval", questions, "--books", books, "--json", "--quiet", "--out", out)
    assert (ran.code, ran.err) == (0, "")
    found = json.loads(ran.out)
    asked = {(each["set"], each["system"]): each for each in found["measurements"] if each["metric"] == "mrr"}
    assert {name for name, _ in asked} == {"book", "section", "passage"}
    assert asked["book", "bm25"]["value"] == 1
    assert asked["book", "bm25"]["queries"] == 4
    assert asked["passage", "bm25"]["queries"] == 2
    assert json.loads((out / "results.json").read_text()) == found
    assert "Retrieval from a library: book (4 queries, 3 groups)" in (out / "table.md").read_text()
    assert (out / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_a_copy_counts_as_its_book_and_a_book_that_is_gone_is_not_searched(
    nlb: InProcess, questions: Path, books: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    shutil.copytree(books, own)
    shutil.copy(own / "comet.txt", own / "a-copy.txt")
    rows = [row for row in ROWS if "at" not in row]
    questions.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    first = json.loads(nlb("eval", questions, "--books", own, "--json", "--quiet").out)
    [found] = [each for each in first["measurements"] if (each["system"], each["metric"]) == ("bm25", "mrr")]
    assert (found["set"], found["value"]) == ("book", 1)
    (own / "lamp.txt").unlink()
    nlb("eval", questions, "--books", own, "--json", "--quiet")
    libraries = [*(Path(os.environ["NLB_HOME"]) / "evaluation/libraries").glob("own-*")]
    assert libraries
    for library in libraries:
        kept = json.loads(nlb("books", "--library", library, "--json").out)
        assert sorted(Path(book["source"]).name for book in kept) == ["a-copy.txt", "orchard.md"]


def test_own_questions_with_human_answers_measure_the_short_answer(
    nlb: InProcess, questions: Path, books: Path
) -> None:
    with questions.open("a") as file:
        for answers in (["Tomas", "Tomas the keeper"], "Tomas", [], [3]):
            row = {"query": "Who rowed out alone to the schooner?", "file": "lamp.txt", "answers": answers}
            file.write(json.dumps(row) + "\n")
    ran = nlb("eval", questions, "--books", books, "--json", "--quiet")
    assert ran.code == 0
    assert ran.err == ("nlb: warning: questions.jsonl, line 8: has the answers [3]: give a list of strings\n")
    found = {
        (each["task"], each["set"], each["metric"]): each
        for each in json.loads(ran.out)["measurements"]
        if each["system"] != "bm25"
    }
    assert found["retrieval", "answer", "recall@5"]["queries"] == 2
    assert found["retrieval", "book", "mrr"]["queries"] == 7, "the row without an answer, too"
    assert found["answers", "own", "f1"]["queries"] == 2
    assert found["answers", "own", "f1"]["value"] == 1
    assert found["answers", "own-in-book", "em"]["value"] == 1
    assert found["answers", "everyday-to-own", "refused"]["value"] > 0.5


def test_bad_rows_are_named_missed_conditions_exit_with_1_and_a_second_run_encodes_nothing(
    nlb: InProcess, questions: Path, books: Path
) -> None:
    with questions.open("a") as file:
        file.write('{"query": "Who discovered the comet?", "file": "orchard.md"}\n')  # she did not
        file.write(
            '{"query": "q", "file": "absent.txt"}\n{"query": "q", "file": "lamp.txt", "start": 5, "end": 99999}\n'
        )
    args = ("eval", questions, "--books", books, "--tasks", "similarity", "--at-least", "similarity.book.mrr=0.1")
    ran = nlb(*args)
    assert ran.code == 0
    assert "nlb: warning: questions.jsonl, line 6: no book 'absent.txt' in" in ran.err
    assert "nlb: warning: questions.jsonl, line 7: 5 to 99999 is not a span of lamp.txt" in ran.err
    assert "encoding" in ran.err
    title, header, mean, *_ = ran.out.splitlines()
    assert title == "Semantic similarity, zero-shot: section (2 queries, 1 group)"
    assert header.split()[:2] == ["system", "mrr"]
    assert mean.split()[0] == "mean"
    again = nlb(*args, "--at-least", "similarity.section.mrr@bm25=1", "--at-least", "similarity.book.mrr@first=0")
    assert "encoding" not in again.err
    assert again.code == 2
    assert "there is no measurement 'similarity.book.mrr@first'" in again.err
    missed = nlb(*args, "--at-least", "similarity.book.hit@1@bm25=0.9")
    assert missed.code == 1
    assert "nlb: missed: similarity.book.hit@1@bm25 is 0.8000 (bm25), should be 0.9 or more" in missed.err


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        ((), "nlb: no evaluation data: name its folder"),
        (("--data", "."), "is not a folder of evaluation data"),
        (("absent.jsonl",), "nlb: absent.jsonl cannot be read"),
        (("--at-least", "0.8"), "nlb: --at-least '0.8' is not a condition"),
        (("--checkpoint", "absent"), "cannot read absent"),
    ],
)
def test_what_cannot_be_evaluated_is_one_line(
    nlb: InProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...], complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NLB_DATA", raising=False)
    if "--checkpoint" in args:
        for name in ("corpus", "eval"):
            (tmp_path / name).mkdir()
        args = (*args, "--data", str(tmp_path))
    ran = nlb("eval", *args)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert complaint in ran.err


def test_answers_cannot_be_measured_without_any(nlb: InProcess, questions: Path, books: Path) -> None:
    ran = nlb("eval", questions, "--books", books, "--tasks", "answers", "--quiet")
    assert (ran.code, ran.out, ran.err) == (2, "", "nlb: nothing to measure: no row has human answers, `answers`\n")


def test_a_folder_that_cannot_be_written_and_an_unknown_baseline_cost_no_work(
    nlb: InProcess, questions: Path, books: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("not a folder")
    ran = nlb("eval", questions, "--books", books, "--out", tmp_path / "file" / "out")
    assert (ran.code, ran.out) == (2, "")
    assert (
        ran.err
        == f"nlb: {tmp_path / 'file' / 'out'} cannot be written (Not a directory): name another folder with --out\n"
    )
    ran = nlb("eval", questions, "--books", books, "--baselines", "mean,bm26")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("nlb: no baseline 'bm26': choose from mean, ")


def test_figures_are_shown_even_if_they_cannot_be_written(
    nlb: InProcess, questions: Path, books: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    (out / "table.md").mkdir(parents=True)
    ran = nlb("eval", questions, "--books", books, "--tasks", "similarity", "--out", out, "--quiet")
    assert ran.code == 2
    assert ran.out.startswith("Semantic similarity, zero-shot: section (2 queries, 1 group)")
    assert "cannot be written (Is a directory)" in ran.err


def test_help_of_eval_loads_nothing_heavy() -> None:
    program = "import sys\nfrom nlb_cli.app import main\ntry:\n    main()\nfinally:\n    print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program, "eval", "--help"], env=environment(), capture_output=True, text=True, check=True
    )
    *shown, loaded = done.stdout.splitlines()
    assert any("--at-least KEY=VALUE" in row for row in shown)
    assert not {"torch", "numpy", "nlb_training", "qdrant_edge", "rich", "matplotlib"} & {*loaded.split()}
