from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nlb_retriever.encoding import Vectors
from nlb_retriever.errors import EncoderError, TrainingError
from nlb_retriever.model.projections import KINDS
from nlb_retriever.model.reranker import FEATURES
from nlb_retriever.records import Section
from nlb_training.corpus import Chunking, Corpus, CorpusBook
from nlb_training.corpus.storage import StoredBook
from nlb_training.data.dataset import RetrievalDataset, build_dataset
from nlb_training.data.examples import Example
from nlb_training.data.queries import QueryVectors, encode_queries
from nlb_training.projections.ranking import measure, rank_right
from nlb_training.projections.settings import RetrievalSettings
from nlb_training.projections.stage import read_result, train_retrieval
from nlb_training.projections.trainable import TrainableProjections, whiten
from nlb_training.projections.training import _Run, mask_sections, train_projections
from tests.training.books import KEYWORDS, CountingEncoder
from tests.training.memory import no_old_garbage  # noqa: F401  (a fixture of every test here)

D = 16
CHUNK = 100
"""Characters of a chunk."""
FAST = RetrievalSettings(steps=6, learning_rate=1e-2, books=4, batch_size=16, pool=50)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Steps this small take torch longer on several cores than on one, and minutes where these are busy."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def unit(vectors: Vectors) -> Vectors:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True), dtype=np.float32)


def shelf(folder: Path, chunks: list[Vectors], *, section: int = 0) -> Corpus:
    """A corpus whose books have these chunk vectors, each chunk of 100 characters; in sections of so many chunks, or
    in one."""
    stored: dict[str, StoredBook] = {}
    for number, vectors in enumerate(chunks):
        starts = np.arange(len(vectors), dtype=np.int32) * CHUNK
        book = CorpusBook(
            key=f"key{number}",
            file=f"{number}.txt",
            source=f"/books/{number}.txt",
            content_hash=f"{number:064}",
            title=f"{number}",
            author=None,
            chunking=Chunking(tokens=32),
            tokens=1,
            characters=len(vectors) * CHUNK,
            rows=(0, len(vectors)),
        )
        borders = range(0, len(vectors), section or len(vectors))
        size = (section or len(vectors)) * CHUNK
        sections = tuple(
            Section(path=(f"{first}",), start=first * CHUNK, end=first * CHUNK + size) for first in borders
        )
        spans = np.stack([starts, starts + CHUNK], axis=1)
        stored[book.key] = StoredBook(book=book, sections=sections, vectors=vectors.astype(np.float16), spans=spans)
    books = tuple(one.book for one in stored.values())
    return Corpus(folder=folder, encoder=replace(KEYWORDS.identity, dim=D), books=books, _stored=stored)


def cone(folder: Path, *, kinds: tuple[str, ...] = ("long", "title", "passage"), books: int = 9) -> RetrievalDataset:
    """Books of 4 sections of 3 chunks: topics that differ little beside a direction that all vectors share, and
    that chunks have more of than queries. What asks for a section is near to its topic, in other dress."""
    random = np.random.default_rng(7)
    shared, dress = unit(random.normal(size=(2, D)))
    chunks, examples, whole, sentences = [], [], [], []
    for book in range(books):
        topics = random.normal(size=(4, D)) * 0.25
        chunks.append(unit(np.repeat(topics, 3, axis=0) + random.normal(size=(12, D)) * 0.15 + 2 * shared))
        for number, topic in enumerate(topics):
            place = {"file": f"/books/{book}.txt", "spans": ((number * 300, number * 300 + 300),)}
            for kind in kinds:
                own = unit(topic + random.normal(size=(3 if kind == "long" else 1, D)) * 0.2 + dress + shared)
                level: Any = "passage" if kind == "passage" else "section"
                examples.append(Example(query=f"{kind} {book} {number}", kind="question", level=level, **place))
                whole.append(unit(own.mean(axis=0)))
                sentences.append(own)
    first = np.concatenate([[0], np.cumsum(list(map(len, sentences)))]).astype(np.int64)
    rows = np.concatenate(sentences) if sentences else np.zeros((0, D), np.float32)
    queries = QueryVectors(whole=np.stack(whole) if whole else rows, sentences=rows, first=first)
    return build_dataset(shelf(folder, chunks), examples, queries)


def all_books(dataset: RetrievalDataset) -> torch.Tensor:
    return torch.arange(len(dataset.files))


def test_trained_projections_find_more_than_the_mean_on_books_that_they_have_not_seen(tmp_path: Path) -> None:
    dataset = cone(tmp_path, books=24)
    mine, aside = torch.arange(16), torch.arange(16, 24)
    projections, losses = train_projections(dataset, mine, replace(FAST, steps=30), seed=0)
    raw, mapped = measure(dataset, aside, None), measure(dataset, aside, projections)
    assert (
        set(raw)
        == set(mapped)
        == {
            *("section, long query", "section, one sentence", "section, title", "passage, question"),
            *("book, long query", "book, one sentence"),
        }
    )
    assert mapped["section, long query"] > raw["section, long query"] + 5
    assert mapped["passage, question"] > raw["passage, question"] + 5
    assert np.mean(losses[-5:]) < np.mean(losses[:5])


def test_the_librarys_projections_are_those_that_were_trained(tmp_path: Path) -> None:
    dataset = cone(tmp_path)
    model = TrainableProjections(train_projections(dataset, all_books(dataset), FAST, seed=0)[0])
    projections = model.to_projections()
    with torch.no_grad():
        questions = model.query(dataset.whole, dataset.sentence_means, dataset.sentence_counts).numpy()
        passages = model.project("passage", dataset.chunks).numpy()
    mine = [
        projections.project_query(dataset.queries.whole[one], dataset.queries.of(one)) for one in range(len(questions))
    ]
    np.testing.assert_allclose(np.stack(mine)[:, : dataset.dim], questions, atol=1e-5)
    np.testing.assert_allclose(projections.passage(dataset.chunks.numpy()), passages, atol=1e-5)


def test_equal_seeds_give_equal_bits_and_others_do_not(tmp_path: Path) -> None:
    dataset = cone(tmp_path)
    one, again, other = (
        train_projections(dataset, all_books(dataset), FAST, seed=seed)[0].tensors() for seed in (3, 3, 4)
    )
    assert all(np.array_equal(one[name], again[name]) for name in one)
    assert not np.array_equal(one["heads.section.matrix"], other["heads.section.matrix"])


def test_hard_negatives_are_the_nearest_chunks_that_do_not_answer(tmp_path: Path) -> None:
    dataset = cone(tmp_path)
    books = all_books(dataset)
    model = TrainableProjections(whiten(dataset, books))
    run = _Run(dataset, books, replace(FAST, hard=3), model, torch.Generator())
    assert run.hard.shape == (len(dataset.passage_queries), 3)
    projections = model.to_projections()
    for (query, _, answers), hard in zip(run.passages, run.hard.numpy(), strict=True):
        vector = projections.project_query(dataset.queries.whole[query], dataset.queries.of(query))[: dataset.dim]
        others = np.setdiff1d(run.passage_rows.numpy(), answers)
        near = projections.passage(dataset.chunks.numpy()) @ vector
        assert not set(hard) & set(answers)
        np.testing.assert_allclose(near[hard], np.sort(near[others])[::-1][:3], atol=1e-5)
    assert _Run(dataset, books, replace(FAST, hard=0), model, torch.Generator()).hard.shape[1] == 0


def test_several_runs_are_averaged(tmp_path: Path) -> None:
    dataset = cone(tmp_path)
    books, seen = all_books(dataset), []
    both, losses = train_projections(
        dataset, books, replace(FAST, runs=2), seed=0, progress=lambda step, _: seen.append(step)
    )
    first, second = (train_projections(dataset, books, FAST, seed=seed)[0].tensors() for seed in (0, 1))
    for name, tensor in both.tensors().items():
        np.testing.assert_allclose(tensor, (first[name] + second[name]) / 2, atol=1e-6, err_msg=name)
    assert seen == list(range(1, 13))
    assert len(losses) == 6


@pytest.mark.parametrize("kinds", [(), ("title",), ("long",), ("passage",)])
def test_only_projections_with_examples_are_trained(tmp_path: Path, kinds: tuple[str, ...]) -> None:
    dataset = cone(tmp_path, kinds=kinds)
    start = whiten(dataset, all_books(dataset))
    projections, losses = train_projections(dataset, all_books(dataset), FAST, seed=0)
    moved = {
        name for name in KINDS if not np.array_equal(getattr(projections, name).matrix, getattr(start, name).matrix)
    }
    assert (
        moved
        == {
            (): set(),
            ("title",): {"long_query", "short_query", "section", "book"},
            ("long",): {"long_query", "short_query", "section", "book"},
            ("passage",): {"long_query", "short_query", "passage"},
        }[kinds]
    )
    assert bool(losses) == bool(kinds)


def test_whitening_evens_out_what_all_chunks_share(tmp_path: Path) -> None:
    dataset = cone(tmp_path, kinds=())
    projections = whiten(dataset, all_books(dataset))
    chunks = dataset.chunks.numpy()
    near = chunks @ chunks.T
    apart = projections.passage(chunks) @ projections.passage(chunks).T
    assert near.mean() > 0.7 and abs(apart.mean()) < 0.1
    assert np.linalg.norm(projections.book.matrix) == pytest.approx(D**0.5, rel=1e-5)
    np.testing.assert_allclose(projections.passage.center, chunks.mean(axis=0), atol=1e-6)
    assert not projections.reranker.any()


def test_training_goes_on_from_earlier_projections_and_stays_near_them(tmp_path: Path) -> None:
    dataset = cone(tmp_path)
    start = train_projections(dataset, all_books(dataset), FAST, seed=0)[0]
    start = replace(start, reranker=np.arange(len(FEATURES), dtype=np.float32))
    still = RetrievalSettings(steps=3, learning_rate=1e-9, books=4, batch_size=8)
    projections, _ = train_projections(dataset, all_books(dataset), still, seed=1, start=start)
    for name, tensor in projections.tensors().items():
        np.testing.assert_allclose(tensor, start.tensors()[name], atol=1e-6, err_msg=name)


def test_sections_that_share_text_or_a_group_are_no_negatives_of_each_other(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    corpus = shelf(tmp_path, [unit(random.normal(size=(6, D))) for _ in range(2)])
    places = [(0, 0, 300, None), (0, 200, 400, "a"), (0, 400, 500, "a"), (0, 500, 600, None), (1, 0, 300, "a")]
    examples = [
        Example(query="q", kind="title", file=f"/books/{book}.txt", spans=((start, end),), group=group)
        for book, start, end, group in places
    ]
    vectors = unit(random.normal(size=(5, D)))
    dataset = build_dataset(corpus, examples, QueryVectors(whole=vectors, sentences=vectors, first=np.arange(6)))
    books = torch.tensor([0, 1])
    columns = dataset.section_numbers(books)
    right, never, other = mask_sections(
        dataset, columns, books, dataset.short_queries.answer, dataset.short_queries.book
    )
    assert right.tolist() == [0, 1, 2, 3, 4]
    assert [set(torch.where(row)[0].tolist()) for row in never] == [{1}, {0, 2}, {1}, set(), set()]
    assert [set(torch.where(row)[0].tolist()) for row in other] == [{4}, {4}, {4}, {4}, {0, 1, 2, 3}]


def test_a_passages_answers_are_all_chunks_that_its_evidence_touches(tmp_path: Path) -> None:
    vectors = unit(np.random.default_rng(0).normal(size=(6, D)))
    example = Example(
        query="Who?", kind="question", file="/books/1.txt", spans=((150, 210), (450, 460)), level="passage"
    )
    queries = QueryVectors(whole=vectors[:1], sentences=vectors[:1], first=np.arange(2))
    dataset = build_dataset(shelf(tmp_path, [vectors, vectors]), [example], queries)
    [(query, book, rows)] = dataset.passage_queries
    assert (query, book, rows.tolist()) == (0, 1, [7, 8, 10])


def test_sections_and_books_are_pooled_from_contextual_vectors(tmp_path: Path) -> None:
    vectors = unit(np.random.default_rng(0).normal(size=(4, D)))
    example = Example(query="t", kind="title", file="/books/0.txt", spans=((0, 200),))
    queries = QueryVectors(whole=vectors[:1], sentences=vectors[:1], first=np.arange(2))
    dataset = build_dataset(shelf(tmp_path, [vectors]), [example], queries, contextualize=lambda chunks: -chunks)
    stored = vectors.astype(np.float16).astype(np.float32)
    np.testing.assert_allclose(dataset.pool_sections().numpy()[0], -unit(stored[:2].mean(axis=0)), atol=1e-6)
    np.testing.assert_allclose(dataset.pool_books().numpy()[0], -unit(stored.mean(axis=0)), atol=1e-6)
    np.testing.assert_array_equal(dataset.chunks.numpy(), stored)


def test_vectors_that_are_none_are_refused_by_name(tmp_path: Path) -> None:
    vectors = unit(np.random.default_rng(0).normal(size=(4, D)))
    torn = vectors.copy()
    torn[2, 3] = np.nan
    example = Example(query="t", kind="title", file="/books/1.txt", spans=((0, 200),))
    good, bad = (QueryVectors(whole=rows[2:3], sentences=rows[2:3], first=np.arange(2)) for rows in (vectors, torn))
    with pytest.raises(TrainingError, match=r"1 of 4 vectors of 1.txt are not unit vectors \(NaN\?\)"):
        build_dataset(shelf(tmp_path, [vectors, torn]), [example], good)
    with pytest.raises(TrainingError, match=r"1 of 1 vectors of the queries are not unit vectors"):
        build_dataset(shelf(tmp_path, [vectors, vectors]), [example], bad)


def test_a_loss_that_is_no_number_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match=r"the loss of retrieval training is (nan|inf) at step \d+: lower"):
        dataset = cone(tmp_path)
        train_projections(dataset, all_books(dataset), replace(FAST, learning_rate=1e30), seed=0)


def test_ties_count_against_the_right_answer() -> None:
    scores = np.array([[1, 1, 0], [2, 1, 1], [0, 0, 0]], dtype=np.float32)
    right = np.array([[True, False, False], [False, True, True], [True, True, False]])
    assert rank_right(scores, right).tolist() == [2, 2, 2]


def test_queries_are_encoded_once_and_only_those_that_are_new(tmp_path: Path) -> None:
    texts = [f"The whale of day {number}. A duel! Nobody saw it." for number in range(300)]
    encoder, seen = CountingEncoder(), []

    def encode(texts: list[str]) -> QueryVectors:
        return encode_queries(
            texts, tmp_path, identity=encoder.identity, load=lambda: encoder, progress=lambda *done: seen.append(done)
        )

    first = encode(texts)
    assert (encoder.calls, seen) == ([256 * 4, 44 * 4], [(256, 300), (300, 300)])
    assert (first.whole.shape, first.counts.tolist()) == ((300, 7), [3] * 300)
    np.testing.assert_allclose(first.of(5)[1], unit(np.eye(7)[1]), atol=1e-3)
    again = encode(texts)
    assert len(encoder.calls) == 2
    np.testing.assert_array_equal(again.sentences, first.sentences)
    next(tmp_path.glob("*.npz")).write_bytes(b"torn")
    encode([*texts[:-1], "Who?"])
    assert len(encoder.calls) in {3, 4}
    assert encode([]).whole.shape == (0, 7)


def test_a_query_without_a_vector_is_refused_by_name(tmp_path: Path) -> None:
    poisoned = CountingEncoder(poison="duel")
    with pytest.raises(EncoderError, match=r"gave no unit vector for the query 'A duel\?'"):
        encode_queries(["A whale?", "A duel?"], tmp_path, identity=poisoned.identity, load=lambda: poisoned)
    assert not list(tmp_path.glob("*.npz"))


def test_a_stage_with_nothing_asked_leaves_whitened_projections_and_says_so(tmp_path: Path) -> None:
    corpus = shelf(tmp_path, [unit(np.random.default_rng(0).normal(size=(9, D)))])
    made = train_retrieval(corpus, [], FAST, tmp_path / "stage", seed=0, load=CountingEncoder)
    assert made.figures["trained"] is False
    assert made.figures["start"] == "whitened"
    kept = read_result(tmp_path / "stage", D)
    assert kept is not None
    assert kept.figures == made.figures
    assert all(
        np.array_equal(value, kept.projections.tensors()[name]) for name, value in made.projections.tensors().items()
    )
    assert read_result(tmp_path / "stage", D + 1) is None
    assert read_result(tmp_path, D) is None


def test_sections_that_share_text_with_the_right_one_are_no_wrong_ones(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    chunks = [unit(random.normal(size=(6, D))) for _ in range(2)]
    near = [unit(own[:3].sum(axis=0)) for own in chunks]
    examples = [
        Example(query=f"{book} {first}", kind="question", level="section", file=f"/books/{book}.txt",
                spans=((first * CHUNK, 3 * CHUNK),))
        for book in range(2) for first in range(2)
    ]  # fmt: skip
    whole = np.stack([near[book] for book in range(2) for _ in range(2)])
    queries = QueryVectors(whole=whole, sentences=whole, first=np.arange(5, dtype=np.int64))
    dataset = build_dataset(shelf(tmp_path, chunks), examples, queries)
    assert len(dataset.sections.toarray()) == 4
    figures = measure(dataset, torch.arange(2), None)
    assert figures["section, title"] == 100.0
