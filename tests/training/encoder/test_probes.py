"""The quick measure of what an encoder finds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from nlb_training.encoder.bert import Ids
from nlb_training.encoder.probes import Probes
from nlb_training.encoder.similarity import Floats
from tests.doubles import minilm_tokenizer
from tests.training.encoder.small import write_data


class BagOfWords:
    """Vectors that know which tokens a text has, and nothing else."""

    axes = np.random.default_rng(0).normal(size=(30522, 256)).astype(np.float32)

    def encode(self, texts: Sequence[Ids]) -> Floats:
        rows = np.stack([self.axes[np.unique(text)].sum(axis=0) for text in texts])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def encode_spans(self, texts: Sequence[Ids], starts: Sequence[Sequence[int]]) -> tuple[Floats, Floats]:
        spans = [text[a:b] for text, own in zip(texts, starts, strict=True) for a, b in pairwise([*own, len(text)])]
        return self.encode(texts), self.encode(spans)


class Noise(BagOfWords):
    def encode(self, texts: Sequence[Ids]) -> Floats:
        rows = np.random.default_rng(len(texts)).normal(size=(len(texts), 8)).astype(np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def probes(tmp_path_factory: pytest.TempPathFactory) -> Probes:
    tokenizer = minilm_tokenizer()
    tokenizer.no_truncation()
    tokenizer.no_padding()
    folder = tmp_path_factory.mktemp("probes")
    return Probes(write_data(folder / "data"), tokenizer, folder / "tokens", quick=False)


def test_vectors_that_know_words_find_what_noise_does_not(probes: Probes) -> None:
    names = ["sentence chapter in book", "textbook summary"]
    known, random = probes.run(BagOfWords(), only=names), probes.run(Noise(), only=names)
    for name in names:
        for kind in ("vectors", "spans"):
            assert known[name][kind] > 70 > random[name][kind]


def test_bm25_is_the_same_whatever_the_vectors(probes: Probes) -> None:
    known, random = probes.run(BagOfWords(), only=["tale passage"]), probes.run(Noise(), only=["tale passage"])
    assert list(known) == ["tale passage"]
    assert known["tale passage"]["bm25"] == random["tale passage"]["bm25"]


def test_passages_end_where_tales_and_sections_do(probes: Probes) -> None:
    for collection in ("tales", "textbooks"):
        for name, (start, end) in probes.passages[collection]:
            assert 0 <= start < end <= len(probes.books.open(name).ids)
            assert end - start <= 254


def test_every_question_on_a_passage_has_one_that_answers(probes: Probes) -> None:
    for questions in probes.sets:
        if questions.name in ("tale passage", "article passage"):
            assert all(len(right) for right in questions.right)


@pytest.mark.parametrize("name", ["tale passage", "textbook question"])
def test_scores_of_words_are_kept_on_disk(probes: Probes, tmp_path: Path, name: str) -> None:
    questions = next(each for each in probes.sets if each.name == name)
    first = probes.words(questions)
    assert np.array_equal(first, probes.words(questions))
