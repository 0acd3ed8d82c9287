"""All passages that say something on a question, in reading order."""

from __future__ import annotations

from nlb_retriever.records import Answer
from nlb_retriever.search.overlap import find_overlap
from nlb_retriever.search.quotes import NOT_FOUND, Quote, cite, is_prose, join_quotes
from nlb_retriever.search.run import SearchResult
from nlb_retriever.search.short_answer import quote_spans

LOOKED_AT = 60
"""Best passages that are looked at."""
LEAST_RELEVANCE = 0.0
"""Of a passage that is quoted, where the reader takes part: likelier than not."""
LEAST_SHARE = 0.5
"""Of the question's words in a sentence that is quoted, where it does not."""


def compose_all(result: SearchResult) -> Answer:
    """An answer of one sentence from each passage that says something on a question.

    Args:
        result: of a search for passages.

    Returns:
        The quotes book by book, the book of the best passage first, and in the order of each book.
    """
    question, hits = result.request.query, result.hits
    quotes = _read(result) if result.readings else _compared(result)
    books = list(dict.fromkeys(hit.book_id for hit in hits))
    quotes.sort(key=lambda quote: (books.index(hits[quote.hit].book_id), hits[quote.hit].start + quote.start))
    if not quotes:
        return Answer(question=question, found=False, text=NOT_FOUND)
    citations = cite(hits, quotes)
    return Answer(question=question, found=True, text=join_quotes(citations), citations=citations)


def _read(result: SearchResult) -> list[Quote]:
    """The sentence of the best span of each relevant passage; of the best passage in any case."""
    quotes: dict[int, Quote] = {}
    for index, (hit, reading) in enumerate(zip(result.hits, result.readings, strict=False)):
        if reading.relevance >= LEAST_RELEVANCE or not index:
            quotes.update((index, quote) for quote in quote_spans(index, hit, reading)[:1])
    return list(quotes.values())


def _compared(result: SearchResult) -> list[Quote]:
    """The sentence of each passage with most of the question's words, where these are enough."""
    overlap = result.overlap or find_overlap(result.request.query, [hit.text for hit in result.hits])
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
