from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from nlb_retriever.model.projections import Projections
from nlb_retriever.model.reranker import FEATURES, score_features
from nlb_training.data.dataset import RetrievalDataset, build_dataset
from nlb_training.data.examples import Example
from nlb_training.data.queries import QueryVectors
from nlb_training.projections.ranking import measure
from nlb_training.projections.reranking import CandidateLists, list_candidates, measure_reranker, train_reranker
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
def ordered(tmp_path_factory: pytest.TempPathFactory) -> tuple[RetrievalDataset, Projections]:
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
    dataset = build_dataset(shelf(tmp_path_factory.mktemp("shelf"), chunks), examples, queries)
    return dataset, whiten(dataset, torch.arange(BOOKS))


def text(book: int) -> str:
    return "word " * 1200


def test_section_vectors_with_an_order_part_know_the_order(ordered: tuple[RetrievalDataset, Projections]) -> None:
    dataset, projections = ordered
    with_order, without = (
        measure(dataset, torch.arange(BOOKS), each)["section, long query"]
        for each in (projections, replace(projections, order=None))
    )
    assert without < 80
    assert with_order > 95


def test_the_reranker_learns_the_order_that_section_vectors_without_it_do_not_have(
    ordered: tuple[RetrievalDataset, Projections],
) -> None:
    dataset, projections = ordered
    lists = list_candidates(dataset, torch.arange(BOOKS), replace(projections, order=None), text)
    assert lists is not None
    assert lists.features.shape == (72, 50, len(FEATURES))
    figures = measure_reranker(lists)
    assert figures is not None
    assert figures["before reranking"] < 80
    assert figures["after reranking"] > 90
    weights = train_reranker(lists)
    assert int(np.abs(weights).argmax()) == FEATURES.index("order")
    assert np.array_equal(weights, train_reranker(lists))


def test_features_are_standardised_as_the_library_does(ordered: tuple[RetrievalDataset, Projections]) -> None:
    dataset, projections = ordered
    lists = list_candidates(dataset, torch.arange(3), projections, text)
    assert lists is not None
    weights = np.arange(len(FEATURES), dtype=np.float32)
    mine, theirs = lists.features[5] @ weights, score_features(lists.features[5], weights)
    np.testing.assert_allclose(mine - mine.mean(), theirs - theirs.mean(), atol=1e-3)
    assert set(lists.book.tolist()) == {0, 1, 2}
    assert lists.right.sum(axis=1).max() == 1


def test_words_decide_where_vectors_cannot(ordered: tuple[RetrievalDataset, Projections]) -> None:
    dataset, projections = ordered
    texts = tuple(f"marked{number}" for number in range(len(dataset.texts)))
    named = RetrievalDataset(**{**vars(dataset), "texts": texts})

    def read(book: int) -> str:
        return "".join(f"marked{book * 12 + section} ".ljust(500) for section in range(12))

    lists = list_candidates(named, torch.arange(BOOKS), projections, read)
    assert lists is not None
    assert (lists.before == 1).all()


def test_too_few_queries_or_sentences_train_no_reranker(ordered: tuple[RetrievalDataset, Projections]) -> None:
    dataset, projections = ordered
    assert list_candidates(dataset, torch.arange(2), projections, text) is None
    short = replace(dataset, sentence_counts=torch.full_like(dataset.sentence_counts, 2.0))
    assert list_candidates(short, torch.arange(BOOKS), projections, text) is None


def test_a_right_section_that_is_no_candidate_keeps_its_rank() -> None:
    found = np.random.default_rng(0).normal(size=(4, 3, len(FEATURES))).astype(np.float32)
    right = np.zeros((4, 3), dtype=np.bool_)
    lists = CandidateLists(features=found, right=right, before=np.full(4, 80.0), book=np.arange(4))
    assert measure_reranker(lists) == {"before reranking": 1.25, "after reranking": 1.25}
    assert not train_reranker(lists).any()
    assert (
        measure_reranker(CandidateLists(features=found, right=right, before=np.full(4, 80.0), book=np.zeros(4, int)))
        is None
    )
