"""Whether a library is likely to hold an answer to a query; in doubt, yes.

Judged by the cosine of the query and the most similar passage as the chunk encoder encodes them: its own space
separates queries without an answer better than the trained one. The more passages, the higher the best cosine by
chance, so the bound grows with their number. Where the reader has read the best passages, its highest relevance counts,
too: neither alone separates as well as both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nlb_retriever.encoding import DEFAULT_ENCODER
from nlb_retriever.model.vectorizer import EncodedQuery, Vectorizer
from nlb_retriever.reader import Reading
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
READER_WEIGHT, CLIP = 0.045, 8.0
"""Weight of the reader's highest relevance, a logit cut at `CLIP`."""
IN_BOOK = 0.25
"""How much lower the bound is in a book that was named, where the reader takes part: chosen, with the reader's weight,
to keep 96% of a sample of FairytaleQA's and LiteraryQA's val questions."""
LEAST_RELEVANCE = -4.0
"""Of the best passage, where nothing was searched by vector."""


@dataclass(frozen=True, kw_only=True)
class Nearest:
    """The passage of a scope that is most similar to a query, and how many there are."""

    text: str | None
    """None where it was removed a moment ago."""
    score: float
    """Similarity by the vectors that the library is searched with."""
    passages: int
    """Passages in the scope's book, or in the whole library."""
    in_book: bool
    """Whether the scope is a book."""


def read_nearest(ranking: Ranking, scope: Scope, store: LibraryStore) -> Nearest | None:
    """What relevance is judged by; None where nothing was searched by vector."""
    if not ranking.dense:
        return None
    records = store.get_passages([ranking.dense[0].id])
    return Nearest(
        text=records[0].text if records else None,
        score=ranking.dense[0].score,
        passages=scope.book.passages if scope.book else store.count("passage"),
        in_book=scope.book is not None,
    )


def is_relevant(
    query: str,
    hits: Sequence[Hit],
    nearest: Nearest | None,
    vectors: EncodedQuery | None,
    vectorizer: Vectorizer | None,
    readings: Sequence[Reading] = (),
) -> bool:
    """Whether hits are likely to answer a query.

    Args:
        query: cleaned.
        hits: passages, best first.
        nearest: the most similar passage.
        vectors: the query's.
        vectorizer: the library's.
        readings: what the reader says about the best passages; none where it took no part.
    """
    best = max((reading.relevance for reading in readings), default=0.0)
    if not hits or nearest is None or vectors is None or vectorizer is None:
        return bool(hits) and best >= LEAST_RELEVANCE
    if vectorizer.encoder.identity.name != DEFAULT_ENCODER:  # another encoder's cosines mean something else
        return best >= LEAST_RELEVANCE
    similarity = nearest.score
    if vectorizer.projections:
        texts = [nearest.text] if nearest.text is not None else []
        similarity = max((float(vector @ vectors.whole) for vector in vectorizer.encoder.encode(texts)), default=0.0)
    words = word_ids(query)
    share = len(words & word_ids(hits[0].text)) / max(1, len(words))
    bound = LEAST + GROWTH * math.log10(max(1, nearest.passages) / FEW_PASSAGES)
    bound = min(max(bound, LEAST), MOST)
    if readings:
        bound -= READER_WEIGHT * min(max(best, -CLIP), CLIP) + (IN_BOOK if nearest.in_book else 0.0)
    return similarity + WORDS_WEIGHT * share >= bound
