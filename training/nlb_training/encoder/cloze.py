"""Queries out of the books themselves: a sentence as somebody half remembers it, for the passage it is from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nlb_training.encoder.bert import Ids
from nlb_training.encoder.books import Span, TermIds, TokenizedBook

_SHORTEST, _LONGEST = 8, 60
_REMOVED = 0.6
"""Share of the queries whose sentence is taken out of its passage: what is left must be enough (Lee et al. 2019)."""


def make_cloze(
    book: TokenizedBook, passages: Sequence[Span], count: int, random: np.random.Generator
) -> list[tuple[Ids, TermIds, int, Span | None]]:
    """Queries as token ids with their terms, the index of each one's passage, and what is to be taken out of it."""
    made: list[tuple[Ids, TermIds, int, Span | None]] = []
    for _ in range(4 * count):
        if len(made) == count:
            break
        index = int(random.integers(len(passages)))
        low, high = passages[index]
        inner = book.sentences[np.searchsorted(book.sentences, low) : np.searchsorted(book.sentences, high, "right")]
        if len(inner) < 3:
            continue
        number = int(random.integers(len(inner) - 1))
        start, end = int(inner[number]), int(inner[number + 1])
        if not _SHORTEST <= end - start <= _LONGEST:
            continue
        kept = random.random(end - start) >= random.uniform(0, 0.4)
        query = book.ids[start:end][kept]
        if len(query) >= _SHORTEST // 2:
            hole = (start, end) if random.random() < _REMOVED and high - low > 2 * (end - start) else None
            made.append((query, book.terms[start:end][kept], index, hole))
    return made
