"""Books that a query names by title, author or both: "The Ambassadors", "Henry James", "Emma by Jane Austen"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from nlb_retriever.records import BookRecord

_WORD = re.compile(r"\w+")
_SUBTITLE = re.compile(r"[:;(]")
_ARTICLES = frozenset({"the", "a", "an"})


def find_named(query: str, books: Iterable[BookRecord]) -> list[BookRecord]:
    """The books that a query names and says nothing else: their titles may lack what follows a colon."""
    words = _words(query)
    return [book for book in books if words and _is_name(words, book)]


def _is_name(words: list[str], book: BookRecord) -> bool:
    author = _words(book.author or "")
    if words == author:
        return True
    for title in filter(None, (_words(book.title), _words(_SUBTITLE.split(book.title, maxsplit=1)[0]))):
        for part, rest in ((words[: len(title)], words[len(title) :]), (words[-len(title) :], words[: -len(title)])):
            if part == title and {"by", *author}.issuperset(rest):
                return True
    return False


def _words(text: str) -> list[str]:
    """In lower case, without an article in front."""
    words = _WORD.findall(text.casefold().replace("’", "'").replace("'", ""))
    return words[1:] if len(words) > 1 and words[0] in _ARTICLES else words
