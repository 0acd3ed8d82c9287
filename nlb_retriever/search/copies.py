"""Copies of a book in a library, as an EPUB and a Kindle file of it: what one says, a search shows once."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Protocol, TypeVar

from nlb_retriever.search.titles import main_title

_SAME = 0.5
"""Share of a text's runs of words that other copies' texts have, from which on it says nothing new."""
_WORDS_TOGETHER = 3
_WORDS = re.compile("[\u2e80-\u9fff\uac00-\ud7a3]|[^\\W\u2e80-\u9fff\uac00-\ud7a3]+")
"""Words; where a script has no spaces, characters."""


def runs_of_words(text: str) -> set[tuple[str, ...]]:
    """The runs of three words of a text, without case and punctuation."""
    words = _WORDS.findall(text.casefold())
    count = max(1, len(words) - _WORDS_TOGETHER + 1) if words else 0
    return {tuple(words[start : start + _WORDS_TOGETHER]) for start in range(count)}


class Text(Protocol):
    """A span of a book: a hit, or what a library holds of it."""

    @property
    def book_id(self) -> str: ...

    @property
    def title(self) -> str:
        """The book's."""

    @property
    def text(self) -> str: ...


T = TypeVar("T", bound=Text)


def fetch_distinct(ids: Sequence[str], count: int, fetch: Callable[[Sequence[str]], list[T]]) -> list[T]:
    """The first texts that do not say what those before them say in a copy of their book.

    Copies have one title but for subtitles. Whether they have one text, too, is seen in these texts themselves: of two
    translations both are found.

    Args:
        ids: of the texts, the best first.
        count: at most so many.
        fetch: reads texts by their ids, in that order.
    """
    found: list[T] = []
    titled: defaultdict[tuple[str, ...], list[_Runs]] = defaultdict(list)
    start = 0
    while len(found) < count and start < len(ids):
        end = start + count - len(found)
        for text in fetch(ids[start:end]):
            runs, same_title = _Runs(text), titled[main_title(text.title)]
            if not runs.are_in([others for others in same_title if others.text.book_id != text.book_id]):
                found.append(text)
                same_title.append(runs)
        start = end
    return found


class _Runs:
    """A text's runs of words, which are told when they are needed."""

    def __init__(self, text: Text) -> None:
        self.text = text

    @cached_property
    def runs(self) -> set[tuple[str, ...]]:
        return runs_of_words(self.text.text)

    def are_in(self, others: Sequence[_Runs]) -> bool:
        """Whether others have half of them."""
        known = set[tuple[str, ...]]().union(*(other.runs for other in others))
        return bool(known) and len(self.runs & known) >= _SAME * len(self.runs)
