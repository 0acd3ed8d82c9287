"""How a query's terms match those of passages, and of the sentences in them: late interaction.

Each term of the query counts with its most similar one (MaxSim; ColBERT, Khattab & Zaharia 2020, arXiv 2004.12832,
section 3.2), in a passage or in its best sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.encoding import Vectors
from nlb_retriever.encoding.packing import Packed
from nlb_retriever.encoding.terms import SENTENCES, compare_terms, find_sentences
from nlb_retriever.store import PassageTerms


class TermMatches:
    """How similar passages are to a query, term by term."""

    def __init__(self, query: Vectors, terms: PassageTerms) -> None:
        """Compare a query's terms with those of passages.

        Args:
            query: (t, d) unit rows.
            terms: of the passages.
        """
        self._terms = terms
        self._similar = compare_terms(terms.packed, query)
        self._firsts = np.cumsum(terms.counts) - terms.counts

    @cached_property
    def whole(self) -> Mapping[str, float]:
        """Passage's id -> the mean, over the query's terms, of the similarity of its most similar one."""
        if not self._terms.ids:
            return {}
        best = np.maximum.reduceat(self._similar, self._firsts).mean(axis=1)
        return dict(zip(self._terms.ids, best.tolist(), strict=True))

    @cached_property
    def closely(self) -> Mapping[str, float]:
        """Passage's id -> the same of its best sentence, and of its best two neighbouring ones; the mean of both."""
        return self.closely_in(self._terms.ids)

    def closely_in(self, passages: Iterable[str]) -> dict[str, float]:
        """`closely` of some passages; those without terms are left out."""
        indexes = {each: index for index, each in enumerate(self._terms.ids)}
        ids = [each for each in passages if each in indexes]
        if not ids:
            return {}
        own = np.array([indexes[each] for each in ids])
        counts = self._terms.counts[own]
        rows = np.repeat(self._firsts[own] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        found = _match_sentences(self._similar[rows], self._terms.packed[rows], counts)
        return dict(zip(ids, found.tolist(), strict=True))


def _match_sentences(similar: Vectors, packed: Packed, counts: NDArray[np.integer]) -> Vectors:
    """`TermMatches.closely` of some passages.

    Args:
        similar: (m, t), of every passage's terms to the query's.
        packed: (m, `TERM_BYTES`), the terms.
        counts: how many each passage has.
    """
    rows, sentences = find_sentences(packed)
    places = np.repeat(np.arange(len(counts)), counts)[rows] * SENTENCES + sentences
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
