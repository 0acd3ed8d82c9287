"""Words as sparse vectors (BM25): which words of a level count, and how much.

The engine multiplies by the words' rarity (IDF) when it searches; these are only term frequencies,
saturated by `k` and scaled by length with `b`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import qdrant_edge

from nlb_retriever.records import Book, Level, Passage, Section
from nlb_retriever.text.languages import (
    BY_LETTERS,
    ENGINE_NAMES,
    ENGLISH,
    QUESTION_WORDS,
    UNKNOWN,
    languages_of_query,
)


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
OTHER_LANGUAGE_WEIGHT = 0.25
"""Weight of a word as another language than the query's inflects it: names are in books of any."""
CUT = frozenset({"ja", "ko", "zh"})
"""Languages whose words are counted as their pairs of neighbouring letters, and each letter: a name is then found with
and without the family name, a noun with any particle (docs/benchmarks.md, "Other languages")."""
_HANGUL, _KANA = r"\uac00-\ud7a3", r"\u3041-\u309f"
_RUN = re.compile(rf"[{_HANGUL}]+|[{_KANA}\u3005\u30a1-\u30fa\u30fc-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]+")
_STEM = re.compile(rf"[{_HANGUL}]{{1,2}}")
_ENDING = re.compile(rf"[{_KANA}]+")
_MARKED = re.compile(r"[\u0300-\u036f\u0370-\u052f\u0591-\u05ea\u1f00-\u1fff]+")  # Greek, Cyrillic, Hebrew
_MARKS = re.compile(r"[\u0300-\u0305\u0307-\u036f\u0591-\u05c7]")
"""All but the breve, without which a Cyrillic short i is another letter."""


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
    return _sparse(_model(level, language).embed_document(_prepare(text, language)))


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
    kept = sorted(weights.keys() - _question_words(languages)) or sorted(weights)
    return Sparse(indices=kept, values=[weights[index] for index in kept])


def count_words(text: str) -> Sparse:
    """How often each word that counts is in a text, before any weights."""
    return _sparse(_counter().embed_document(text))


def word_ids(text: str, language: str = ENGLISH) -> frozenset[int]:
    """The words that count in a text, stemmed, as numbers; without accents, stop words and `QUESTION_WORDS`."""
    found = frozenset(all_word_ids(text, language))
    return found - _question_words((language,)) or found


def all_word_ids(text: str, language: str = ENGLISH) -> list[int]:
    """Like `word_ids`, with `QUESTION_WORDS`: faster where only those of a query are looked for."""
    if language == ENGLISH:
        return _model("passage", UNKNOWN).embed_query(text).indices
    return _find_words("passage", text, language, letters=False)


def is_counted(word: str, language: str) -> bool:
    """Whether a word counts in a query, and is not one of `QUESTION_WORDS` either."""
    return not _question_words((language,)).issuperset(all_word_ids(word, language))


def _sparse(vector: qdrant_edge.SparseVector) -> Sparse:
    return Sparse(indices=vector.indices, values=vector.values)


def _find_words(level: Level, text: str, language: str, *, letters: bool = True) -> list[int]:
    return _model(level, language).embed_query(_prepare(text, language, letters=letters)).indices


def _prepare(text: str, language: str, *, letters: bool = True) -> str:
    """A text as the engine is to see it: its letters cut (of languages in `CUT`), or without marks that many leave out.

    Args:
        text: any.
        language: of the text.
        letters: whether all pairs and single letters count; else only those that are no particles or endings as a rule:
            of a Korean word the first pair, of Japanese ones not those of hiragana.
    """
    if language == ENGLISH or text.isascii():
        return text
    if language in CUT:
        return _RUN.sub(lambda run: f" {_cut(run[0], letters)} ", unicodedata.normalize("NFKC", text))
    return _MARKED.sub(lambda word: _without_marks(word[0]), text)


def _cut(run: str, letters: bool) -> str:
    pairs = [one + two for one, two in pairwise(run)] or [run]
    if letters:
        return " ".join((*pairs, *run))
    if stem := _STEM.match(run):
        return stem[0]
    return " ".join(pair for pair in pairs if not _ENDING.fullmatch(pair))


def _without_marks(word: str) -> str:
    return unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", word)))


@cache
def _question_words(languages: tuple[str, ...]) -> frozenset[int]:
    known = ((language, QUESTION_WORDS.get(language, "")) for language in languages)
    return frozenset(index for language, words in known for index in _find_words("passage", words, language))


@cache
def _counter() -> qdrant_edge.Bm25:
    # Without saturation and without regard to length a weight is the count itself.
    return qdrant_edge.Bm25(qdrant_edge.Bm25Config(k=1e9, b=0))


@cache
def _model(level: Level, language: str) -> qdrant_edge.Bm25:
    weights = WEIGHTS[level]
    is_cut = language in CUT
    return qdrant_edge.Bm25(
        qdrant_edge.Bm25Config(
            k=weights.k,
            b=weights.b,
            avg_len=weights.average,
            language=ENGLISH if is_cut else ENGINE_NAMES.get(language, language),
            tokenizer=qdrant_edge.TokenizerType.Multilingual if language in BY_LETTERS and not is_cut else None,
            ascii_folding=language != ENGLISH,  # people type "Sao Paulo", too
        )
    )
