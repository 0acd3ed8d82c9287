"""One search from its request to its hits, and what is passed on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nlb_retriever import Retriever, SearchRequest, index_files
from nlb_retriever.encoding import Parts, find_term_projection
from nlb_retriever.encoding.openvino import OpenVinoEncoder
from nlb_retriever.encoding.packing import compare_signs, pack, pack_signs, unpack
from nlb_retriever.indexing import request as indexing_request
from nlb_retriever.records import LEVELS, Level, Mode, Strategy
from nlb_retriever.search import hits, request, run
from nlb_retriever.search.fusion import BEST_WITHOUT_WORDS, DENSE_WEIGHT, SEVERAL, SEVERAL_WEIGHT
from nlb_retriever.search.overlap import find_overlap
from nlb_retriever.search.ranking import CANDIDATES, LENGTH_WEIGHT, TERMS_WEIGHT, WHOLE_WEIGHT, rank
from nlb_retriever.search.scope import Scope
from nlb_retriever.store import Condition, StoreQuery
from nlb_retriever.text.spans import span_starts
from nlb_retriever.text.terms import find_query_terms, find_terms
from tests.texts import KITCHEN, LIGHTHOUSE

STORM = "What broke in the November storm?"


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    folder = tmp_path_factory.mktemp("run")
    for name, text in (("lighthouse", LIGHTHOUSE), ("bread", KITCHEN)):
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    index_files([folder / "lighthouse.txt", folder / "bread.txt"], folder / "library")
    return Retriever(folder / "library")


@pytest.mark.parametrize("level", LEVELS)
def test_given_vectors_are_searched_like_those_of_the_query(retriever: Retriever, level: Level) -> None:
    plain = SearchRequest(query=STORM, level=level)
    given = replace(plain, vectors=retriever.vectorizer.encode_query(STORM))
    assert retriever.run(given).hits == retriever.run(plain).hits != ()


def test_vectors_alone_score_a_book_by_its_own_and_its_best_passages(retriever: Retriever) -> None:
    query = "a beacon warning sailors"
    flat = retriever.search(query, level="book", mode="dense", strategy="flat")
    own = {hit.book_id: hit.score for hit in flat}
    request, vectors = SearchRequest(query=query, level="book", mode="dense"), retriever.vectorizer.encode_query(query)
    pool = rank(request, Scope(level="book"), vectors, retriever.store).pools["passage"]
    assert pool.with_terms
    passages = sorted(pool.scores.items(), key=lambda each: -each[1])
    scores = {book: [score for each, score in passages if pool.candidates[each].book_id == book] for book in own}
    top, lowest = passages[0][1], passages[-1][1]
    for hit in retriever.search(query, level="book", mode="dense"):
        of_itself = DENSE_WEIGHT["book"] * own[hit.book_id] / max(own.values())
        of_a_passage = BEST_WITHOUT_WORDS * scores[hit.book_id][0] / top
        several = [*scores[hit.book_id], *[lowest] * SEVERAL][:SEVERAL]
        of_several = SEVERAL_WEIGHT * sum(several) / SEVERAL / top
        by_chance = LENGTH_WEIGHT * math.log(len(scores[hit.book_id]))
        assert hit.score == pytest.approx(of_itself + of_a_passage + of_several - by_chance)


def test_the_overlap_of_a_result_is_that_of_its_hits_in_their_order(retriever: Retriever) -> None:
    result = retriever.run(SearchRequest(query=STORM, limit=4))
    assert len(result.hits) == 4
    assert result.overlap == find_overlap(STORM, [hit.text for hit in result.hits])


def test_only_relevant_hits_are_none_for_a_query_from_another_world(retriever: Retriever) -> None:
    other = SearchRequest(query="Which club won the football championship in 1998?", relevant_only=True)
    assert retriever.run(other).hits == ()
    assert retriever.run(replace(other, relevant_only=False)).hits
    assert retriever.run(replace(other, query=STORM)).hits == retriever.run(SearchRequest(query=STORM)).hits


def test_an_answer_cleans_checks_encodes_and_compares_once(
    retriever: Retriever, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: Counter[str] = Counter()

    def count(owner: Any, name: str) -> None:
        original: Callable[..., Any] = getattr(owner, name)

        def counted(*args: Any, **kwargs: Any) -> Any:
            calls[name] += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, name, counted)

    for owner, name in (
        (request, "clean_query"),
        (request, "check"),
        (hits, "find_overlap"),
        (run, "find_overlap"),
        (request, "kind_of"),
        (retriever.vectorizer, "raw_queries"),
    ):
        count(owner, name)
    assert retriever.answer(STORM, where=Condition("author", "ne", "Nobody")).found
    assert calls == {"clean_query": 1, "check": 1, "find_overlap": 1, "kind_of": 1, "raw_queries": 1}


def test_a_passage_is_as_similar_as_its_most_similar_span_itself_and_its_terms(retriever: Retriever) -> None:
    request = SearchRequest(query=STORM)
    vectors = retriever.vectorizer.encode_query(STORM)
    ranking = rank(request, Scope(level="passage"), vectors, retriever.store)
    found = {candidate.id: candidate.score for candidate in ranking.dense}
    assert found.keys() == ranking.scores.keys(), "whatever found them"
    assert [*found.values()] == sorted(found.values(), reverse=True)
    passages = retriever.store.get_passages([*found])
    texts = [passage.text for passage in passages]
    words = [find_terms(text) for text in texts]
    parts = retriever.vectorizer.encoder.encode_parts(
        texts, [span_starts(text) for text in texts], [own.offsets for own in words]
    )
    projection = find_term_projection(retriever.store.manifest.chunk_encoder_sha256)
    assert projection is not None
    terms = projection.pool(parts.states, [own.ids for own in words])
    assert len(vectors.terms) == len({*find_query_terms(STORM).ids}) > 2
    own = StoreQuery(level="passage", dense=vectors.vector, limit=CANDIDATES)
    whole = {hit.id: hit.score for hit in retriever.store.search([own])[0]}
    for passage, rows, own_terms in zip(passages, parts.spans, terms, strict=True):
        span = (unpack(pack(rows), rows.shape[1]) @ vectors.whole).max()
        term = compare_signs(pack_signs(own_terms), vectors.terms).max(axis=0).mean()
        expected = span + WHOLE_WEIGHT * whole[passage.id] + TERMS_WEIGHT["passage"] * term
        assert found[passage.id] == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("strategy", ["coarse-to-fine", "flat"])
def test_a_library_whose_spans_have_no_vectors_is_searched_without(
    strategy: Strategy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        OpenVinoEncoder,
        "encode_parts",
        lambda self, texts, *_, query=False: Parts(whole=self.encode(texts, query=query), spans=[], states=[]),
    )
    monkeypatch.setattr(indexing_request, "find_term_projection", lambda _: None)
    (tmp_path / "lighthouse.txt").write_text(LIGHTHOUSE, encoding="utf-8")
    index_files([tmp_path / "lighthouse.txt"], tmp_path / "library")
    monkeypatch.undo()
    (tmp_path / "bread.txt").write_text(KITCHEN, encoding="utf-8")
    index_files([tmp_path / "bread.txt"], tmp_path / "library")  # beside one whose spans have vectors, without terms
    with Retriever(tmp_path / "library") as mixed:
        assert mixed.store.manifest.terms_sha256 is None
        request = SearchRequest(query=STORM, strategy=strategy)
        assert "November" in mixed.run(request).hits[0].text
        ranking = rank(request, Scope(level="passage"), mixed.vectorizer.encode_query(STORM), mixed.store)
        assert max(hit.score for hit in ranking.dense) < 1, "a cosine"


def test_vectors_alone_rank_books_without_spans_where_there_are_no_terms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lighthouse.txt").write_text(LIGHTHOUSE, encoding="utf-8")
    with monkeypatch.context() as former:
        former.setattr(indexing_request, "find_term_projection", lambda _: None)
        index_files([tmp_path / "lighthouse.txt"], tmp_path / "library")
    with Retriever(tmp_path / "library") as former_one:
        for level, mode, wanted in (("book", "dense", False), ("book", "fused", True), ("passage", "dense", True)):
            request = SearchRequest(query=STORM, level=level, mode=mode)
            vectors = former_one.vectorizer.encode_query(STORM)
            pool = rank(request, Scope(level=level), vectors, former_one.store).pools["passage"]
            assert (pool.with_spans, pool.with_terms) == (wanted, False)


@pytest.mark.parametrize(
    ("level", "mode", "query", "wanted"),
    [
        ("passage", "dense", STORM, True),
        ("passage", "fused", f"{STORM} The lamp was mended.", True),
        ("section", "dense", STORM, True),
        ("section", "fused", f"{STORM} The lamp was mended.", False),
        ("book", "fused", STORM, True),
        ("book", "fused", f"{STORM} The lamp was mended.", False),
        ("book", "dense", f"{STORM} The lamp was mended.", True),
    ],
)
def test_parts_are_compared_where_one_of_them_can_be_what_the_query_says(
    retriever: Retriever, level: Level, mode: Mode, query: str, wanted: bool
) -> None:
    request = SearchRequest(query=query, level=level, mode=mode)
    ranking = rank(request, Scope(level=level), retriever.vectorizer.encode_query(query), retriever.store)
    pool = ranking.pools["passage"]
    assert pool.with_spans is wanted
    assert pool.with_terms is (wanted and (level, mode) != ("book", "fused")), "which book has the words they know"


def test_names_in_small_letters_are_searched_for_as_names(tmp_path: Path) -> None:
    text = "Mina rowed away. Mina came back. The rower slept, and who is a rower? Who is who? It is all the same.\n\n"
    (tmp_path / "rowers.txt").write_text(text * 9, encoding="utf-8")
    index_files([tmp_path / "rowers.txt"], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        requests = [
            SearchRequest(query=query, rerank=True) for query in ("who rowed with mina?", "who rowed with Mina?")
        ]
        small, capital = (retriever.run(request) for request in requests)
    assert small.request.query == capital.request.query
    assert [(hit.id, hit.score) for hit in small.hits] == [(hit.id, hit.score) for hit in capital.hits]
