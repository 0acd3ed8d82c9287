"""Which language a text is in, by its letters and by its most common words, so that its words can be counted as such.

Languages are BCP 47 tags ("de"). Those are known of which the search engine has a list of common words, and those whose
letters tell; a text in any other counts as unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

import qdrant_edge

ENGLISH = "en"
UNKNOWN = "und"
"""Words of a text in no known language are counted as English ones without accents (BCP 47: undetermined)."""
BY_COMMON_WORDS = (
    ENGLISH, "de", "fr", "es", "it", "pt", "nl", "sv", "da", "no", "fi", "ro", "hu", "ca", "eu", "sl", "tr", "az", "id",
    "el", "ru", "kk", "tg", "ar", "he", "bn", "ne",
)  # fmt: skip
"""The engine knows their common words; of most it also knows how words are inflected (Snowball)."""
BY_LETTERS = {
    "ja": re.compile(r"[\u3040-\u30ff]"),
    "ko": re.compile(r"[\uac00-\ud7a3]"),
    "th": re.compile(r"[\u0e00-\u0e7f]"),
    "zh": re.compile(r"[\u3400-\u9fff]"),
}
"""The letters that only they have; Chinese ones are Japanese where kana stand among them. But for Korean, they set no
spaces between words."""
ENGINE_NAMES = {"ja": "japanese", "ko": ENGLISH, "th": ENGLISH, UNKNOWN: ENGLISH}
"""What the engine calls a language; of the last three it only finds the words."""
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
    "ja": "誰 誰が 誰です 何 何が 何です いつ なぜ どう どこ どうやって どれ ですか ますか",
    "zh": "谁 谁是 是谁 什么 怎么 怎样 哪里 哪儿 何时 为什么 誰 誰是 是誰 什麼 怎麼 怎樣 哪裡 何時 為什麼 吗 嗎 呢",
    "ko": "누가 누구 누구인가 누구입니까 무엇 무엇을 무엇인가 무엇입니까 언제 왜 어디 어디에 어떻게 어떤 몇",
}
"""Words of questions that are rarely in the answer, beside the usual stop words."""
LEAST_LETTERS = 0.1
"""Share of such letters: technical books have many Latin ones, too, and a Latin word has more letters."""
LEAST_COMMON, OVER_ENGLISH = 0.16, 1.3
"""Least share of a language's common words, and by how much it must be above that of the English ones: a book in two
languages counts as English. In 600 English books 30 to 50% are common, and at most 10% common in another language."""
LEAST_WORDS = 20
"""Fewer tell too little."""
SURELY_ENGLISH = 0.3
"""Share of common English words from which on no other language is looked for."""
LEAST_MARKED = 0.02
"""Share of letters that are not plain Latin ones: Polish, say, whose "a", "i" and "to" are common English words."""
LEAST_LATIN = 0.8
"""Share of Latin letters where the encoder, which knows hardly any others, reads a query."""
SLICES, SLICE = 20, 1000
"""So many slices of so many characters are looked at in a long text."""
_LATIN = re.compile(r"[^\W\d_\u0250-\u1dff\u1f00-\uffff]")  # with all their accents
UNSPACED = re.compile("|".join(BY_LETTERS[language].pattern for language in ("ja", "th", "zh")))
"""A letter of languages without spaces between words."""
_LETTER = re.compile(r"[^\W\d_]")
_MARKED = re.compile(r"[^\W\d_A-Za-z]")
_WORD = re.compile(r"[^\W\d_]+")


def find_language(text: str) -> str | None:
    """The language of a text; None for one that is not known, or too short to tell."""
    sample = _sample(text)
    letters = len(_LETTER.findall(sample))
    for language, own in BY_LETTERS.items():
        if letters and len(own.findall(sample)) >= LEAST_LETTERS * letters:
            return language
    if (words := _count(sample, None)) < LEAST_WORDS:
        return None
    english = 1 - _count(sample, ENGLISH) / words
    if english >= SURELY_ENGLISH:
        return ENGLISH
    shares = {language: 1 - _count(sample, language) / words for language in BY_COMMON_WORDS}
    best = max(shares, key=lambda language: shares[language])
    if shares[best] < LEAST_COMMON:
        return None
    return best if shares[best] >= OVER_ENGLISH * english else ENGLISH


def languages_of_query(query: str, languages: Iterable[str]) -> list[str]:
    """Those of some languages and English of which a query has most common words; several where it has as many.

    `QUESTION_WORDS` are common, too.
    """
    both = {ENGLISH, *languages}
    counts = {language: _count(_without_question_words(query, language), language) for language in both}
    return sorted(language for language, count in counts.items() if count == min(counts.values()))


def language_of_query(query: str, languages: Sequence[str]) -> str:
    """The one of some languages that a query is in, as far as it tells; else English."""
    languages = [ENGLISH if language == UNKNOWN else language for language in languages]
    if {ENGLISH}.issuperset(languages):
        return ENGLISH
    for language, letters in BY_LETTERS.items():
        if language in languages and letters.search(query):
            return language
    own = languages_of_query(query, languages)
    likely = [language for language in own if language in languages] or own
    return ENGLISH if ENGLISH in likely else likely[0]


def is_marked(text: str) -> bool:
    """Whether a text has so many letters that are not plain Latin ones as no English one has."""
    sample = _sample(text)
    return len(_MARKED.findall(sample)) >= LEAST_MARKED * max(1, len(_LETTER.findall(sample)))


def is_latin(text: str) -> bool:
    """Whether nearly all letters of a text are Latin ones."""
    letters = _LETTER.findall(text)
    return len(_LATIN.findall(text)) >= LEAST_LATIN * len(letters)


def number_of_words(text: str) -> int:
    """How many words a text has; where no spaces are between them, as many as half its letters."""
    return len(text.split()) + len(UNSPACED.findall(text)) // 2


def _sample(text: str) -> str:
    if len(text) <= SLICES * SLICE:
        return text
    step = len(text) // SLICES
    return "\n".join(text[at * step : at * step + SLICE] for at in range(SLICES))


def _without_question_words(query: str, language: str) -> str:
    words = QUESTION_WORDS.get(language, "").split()
    return _WORD.sub(lambda word: "" if word[0].lower() in words else word[0], query)


def _count(text: str, language: str | None) -> int:
    """How many words a text has without a language's common ones."""
    return round(sum(_counter(language).embed_document(text).values))


@cache
def _counter(language: str | None) -> qdrant_edge.Bm25:
    return qdrant_edge.Bm25(
        qdrant_edge.Bm25Config(
            k=1e9,  # without saturation and without regard to length a weight is the count itself
            b=0,
            language=ENGINE_NAMES.get(language, language) if language else None,
            stopwords=None if language else qdrant_edge.StopwordsSet(),
            stemmer=qdrant_edge.DisabledStemmer(),
            tokenizer=qdrant_edge.TokenizerType.Multilingual,
        )
    )
