"""The sentences of some passages, and how much of a question's words each one holds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from nlb_retriever.text.sentences import sentence_spans
from nlb_retriever.text.words import word_ids


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence of one of the passages."""

    passage: int
    """Number of the passage among those given."""
    order: int
    """Number of the sentence in its passage."""
    start: int
    end: int
    """Span in the passage's text."""
    share: float
    """Share of the question's words in it, rare ones counting more: 0 to 1."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What each passage holds of a question's words, sentence by sentence.

    A word counts by its rarity among these very sentences (which tells them apart better than its
    rarity in the whole library does).
    """

    sentences: tuple[tuple[Sentence, ...], ...]
    """For each passage its sentences."""
    bonuses: tuple[float, ...]
    """For each passage the share of its best sentence plus that of its best two neighbouring ones."""


def gather_evidence(question: str, texts: Sequence[str]) -> Evidence:
    """Look for a question's words in the sentences of passages."""
    asked = word_ids(question)
    spans = [sentence_spans(text) for text in texts]
    words = [[word_ids(text[start:end]) & asked for start, end in own] for text, own in zip(texts, spans, strict=True)]
    count = sum(map(len, spans))
    having = Counter(word for own in words for sentence in own for word in sentence)
    rarity = {word: math.log(1 + (count - having[word] + 0.5) / (having[word] + 0.5)) for word in sorted(asked)}
    total = sum(rarity.values()) or 1.0

    def share(found: frozenset[int]) -> float:
        return sum(rarity[word] for word in sorted(found)) / total

    bonuses = []
    for own in words:
        one = max(map(share, own), default=0.0)
        two = max((share(first | second) for first, second in pairwise(own)), default=one)
        bonuses.append(one + two)
    return Evidence(
        sentences=tuple(
            tuple(
                Sentence(passage=passage, order=order, start=start, end=end, share=share(words[passage][order]))
                for order, (start, end) in enumerate(own)
            )
            for passage, own in enumerate(spans)
        ),
        bonuses=tuple(bonuses),
    )
