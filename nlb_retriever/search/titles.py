"""Books that a query names by title, author or both: "The Ambassadors", "Henry James", "Emma by Jane Austen"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from nlb_retriever.records import BookRecord
from nlb_retriever.text.folding import fold

_WORD = re.compile(r"\w+")
_SUBTITLE = re.compile(r"[:;(]|,? or,")
_ARTICLES = frozenset({"the", "a", "an"})


def find_named(query: str, books: Iterable[BookRecord]) -> list[BookRecord]:
    """The books that a query names and says nothing else: their titles may lack a subtitle."""
    words = title_words(query)
    return [book for book in books if words and _has(words, book) and _is_name(words, book)]


def _has(words: list[str], book: BookRecord) -> bool:
    """Whether a book may have that name: much faster than to tell its words apart."""
    text = _lower(f"by {book.title} {book.author}")
    return all(word in text for word in words)


def is_titled(book: BookRecord, title: str) -> bool:
    """Whether a book has that title, with or without its subtitle."""
    words = title_words(title)
    return bool(words) and words in _titles(book)


def is_in_title(book: BookRecord, title: str) -> bool:
    """Whether a book's title has these words in a row: two of them, or one that is written with a capital."""
    words, own = title_words(title), title_words(book.title)
    if not words or (len(words) == 1 and not title[:1].isupper()):
        return False
    return any(own[start : start + len(words)] == words for start in range(len(own)))


def _is_name(words: list[str], book: BookRecord) -> bool:
    author = title_words(book.author or "")
    if sorted(words) == sorted(author):  # "James, Henry"
        return True
    for title in _titles(book):
        for part, rest in ((words[: len(title)], words[len(title) :]), (words[-len(title) :], words[: -len(title)])):
            if part == title and {"by", *author}.issuperset(rest):
                return True
    return False


def _titles(book: BookRecord) -> list[list[str]]:
    """The words of a book's title, and of what stands before its subtitle."""
    return [*filter(None, (title_words(book.title), title_words(_SUBTITLE.split(book.title, maxsplit=1)[0])))]


def title_words(title: str) -> list[str]:
    """The words of a title as people type it, without an article in front."""
    words = name_words(title)
    return words[1:] if len(words) > 1 and words[0] in _ARTICLES else words


def name_words(name: str) -> list[str]:
    """The words of a name as people type it: in small letters, without accents and apostrophes."""
    return _WORD.findall(_lower(name))


def _lower(text: str) -> str:
    return fold(text).replace("'", "")
