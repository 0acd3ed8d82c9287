"""Answers in the books' own words: the sentences that answer a question, each cited.

No language model takes part, so nothing is said that is not in a book.
"""

from __future__ import annotations

from nlb_retriever.records import Answer, ShortAnswer
from nlb_retriever.search.overlap import find_overlap
from nlb_retriever.search.question import kind_of
from nlb_retriever.search.quotes import NOT_FOUND, Quote, cite, is_prose, join_quotes
from nlb_retriever.search.run import SearchResult
from nlb_retriever.search.short_answer import answer_shortly

PASSAGES = 5
"""Best passages whose sentences are looked at where no reader takes part."""
PASSAGE_WEIGHT = 2.0
"""Weight of a sentence's passage, beside 1 for the share of the question's words in the sentence: chosen on
FairytaleQA and LiteraryQA val (benchmarks/quality.py); the sentences' own vectors add nothing to these."""


def compose_answer(result: SearchResult, limit: int) -> Answer:
    """An answer made of the sentences of a search's hits.

    Args:
        result: of a search for passages.
        limit: at most so many sentences.
    """
    question, hits = result.request.query, result.hits
    kind = kind_of(question) if result.readings else None
    short = answer_shortly(result, limit) if kind in {"words", "sentence"} else None
    if short and (kind == "words" or short.confidence != "unsure"):
        return short
    quotes = _choose(result, limit)
    if not quotes:
        return Answer(question=question, found=False, text=NOT_FOUND)
    citations = cite(hits, quotes)
    best = hits[quotes[0].hit].text[quotes[0].start : quotes[0].end]
    return Answer(
        question=question,
        found=True,
        text=join_quotes(citations),
        citations=citations,
        shorts=(ShortAnswer(text=" ".join(best.split()), citation=0),) if kind == "sentence" else (),
        confidence="unsure" if kind else None,
    )


def _choose(result: SearchResult, limit: int) -> list[Quote]:
    """The sentences with most of the question's words, from the best passages; the best first."""
    hits = result.hits[:PASSAGES]
    overlap = result.overlap or find_overlap(result.request.query, [hit.text for hit in hits])
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    scored = [
        (overlap.shares[index][order] + PASSAGE_WEIGHT * hit.score / best, index, order)
        for index, hit in enumerate(hits)
        for order, sentence in enumerate(overlap.passages[index])
        if is_prose(hit, sentence.start, sentence.end)
    ]
    quotes = []
    for _, index, order in sorted(scored, key=lambda each: (-each[0], each[1], each[2]))[:limit]:
        sentence = overlap.passages[index][order]
        quotes.append(Quote(hit=index, order=order, start=sentence.start, end=sentence.end))
    return quotes
