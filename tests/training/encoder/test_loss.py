"""The contrastive loss, and the one that follows a reader."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from nlb_retriever.encoding.terms import TERM_DIM, pack_terms
from nlb_retriever.encoding.terms import compare_terms as compare_terms_of_search
from nlb_training.encoder.bert import Bert
from nlb_training.encoder.loss import add_terms, compare, compare_terms, contrast, follow
from nlb_training.encoder.rounds import IGNORED, NEGATIVE, POSITIVE, SAME_BOOK
from nlb_training.encoder.similarity import SpanIndex
from tests.training.encoder.small import write_model
from tests.training.encoder.test_bert import TEXTS, ids_of

SCORES = torch.tensor([[0.6, 0.8, 1.0]])


def test_it_is_the_cross_entropy_over_what_is_not_ignored() -> None:
    labels = torch.tensor([[POSITIVE, NEGATIVE, IGNORED]])
    loss = contrast(SCORES, labels, scale=10.0)
    assert math.isclose(float(loss[0]), math.log(1 + math.exp(2)), rel_tol=1e-5)


def test_among_other_books_the_querys_own_book_does_not_count() -> None:
    labels = torch.tensor([[POSITIVE, NEGATIVE, SAME_BOOK]])
    loss = contrast(SCORES, labels, scale=10.0, other_books=True)
    assert math.isclose(float(loss[0]), math.log(1 + math.exp(2)), rel_tol=1e-5)
    assert float(contrast(SCORES, labels, scale=10.0)[0]) > float(loss[0])


def test_terms_are_compared_as_search_compares_them() -> None:
    random = np.random.default_rng(0)
    sizes, asking = (3, 1, 4), (2, 0, 1)
    passages, queries = random.normal(size=(8, TERM_DIM)), random.normal(size=(3, TERM_DIM))
    passages, queries = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in (passages, queries))
    own = np.split(passages.astype(np.float32), np.cumsum(sizes)[:-1])
    packed = pack_terms(own, [range(size) for size in sizes], [[0] * size for size in sizes])
    expected = np.zeros((4, 3))
    for row, query in zip(asking, queries, strict=True):
        expected[row] = [compare_terms_of_search(each, query[None].astype(np.float32)).max() for each in packed]
    leaf = torch.from_numpy(passages).float().requires_grad_()
    owners = torch.from_numpy(np.repeat(np.arange(3), sizes))
    found = compare_terms(torch.from_numpy(queries).float(), torch.tensor(asking), leaf, owners, (4, 3))
    np.testing.assert_allclose(found.detach(), expected, atol=1e-3)
    found[0, 1].backward()
    assert leaf.grad is not None
    assert torch.equal(leaf.grad[3], torch.from_numpy(queries[1]).float())  # as if the numbers had been compared


def test_an_ignored_passage_gets_no_gradient() -> None:
    scores = SCORES.clone().requires_grad_()
    contrast(scores, torch.tensor([[POSITIVE, NEGATIVE, IGNORED]]), scale=10.0).sum().backward()
    assert scores.grad is not None
    assert scores.grad[0, 2] == 0
    assert scores.grad[0, 1] > 0 > scores.grad[0, 0]


def test_the_loss_is_nothing_where_similarities_are_as_far_apart_as_the_readers_logits() -> None:
    candidates = torch.tensor([[2, 0, 1]])
    assert float(follow(SCORES, candidates, torch.tensor([[5.0, 1.0, 3.0]]), scale=10.0)[0]) < 1e-6
    assert float(follow(SCORES, candidates, torch.tensor([[1.0, 5.0, 3.0]]), scale=10.0)[0]) > 1


def test_it_moves_what_the_reader_prefers_nearer_and_leaves_the_others() -> None:
    scores = torch.tensor([[0.5, 0.5, 0.5, 0.5]], requires_grad=True)
    follow(scores, torch.tensor([[0, 1, 3]]), torch.tensor([[2.0, 0.0, math.nan]]), scale=10.0).sum().backward()
    assert scores.grad is not None
    assert scores.grad[0, 1] > 0 > scores.grad[0, 0]
    assert scores.grad[0, 2:].tolist() == [0, 0]


@pytest.mark.parametrize("relevance", [[math.nan, math.nan], [1.0, math.nan]])
def test_a_query_that_was_not_read_has_no_such_loss(relevance: list[float]) -> None:
    scores = SCORES.clone().requires_grad_()
    loss = follow(scores, torch.tensor([[0, -1]]), torch.tensor([relevance]), scale=10.0)
    loss.sum().backward()
    assert loss.tolist() == [0]
    assert scores.grad is not None
    assert not scores.grad.any()


def test_passages_are_compared_as_search_compares_them(tmp_path_factory: pytest.TempPathFactory) -> None:
    model = Bert.load(write_model(tmp_path_factory.mktemp("loss") / "model"))
    texts = ids_of([*TEXTS, "The captain gave orders. Nobody heard them."])
    starts = [[0] if len(text) < 6 else [0, 3, 5] for text in texts]
    wholes, spans = (torch.from_numpy(each) for each in model.encode_spans(texts, starts))
    queries = model.encode(texts[:2])
    owners = torch.from_numpy(np.repeat(np.arange(len(texts)), [len(own) for own in starts]))
    _, scores = compare(torch.from_numpy(queries), wholes, spans, owners)
    np.testing.assert_allclose(add_terms(scores, scores), scores)
    np.testing.assert_allclose(scores, SpanIndex(model, texts, starts).score(queries), rtol=1e-5)
