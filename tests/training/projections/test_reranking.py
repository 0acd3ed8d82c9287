from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from nlb_retriever.model.projections import Heads
from nlb_retriever.model.reranker import FEATURES, score
from nlb_training.data.dataset import Material, collect
from nlb_training.data.examples import Example
from nlb_training.data.queries import QueryVectors
from nlb_training.projections.ranking import measure
from nlb_training.projections.reranking import Lists, list_candidates, measure_reranker, train_reranker
from nlb_training.projections.trainable import whiten
from tests.training.memory import no_old_garbage  # noqa: F401  (a fixture of every test here)
from tests.training.projections.test_training import (  # one_thread is a fixture of every test here
    D,
    one_thread,  # noqa: F401
    shelf,
    unit,
)

BOOKS = 6


@pytest.fixture(scope="module")
def ordered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Material, Heads]:
    """Sections in pairs with the same chunks, one the other way round: only order tells which one is summarised."""
    random = np.random.default_rng(3)
    chunks, examples, sentences = [], [], []
    for book in range(BOOKS):
        rows = []
        for place in range(0, 12, 2):
            own = unit(random.normal(size=(5, D)))
            rows += [own, own[::-1]]
            for section, told in ((place, own), (place + 1, own[::-1])):
                span = (section * 500, section * 500 + 500)
                examples.append(Example(query="It is told.", kind="summary", file=f"/books/{book}.txt", spans=(span,)))
                sentences.append(unit(told + random.normal(size=(5, D)) * 0.1))
        chunks.append(unit(np.concatenate(rows) + random.normal(size=(60, D)) * 0.05))
    whole = unit(np.stack([own.mean(axis=0) for own in sentences]))
    first = np.arange(len(sentences) + 1) * 5
    queries = QueryVectors(whole=whole, sentences=np.concatenate(sentences), first=first)
    material = collect(shelf(tmp_path_factory.mktemp("shelf"), chunks), examples, queries)
    return material, whiten(material, torch.arange(BOOKS))


def text(book: int) -> str:
    return "word " * 1200


def test_section_vectors_with_an_order_part_know_the_order(ordered: tuple[Material, Heads]) -> None:
    material, heads = ordered
    with_order, without = (
        measure(material, torch.arange(BOOKS), each)["section, long query"]
        for each in (heads, replace(heads, order=None))
    )
    assert without < 80
    assert with_order > 95


def test_the_reranker_learns_the_order_that_section_vectors_without_it_do_not_have(
    ordered: tuple[Material, Heads],
) -> None:
    material, heads = ordered
    lists = list_candidates(material, torch.arange(BOOKS), replace(heads, order=None), text)
    assert lists is not None
    assert lists.found.shape == (72, 50, len(FEATURES))
    figures = measure_reranker(lists)
    assert figures is not None
    assert figures["before reranking"] < 80
    assert figures["after reranking"] > 90
    weights = train_reranker(lists)
    assert int(np.abs(weights).argmax()) == FEATURES.index("order")
    assert np.array_equal(weights, train_reranker(lists))


def test_features_are_standardised_as_the_library_does(ordered: tuple[Material, Heads]) -> None:
    material, heads = ordered
    lists = list_candidates(material, torch.arange(3), heads, text)
    assert lists is not None
    weights = np.arange(len(FEATURES), dtype=np.float32)
    mine, theirs = lists.found[5] @ weights, score(lists.found[5], weights)
    np.testing.assert_allclose(mine - mine.mean(), theirs - theirs.mean(), atol=1e-3)
    assert set(lists.book.tolist()) == {0, 1, 2}
    assert lists.right.sum(axis=1).max() == 1


def test_words_decide_where_vectors_cannot(ordered: tuple[Material, Heads]) -> None:
    material, heads = ordered
    texts = tuple(f"marked{number}" for number in range(len(material.texts)))
    named = Material(**{**vars(material), "texts": texts})

    def read(book: int) -> str:
        return "".join(f"marked{book * 12 + section} ".ljust(500) for section in range(12))

    lists = list_candidates(named, torch.arange(BOOKS), heads, read)
    assert lists is not None
    assert (lists.before == 1).all()


def test_too_few_queries_or_sentences_train_no_reranker(ordered: tuple[Material, Heads]) -> None:
    material, heads = ordered
    assert list_candidates(material, torch.arange(2), heads, text) is None
    short = Material(**{**vars(material), "counts": torch.full_like(material.counts, 2.0)})
    assert list_candidates(short, torch.arange(BOOKS), heads, text) is None


def test_a_right_section_that_is_no_candidate_keeps_its_rank() -> None:
    found = np.random.default_rng(0).normal(size=(4, 3, len(FEATURES))).astype(np.float32)
    right = np.zeros((4, 3), dtype=np.bool_)
    lists = Lists(found=found, right=right, before=np.full(4, 80.0), book=np.arange(4))
    assert measure_reranker(lists) == {"before reranking": 1.25, "after reranking": 1.25}
    assert not train_reranker(lists).any()
    assert measure_reranker(Lists(found=found, right=right, before=np.full(4, 80.0), book=np.zeros(4, int))) is None
