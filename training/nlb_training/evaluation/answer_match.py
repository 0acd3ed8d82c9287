"""Whether a text holds a human answer.

A text holds an answer if it has all words of a human answer by their stems, without stop words and the question's own
words. An answer that has no other words cannot be checked in this way.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from nlb_retriever.text.words import count_words

Stems = frozenset[int]


@lru_cache(maxsize=200_000)
def find_stems(text: str) -> Stems:
    """Stems of a text's words without stop words, as numbers."""
    return frozenset(count_words(text).indices)


def required_stems(question: str, answers: Sequence[str]) -> tuple[Stems, ...]:
    """For each human answer the stems that a text must have to hold it; answers without any are left out."""
    own = find_stems(question)
    return tuple(stems for answer in answers if (stems := find_stems(answer) - own))


def holds_answer(text: str, required: Sequence[Stems]) -> bool:
    """Whether a text has all stems of one of the answers."""
    stems = find_stems(text)
    return any(each <= stems for each in required)
