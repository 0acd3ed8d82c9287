"""How a query's terms match those of passages, and of the sentences in them: late interaction.

Each term of the query counts with its most similar one (MaxSim; ColBERT, Khattab & Zaharia 2020, arXiv 2004.12832,
section 3.2), in a passage or in a sentence of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nlb_retriever.encoding import Vectors
from nlb_retriever.encoding.packing import Packed, compare_signs
from nlb_retriever.text.sentences import sentence_spans
from nlb_retriever.text.terms import find_terms


@dataclass(frozen=True)
class TermMatches:
    """How similar the terms of some passages are to a query's."""

    similarities: Mapping[str, Vectors]
    """Passage's id -> (m, t), of each of its terms, in ascending order, to each of the query."""

    def of_passages(self) -> dict[str, float]:
        """The mean, over the query's terms, of the similarity of each passage's most similar one."""
        counts = [len(own) for own in self.similarities.values()]
        if not counts:
            return {}
        best = np.maximum.reduceat(np.concatenate([*self.similarities.values()]), np.cumsum([0, *counts[:-1]]))
        return dict(zip(self.similarities, best.mean(axis=1).tolist(), strict=True))

    def of_sentences(self, passages: Sequence[tuple[str, str]]) -> list[float]:
        """How much of a query the sentences of passages hold, that of the passage with the most being 1.

        Args:
            passages: id and text of each.

        Returns:
            For each the mean of two shares: of its best sentence, and of its best two neighbouring ones.
        """
        ones, twos = [], []
        for passage, text in passages:
            best = self._in_sentences(passage, text)
            ones.append(best.mean(axis=1).max())
            twos.append(np.maximum(best[:-1], best[1:]).mean(axis=1).max() if len(best) > 1 else ones[-1])
        highest = [max(max(own, default=0.0), 1e-9) for own in (ones, twos)]
        return [max(0.0, one / highest[0] + two / highest[1]) / 2 for one, two in zip(ones, twos, strict=True)]

    def _in_sentences(self, passage: str, text: str) -> Vectors:
        """For each sentence (s, t) the similarity of its most similar term to each of the query; 0 without terms."""
        sentences = sentence_spans(text)
        terms = find_terms(text)
        distinct, rows = np.unique(terms.ids, return_inverse=True)
        similarities = self.similarities.get(passage)
        if similarities is None or len(distinct) != len(similarities) or not len(sentences):
            return np.zeros((1, 1), np.float32)
        owners = np.searchsorted([start for start, _ in sentences], terms.offsets, side="right") - 1
        own, firsts = np.unique(owners, return_index=True)
        best = np.zeros((len(sentences), similarities.shape[1]), np.float32)
        best[own] = np.maximum.reduceat(similarities[rows], firsts)
        return best


def match_terms(query: Vectors, passages: Mapping[str, Packed]) -> TermMatches:
    """Compare a query's terms with those of passages.

    Args:
        query: (t, d) unit rows.
        passages: the terms of each, by its id; none without any.
    """
    if not passages:
        return TermMatches({})
    products = compare_signs(np.concatenate([*passages.values()]), query)
    own = np.split(products, np.cumsum([len(each) for each in passages.values()])[:-1])
    return TermMatches(dict(zip(passages, own, strict=True)))
