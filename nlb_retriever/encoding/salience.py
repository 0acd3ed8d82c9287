"""How much of what a text tells a sentence of it tells: a linear model over vectors of sentences.

A sentence's content and its agreement with the whole text, as in SummaRuNNer (Nallapati et al. 2017, section 2), with a
weight for each number of the vector in place of a matrix.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from nlb_retriever.encoding.base import Vectors

MOST_WORDS = 40
"""A sentence counts for its text by its words, at most by so many."""


def mean_vector(vectors: Vectors, lengths: ArrayLike) -> Vectors:
    """The unit vector (D,) of a text, from those of its sentences (n, D) and their lengths in words."""
    mean = np.minimum(lengths, MOST_WORDS) @ vectors
    unit: Vectors = (mean / (np.linalg.norm(mean) or 1.0)).astype(np.float32)
    return unit


def score_sentences(vectors: Vectors, lengths: ArrayLike, weights: Vectors | None) -> Vectors:
    """The salience (n,) of a text's sentences, comparable within the text only.

    Args:
        vectors: of the sentences, unit (n, D).
        lengths: in words.
        weights: (2, D): of a sentence's vector, and of its product with the text's, number by number; None to compare
            sentences with the text by the cosine alone.
    """
    whole = mean_vector(vectors, lengths)
    if weights is None:
        return vectors @ whole
    scores: Vectors = vectors @ weights[0] + (vectors * whole) @ weights[1]
    return scores
