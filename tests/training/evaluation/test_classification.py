"""Documents are classified by folds that never tear a group apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from nlb_retriever.errors import QueryError
from nlb_retriever.model import checkpoint
from nlb_retriever.model.config import NextLevelConfig
from nlb_retriever.model.next_level import NextLevelEncoder
from nlb_training.evaluation import classification
from nlb_training.evaluation.books import BookCollection
from nlb_training.evaluation.classification import Labelled
from nlb_training.evaluation.documents import Document
from nlb_training.evaluation.tuning import TuningSettings, classify_fine_tuned
from tests.doubles import KeywordEncoder

TINY = NextLevelConfig(chunk_dim=4, hidden=8, layers=1, heads=2, intermediate=8, positions=8)


def labelled(count: int, *, per_group: int = 1) -> list[Labelled]:
    """Documents of two labels in turn, each label in groups of its own."""
    return [
        Labelled(
            document=Document(name=str(number), text=f"{'whale' if number % 2 else 'duel'} {number}"),
            label="sea" if number % 2 else "land",
            group=f"{number % 2} {number // (2 * per_group)}",
        )
        for number in range(count)
    ]


def test_no_author_is_on_both_sides_of_a_split_and_every_document_is_judged_once() -> None:
    documents = labelled(60, per_group=3)
    judged: list[int] = []
    for training, others in classification.splits(documents, seed=1):
        assert not {documents[index].group for index in training} & {documents[index].group for index in others}
        judged += others.tolist()
    assert sorted(judged) == list(range(60))


def test_vectors_that_tell_the_label_classify_and_those_that_do_not_do_not() -> None:
    documents = labelled(40)
    random = np.random.default_rng(0)
    noise = random.normal(size=(40, 4)).astype(np.float32)
    telling = noise + 4 * np.array([[number % 2, 0, 0, 0] for number in range(40)], dtype=np.float32)
    for vectors, low, high in ((telling, 0.9, 1.0), (noise, 0.2, 0.75)):
        macro, micro = classification.measure(
            "set", documents, "system", classification.classify_vectors(vectors), [0, 1], trained=True
        )
        assert (macro.metric, micro.metric) == ("macro-f1", "micro-f1")
        assert low <= macro.value <= high
        assert macro.spread is not None


def test_the_most_frequent_label_gets_the_share_of_that_label() -> None:
    documents = labelled(40)[:30] + [each for each in labelled(80)[40:] if each.label == "sea"][:10]
    macro, micro = classification.measure(
        "set", documents, "most", classification.classify_as_majority(), [0], trained=False
    )
    assert micro.value == pytest.approx(25 / 40)
    assert macro.value == pytest.approx((2 * 25 / 65 + 0) / 2)


def test_words_classify_what_words_tell() -> None:
    documents = labelled(20)
    [macro, _] = classification.measure(
        "s", documents, "words", classification.classify_words(documents), [0], trained=False
    )
    assert macro.value == 1


def test_fine_tuning_learns_what_only_the_chunks_tell_and_leaves_the_checkpoint_as_it_was(tmp_path: Path) -> None:
    whales = KeywordEncoder("whale", "duel", "horse")
    torch.manual_seed(0)
    saved = checkpoint.save(
        NextLevelEncoder(TINY), tmp_path / "c", name="c", chunk_encoder=whales.identity, chunk_tokens=256
    )
    weights = (saved.folder / "model.safetensors").read_bytes()
    random = np.random.default_rng(0)
    books = []
    for number in range(24):
        chunks = random.normal(size=(3 + number % 10, 4)).astype(np.float32)
        chunks[:, 0] += 3 if number % 2 else -3
        books.append(chunks / np.linalg.norm(chunks, axis=1, keepdims=True))
    classify = classify_fine_tuned(books, saved, TuningSettings(epochs=4, head_rate=0.05))
    documents = labelled(24)
    first = classification.measure("set", documents, "tuned", classify, [3], trained=True)
    assert first[0].value > 0.9
    assert first == classification.measure("set", documents, "tuned", classify, [3], trained=True)
    assert (saved.folder / "model.safetensors").read_bytes() == weights


def test_a_label_that_is_too_rare_is_left_out_and_one_label_is_no_task() -> None:
    documents = [*labelled(20), Labelled(document=Document(name="x", text="x"), label="rare", group="x")]
    assert {each.label for each in classification.keep_frequent(documents)} == {"sea", "land"}
    with pytest.raises(QueryError, match="2 labels in 3 documents"):
        classification.keep_frequent(labelled(3))


def test_centuries_come_from_years_and_authors_are_told_by_their_surnames(tmp_path: Path) -> None:
    books = tmp_path / "books"
    books.mkdir()
    table = tmp_path / "books.tsv"
    lines = ["file\ttitle\tauthor\tyear\twords\tgutenberg_id\tsplit"]
    for name, author, year in (
        ("a.txt", "Joseph Conrad", "1895"),
        ("b.txt", "Conrad, Joseph (1857-1924)", "1904"),
        ("c.txt", "Homer", "760 BC"),
        ("d.txt", "Nobody", ""),
        ("absent.txt", "Nobody", "1850"),
    ):
        lines.append(f"{name}\tTitle\t{author}\t{year}\t9\t\ttrain")
        if name != "absent.txt":
            (books / name).write_text("It was a long day. " * 10)
    table.write_text("\n".join(lines) + "\n")
    shelf = BookCollection("s", {path.name: path for path in books.iterdir()}, books)
    found = classification.read_centuries(table, [shelf])
    assert [(each.document.name, each.label, each.group) for each in found] == [
        ("a.txt", "19th century", "conrad"),
        ("b.txt", "20th century", "conrad"),
        ("c.txt", "before 1800", "homer"),
    ]
