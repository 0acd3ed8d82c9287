"""Answers in the books' own words: the sentences that answer a question, each cited.

No language model takes part, so nothing is said that is not in a book.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nlb_retriever.records import Answer
from nlb_retriever.search.answers.quotes import (
    Quote,
    choose_quotes,
    cite,
    is_code,
    is_prose,
    is_question,
    make_answer,
)
from nlb_retriever.search.answers.short_answer import answer_shortly, quote_spans, score_span
from nlb_retriever.search.run import SearchResult
from nlb_retriever.text.languages import number_of_words

PASSAGES = 12
"""Best passages that an answer is made of."""
SENTENCES_OF = 5
"""Best passages whose sentences are compared with the question, where the reader finds no words that answer it."""
PASSAGE_WEIGHT = 2.0
"""Weight of a sentence's passage, beside 1 for the share of the question's words in the sentence: chosen on
FairytaleQA and LiteraryQA val (benchmarks/quality.py); the sentences' own vectors add nothing to these."""
HEADING_WEIGHT = 1.0
"""Of the fit of the section's heading there."""
CODE_PENALTY = 1.0
"""Of a sentence of program code there: prose says what it is for."""
FEW_WORDS = 5
"""Of a sentence that says little."""
ALL_PASSAGES = 60
"""Best passages that an answer of all passages is made of."""
YES_WORDS_WEIGHT = 8.0
"""Weight of the share of the question's words in a sentence, where it takes yes or no for an answer, beside 1 for the
reader's span: chosen on 40 such questions on twelve books."""
LEAST_RELEVANCE = 0.0
"""Of a passage that is quoted among all, where the reader takes part: likelier than not."""
LEAST_SHARE = 0.5
"""Of the question's words in a sentence that is quoted among all, where it does not."""


def compose_answer(result: SearchResult, limit: int | None) -> Answer:
    """An answer made of the sentences of a search's hits.

    Args:
        result: of a search for passages.
        limit: see `choose_quotes`.
    """
    kind = result.request.kind if result.readings else None
    short = answer_shortly(result, limit) if kind in {"words", "clause"} else None
    if short:
        return short
    order = (kind == "yes or no" and _by_spans(result)) or order_by_words(result, SENTENCES_OF)
    answer = _quote(result, choose_quotes(result.hits, order, limit))
    return replace(answer, confidence="unsure") if kind and answer.found else answer


def compose_all(result: SearchResult) -> Answer:
    """An answer of one sentence from each passage that says something on a question.

    Args:
        result: of a search for passages.

    Returns:
        The quotes book by book, the book of the best passage first, and in the order of each book.
    """
    hits = result.hits
    quotes = _read(result) if result.readings else _compared(result)
    books = list(dict.fromkeys(hit.book_id for hit in hits))
    quotes.sort(key=lambda quote: (books.index(hits[quote.hit].book_id), hits[quote.hit].start + quote.start))
    return _quote(result, quotes)


def _quote(result: SearchResult, quotes: Sequence[Quote]) -> Answer:
    return make_answer(result.request.query, cite(result.hits, quotes))


def _by_spans(result: SearchResult) -> list[Quote]:
    """The sentences in which the reader found words, the best first: where a question takes yes or no for an answer."""
    scored = [
        (-score_span(result, quote, span, YES_WORDS_WEIGHT), index, quote.order, quote)
        for index in range(len(result.hits))
        for quote, span in quote_spans(result, index)
    ]
    return [replace(quote, answer=None) for *_, quote in sorted(scored, key=lambda each: each[:3])]


def order_by_words(result: SearchResult, count: int) -> list[Quote]:
    """The sentences of the first hits, those with most of the question's words first, questions last.

    Of sentences with as many words those that say something come first: "Yes, he said." is one of few words.
    """
    hits = result.hits[:count]
    overlap = result.overlap.of(range(len(hits)))
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    scored = [
        (
            is_question(hit, sentence.start, sentence.end),
            -overlap.shares[index][order]
            - PASSAGE_WEIGHT * hit.score / best
            - HEADING_WEIGHT * result.heading_fits[index]
            + CODE_PENALTY * is_code(hit, sentence.start, sentence.end),
            number_of_words(hit.text[sentence.start : sentence.end]) < FEW_WORDS,
            index,
            order,
        )
        for index, hit in enumerate(hits)
        for order, sentence in enumerate(overlap.passages[index])
        if is_prose(hit, sentence.start, sentence.end)
    ]
    sentences = ((index, order, overlap.passages[index][order]) for *_, index, order in sorted(scored))
    return [Quote(hit=index, order=order, start=each.start, end=each.end) for index, order, each in sentences]


def _read(result: SearchResult) -> list[Quote]:
    """The sentence of the best span of each relevant passage; of the best passage in any case."""
    quotes = []
    for index, reading in enumerate(result.readings):
        if reading.relevance >= LEAST_RELEVANCE or not index:
            quotes += [quote for quote, _ in quote_spans(result, index)][:1]
    return quotes


def _compared(result: SearchResult) -> list[Quote]:
    """The sentence of each passage with most of the question's words, where these are enough."""
    overlap = result.overlap
    quotes = []
    for index, (hit, sentences, shares) in enumerate(zip(result.hits, overlap.passages, overlap.shares, strict=True)):
        scored = [
            (share, -order)
            for order, (sentence, share) in enumerate(zip(sentences, shares, strict=True))
            if share >= LEAST_SHARE and is_prose(hit, sentence.start, sentence.end)
        ]
        if scored:
            order = -max(scored)[1]
            quotes.append(Quote(hit=index, order=order, start=sentences[order].start, end=sentences[order].end))
    return quotes
