"""Whether a library is likely to hold an answer to a query; in doubt, yes.

Judged by the best passages that were found: how similar they are to the query as the chunk encoder encodes both (its
own space separates queries without an answer better than the trained one, and the best passages together better than
the most similar one alone), how many of the query's rare words one passage has, whether one book has all the names in
it, and how often, what the reader says where it has read them, and how far the query asks for facts of the world: such
a query is similar to passages of any kind that explain something. Where the passages are about facts, too, similarity
and reader count more, words less. The more passages, the more similar the best are by chance, so the bound grows with
them.
The weights were chosen on questions on novels, tales, textbooks and articles, put to libraries with and without their
book, and judged on others (docs/reader-notes.md).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from nlb_retriever.encoding import DEFAULT_ENCODER, Vectors, facts_regression
from nlb_retriever.model.vectorizer import Vectorizer
from nlb_retriever.model.vectors import EncodedQuery
from nlb_retriever.reader import Reading
from nlb_retriever.records import Hit
from nlb_retriever.search.question import MOST_WORDS, find_capitals, find_full_names, find_names
from nlb_retriever.store import Filter, LibraryStore, StoreQuery
from nlb_retriever.text.languages import ENGLISH, find_language, is_latin
from nlb_retriever.text.words import all_word_ids, word_ids

COMPARED = 5
"""Best passages whose mean cosine with the query counts."""
JUDGED = 20
"""Best passages in which names are looked for: a search by words finds a rare name wherever it stands."""
WORDS_WEIGHT = 0.5
"""Of the share of the query's words that one passage has (`share_of_words`), beside the cosine."""
UNKNOWN_WEIGHT, RAREST = 2.0, 1.5
"""How much more a word counts that no passage has than the rarest that one has, whose best score is about the logarithm
of the number of passages and `RAREST`."""
NAMES_WEIGHT = 0.20
"""Of the share of the query's names that one book has in full in a passage, with its title and author."""
OFTEN_WEIGHT, OFTEN, SELDOM = 0.40, 0.50, 0.20
"""Of the share of the passages that have them, cut at `OFTEN`, less `SELDOM`: a book about somebody has the name all
over, and another one by chance."""
READER_WEIGHT, CLIP = 0.02, 8.0
"""Of the reader's highest relevance, a logit cut at `CLIP`."""
FACTUAL_COSINE, FACTUAL_WORDS, FACTUAL_READER, FACTUAL_BOUND = 1.0, -0.25, 0.045, 0.24
"""What is added to the weights of cosine, words and reader, and to the bound, for passages from `FICTIONAL_PASSAGES` to
all of it at `FACTUAL_PASSAGES`: textbooks and articles more often have words of questions that they do not answer."""
FACTS_WEIGHT, FACTUAL_QUERY, FICTIONAL_PASSAGES, FACTUAL_PASSAGES = 0.15, 0.0, 1.5, 2.5
"""How far a query asks for facts of the world (a logit; medians: -2.0 for questions on tales, -1.7 on novels, 1.9 on
everyday things and of textbooks) is subtracted from `FACTUAL_QUERY` on, the less the more the passages are about facts:
nothing where they have `FACTUAL_PASSAGES` on average. Novels have -1.4 for their questions, textbooks 3.0, articles
3.5, and novels for textbooks' 0.4, at times 2."""
MANY_PASSAGES = 3.5
"""Logarithm of the number of passages from which on all of that counts: of many, some are similar to any such query."""
LEAST, GROWTH = 0.54, 0.05
"""The bound with `FEW_PASSAGES`, and by how much it grows with ten times as many."""
FEW_PASSAGES = 300
IN_BOOK = 0.235
"""How much lower the bound is in a book that was named: keeps 97% of LiteraryQA's val questions there."""
LEAST_RELEVANCE = -4.0
"""The reader's, for the best passage, where cosines are missing or mean something else."""
LEAST_SHARE = 0.2
"""Share of the query's words that one passage must have, where the encoder hardly knows the query's letters."""
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Judgement:
    """What was judged of a query and the passages found for it."""

    relevant: bool
    """Whether they are likely to answer."""
    facts: float = 0.0
    """How far they are about facts of the world: 0, as novels are, to 1, as textbooks and articles are."""


def judge_relevance(
    query: str,
    hits: Sequence[Hit],
    readings: Sequence[Reading],
    vectors: EncodedQuery | None,
    vectorizer: Vectorizer | None,
    *,
    share: float,
    passages: int,
    in_book: bool,
    language: str = ENGLISH,
) -> Judgement:
    """Judge whether hits are likely to answer a query.

    Args:
        query: cleaned.
        hits: passages as the search found them, best first; no more than `JUDGED` count.
        readings: what the reader says about the best passages; none where it took no part.
        vectors: the query's; None where it was searched by words alone.
        vectorizer: the library's; None likewise.
        share: of the query's words that one passage has (`share_of_words`).
        passages: how many were searched.
        in_book: whether one was.
        language: of the query (`text.languages`).
    """
    if not hits:
        return Judgement(False)
    relevance = max((reading.relevance for reading in readings), default=0.0)
    if vectors is None or vectorizer is None or vectorizer.encoder.identity.name != DEFAULT_ENCODER:
        return Judgement(relevance >= LEAST_RELEVANCE)
    if not is_latin(query):
        words = word_ids(query, language)
        most = max(len(words.intersection(all_word_ids(hit.text, language))) for hit in hits[:JUDGED])
        return Judgement(most >= LEAST_SHARE * len(words))
    found = vectorizer.encoder.encode([hit.text for hit in hits[:COMPARED]])
    factuality = float(_factuality(found).mean())
    facts = min(max((factuality - FICTIONAL_PASSAGES) / (FACTUAL_PASSAGES - FICTIONAL_PASSAGES), 0.0), 1.0)
    score = (1.0 + FACTUAL_COSINE * facts) * float((found @ vectors.whole).mean())
    score += (WORDS_WEIGHT + FACTUAL_WORDS * facts) * share
    score += weigh_names(query, hits[:JUDGED], language)
    score += (READER_WEIGHT + FACTUAL_READER * facts) * min(max(relevance, -CLIP), CLIP)
    weight = (1.0 - facts) * FACTS_WEIGHT * min(1.0, math.log10(max(1, passages)) / MANY_PASSAGES)
    score -= weight * max(0.0, float(_factuality(vectors.whole)) - FACTUAL_QUERY)
    bound = LEAST + GROWTH * math.log10(max(1, passages) / FEW_PASSAGES) + FACTUAL_BOUND * facts
    return Judgement(score >= bound - (IN_BOOK if in_book else 0.0), facts)


def _factuality(vectors: Vectors) -> Vectors:
    """How far texts with these vectors (..., D) are about facts of the world: logits (...)."""
    regression = facts_regression()
    logits: Vectors = vectors @ regression[:-1] + regression[-1]
    return logits


def share_of_words(
    query: str,
    where: Filter | None,
    store: LibraryStore,
    *,
    passages: int,
    titles: str = "",
    language: str = ENGLISH,
) -> float:
    """Share of a query's words that one passage has: its BM25 score by that of every word's own best passage, summed.

    So a rare word counts more than a common one, and one that no passage has counts most. Of a long query the first
    `MOST_WORDS` words count. One that no passage has does not count where it stands in their titles, as in those of
    notes.

    Args:
        query: cleaned.
        where: the passages that are searched, of which there are `passages`.
        store: the library, in a session.
        titles: of the best passage's book and section.
        language: of the query.
    """
    counted = word_ids(query, language)
    forms = {ids: word for word in _WORD.findall(query) if (ids := word_ids(word, language) & counted)}
    words = [*forms.values()][:MOST_WORDS]
    titled = {word for word in words if word_ids(word, language) & word_ids(titles, language)}
    texts = [" ".join(words), *words]
    found = store.search([StoreQuery(level="passage", text=text, where=where, limit=1) for text in texts])
    unknown = UNKNOWN_WEIGHT * (math.log(max(1, passages)) + RAREST)
    best, *alone = (hits[0].score if hits else None for hits in found)
    scores = (
        unknown if score is None else score
        for word, score in zip(words, alone, strict=True)
        if score is not None or word not in titled
    )
    return (best or 0.0) / (sum(scores) or 1.0)


def is_abroad(query: str, hits: Sequence[Hit]) -> bool:
    """Whether the book of the best hit is in another language than English and alone has all names of a query.

    What the reader and the encoder, which know English, say does not count then: the name was found.

    Args:
        query: in English, cleaned.
        hits: passages, best first; no more than `JUDGED` count.
    """
    hits = hits[:JUDGED]
    if not hits or _is_english(hits[0]) or find_language(hits[0].text) == ENGLISH or not find_names(query):
        return False
    own = [hit for hit in hits if hit.book_id == hits[0].book_id]
    english = [*filter(_is_english, hits)]
    return _share(_find_names(query, own)) == 1.0 and _share(_find_names(query, english)) < 1.0


def _is_english(hit: Hit) -> bool:
    language: str = hit.metadata["language"] or ENGLISH
    return language.partition("-")[0] == ENGLISH


def weigh_names(query: str, hits: Sequence[Hit], language: str = ENGLISH) -> float:
    """What a query's names add to its score, which are in passages of one book: how many of them, and how often.

    `NAMES_WEIGHT` for a query without names.

    Args:
        query: cleaned.
        hits: passages, at least one.
        language: of the query.
    """
    books = _find_names(query, hits, language)
    if not books:
        return NAMES_WEIGHT
    often = max(sum(map(fmean, passages)) for passages in books) / len(hits)
    return NAMES_WEIGHT * _share(books) + OFTEN_WEIGHT * (min(often, OFTEN) - SELDOM)


def _share(books: Sequence[Sequence[Sequence[float]]]) -> float:
    """Share of the names that passages of one book have, of the book with most; of what `_find_names` found."""
    return max((fmean(1.0 in shares for shares in zip(*passages, strict=True)) for passages in books), default=0.0)


def _find_names(query: str, hits: Sequence[Hit], language: str = ENGLISH) -> list[list[list[float]]]:
    """Share of each of a query's full names that each passage has, book by book; no books for a query without names.

    A passage has the words that it writes with a capital, and those of its book's title and author.
    """
    names = [[ids for word in name if (ids := word_ids(word, language))] for name in find_full_names(query)]
    names = [*filter(None, names)]
    books: dict[str, list[list[float]]] = {}
    for hit in hits if names else ():
        own = word_ids(f"{hit.title} {hit.author or ''} {find_capitals(hit.text)}", language)
        books.setdefault(hit.book_id, []).append([fmean(bool(word & own) for word in name) for name in names])
    return [*books.values()]
