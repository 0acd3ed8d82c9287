"""Batches, and rounds of them on disk."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nlb_retriever.errors import TrainingError
from nlb_training.encoder.books import NO_TERM, Span, TokenizedBook
from nlb_training.encoder.queries import SOURCES
from nlb_training.encoder.rounds import (
    IGNORED,
    NEGATIVE,
    POSITIVE,
    SAME_BOOK,
    Candidate,
    Example,
    draw_candidates,
    make_batch,
    read_round,
    write_round,
)
from nlb_training.encoder.similarity import cut_spans

BOOK = TokenizedBook(
    name="book",
    text="a " * 1000,
    ids=np.arange(1000, dtype=np.uint16),
    starts=np.arange(0, 2000, 2, dtype=np.uint32),
    sentences=np.array([0, 1000]),
    terms=np.arange(5000, 6000, dtype=np.uint32),
)


OTHER = replace(BOOK, name="other")


def example(
    source: str,
    spans: list[Span],
    right: Span,
    *,
    inside: Sequence[tuple[Span, float]] = (),
    wrong: Sequence[tuple[Span, float]] = (),
    foreign: Sequence[Span] = (),
    hole: Span | None = None,
) -> Example:
    return Example(
        query=np.array([7, 8], dtype=np.uint16),
        query_terms=np.array([NO_TERM, 9], dtype=np.uint32),
        vector=np.zeros(3, dtype=np.float32),
        text="who?",
        source=SOURCES.index(source),  # type: ignore[arg-type]
        book=BOOK,
        spans=tuple(spans),
        candidates=(
            Candidate(book=BOOK, span=right, inside=True, relevance=1.0),
            *(Candidate(book=BOOK, span=span, inside=True, relevance=value) for span, value in inside),
            *(Candidate(book=BOOK, span=span, relevance=value) for span, value in wrong),
            *(Candidate(book=OTHER, span=span, relevance=0.0) for span in foreign),
        ),
        hole=hole,
    )


def test_other_passages_of_the_same_stretch_are_neither_right_nor_wrong() -> None:
    first = example("summary", [(0, 300)], (100, 200), wrong=[((400, 500), 0.0)])
    second = example("summary", [(0, 300)], (0, 100))
    third = example("summary", [(300, 600)], (300, 400))
    batch = make_batch([first, second, third], SOURCES)
    assert batch.labels.tolist() == [
        [POSITIVE, SAME_BOOK, IGNORED, SAME_BOOK],
        [IGNORED, SAME_BOOK, POSITIVE, SAME_BOOK],
        [SAME_BOOK, IGNORED, SAME_BOOK, POSITIVE],
    ]
    assert batch.passages[0].tolist() == list(range(100, 200))
    assert batch.candidates.tolist() == [[0, 1], [2, -1], [3, -1]]
    assert batch.relevance[0].tolist() == [1, 0]


def test_what_lies_beside_a_questions_evidence_is_not_taken_for_wrong() -> None:
    near = example("tale", [(0, 50)], (0, 100))
    beside = example("tale", [(120, 130)], (100, 180))
    far = example("tale", [(500, 510)], (480, 560))
    labels = make_batch([near, beside, far], SOURCES).labels
    assert labels[0].tolist() == [POSITIVE, IGNORED, SAME_BOOK]
    assert labels[2].tolist() == [SAME_BOOK, SAME_BOOK, POSITIVE]


def test_what_the_reader_prefers_to_the_right_passage_is_not_taken_for_wrong() -> None:
    wrong = [((400, 500), 1.5), ((600, 700), 0.5), ((800, 900), math.nan)]
    labels = make_batch([example("tale", [(0, 50)], (0, 100), wrong=wrong)], SOURCES).labels
    assert labels.tolist() == [[POSITIVE, IGNORED, SAME_BOOK, SAME_BOOK]]


def test_the_same_place_in_another_book_is_wrong() -> None:
    labels = make_batch([example("tale", [(0, 50)], (0, 100), foreign=[(0, 100)])], SOURCES).labels
    assert labels.tolist() == [[POSITIVE, NEGATIVE]]


def test_a_passage_stands_once_in_a_batch_and_without_its_hole_when_it_has_one() -> None:
    batch = make_batch(
        [
            example("tale", [(0, 50)], (0, 100), wrong=[((300, 400), 0.0)]),
            example("tale", [(0, 50)], (0, 100), wrong=[((300, 400), 0.0)]),
            example("cloze", [(0, 100)], (0, 100), hole=(10, 90)),
        ],
        SOURCES,
    )
    assert [len(passage) for passage in batch.passages] == [100, 100, 20]
    assert [len(terms) for terms in batch.terms] == [2, 2, 2, 100, 100, 20]
    assert batch.terms[5].tolist() == [*range(5000, 5010), *range(5090, 5100)]
    assert batch.labels[2].tolist() == [IGNORED, SAME_BOOK, POSITIVE]


@pytest.mark.parametrize("hole", [None, (40, 60), (10, 95), (0, 30)])
def test_spans_begin_inside_their_passage_the_first_at_its_front(hole: Span | None) -> None:
    book = replace(BOOK, sentences=np.array([0, 20, 40, 60, 80, 100, 1000]))
    starts = cut_spans(book, (0, 100), hole)
    assert starts == sorted(set(starts))
    assert starts[0] == 0
    assert starts[-1] < 100 - (hole[1] - hole[0] if hole else 0)
    assert hole or starts == [0, 40, 80]


def test_the_right_passage_is_mostly_the_one_that_the_reader_prefers() -> None:
    drawn = example(
        "summary",
        [(0, 600)],
        (0, 100),
        inside=[((100, 200), 4.0), ((200, 300), -3.0)],
        wrong=[((600 + 50 * n, 650 + 50 * n), 0.0) for n in range(5)],
        foreign=[(0, 50), (50, 100)],
    )
    random, first = np.random.default_rng(0), Counter[Span]()
    for _ in range(300):
        chosen = draw_candidates(drawn, random).candidates
        first[chosen[0].span] += 1
        assert [each.inside for each in chosen] == [True, True, False, False, False]
        assert [each.book.name for each in chosen] == ["book"] * 4 + ["other"]
        assert len({(each.book.name, each.span) for each in chosen}) == 5
    assert first[100, 200] > 250 > first[0, 100] > 0


def test_a_round_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    batches = [
        make_batch([example("tale", [(n, n + 50)], (n, n + 100), wrong=[((600, 700 + n), 0.5)] * (n + 1))] * 2, SOURCES)
        for n in range(3)
    ]
    write_round(tmp_path / "round.npz", batches)
    again = read_round(tmp_path / "round.npz")
    assert len(again) == 3
    for before, after in zip(batches, again, strict=True):
        for name in ("labels", "sources", "candidates", "relevance"):
            assert np.array_equal(getattr(before, name), getattr(after, name))
        for name in ("queries", "passages", "terms", "starts"):
            for a, b in zip(getattr(before, name), getattr(after, name), strict=True):
                assert np.array_equal(a, b)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 half of a file"])
def test_a_damaged_round_is_one_line(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "round.npz"
    file.write_bytes(content)
    with pytest.raises(TrainingError, match=r"round\.npz is damaged "):
        read_round(file)
