"""Terms of a text: the words that count, stemmed, and where they stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

from nlb_retriever.text.sentences import sentence_spans
from nlb_retriever.text.words import count_words, word_ids

MOST_TERMS = 64
"""A query of more is a summary: it is compared as a whole."""
_WORD = re.compile(r"[^\W_]+")
_REMEMBERED = 300_000  # words whose terms are kept in memory, about 40 MB


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The words of a text that count, one after another."""

    offsets: list[int]
    """Where each begins."""
    ids: list[int]
    """The term of each, as `text.words` numbers them: equal for words of one stem."""

    def in_sentences(self, text: str) -> list[int]:
        """Number of the sentence of the text that each is in."""
        starts = [start for start, _ in sentence_spans(text)]
        return [max(0, bisect_right(starts, offset) - 1) for offset in self.offsets]


def find_terms(text: str) -> Terms:
    """The terms of a passage; words that only grammar needs are left out."""
    found = [(match.start(), term) for match in _WORD.finditer(text) if (term := _term(match.group())) is not None]
    return Terms(offsets=[offset for offset, _ in found], ids=[term for _, term in found])


def find_query_terms(text: str) -> Terms:
    """The terms of a query, without the words of questions; none where there are more than `MOST_TERMS`."""
    terms, kept = find_terms(text), word_ids(text)
    found = [pair for pair in zip(terms.offsets, terms.ids, strict=True) if pair[1] in kept]
    if len({term for _, term in found}) > MOST_TERMS:
        found = []
    return Terms(offsets=[offset for offset, _ in found], ids=[term for _, term in found])


@lru_cache(_REMEMBERED)
def _term(word: str) -> int | None:
    found = count_words(word).indices
    return found[0] if len(found) == 1 else None
