"""Sections judged by the trained reranker (nlb_retriever.model.reranker): what their passages hold of a long query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nlb_retriever.encoding import Vectors
from nlb_retriever.model.reranker import MIN_SENTENCES, compute_features, score_features
from nlb_retriever.model.vectorizer import Vectorizer, query_sentences
from nlb_retriever.model.vectors import EncodedQuery
from nlb_retriever.search.ranking import Ranking
from nlb_retriever.store import Candidate, LibraryStore, SectionVectors, StoreQuery
from nlb_retriever.text.cleaning import clean_query
from nlb_retriever.text.sentences import sentence_spans

RERANKED = 50
"""Best sections that the reranker puts in order."""
PASSAGES_READ = 64
"""Most passages of a section that the reranker looks at, evenly spread: bounds its time."""
WORDED = 100
"""Passages with most of a sentence's words that the reranker looks at, of all candidates': more bring nothing."""
_SENTENCES_AT_ONCE = 16
"""Searched in one request: it names up to `RERANKED` times `PASSAGES_READ` passages for each."""


def rerank(
    query: str, ranking: Ranking, vectors: EncodedQuery | None, store: LibraryStore, vectorizer: Vectorizer
) -> Ranking:
    """A ranking of sections for a cleaned query, with the best of them put in order by the reranker."""
    best = ranking.top(RERANKED)
    scores = _judge(query, best, ranking.words, vectors, store, vectorizer)
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
        return _judge(query, ids, words, vectors, store, vectorizer)


def _judge(
    query: str,
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
        words=_score_words(query_sentences(query), sections, store),
        dense=np.array([vectors.at("section") @ section.section for section in sections]),
        bm25=np.array([bm25.get(section.id, 0.0) for section in sections]),
    )
    scores = score_features(features, projections.reranker)
    return dict(zip((section.id for section in sections), map(float, scores), strict=True))


def _score_words(sentences: Sequence[str], sections: Sequence[SectionVectors], store: LibraryStore) -> list[Vectors]:
    """For each section the BM25 scores (n, c) of n sentences in its passages; 0 below the best `WORDED`."""
    ids = tuple(passage for section in sections for passage in section.ids)
    columns = {passage: column for column, passage in enumerate(ids)}
    scores = np.zeros((len(sentences), len(ids)), dtype=np.float32)
    for first in range(0, len(sentences), _SENTENCES_AT_ONCE):
        some = sentences[first : first + _SENTENCES_AT_ONCE]
        queries = [StoreQuery(level="passage", text=sentence, ids=ids, limit=WORDED) for sentence in some]
        for row, found in zip(scores[first:], store.search(queries), strict=False):
            for candidate in found:
                row[columns[candidate.id]] = candidate.score
    return np.split(scores, np.cumsum([len(section.ids) for section in sections])[:-1], axis=1)
