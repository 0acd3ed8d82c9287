"""Losses against figures worked out by hand."""

from __future__ import annotations

import math

import pytest
import torch

from nlb_training.pretraining.objectives import (
    Distance,
    average_per_sample,
    candidate_logits,
    contrast_candidates,
    measure_distances,
)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        # guess (3, 4) for (1, 0): differences 2 and 4; guess (0.6, 0.8) for (1, 0): 0.4 and 0.8
        ("smooth_l1", [1.5 + 3.5, 0.08 + 0.32]),
        ("cosine", [1 - 0.6, 1 - 0.6]),
    ],
)
def test_distances_are_those_worked_out_by_hand(kind: Distance, expected: list[float]) -> None:
    guesses, hidden = torch.tensor([[3.0, 4.0], [0.6, 0.8]]), torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    assert measure_distances(guesses, hidden, kind).tolist() == pytest.approx(expected)


def test_picking_among_candidates_is_a_softmax_of_cosines_over_the_temperature() -> None:
    candidates = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    losses = contrast_candidates(torch.tensor([[5.0, 0.0], [0.0, 2.0]]), candidates, torch.tensor([0, 2]), 0.5)
    # cosines (1, 0, -1) and (0, 1, 0), twice as large as logits
    expected = [math.log(1 + math.exp(-2) + math.exp(-4)), math.log(2 + math.exp(2))]
    assert losses.tolist() == pytest.approx(expected)


def test_a_twin_of_the_hidden_chunk_is_no_wrong_answer() -> None:
    candidates = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    logits = candidate_logits(torch.tensor([[1.0, 0.0], [1.0, 0.0]]), candidates, torch.tensor([0, 1]), 1.0)
    assert logits.tolist() == [[1.0, 0.0, -math.inf], [1.0, 0.0, 1.0]]


def test_a_row_with_many_guesses_weighs_as_much_as_one_with_few() -> None:
    losses = torch.tensor([1.0, 2.0, 3.0, 10.0])
    assert average_per_sample(losses, torch.tensor([0, 0, 0, 2]), 3).item() == (2 + 10) / 2  # row 1 has no guess


def test_a_batch_without_guesses_loses_nothing() -> None:
    assert average_per_sample(torch.zeros(0), torch.zeros(0, dtype=torch.long), 2).item() == 0


def test_half_precision_does_not_make_twins_of_neighbours() -> None:
    candidates = torch.tensor([[1.0, 0.0], [math.cos(0.05), math.sin(0.05)]])  # cosine 0.99875, in bf16 1
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = candidate_logits(candidates[:1], candidates, torch.tensor([0]), 1.0)
    assert logits.isfinite().all()
