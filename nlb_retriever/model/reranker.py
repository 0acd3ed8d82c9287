"""The next-level reranker: the sentences of a long query against the chunks of each candidate section.

A section's one vector says what it is about. Its chunks' vectors also say whether each sentence of the query has a
match in it, how much of the section the query leaves out, and whether things happen in the same order (late
interaction as in ColBERT, arXiv 2004.12832, one level up and in both directions). The features are fixed, their
weights are trained (nlb_training.projections.reranking).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

FEATURES = ("dense", "bm25", "forward", "reverse", "order", "lowest", "median", "log_chunks")
"""dense: similarity of query and section vector; bm25; forward: mean over the sentences of the best chunk's
similarity; reverse: mean over the chunks of the best sentence's; order: correlation of a sentence's position in the
query with its position in the section; lowest, median: of the sentences' best chunks; log_chunks: ln of the section's
number of chunks, which the maxima grow with."""
MIN_SENTENCES = 3
"""A query of fewer sentences is not reranked: it has no order to compare."""
_SHARPNESS = 15.0
"""A sentence's position in a section is the mean over chunks, weighted by softmax(_SHARPNESS x similarity)."""


def compute_features(
    sentences: Vectors, sections: Sequence[Vectors], dense: NDArray[np.floating], bm25: NDArray[np.floating]
) -> Vectors:
    """Features of each candidate section.

    Args:
        sentences: (n, D) unit vectors of the query's sentences, in order.
        sections: for each of k candidates its chunks' unit vectors (c, D), in order, c >= 1.
        dense: (k,) similarity of the query's vector to the section's.
        bm25: (k,) BM25 score.

    Returns:
        (k, F), one column for each name of `FEATURES`.
    """
    positions = np.arange(len(sentences)) - (len(sentences) - 1) / 2
    counts = np.array([len(section) for section in sections])
    similarity = sentences @ np.concatenate(sections).T  # (n, all chunks)
    features = np.zeros((len(sections), len(FEATURES)), dtype=np.float32)
    for row, own in zip(features, np.split(similarity, np.cumsum(counts)[:-1], axis=1), strict=True):  # own: (n, c)
        best = own.max(axis=1)
        weights = np.exp(_SHARPNESS * (own - best[:, None]))
        matched = weights @ ((np.arange(own.shape[1]) + 0.5) / own.shape[1]) / weights.sum(axis=1)  # (n,)
        matched -= matched.mean()
        order = float(positions @ matched / (np.linalg.norm(positions) * np.linalg.norm(matched) + 1e-6))
        row[2:] = best.mean(), own.max(axis=0).mean(), order, best.min(), np.median(best), np.log(own.shape[1])
    features[:, 0] = dense
    features[:, 1] = bm25
    return features


def score_features(features: Vectors, weights: Vectors) -> Vectors:
    """Scores (k,) of candidates with these features (k, F), each standardised over the candidates."""
    standard = (features - features.mean(axis=0)) / (features.std(axis=0) + 1e-6)
    return np.asarray(standard @ weights, dtype=np.float32)
