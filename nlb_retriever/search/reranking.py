"""Sections judged by the trained reranker (nlb_retriever.model.reranker): what their passages hold of a long query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nlb_retriever.model.reranker import MIN_SENTENCES, compute_features, score_features
from nlb_retriever.model.vectorizer import EncodedQuery, Vectorizer
from nlb_retriever.search.ranking import Ranking
from nlb_retriever.store import Candidate, LibraryStore, StoreQuery
from nlb_retriever.text.cleaning import clean_query
from nlb_retriever.text.sentences import sentence_spans

RERANKED = 50
"""Best sections that the reranker puts in order."""
PASSAGES_READ = 64
"""Most passages of a section that the reranker looks at, evenly spread: bounds its time."""


def rerank(ranking: Ranking, vectors: EncodedQuery | None, store: LibraryStore, vectorizer: Vectorizer) -> Ranking:
    """A ranking of sections with the best of them put in order by the reranker."""
    best = ranking.top(RERANKED)
    scores = _judge(best, ranking.words, vectors, store, vectorizer)
    if not scores:
        return ranking
    lowest = min(scores.values())
    rest = {each: lowest - 1 + value - ranking.scores[best[0]] for each, value in ranking.scores.items()}
    return replace(ranking, scores=rest | scores)


def rerank_sections(query: str, ids: Sequence[str], store: LibraryStore, vectorizer: Vectorizer) -> dict[str, float]:
    """Judge the first `RERANKED` of some sections by what their passages hold of a long query's sentences.

    Args:
        query: of any length.
        ids: of sections; those that are not in the library are left out.
        store: the library.
        vectorizer: its encoders.

    Returns:
        Section's id -> score, higher is better, comparable within these only. Empty where the reranker does not apply:
        the query has fewer than `reranker.MIN_SENTENCES` sentences, fewer than two sections are there, or the
        library's checkpoint has no trained reranker.

    Raises:
        QueryError: the query is empty.
        StoreError, EncoderError: the library cannot be read, or the query cannot be encoded.
    """
    query = clean_query(query)
    ids = list(dict.fromkeys(ids))[:RERANKED]
    if len(sentence_spans(query)) < MIN_SENTENCES or len(ids) < 2:
        return {}
    vectors = vectorizer.encode_query(query)
    with store.session():
        words = store.search([StoreQuery(level="section", text=query, ids=tuple(ids), limit=len(ids))])[0]
        return _judge(ids, words, vectors, store, vectorizer)


def _judge(
    ids: Sequence[str],
    words: Sequence[Candidate],
    vectors: EncodedQuery | None,
    store: LibraryStore,
    vectorizer: Vectorizer,
) -> dict[str, float]:
    projections = vectorizer.projections
    if projections is None or not projections.reranker.any():
        return {}
    if vectors is None or len(vectors.sentences) < MIN_SENTENCES:
        return {}
    sections = store.section_vectors(ids, most=PASSAGES_READ)
    if len(sections) < 2:
        return {}
    bm25 = {candidate.id: candidate.score for candidate in words}
    features = compute_features(
        vectors.sentences,
        [section.passages for section in sections],
        dense=np.array([vectors.at("section") @ section.section for section in sections]),
        bm25=np.array([bm25.get(section.id, 0.0) for section in sections]),
    )
    scores = score_features(features, projections.reranker)
    return dict(zip((section.id for section in sections), map(float, scores), strict=True))
