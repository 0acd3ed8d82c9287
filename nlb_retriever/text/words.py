"""Words as sparse vectors (BM25): which words of a level count, and how much.

The engine multiplies by the words' rarity (IDF) when it searches; these are only term frequencies,
saturated by `k` and scaled by length with `b`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import qdrant_edge

from nlb_retriever.records import Book, Level, Passage, Section


@dataclass(frozen=True, kw_only=True)
class Sparse:
    """A sparse vector: hashes of words and their weights."""

    indices: list[int]
    values: list[float]


@dataclass(frozen=True, kw_only=True)
class Weights:
    k: float
    b: float
    average: float
    """Words of a common text of the level, without stop words."""


WEIGHTS: Mapping[Level, Weights] = {
    "book": Weights(k=10, b=0.75, average=40_000),
    "section": Weights(k=1.2, b=0.9, average=600),
    "passage": Weights(k=0.4, b=0.4, average=80),
}
"""Chosen on the dev books (benchmarks/quality.py); the usual k=1.2, b=0.75 loses 11 points of MRR where a long summary
is the query for its section."""
TITLE_COUNT = 30
"""How often a book's title and author count among its words, which may be 100,000."""
QUESTION_WORDS = "happen feel think believe decide describe explain need hear realize able whats whos wheres hows whens"
"""Words of questions that are rarely in the answer, beside the usual stop words."""


def book_words(book: Book) -> str:
    """A book is found by its title, its author and all of its text (headings are in the text)."""
    name = " ".join(filter(None, (book.title, book.author)))
    return "\n".join((*[name] * TITLE_COUNT, book.text))


def section_words(book: Book, section: Section) -> str:
    """A section is found by the book's title, its own titles and its text."""
    return "\n".join((book.title, *section.path, book.text[section.start : section.end]))


def passage_words(book: Book, passage: Passage) -> str:
    """A passage is found by its text alone."""
    return book.text[passage.start : passage.end]


def weigh_document(level: Level, text: str) -> Sparse:
    return _sparse(_model(level).embed_document(text))


def weigh_query(level: Level, text: str) -> Sparse:
    """Each word of a query once, without `QUESTION_WORDS` (unless there are no others)."""
    words = _sparse(_model(level).embed_query(text))
    kept = [index for index in words.indices if index not in _question_words(level)]
    return Sparse(indices=kept, values=[1.0] * len(kept)) if kept else words


def count_words(text: str) -> Sparse:
    """How often each word that counts is in a text, before any weights."""
    return _sparse(_counter().embed_document(text))


def word_ids(text: str) -> frozenset[int]:
    """The words that count in a text, stemmed, as numbers; without stop words and `QUESTION_WORDS`."""
    return frozenset(weigh_query("passage", text).indices)


def all_word_ids(text: str) -> list[int]:
    """Like `word_ids`, with `QUESTION_WORDS`: faster where only those of a query are looked for."""
    return _model("passage").embed_query(text).indices


def _sparse(vector: qdrant_edge.SparseVector) -> Sparse:
    return Sparse(indices=vector.indices, values=vector.values)


@cache
def _question_words(level: Level) -> frozenset[int]:
    return frozenset(_model(level).embed_query(QUESTION_WORDS).indices)


@cache
def _counter() -> qdrant_edge.Bm25:
    # Without saturation and without regard to length a weight is the count itself.
    return qdrant_edge.Bm25(qdrant_edge.Bm25Config(k=1e9, b=0))


@cache
def _model(level: Level) -> qdrant_edge.Bm25:
    weights = WEIGHTS[level]
    return qdrant_edge.Bm25(qdrant_edge.Bm25Config(k=weights.k, b=weights.b, avg_len=weights.average))
