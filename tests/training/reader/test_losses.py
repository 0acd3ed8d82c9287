"""Losses: what they reward, and what they leave alone."""

from __future__ import annotations

import pytest
import torch
from tokenizers import Tokenizer

from nlb_training.reader.examples import Candidate, Example
from nlb_training.reader.losses import ranking_loss, span_loss
from nlb_training.reader.rows import Batch, make_batch, tokenize
from tests.training.reader.questions import make_examples


def _batch(examples: list[Example], tokenizer: Tokenizer) -> Batch:
    rows = tokenize(examples, tokenizer, longest=64)
    return make_batch(rows, torch.arange(len(rows)).numpy())


def _point_at(batch: Batch, spans: list[tuple[int, int, int]]) -> torch.Tensor:
    scores = torch.zeros(*batch.ids.shape, 2)
    for row, first, last in spans:
        scores[row, first, 0] = scores[row, last, 1] = 20
    return scores


def test_right_spans_and_no_answers_cost_nothing(tokenizer: Tokenizer) -> None:
    batch = _batch(make_examples(3), tokenizer)
    right = [(row, first, last) for row, first, last in batch.spans.tolist()]
    none = [(row, 0, 0) for row in range(len(batch.ids)) if not batch.relevant[row]]
    assert span_loss(_point_at(batch, right + none), batch).item() < 1e-3
    assert span_loss(_point_at(batch, [(row, 1, 1) for row in range(len(batch.ids))]), batch).item() > 2


def test_any_of_several_spans_is_enough(tokenizer: Tokenizer) -> None:
    text = "Anna sang. Then Anna slept."
    candidate = Candidate(text=text, relevant=True, spans=((0, 4), (16, 20)))
    batch = _batch([Example(source="test", question="Who sang?", candidates=(candidate,))], tokenizer)
    for span in batch.spans.tolist():
        assert span_loss(_point_at(batch, [tuple(span)]), batch).item() < 1e-3


def test_a_passage_that_answers_in_other_words_trains_no_span(tokenizer: Tokenizer) -> None:
    candidate = Candidate(text="She slept all day.", relevant=True)
    batch = _batch([Example(source="test", question="Was she tired?", candidates=(candidate,))], tokenizer)
    scores = torch.randn(*batch.ids.shape, 2, requires_grad=True)
    span_loss(scores, batch).backward()
    assert scores.grad is not None
    assert not scores.grad.any()


def test_ranking_compares_passages_of_one_question_only(tokenizer: Tokenizer) -> None:
    batch = _batch(make_examples(2), tokenizer)
    relevance = torch.tensor([5.0, -5.0, -50.0, -60.0])
    assert ranking_loss(relevance, batch).item() == pytest.approx(0, abs=1e-3)
    assert ranking_loss(-relevance, batch).item() > 4
