"""How a query's terms match those of passages, and of the sentences in them: late interaction.

Each term of the query counts with its most similar one (MaxSim; ColBERT, Khattab & Zaharia 2020, arXiv 2004.12832,
section 3.2), in a passage or in its best sentences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.encoding import Vectors
from nlb_retriever.encoding.packing import Packed
from nlb_retriever.encoding.terms import SENTENCES, compare_terms, find_sentences


@dataclass(frozen=True, kw_only=True)
class TermMatches:
    """How similar passages are to a query, term by term."""

    whole: Mapping[str, float]
    """Passage's id -> the mean, over the query's terms, of the similarity of its most similar one."""
    closely: Mapping[str, float]
    """Passage's id -> the same of its best sentence, and of its best two neighbouring ones; the mean of both."""


def match_terms(query: Vectors, passages: Mapping[str, Packed]) -> TermMatches:
    """Compare a query's terms with those of passages.

    Args:
        query: (t, d) unit rows.
        passages: the packed terms of each, by its id; none without any.
    """
    if not passages:
        return TermMatches(whole={}, closely={})
    packed = np.concatenate([*passages.values()])
    counts = [len(own) for own in passages.values()]
    similar = compare_terms(packed, query)
    whole = np.maximum.reduceat(similar, np.cumsum([0, *counts[:-1]])).mean(axis=1)
    rows, sentences = find_sentences(packed)
    owners = np.repeat(np.arange(len(counts)), counts)
    closely = _match_sentences(similar, rows, owners[rows] * SENTENCES + sentences)
    return TermMatches(
        whole=dict(zip(passages, whole.tolist(), strict=True)),
        closely=dict(zip(passages, closely.tolist(), strict=True)),
    )


def _match_sentences(similar: Vectors, rows: NDArray[np.intp], places: NDArray[np.intp]) -> Vectors:
    """`TermMatches.closely` of all passages, each of which has a place.

    Args:
        similar: (m, t), of every passage's terms to the query's.
        rows: of a term in a sentence.
        places: number of its passage, times `SENTENCES`, plus that of the sentence.
    """
    if places.max() < 1 << 16:
        places = places.astype(np.uint16)  # sorted three times as fast
    order = np.argsort(places, kind="stable")
    placed = places[order].astype(np.intp)
    firsts = np.flatnonzero(np.diff(placed, prepend=-1))
    distinct = placed[firsts]
    best = np.maximum.reduceat(similar[rows[order]], firsts)
    ones = best.mean(axis=1)
    owners = distinct // SENTENCES
    twos = np.maximum(best[:-1], best[1:]).mean(axis=1)
    twos[(np.diff(distinct) > 1) | (np.diff(owners) > 0)] = -np.inf
    passages = np.flatnonzero(np.diff(owners, prepend=-1))
    highest = np.maximum.reduceat(ones, passages)
    pairs = np.maximum(np.maximum.reduceat(np.append(twos, -np.inf), passages), highest)
    found: Vectors = ((highest + pairs) / 2).astype(np.float32)
    return found
