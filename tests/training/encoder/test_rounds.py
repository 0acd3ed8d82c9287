"""Batches, and rounds of them on disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nlb_retriever.errors import TrainingError
from nlb_training.encoder.books import Span, TokenizedBook
from nlb_training.encoder.queries import SOURCES
from nlb_training.encoder.rounds import IGNORED, NEGATIVE, POSITIVE, Pair, make_batch, read_round, write_round

RARITY = np.ones(30522, dtype=np.float32)
BOOK = TokenizedBook(
    name="book",
    text="a " * 1000,
    ids=np.arange(1000, dtype=np.uint16),
    starts=np.arange(0, 2000, 2, dtype=np.uint32),
    sentences=np.array([0, 1000]),
)


def pair(
    source: str, spans: list[Span], positive: Span, *, negative: Span | None = None, hole: Span | None = None
) -> Pair:
    query = np.array([7, 8], dtype=np.uint16)
    return Pair(
        query=query,
        source=SOURCES.index(source),  # type: ignore[arg-type]
        book=BOOK,
        spans=tuple(spans),
        positive=positive,
        negative=negative,
        hole=hole,
    )


def test_other_passages_of_the_same_stretch_are_neither_right_nor_wrong() -> None:
    first = pair("summary", [(0, 300)], (100, 200), negative=(400, 500))
    second = pair("summary", [(0, 300)], (0, 100))
    third = pair("summary", [(300, 600)], (300, 400))
    batch = make_batch([first, second, third], SOURCES, RARITY)
    assert batch.labels.tolist() == [
        [POSITIVE, NEGATIVE, IGNORED, NEGATIVE],
        [IGNORED, NEGATIVE, POSITIVE, NEGATIVE],
        [NEGATIVE, IGNORED, NEGATIVE, POSITIVE],
    ]
    assert batch.passages[0].tolist() == list(range(100, 200))


def test_what_lies_beside_a_questions_evidence_is_not_taken_for_wrong() -> None:
    near = pair("tale", [(0, 50)], (0, 100))
    beside = pair("tale", [(120, 130)], (100, 180))
    far = pair("tale", [(500, 510)], (480, 560))
    labels = make_batch([near, beside, far], SOURCES, RARITY).labels
    assert labels[0].tolist() == [POSITIVE, IGNORED, NEGATIVE]
    assert labels[2].tolist() == [NEGATIVE, NEGATIVE, POSITIVE]


def test_a_passage_stands_once_in_a_batch_and_without_its_hole_when_it_has_one() -> None:
    batch = make_batch(
        [
            pair("tale", [(0, 50)], (0, 100), negative=(300, 400)),
            pair("tale", [(0, 50)], (0, 100), negative=(300, 400)),
            pair("cloze", [(0, 100)], (0, 100), hole=(10, 90)),
        ],
        SOURCES,
        RARITY,
    )
    assert [len(passage) for passage in batch.passages] == [100, 100, 20]
    assert batch.labels[2].tolist() == [IGNORED, NEGATIVE, POSITIVE]


def test_a_round_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    batches = [
        make_batch([pair("tale", [(n, n + 50)], (n, n + 100), negative=(600, 700))], SOURCES, RARITY) for n in range(3)
    ]
    write_round(tmp_path / "round.npz", batches)
    again = read_round(tmp_path / "round.npz")
    assert len(again) == 3
    for before, after in zip(batches, again, strict=True):
        assert np.array_equal(before.labels, after.labels)
        assert np.array_equal(before.sources, after.sources)
        assert np.array_equal(before.words, after.words)
        for a, b in zip((*before.queries, *before.passages), (*after.queries, *after.passages), strict=True):
            assert np.array_equal(a, b)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 half of a file"])
def test_a_damaged_round_is_one_line_with_the_way_out(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "round.npz"
    file.write_bytes(content)
    with pytest.raises(TrainingError, match=r"round\.npz is damaged .* delete it"):
        read_round(file)


def test_words_are_scored_beside_the_best_passage_of_each_query() -> None:
    query = np.array([105, 300], dtype=np.uint16)
    wrong = replace(pair("tale", [(0, 50)], (0, 100), negative=(100, 200)), query=query)
    words = make_batch([wrong, pair("tale", [(500, 550)], (500, 600))], SOURCES, RARITY).words
    assert words[0].tolist() == [0, 1, 0]
    assert words.max() == 1
