from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from nlb_retriever.model.projections import Projections
from nlb_retriever.model.reranker import FEATURES, score_features
from nlb_training.corpus import Corpus
from nlb_training.corpus.books import text_file
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
Ordered = tuple[Corpus, RetrievalDataset, Projections]


@pytest.fixture(scope="module")
def ordered(tmp_path_factory: pytest.TempPathFactory) -> Ordered:
    """Sections in pairs with the same chunks, one the other way round: only order tells which one is summarised."""
    random = np.random.default_rng(3)
    chunks, examples, sentences = [], [], []
    for book in range(BOOKS):
        rows = []
        for place in range(0, 12, 2):
            own = unit(random.normal(size=(5, D)))
            rows += [own, own[::-1]]
            for section, order in ((place, own), (place + 1, own[::-1])):
                span = (section * 500, section * 500 + 500)
                examples.append(Example(query="It is told.", kind="summary", file=f"/books/{book}.txt", spans=(span,)))
                sentences.append(unit(order + random.normal(size=(5, D)) * 0.1))
        chunks.append(unit(np.concatenate(rows) + random.normal(size=(60, D)) * 0.05))
    whole = unit(np.stack([own.mean(axis=0) for own in sentences]))
    first = np.arange(len(sentences) + 1) * 5
    queries = QueryVectors(whole=whole, sentences=np.concatenate(sentences), first=first)
    corpus = write_texts(shelf(tmp_path_factory.mktemp("shelf"), chunks, section=5), ["word " * 1200] * BOOKS)
    dataset = build_dataset(corpus, examples, queries)
    return corpus, dataset, whiten(dataset, torch.arange(BOOKS))


def write_texts(corpus: Corpus, texts: list[str]) -> Corpus:
    for book, text in zip(corpus.books, texts, strict=True):
        file = text_file(corpus.folder, book.content_hash)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return corpus


def test_section_vectors_with_an_order_part_know_the_order(ordered: Ordered) -> None:
    _, dataset, projections = ordered
    with_order, without = (
        measure(dataset, torch.arange(BOOKS), each)["section, long query"]
        for each in (projections, replace(projections, order=None))
    )
    assert without < 80
    assert with_order > 95


def test_the_reranker_learns_the_order_that_section_vectors_without_it_do_not_have(
    ordered: Ordered,
) -> None:
    corpus, dataset, projections = ordered
    lists = list_candidates(corpus, dataset, torch.arange(BOOKS), replace(projections, order=None))
    assert lists is not None
    assert lists.features.shape == (72, 50, len(FEATURES))
    figures = measure_reranker(lists)
    assert figures is not None
    assert figures["before reranking"] < 80
    assert figures["after reranking"] > 90
    weights = train_reranker(lists)
    assert int(np.abs(weights).argmax()) == FEATURES.index("order")
    assert np.array_equal(weights, train_reranker(lists))


def test_features_are_standardised_as_the_library_does(ordered: Ordered) -> None:
    corpus, dataset, projections = ordered
    lists = list_candidates(corpus, dataset, torch.arange(3), projections)
    assert lists is not None
    weights = np.arange(len(FEATURES), dtype=np.float32)
    mine, theirs = lists.features[5] @ weights, score_features(lists.features[5], weights)
    np.testing.assert_allclose(mine - mine.mean(), theirs - theirs.mean(), atol=1e-3)
    assert set(lists.book.tolist()) == {0, 1, 2}
    assert lists.right.sum(axis=1).max() == 1


def test_words_decide_where_vectors_cannot(ordered: Ordered, tmp_path: Path) -> None:
    corpus, dataset, projections = ordered
    marks = [[f"marked{book * 12 + section} " for section in range(12)] for book in range(BOOKS)]
    named = replace(dataset, texts=tuple(mark for own in marks for mark in own))
    texts = ["".join(mark.ljust(500) for mark in own) for own in marks]
    lists = list_candidates(
        write_texts(replace(corpus, folder=tmp_path), texts), named, torch.arange(BOOKS), projections
    )
    assert lists is not None
    assert (lists.before == 1).all()


def test_right_are_the_sections_that_share_half_of_the_shorter_span(ordered: Ordered) -> None:
    corpus, dataset, projections = ordered
    moved = {  # by half a section and a little: half of it is in the section before
        book.key: replace(
            stored,
            sections=tuple(replace(each, start=each.start - 260, end=each.end - 260) for each in stored.sections),
        )
        for book in corpus.books
        for stored in [corpus._stored[book.key]]
    }
    lists = list_candidates(replace(corpus, _stored=moved), dataset, torch.arange(BOOKS), projections)
    assert lists is not None
    assert lists.right.sum(axis=1).max() == 1
    assert np.isinf(lists.before).sum() == BOOKS  # the last of each book is in none by half
    whole = {
        key: replace(
            stored,
            sections=(
                replace(stored.sections[0], start=0, end=3000),
                replace(stored.sections[0], start=3000, end=6000),
            ),
        )
        for key, stored in corpus._stored.items()
    }
    lists = list_candidates(replace(corpus, _stored=whole), dataset, torch.arange(BOOKS), projections)
    assert lists is not None and lists.features.shape == (72, 2 * BOOKS, len(FEATURES))
    assert (lists.right.sum(axis=1) == 1).all()


def test_too_few_queries_or_sentences_train_no_reranker(ordered: Ordered) -> None:
    corpus, dataset, projections = ordered
    assert list_candidates(corpus, dataset, torch.arange(2), projections) is None
    short = replace(dataset, sentence_counts=torch.full_like(dataset.sentence_counts, 2.0))
    assert list_candidates(corpus, short, torch.arange(BOOKS), projections) is None


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
