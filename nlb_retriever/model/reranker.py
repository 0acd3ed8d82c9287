"""The next-level reranker: the sentences of a long question against the chunks of each candidate section.

A section's one vector says what it is about; its chunks' vectors also say whether each sentence of the
question has its place in it, whether much of the section is left unsaid, and whether things happen in the
same order (late interaction as in ColBERT, arXiv 2004.12832, one level up, and both ways). The features
are fixed, their weights are trained (nlb_training.projections.reranking).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

FEATURES = ("dense", "words", "forward", "reverse", "order", "least", "median", "log_chunks")
"""dense: nearness of question and section vector; words: BM25; forward: mean over the sentences of the
best chunk's nearness; reverse: mean over the chunks of the best sentence's; order: correlation of a
sentence's place in the question with its place in the section; least, median: of the sentences' best
chunks; log_chunks: ln of the section's number of chunks, which the maxima grow with."""
LEAST_SENTENCES = 3
"""A question of fewer sentences has no order to compare, and is left as it is."""
_SHARPNESS = 15.0
"""Of a sentence's soft place in a section: softmax over chunks of so many times the nearness."""


def features(
    sentences: Vectors, sections: Sequence[Vectors], dense: NDArray[np.floating], words: NDArray[np.floating]
) -> Vectors:
    """What speaks for each candidate section.

    Args:
        sentences: (n, D) unit vectors of the question's sentences, in order.
        sections: for each of k candidates its chunks' unit vectors (c, D), in order, at least one.
        dense: (k,) nearness of the question's vector to the section's.
        words: (k,) BM25.

    Returns:
        (k, F), one column a name of `FEATURES`.
    """
    places = np.arange(len(sentences)) - (len(sentences) - 1) / 2
    counts = np.array([len(section) for section in sections])
    nearness = sentences @ np.concatenate(sections).T  # (n, all chunks)
    found = np.zeros((len(sections), len(FEATURES)), dtype=np.float32)
    for row, own in zip(found, np.split(nearness, np.cumsum(counts)[:-1], axis=1), strict=True):  # own: (n, c)
        best = own.max(axis=1)
        weights = np.exp(_SHARPNESS * (own - best[:, None]))
        where = weights @ ((np.arange(own.shape[1]) + 0.5) / own.shape[1]) / weights.sum(axis=1)  # (n,)
        where -= where.mean()
        order = float(places @ where / (np.linalg.norm(places) * np.linalg.norm(where) + 1e-6))
        row[2:] = best.mean(), own.max(axis=0).mean(), order, best.min(), np.median(best), np.log(own.shape[1])
    found[:, 0] = dense
    found[:, 1] = words
    return found


def score(found: Vectors, weights: Vectors) -> Vectors:
    """Scores (k,) of candidates with these features (k, F), each standardised over the candidates."""
    standard = (found - found.mean(axis=0)) / (found.std(axis=0) + 1e-6)
    return np.asarray(standard @ weights, dtype=np.float32)
