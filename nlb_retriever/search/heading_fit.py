"""How well a section's heading fits a question: manuals and lists of frequent questions have the question there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from nlb_retriever.records import Hit
from nlb_retriever.text.words import word_ids

_NUMBER = re.compile(
    r"(?i:chapter|section|part|appendix|question|q)?\W*(?:\d[\d.]*|[A-Z](?:\.[\d.]+)?[.:)]|[IVXLC]+[.:)])[.:)]?\s+"
)
_ASKING = re.compile(r"what(?:['’]s| is| are| was| were)\s+", re.IGNORECASE)
_WORD = re.compile(r"\w+")
LEAST = 0.5
"""Share of words in common from which on a heading fits."""


def heading_fits(question: str, hits: Sequence[Hit]) -> tuple[float, ...]:
    """For each hit how well the heading of its section fits: 0 to 1, where both have the same words.

    That is the share of words in common (Dice), of which the lower half counts as none; with headings above it where
    these fit better: "Faro", "Where to Eat".
    """
    words = word_ids(question)
    return tuple(_fit(words, tuple(hit.section)) for hit in hits)


def _fit(words: frozenset[int], path: tuple[str, ...]) -> float:
    best = max((_share(words, _path_words(path[depth:])) for depth in range(len(path))), default=0.0)
    return max(0.0, (best - LEAST) / (1 - LEAST))


def _share(words: frozenset[int], own: frozenset[int]) -> float:
    return 2 * len(words & own) / (len(words) + len(own)) if words and own else 0.0


def is_heading_of(term: str, heading: str) -> bool:
    """Whether a heading is a term, or asks what it is: "3.2 Norms", "What is a norm?"."""
    plain = _plain(_ASKING.sub("", _without_number(heading)))
    return bool(plain) and plain == _plain(term)


def _plain(text: str) -> list[str]:
    words = [
        word if len(word) < 4 or word.endswith("ss") else word.removesuffix("s") for word in _WORD.findall(text.lower())
    ]
    return words[1:] if words[:1] in (["a"], ["an"], ["the"]) else words


def _without_number(heading: str) -> str:
    return heading[match.end() :] if (match := _NUMBER.match(heading)) else heading


@lru_cache(maxsize=16_384)
def _path_words(path: tuple[str, ...]) -> frozenset[int]:
    return frozenset().union(*(word_ids(_without_number(heading)) for heading in path))
