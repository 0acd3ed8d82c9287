"""A checkpoint's reranker over the best sections by vectors and BM25, as in section search."""

from __future__ import annotations

import numpy as np

from nlb_retriever.model.checkpoint import Checkpoint
from nlb_retriever.model.projections import Projections
from nlb_retriever.model.reranker import MIN_SENTENCES, compute_features, score_features
from nlb_retriever.model.vectorizer import query_sentences
from nlb_retriever.search.reranking import RERANKED
from nlb_training.evaluation.lexical import WordIndex
from nlb_training.evaluation.metrics import Matrix
from nlb_training.evaluation.pairs import RankingSet
from nlb_training.evaluation.systems import Space, System


def make_reranked(checkpoint: Checkpoint, first: System, space: Space) -> System | None:
    """A checkpoint's reranker after its fused system; None if it has none.

    Args:
        checkpoint: with projections.
        first: the system of its vectors and BM25, in this order, for the candidates.
        space: of the books.
    """
    projections = checkpoint.projections
    if projections is None or not projections.reranker.any():
        return None
    return System(
        name=f"{first.name}, reranked",
        parts=(lambda pairs: _rerank(pairs, projections, first, space),),
        trained=True,
        both_ways=False,
        fused=True,
    )


def _rerank(pairs: RankingSet, projections: Projections, first: System, space: Space) -> Matrix:
    scores = first.score(pairs)
    if pairs.level != "section":
        return scores
    dense, bm25 = (part(pairs) for part in first.parts)
    runs = space.runs(pairs.documents)
    chunks = [book.vectors[start:end] for book, (start, end) in runs]
    passages = [projections.project_passages(own, np.zeros(len(own), dtype=np.int64)) for own in chunks]
    texts = [
        space.collection.text(document.file)[first:last]
        for document, (book, (start, end)) in zip(pairs.documents, runs, strict=True)
        for first, last in book.spans[start:end].tolist()
    ]
    index = WordIndex(texts, "passage")
    cuts = np.cumsum([len(own) for own in passages])[:-1]
    texts_of_queries = [query.text for query in pairs.queries]
    questions = space.chunks.questions(texts_of_queries)
    for row, (question, text) in enumerate(zip(questions, texts_of_queries, strict=True)):
        if len(question.sentences) < MIN_SENTENCES:
            continue
        best = np.argsort(-scores[row], kind="stable")[:RERANKED]
        words = np.split(index.score(query_sentences(text)).astype(np.float32), cuts, axis=1)
        features = compute_features(
            projections.short_query(question.sentences),
            [passages[column] for column in best],
            words=[words[column] for column in best],
            dense=dense[row, best],
            bm25=bm25[row, best],
        )
        reranked = score_features(features, projections.reranker)
        scores[row, best] = scores[row].max() + 1 + reranked - reranked.min()
    return scores
