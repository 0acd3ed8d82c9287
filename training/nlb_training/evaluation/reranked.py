"""The best sections of a checkpoint and BM25, put in order by the checkpoint's reranker, as in section search."""

from __future__ import annotations

import numpy as np

from nlb_retriever.model.checkpoint import Checkpoint
from nlb_retriever.model.projections import Heads
from nlb_retriever.model.reranker import LEAST_SENTENCES, features
from nlb_retriever.model.reranker import score as weigh
from nlb_retriever.search.reranking import RERANKED
from nlb_training.evaluation.metrics import Matrix
from nlb_training.evaluation.pairs import RankingSet
from nlb_training.evaluation.systems import Space, System


def make_reranked(checkpoint: Checkpoint, first: System, space: Space) -> System | None:
    """A checkpoint's reranker behind its fused system; None where it has none.

    Args:
        checkpoint: whose heads are used.
        first: the system of its vectors and of words, in this order, that finds the candidates.
        space: of the books.
    """
    heads = checkpoint.heads
    if heads is None or not heads.reranker.any():
        return None
    return System(
        name=f"{first.name}, reranked",
        parts=(lambda pairs: _rerank(pairs, heads, first, space),),
        trained=True,
        both_ways=False,
        fused=True,
    )


def _rerank(pairs: RankingSet, heads: Heads, first: System, space: Space) -> Matrix:
    scores = first.score(pairs)
    if pairs.level != "section":
        return scores
    near, said = (part(pairs) for part in first.parts)
    chunks = [book.vectors[start:end] for book, (start, end) in space.runs(pairs.documents)]
    passages = [heads.passages(own, np.zeros(len(own), dtype=np.int64)) for own in chunks]
    questions = space.chunks.questions([query.text for query in pairs.queries])
    for row, question in enumerate(questions):
        if len(question.sentences) < LEAST_SENTENCES:
            continue
        best = np.argsort(-scores[row], kind="stable")[:RERANKED]
        found = features(
            heads.question_short(question.sentences),
            [passages[column] for column in best],
            dense=near[row, best],
            words=said[row, best],
        )
        fresh = weigh(found, heads.reranker)
        scores[row, best] = scores[row].max() + 1 + fresh - fresh.min()
    return scores
