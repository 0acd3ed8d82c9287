"""A checkpoint's reranker over the best sections by vectors and BM25, as in section search."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.encoding import Vectors
from nlb_retriever.model.checkpoint import Checkpoint
from nlb_retriever.model.projections import Projections
from nlb_retriever.model.reranker import MIN_SENTENCES, compute_features, score_features
from nlb_retriever.model.vectorizer import query_sentences
from nlb_retriever.search.reranking import RERANKED
from nlb_training.evaluation.lexical import WordIndex
from nlb_training.evaluation.metrics import Matrix
from nlb_training.evaluation.pairs import RankingSet
from nlb_training.evaluation.systems import Space, System

Indexes = NDArray[np.int64]
Compare = Callable[[str, Vectors, Indexes, Matrix, Matrix], Vectors]
"""(a query, its sentences' vectors, numbers of some sections, their scores by vectors and by BM25) -> the features of
the reranker, a row a section."""


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


def make_comparison(projections: Projections, chunks: Sequence[Vectors], texts: Sequence[Sequence[str]]) -> Compare:
    """What compares queries with sections.

    Args:
        projections: of the checkpoint.
        chunks: of each section its chunks' vectors.
        texts: of each section its chunks' texts.
    """
    passages = [projections.project_passages(own, np.zeros(len(own), dtype=np.int64)) for own in chunks]
    index = WordIndex([text for own in texts for text in own], "passage")
    cuts = np.cumsum([len(own) for own in passages])[:-1]

    def compare(query: str, sentences: Vectors, chosen: Indexes, dense: Matrix, bm25: Matrix) -> Vectors:
        words = np.split(index.score(query_sentences(query)).astype(np.float32), cuts, axis=1)
        return compute_features(
            projections.short_query(sentences),
            [passages[section] for section in chosen],
            words=[words[section] for section in chosen],
            dense=dense,
            bm25=bm25,
        )

    return compare


def _rerank(pairs: RankingSet, projections: Projections, first: System, space: Space) -> Matrix:
    scores = first.score(pairs)
    if pairs.level != "section":
        return scores
    dense, bm25 = (part(pairs) for part in first.parts)
    runs = space.runs(pairs.documents)
    chunks = [book.vectors[start:end] for book, (start, end) in runs]
    texts = [
        [space.collection.text(document.file)[first:last] for first, last in book.spans[start:end].tolist()]
        for document, (book, (start, end)) in zip(pairs.documents, runs, strict=True)
    ]
    compare = make_comparison(projections, chunks, texts)
    texts_of_queries = [query.text for query in pairs.queries]
    questions = space.chunks.questions(texts_of_queries)
    for row, (question, text) in enumerate(zip(questions, texts_of_queries, strict=True)):
        if len(question.sentences) < MIN_SENTENCES:
            continue
        best = np.argsort(-scores[row], kind="stable")[:RERANKED]
        features = compare(text, question.sentences, best, dense[row, best], bm25[row, best])
        reranked = score_features(features, projections.reranker)
        scores[row, best] = scores[row].max() + 1 + reranked - reranked.min()
    return scores
