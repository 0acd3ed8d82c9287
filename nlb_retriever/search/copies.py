"""Copies of a book in a library, as an EPUB and a Kindle file of it: what one says, a search shows once."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Protocol, TypeVar

from nlb_retriever.search.titles import main_title

_NO_LETTER = re.compile(r"[\W_]+")
_SHORT = 100
"""Letters and digits of a text of which all are compared; of a longer one the middle half, for in another file it may
begin and end elsewhere."""
_COMPARED = 100
"""Texts of one title that each is compared with, the last ones: copies of a text have about the same score."""


def letters_of(text: str) -> str:
    """What copies of a text have in common: its letters and digits."""
    return _NO_LETTER.sub("", text.casefold())


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
    translations, or two contracts of one form, both are found.

    Args:
        ids: of the texts, the best first.
        count: at most so many.
        fetch: reads texts by their ids, in that order.
    """
    found: list[T] = []
    titled: defaultdict[tuple[str, ...], deque[_Letters]] = defaultdict(lambda: deque(maxlen=_COMPARED))
    start = 0
    while len(found) < count and start < len(ids):
        end = start + count - len(found)
        for text in fetch(ids[start:end]):
            letters, same_title = _Letters(text), titled[main_title(text.title)]
            if not any(letters.are_in(other) for other in same_title if other.text.book_id != text.book_id):
                found.append(text)
                same_title.append(letters)
        start = end
    return found


class _Letters:
    """A text's letters and digits, which are read when they are needed."""

    def __init__(self, text: Text) -> None:
        self.text = text

    @cached_property
    def all(self) -> str:
        return letters_of(self.text.text)

    def are_in(self, other: _Letters) -> bool:
        """Whether another text says the same."""
        length = len(self.all)
        if length < _SHORT:
            return length > 0 and self.all == other.all
        return self.all[length // 4 : length - length // 4] in other.all
