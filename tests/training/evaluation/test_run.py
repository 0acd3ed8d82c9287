"""A whole evaluation on a data folder of tiny books, of a trained checkpoint beside the baselines."""

from __future__ import annotations

import bz2
import io
import json
import tarfile
from pathlib import Path

import pytest
import torch

from nlb_retriever.errors import QueryError
from nlb_retriever.model import checkpoint
from nlb_retriever.model.config import NextLevelConfig
from nlb_retriever.model.next_level import NextLevelEncoder
from nlb_training.evaluation import Results, Settings, evaluate
from tests.doubles import KeywordEncoder

ENCODER = KeywordEncoder("whale", "horse", "duel")
WHALE, HORSE = "The whale swam and swam. ", "The horse ran and ran. "
TALES = 6


def pack(file: Path, books: dict[str, str]) -> None:
    with tarfile.open(file, "w:bz2") as archive:
        for name, text in books.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))


def rows(file: Path, *given: dict[str, object]) -> None:
    file.write_bytes(bz2.compress("".join(json.dumps(row) + "\n" for row in given).encode()))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two novels, two collections of six tales, a textbook of six sections."""
    folder = tmp_path / "data"
    for name in ("corpus", "eval"):
        (folder / name).mkdir(parents=True)
    novel = 4 * WHALE + "\n\n" + 4 * HORSE
    pack(folder / "corpus" / "dev.tar.bz2", {"a.txt": novel, "b.txt": "It was a duel at dawn, and nobody died. " * 5})
    pack(folder / "corpus" / "fairytaleqa.tar.bz2", {"sea.txt": TALES * WHALE, "land.txt": TALES * HORSE})
    pack(folder / "corpus" / "openstax.tar.bz2", {"book.txt": 3 * (WHALE + HORSE)})
    whole = {"book_file": "a.txt"}
    rows(
        folder / "eval" / "booksum_chapters_val.jsonl.bz2",
        {**whole, "summary": "A whale.", "start": 0, "end": 4 * len(WHALE)},
        {**whole, "summary": "A horse.", "start": 4 * len(WHALE) + 2, "end": len(novel)},
    )
    rows(folder / "eval" / "booksum_books_val.jsonl.bz2", {**whole, "summary": "A whale and a horse."})
    for split, tales in (("train", range(4)), ("val", range(4, TALES))):
        given = []
        for file, text in (("sea.txt", WHALE), ("land.txt", HORSE)):
            for tale in tales:
                span = [tale * len(text), (tale + 1) * len(text) - 1]
                row = {"book_file": file, "story": f"{file} {tale}", "story_span": span, "evidence_spans": [span]}
                given.append(row | {"question": "Who?"})
        rows(folder / "eval" / f"fairytaleqa_{split}.jsonl.bz2", *given)
    length = len(WHALE + HORSE)
    questions = [
        {
            "book_file": "book.txt", "module": str(module), "question": "Of what is told?",
            "options": ["a duel", "a whale", "a gnat"], "answer": 1,
            "start": module // 2 * length + (module % 2) * len(WHALE),
            "end": module // 2 * length + len(WHALE) + (module % 2) * (len(HORSE) - 1),
        }
        for module in range(6)
    ]  # fmt: skip
    rows(folder / "eval" / "openstax_questions_dev.jsonl.bz2", *questions, questions[0] | {"answer": 9})
    return folder


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    config = NextLevelConfig(chunk_dim=4, hidden=8, layers=1, heads=2, intermediate=8, positions=8)
    made = checkpoint.save(
        NextLevelEncoder(config), tmp_path / "ours", name="ours", chunk_encoder=ENCODER.identity, chunk_tokens=256
    )
    return made.folder


def run(data: Path, trained: Path, tmp_path: Path, *tasks: str) -> Results:
    settings = Settings(
        tasks=tasks, data=data, checkpoints=[trained], encoder=ENCODER, cache=tmp_path / "cache", seeds=(0,)
    )
    return evaluate(settings)


def values(results: Results, metric: str) -> dict[tuple[str, str], float]:
    return {(each.set, each.system): each.value for each in results.measurements if each.metric == metric}


def test_similarity_of_a_checkpoint_beside_the_baselines_both_ways(data: Path, trained: Path, tmp_path: Path) -> None:
    results = run(data, trained, tmp_path, "similarity")
    found = values(results, "mrr")
    sets = ("booksum-chapters", "booksum-chapters-reversed", "booksum-books", "booksum-books-reversed")
    systems = ("mean", "bm25", "mean+bm25", "ours", "ours+bm25")
    assert found.keys() == {(name, system) for name in sets for system in systems}
    # An untrained residual is zero: this checkpoint is the mean.
    assert all(found[name, "ours"] == found[name, "mean"] == 1 for name in sets)
    compared = {(each.system, each.baseline, each.value) for each in results.differences}
    assert {(system, value) for system, _, value in compared} == {("ours", 0), ("ours+bm25", 0)}
    assert results.about["checkpoints"].startswith("ours (")


def test_classification_frozen_and_fine_tuned_and_what_is_missing_is_named(
    data: Path, trained: Path, tmp_path: Path
) -> None:
    (data / "corpus" / "books.tsv").write_text(
        "file\ttitle\tauthor\tyear\n" + "".join(f"{name}\tT\t{name}\t{year}\n" for name, year in (("a.txt", 1850),))
    )
    results = run(data, trained, tmp_path, "classification")
    assert len(results.problems) == 1
    assert results.problems[0].startswith("century is skipped: 1 labels in 1 documents")
    found = values(results, "macro-f1")
    assert found.keys() == {
        ("origin", system)
        for system in ("most frequent", "words (tf-idf)", "mean frozen", "ours frozen", "ours fine-tuned")
    }
    assert found["origin", "mean frozen"] == found["origin", "ours frozen"] == 1
    assert found["origin", "most frequent"] < 0.5
    (data / "eval" / "fairytaleqa_val.jsonl.bz2").unlink()
    with pytest.raises(QueryError, match="nothing to measure"):  # four tales of each: too few for five folds
        run(data, trained, tmp_path, "classification")


def test_multiple_choice_names_questions_without_an_answer(data: Path, trained: Path, tmp_path: Path) -> None:
    results = run(data, trained, tmp_path, "multiple-choice")
    found = values(results, "accuracy")
    assert found["openstax", "option to best chunk"] == 0.5  # three sections are on the whale
    assert {system for _, system in found} >= {"ours zero-shot", "ours classifier", "classifier, no document"}
    assert len(results.problems) == 1
    assert results.problems[0].startswith("openstax_questions_dev.jsonl.bz2, line 7")


def test_a_set_that_is_missing_is_left_out_and_named_and_without_any_it_is_an_error(
    data: Path, trained: Path, tmp_path: Path
) -> None:
    (data / "eval" / "booksum_chapters_val.jsonl.bz2").unlink()
    results = run(data, trained, tmp_path, "similarity")
    assert {name for name, _ in values(results, "mrr")} == {"booksum-books", "booksum-books-reversed"}
    assert results.problems[0].endswith("booksum_chapters_val.jsonl.bz2 does not exist: booksum-chapters is skipped")
    (data / "corpus" / "dev.tar.bz2").unlink()
    with pytest.raises(QueryError, match=r"nothing to measure: .* does not exist: booksum-chapters is skipped"):
        run(data, trained, tmp_path, "similarity")
    assert values(run(data, trained, tmp_path, "similarity", "multiple-choice"), "accuracy")
    with pytest.raises(QueryError, match="no task 'singing': choose from similarity"):
        run(data, trained, tmp_path, "singing")
