"""Whether a library is likely to hold an answer to a query; in doubt, yes.

Judged by the cosine of the query and the most similar passage as the chunk encoder encodes them: its own space
separates queries without an answer better than the trained one. The more passages, the higher the best cosine by
chance, so the bound grows with their number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nlb_retriever.encoding import DEFAULT_ENCODER
from nlb_retriever.model.vectorizer import EncodedQuery, Vectorizer
from nlb_retriever.records import Hit
from nlb_retriever.search.ranking import Ranking
from nlb_retriever.search.scope import Scope
from nlb_retriever.store import LibraryStore
from nlb_retriever.text.words import word_ids

LEAST, MOST = 0.40, 0.48
"""Bounds of the least similarity: cosine of the most similar passage, and a little for shared words."""
FEW_PASSAGES, GROWTH = 300, 0.05
"""Up to so many passages the lower bound holds; it grows by so much with ten times as many."""
WORDS_WEIGHT = 0.25
"""Weight of the share of the query's words that are in the best passage."""


@dataclass(frozen=True, kw_only=True)
class Nearest:
    """The passage of a scope that is most similar to a query, and how many there are."""

    text: str | None
    """None where it was removed a moment ago."""
    score: float
    """Similarity by the vectors that the library is searched with."""
    passages: int
    """Passages in the scope's book, or in the whole library."""


def read_nearest(ranking: Ranking, scope: Scope, store: LibraryStore) -> Nearest | None:
    """What relevance is judged by; None where nothing was searched by vector."""
    if not ranking.dense:
        return None
    records = store.get_passages([ranking.dense[0].id])
    return Nearest(
        text=records[0].text if records else None,
        score=ranking.dense[0].score,
        passages=scope.book.passages if scope.book else store.count("passage"),
    )


def is_relevant(
    words: frozenset[int], hits: Sequence[Hit], nearest: Nearest | None, vectors: EncodedQuery, vectorizer: Vectorizer
) -> bool:
    """Whether hits are likely to answer a query.

    Args:
        words: the query's (`text.words.word_ids`).
        hits: passages, best first.
        nearest: the most similar passage.
        vectors: the query's.
        vectorizer: the library's.
    """
    if not hits or nearest is None:
        return bool(hits)
    if vectorizer.encoder.identity.name != DEFAULT_ENCODER:
        return True  # another encoder's cosines mean something else
    similarity = nearest.score
    if vectorizer.projections:
        texts = [nearest.text] if nearest.text is not None else []
        similarity = max((float(vector @ vectors.whole) for vector in vectorizer.encoder.encode(texts)), default=0.0)
    share = len(words & word_ids(hits[0].text)) / max(1, len(words))
    bound = LEAST + GROWTH * math.log10(max(1, nearest.passages) / FEW_PASSAGES)
    return similarity + WORDS_WEIGHT * share >= min(max(bound, LEAST), MOST)
