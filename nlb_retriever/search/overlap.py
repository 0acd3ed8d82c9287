"""Which words of a query are in the sentences of passages, and how much they count."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from nlb_retriever.text.languages import ENGLISH
from nlb_retriever.text.sentences import sentence_spans
from nlb_retriever.text.words import all_word_ids, word_ids


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence of a passage."""

    start: int
    end: int
    """Span in the passage's text."""
    words: frozenset[int]
    """Those of the query that are in it."""


@dataclass(frozen=True)
class Overlap:
    """The words of a query in some passages, sentence by sentence.

    A word counts by its rarity among these very sentences, which separates them better than its rarity in the whole
    library.
    """

    words: frozenset[int]
    """The query's words."""
    passages: tuple[tuple[Sentence, ...], ...]
    """The sentences of each passage."""

    def of(self, indexes: Sequence[int]) -> Overlap:
        """The overlap with some of the passages alone, whose sentences then decide what is rare."""
        return Overlap(self.words, tuple(self.passages[index] for index in indexes))

    @cached_property
    def shares(self) -> tuple[tuple[float, ...], ...]:
        """For each sentence its share of the query's words, rare ones counting more: 0 to 1."""
        return tuple(tuple(self._share(sentence.words) for sentence in sentences) for sentences in self.passages)

    @cached_property
    def pair_shares(self) -> tuple[float, ...]:
        """For each passage the share of the best two neighbouring sentences, or of its only one."""
        return tuple(
            max((self._share(one.words | two.words) for one, two in pairwise(sentences)), default=best)
            for sentences, best in zip(self.passages, self.best_shares, strict=True)
        )

    @property
    def best_shares(self) -> tuple[float, ...]:
        """For each passage the share of its best sentence."""
        return tuple(max(shares, default=0.0) for shares in self.shares)

    @property
    def bonuses(self) -> tuple[float, ...]:
        """For each passage the share of its best sentence plus that of its best two neighbouring ones."""
        return tuple(one + two for one, two in zip(self.best_shares, self.pair_shares, strict=True))

    @cached_property
    def _rarity(self) -> dict[int, float]:
        sentences = [sentence for passage in self.passages for sentence in passage]
        having = Counter(word for sentence in sentences for word in sentence.words)
        count = len(sentences)
        return {word: math.log(1 + (count - having[word] + 0.5) / (having[word] + 0.5)) for word in sorted(self.words)}

    @cached_property
    def _total(self) -> float:
        return sum(self._rarity.values()) or 1.0

    def _share(self, words: frozenset[int]) -> float:
        return sum(self._rarity[word] for word in sorted(words)) / self._total


def find_overlap(query: str, texts: Sequence[str], language: str = ENGLISH) -> Overlap:
    """Find a query's words in the sentences of passages, as a language inflects them."""
    words = word_ids(query, language)
    return Overlap(
        words,
        tuple(
            tuple(
                Sentence(start=start, end=end, words=words.intersection(all_word_ids(text[start:end], language)))
                for start, end in sentence_spans(text)
            )
            for text in texts
        ),
    )
