"""The comparison with other frameworks runs, and judges all of them in the same way."""

from __future__ import annotations

import bz2
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.texts import KITCHEN, LIGHTHOUSE

pytest.importorskip("llama_index.retrievers.bm25", reason="llama-index-retrievers-bm25 is not there for Python 3.14")
ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = (
    ("lighthouse.txt", LIGHTHOUSE, "What broke in the November storm?", "the clock", "The storm of that November"),
    ("lighthouse.txt", LIGHTHOUSE, "Who came and took the lamp in the spring?", "Margaret", "His niece Margaret"),
    ("bread.txt", KITCHEN, "How long does a loaf of two pounds need?", "three quarters of an hour", "A loaf of two"),
)
OTHERS = ["plain", "plain, in memory", "auto-merging", "BM25", "fusion with BM25"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Questions and books in the layout of the dev data."""
    folder = tmp_path / "data"
    (folder / "corpus").mkdir(parents=True)
    (folder / "eval").mkdir()
    for name, text in (("lighthouse.txt", LIGHTHOUSE), ("bread.txt", KITCHEN)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    for collection in ("dev", "fairytaleqa"):
        with tarfile.open(folder / "corpus" / f"{collection}.tar.bz2", "w:bz2") as tar:
            for name in ("lighthouse.txt", "bread.txt"):
                tar.add(tmp_path / name, arcname=name)
    rows: list[dict[str, Any]] = []
    for file, text, question, answer, evidence in QUESTIONS:
        start = text.index(evidence)
        rows.append({"book_file": file, "question": question, "answers": [answer]})
        rows[-1] |= {"evidence_spans": [[start, start + len(evidence)]], "story": file}
    whole = [{key: row[key] for key in ("book_file", "question", "answers")} for row in rows]
    for name, own in (("literaryqa_val_questions", whole), ("fairytaleqa_val", rows)):
        packed = bz2.compress("".join(json.dumps(row) + "\n" for row in own).encode())
        (folder / "eval" / f"{name}.jsonl.bz2").write_bytes(packed)
    return folder


def test_all_systems_answer_the_same_questions_over_the_same_passages(data: Path, tmp_path: Path) -> None:
    places = [str(ROOT), *(str(ROOT / name) for name in ("cli", "training", "integrations"))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    script = [sys.executable, str(ROOT / "benchmarks" / "frameworks.py")]
    wanted = ["--data", str(data), "--libraries", str(tmp_path / "libraries"), "--cache", str(tmp_path / "vectors")]
    done = subprocess.run(
        [*script, *wanted, "--out", str(tmp_path / "out.json")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    literary, tales = json.loads((tmp_path / "out.json").read_text())

    assert list(literary["systems"]) == [*OTHERS, "ours", 'ours, level="book"']
    assert list(tales["systems"]) == [*OTHERS, "ours"]
    assert all(each["query_seconds"]["runs"] == len(QUESTIONS) for each in literary["systems"].values())
    book, answer = literary["tasks"]
    (passage,) = tales["tasks"]
    for task in (book, answer, passage):
        assert task["questions"] == len(QUESTIONS)
        assert task["groups"] == 2
        means = task["means"]
        assert means["plain"] == means["plain, in memory"]
        for ahead in task["ahead"]:
            ours, other = means[ahead["ours"]][ahead["metric"]], means[ahead["other"]][ahead["metric"]]
            assert ahead["difference"] == pytest.approx(ours - other)
            assert ahead["low"] <= ahead["difference"] <= ahead["high"]
    assert book["means"]["ours"]["recall@1"] == book["means"]['ours, level="book"']["recall@1"] == 1
    assert passage["means"]["ours"] == {"recall@1": 1, "recall@5": 1, "MRR@10": 1}
    assert 'ours, level="book"' not in answer["means"]
    assert "ours less auto-merging:  recall@1" in done.stdout
    assert len(list((tmp_path / "vectors").rglob("*.npz"))) == 2  # of two books, which both sets are asked of


def test_a_books_rank_counts_books_and_a_merged_section_is_judged_by_its_span(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import frameworks  # type: ignore[import-not-found]
    from llama_index.core.schema import NodeWithScore, TextNode

    from nlb_training.evaluation.rows import Row

    def found(source: str, start: int, end: int) -> Any:
        node = TextNode(text="x", start_char_idx=start, end_char_idx=end, metadata={"title": "", "source": source})
        return frameworks.to_hit(NodeWithScore(node=node, score=None), "passage")

    hits = [found("/a/bread.txt", 0, 9), found("/a/bread.txt", 9, 20), found("/a/lighthouse.txt", 100, 900)]
    row = Row(query="?", file="lighthouse.txt", spans=((899, 950),), group="g", where="", values={})
    assert frameworks.judge_book(row, hits) == {"recall@1": 0, "recall@5": 1, "MRR@10": 1 / 2}
    assert frameworks.judge_passage(row, hits) == {"recall@1": 0, "recall@5": 1, "MRR@10": 1 / 3}
    assert frameworks.judge_passage(row, hits[:2]) == {"recall@1": 0, "recall@5": 0, "MRR@10": 0}


def test_the_pipelines_passages_and_questions_have_one_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import baseline_llamaindex  # type: ignore[import-not-found]
    import pipelines  # type: ignore[import-not-found]

    [passage] = pipelines._encoder()([LIGHTHOUSE[:500]])
    assert baseline_llamaindex.embedding().get_text_embedding(LIGHTHOUSE[:500]) == pytest.approx(passage, abs=1e-4)
