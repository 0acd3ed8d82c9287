"""Words as sparse vectors (BM25): which words of a level count, and how much.

The engine multiplies by the words' rarity (IDF) when it searches; these are only term frequencies,
saturated by `k` and scaled by length with `b`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import qdrant_edge

from nlb_retriever.records import Book, Level, Passage, Section
from nlb_retriever.text.languages import BY_LETTERS, ENGINE_NAMES, ENGLISH, languages_of_query


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
QUESTION_WORDS = {
    "en": "happen feel think believe decide describe explain need hear realize able whats whos wheres hows whens",
    "de": "wer wen wem wessen wann warum weshalb wieso wozu woher wohin wieviel",
    "fr": "quoi comment quand pourquoi quel quelle quels quelles combien lequel",
    "es": "cuáles cuánto cuántos",
    "it": "cosa quando perché quali",
    "pt": "onde quais quanto quantos porque porquê",
    "nl": "wanneer waarom waar welke welk hoeveel",
    "sv": "när varför",
    "da": "hvem hvornår hvorfor hvordan hvilken hvilket hvilke",
    "no": "når hvilket",
    "ru": "почему какие сколько кого чей откуда",
    "ja": "誰 いつ なぜ どう どうやって どれ",
    "zh": "谁 什麼 何时 为什么",
    "ko": "누가 무엇 언제 왜 어디 어떻게 어떤 몇",
}
"""Words of questions that are rarely in the answer, beside the usual stop words."""
OTHER_LANGUAGE_WEIGHT = 0.25
"""Weight of a word as another language than the query's inflects it: names are in books of any."""


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


def weigh_document(level: Level, text: str, language: str = ENGLISH) -> Sparse:
    """The words of a text in a language (`text.languages`), of which it has its own common words and inflections."""
    return _sparse(_model(level, language).embed_document(text))


def weigh_query(level: Level, text: str, languages: Sequence[str] = (ENGLISH,)) -> Sparse:
    """Each word of a query once, without `QUESTION_WORDS` (unless there are no others).

    Args:
        level: of what is searched.
        text: the query.
        languages: of the books. A word is looked for as each inflects it, unless it is common in the query's own.
    """
    languages = tuple(languages) or (ENGLISH,)
    own: Sequence[str] = languages
    if languages != (ENGLISH,):
        own = languages_of_query(text, languages)
        words = (word for word in text.split() if any(_find_words(level, word, language) for language in own))
        text = " ".join(words) or text
    weights: dict[int, float] = {}
    for language in languages:
        weight = 1.0 if language in own else OTHER_LANGUAGE_WEIGHT
        for index in _find_words(level, text, language):
            weights[index] = max(weight, weights.get(index, 0.0))
    kept = sorted(weights.keys() - _question_words(level, languages)) or sorted(weights)
    return Sparse(indices=kept, values=[weights[index] for index in kept])


def count_words(text: str) -> Sparse:
    """How often each word that counts is in a text, before any weights."""
    return _sparse(_counter().embed_document(text))


def word_ids(text: str, language: str = ENGLISH) -> frozenset[int]:
    """The words that count in a text, stemmed, as numbers; without stop words and `QUESTION_WORDS`."""
    found = frozenset(_find_words("passage", text, language))
    return found - _question_words("passage", (language,)) or found


def all_word_ids(text: str, language: str = ENGLISH) -> list[int]:
    """Like `word_ids`, with `QUESTION_WORDS`: faster where only those of a query are looked for."""
    return _find_words("passage", text, language)


def is_counted(word: str, language: str) -> bool:
    """Whether a word counts in a query, and is not one of `QUESTION_WORDS` either."""
    return not _question_words("passage", (language,)).issuperset(all_word_ids(word, language))


def _sparse(vector: qdrant_edge.SparseVector) -> Sparse:
    return Sparse(indices=vector.indices, values=vector.values)


def _find_words(level: Level, text: str, language: str) -> list[int]:
    if language == "ja" and not BY_LETTERS["ja"].search(text):
        text += "の"  # a common word; without one the engine takes it for Chinese, whose words are others
    return _model(level, language).embed_query(text).indices


@cache
def _question_words(level: Level, languages: tuple[str, ...]) -> frozenset[int]:
    known = ((language, QUESTION_WORDS.get(language, "")) for language in languages)
    return frozenset(index for language, words in known for index in _find_words(level, words, language))


@cache
def _counter() -> qdrant_edge.Bm25:
    # Without saturation and without regard to length a weight is the count itself.
    return qdrant_edge.Bm25(qdrant_edge.Bm25Config(k=1e9, b=0))


@cache
def _model(level: Level, language: str) -> qdrant_edge.Bm25:
    weights = WEIGHTS[level]
    by_letters = language in BY_LETTERS
    return qdrant_edge.Bm25(
        qdrant_edge.Bm25Config(
            k=weights.k,
            b=weights.b,
            avg_len=weights.average,
            language=ENGINE_NAMES.get(language, language),
            tokenizer=qdrant_edge.TokenizerType.Multilingual if by_letters else None,
            ascii_folding=language != ENGLISH,  # people type "Sao Paulo", too
        )
    )
