"""The next-level reranker: the sentences of a long query against the chunks of each candidate section.

A section's one vector says what it is about. Its chunks' vectors and words also say whether each sentence of the query
has a match in it, and whether things happen in the same order (late interaction as in ColBERT, arXiv 2004.12832, one
level up). The features are fixed, their weights are trained (nlb_training.projections.reranking).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.encoding import Vectors

FEATURES = ("dense", "bm25", "forward", "order", "words_best", "words_order", "log_chunks")
"""dense: similarity of query and section vector; bm25; forward: mean over the sentences of the best chunk's
similarity; order: correlation of a sentence's position in the query with its position in the section; words_best: share
of the sentences whose best chunk by BM25, of all candidates', is in the section; words_order: as order, by BM25, where
the sentences with most of their words in the section count most; log_chunks: ln of the section's number of chunks,
which the maxima grow with."""
MIN_SENTENCES = 3
"""A query of fewer sentences is not reranked: it has no order to compare."""
_SHARPNESS = 15.0
"""A sentence's position in a section is the mean over chunks, weighted by softmax(_SHARPNESS x similarity)."""
_WORDS_SHARPNESS, _TRUST = 8, 2
"""Powers, by words: of a chunk's share of the sentence's highest BM25, which weighs its position; and of the share of
the section's best chunk, by which the sentence counts."""


def compute_features(
    sentences: Vectors,
    sections: Sequence[Vectors],
    words: Sequence[Vectors],
    dense: NDArray[np.floating],
    bm25: NDArray[np.floating],
) -> Vectors:
    """Features of each candidate section.

    Args:
        sentences: (n, D) unit vectors of the query's sentences, in order.
        sections: for each of k candidates its chunks' unit vectors (c, D), in order, c >= 1.
        words: for each of them the BM25 scores (n, c) of the sentences in its chunks.
        dense: (k,) similarity of the query's vector to the section's.
        bm25: (k,) BM25 score.

    Returns:
        (k, F), one column for each name of `FEATURES`.
    """
    cuts = np.cumsum([len(section) for section in sections])[:-1]
    similarity = sentences @ np.concatenate(sections).T  # (n, all chunks)
    shares = np.concatenate(words, axis=1)
    highest = shares.max(axis=1, keepdims=True)  # (n, 1)
    shares = np.divide(shares, highest, out=np.zeros_like(shares), where=highest > 0)
    features = np.zeros((len(sections), len(FEATURES)), dtype=np.float32)
    by_section = zip(features, np.split(similarity, cuts, axis=1), np.split(shares, cuts, axis=1), strict=True)
    for row, own, share in by_section:  # (n, c) each
        best, best_share = own.max(axis=1), share.max(axis=1)
        order = _order(np.exp(_SHARPNESS * (own - best[:, None])), np.ones(len(own)))
        words_order = _order(share**_WORDS_SHARPNESS, best_share**_TRUST)
        row[2:] = best.mean(), order, (best_share == 1).mean(), words_order, np.log(own.shape[1])
    features[:, 0] = dense
    features[:, 1] = bm25
    return features


def _order(matches: NDArray[np.floating], trust: NDArray[np.floating]) -> float:
    """Correlation of the sentences' positions in the query with those in a section; 0 where there is none.

    Args:
        matches: (n, c) weights of the chunks for each sentence.
        trust: (n,) how much each sentence counts; 0 where it matches no chunk.
    """
    count = matches.shape[1]
    places = matches @ ((np.arange(count) + 0.5) / count) / np.maximum(matches.sum(axis=1), 1e-9)
    trust = trust / max(float(trust.sum()), 1e-9)
    times = np.arange(len(matches), dtype=np.float64)
    times -= trust @ times
    places = places - trust @ places
    spread = np.sqrt((trust @ times**2) * (trust @ places**2))
    return float(trust @ (times * places) / (spread + 1e-6))


def score_features(features: Vectors, weights: Vectors) -> Vectors:
    """Scores (k,) of candidates with these features (k, F), each standardised over the candidates."""
    standard = (features - features.mean(axis=0)) / (features.std(axis=0) + 1e-6)
    return np.asarray(standard @ weights, dtype=np.float32)
