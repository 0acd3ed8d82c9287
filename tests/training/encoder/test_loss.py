"""The contrastive loss."""

from __future__ import annotations

import math

import torch

from nlb_training.encoder.loss import contrast
from nlb_training.encoder.rounds import IGNORED, NEGATIVE, POSITIVE

QUERY = torch.tensor([[1.0, 0.0]])
PASSAGES = torch.tensor([[0.6, 0.8], [0.8, 0.6], [1.0, 0.0]])


def test_it_is_the_cross_entropy_over_what_is_not_ignored() -> None:
    labels = torch.tensor([[POSITIVE, NEGATIVE, IGNORED]])
    loss = contrast(QUERY, PASSAGES, labels, scale=10.0)
    assert math.isclose(float(loss[0]), math.log(1 + math.exp(2)), rel_tol=1e-5)


def test_an_ignored_passage_gets_no_gradient() -> None:
    passages = PASSAGES.clone().requires_grad_()
    contrast(QUERY, passages, torch.tensor([[POSITIVE, NEGATIVE, IGNORED]]), scale=10.0).sum().backward()
    assert passages.grad is not None
    assert not passages.grad[2].any()
    assert passages.grad[1, 0] > 0 > passages.grad[0, 0]


def test_what_words_tell_already_is_not_learnt_from_vectors() -> None:
    labels = torch.tensor([[NEGATIVE, POSITIVE, NEGATIVE]])
    grads = []
    for words in (torch.zeros(1, 3), torch.tensor([[0.0, 1.0, 0.0]])):
        query = QUERY.clone().requires_grad_()
        contrast(query, PASSAGES, labels, scale=10.0, words=words).sum().backward()
        assert query.grad is not None
        grads.append(float(query.grad.norm()))
    assert grads[1] < 0.1 * grads[0]
