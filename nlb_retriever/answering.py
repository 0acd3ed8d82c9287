"""Answers in the books' own words: the sentences that answer a question, each with its place.

No language model takes part, so nothing is said that does not stand in a book.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from nlb_retriever.encoding import DEFAULT_ENCODER
from nlb_retriever.records import Answer, Citation, Hit
from nlb_retriever.retriever import Ranking, Retriever, clean_question
from nlb_retriever.scope import Scope, make_scope
from nlb_retriever.sentences import sentence_spans
from nlb_retriever.store import Filter
from nlb_retriever.store.bm25 import word_ids

PASSAGES = 5
"""Best passages whose sentences are looked at."""
PASSAGE_WEIGHT = 2.0
"""Weight of a sentence's passage, beside 1 for the share of the question's words in the sentence: chosen on
FairytaleQA train and val (benchmarks/quality.py); the sentences' own vectors add nothing to these."""
NEAR, FARTHEST_NEAR = 0.40, 0.50
"""Bounds of the least nearness of an answer: cosine of the nearest passage, and a little for shared words."""
NEAR_PASSAGES, NEAR_GROWTH = 300, 0.05
"""Up to so many passages the lower bound holds; it grows by so much with ten times as many."""
WORDS_NEAR = 0.25
"""Weight of the share of the question's words that stand in the best passage."""
NOT_FOUND = "Not in your library."


@dataclass(frozen=True)
class _Sentence:
    hit: Hit
    start: int
    end: int
    """Span in the book's text."""
    order: int
    """Number of the sentence among those of its passage."""
    words: frozenset[int]

    @property
    def text(self) -> str:
        return self.hit.text[self.start - self.hit.start : self.end - self.hit.start]


def answer(
    question: str,
    retriever: Retriever,
    *,
    book: str | None = None,
    where: Filter | None = None,
    before: str | None = None,
    limit: int = 3,
) -> Answer:
    """Answer a question with sentences of a library.

    Args:
        question: in words, of any length.
        retriever: of the library.
        book: only from this book: its id, title or path.
        where: conditions on the passages' payloads.
        before: only from what comes before this section of the book.
        limit: at most so many sentences.

    Returns:
        The sentences, the likeliest first, each cited with its passage and a quote that is verbatim in
        the book; `found` is False where nothing in the library is near the question.

    Raises:
        QueryError, LibraryNotFound, StoreError, EncoderError: see `Retriever.search`.
    """
    question = clean_question(question)
    scope = make_scope(retriever.store, book=book, section=None, before=before, where=where)
    vector = retriever.vectorizer.question(question)
    ranking = retriever.rank(question, vector, level="passage", limit=PASSAGES, scope=scope)
    hits = retriever.hits(ranking, PASSAGES)
    chosen = _choose(question, hits, limit) if _is_near(question, hits, ranking, retriever, scope) else []
    if not chosen:
        return Answer(question=question, found=False, answer=NOT_FOUND)
    citations = tuple(_cite(run) for run in _runs(chosen))
    return Answer(
        question=question,
        found=True,
        answer=" ".join(" ".join(citation.quote.split()) for citation in citations),
        citations=citations,
    )


def _is_near(question: str, hits: Sequence[Hit], ranking: Ranking, retriever: Retriever, scope: Scope) -> bool:
    """Whether the library is likely to hold an answer; in doubt, yes.

    The nearest of many passages is always nearer, so the bound grows with their number. It keeps 97% of the
    dev questions whose book is there and refuses most of those from another world (README, limits).
    """
    near = ranking.dense["passage"]
    if not hits or not near or retriever.vectorizer.encoder.identity.name != DEFAULT_ENCODER:
        return bool(hits)  # another encoder's cosines mean something else
    asked = word_ids(question)
    share = len(asked & word_ids(hits[0].text)) / max(1, len(asked))
    passages = scope.passages if scope.passages is not None else retriever.store.count("passage")
    bound = NEAR + NEAR_GROWTH * math.log10(max(1, passages) / NEAR_PASSAGES)
    return near[0].score + WORDS_NEAR * share >= min(max(bound, NEAR), FARTHEST_NEAR)


def _choose(question: str, hits: Sequence[Hit], limit: int) -> list[_Sentence]:
    """The sentences with most of the question's words, rare ones counting more, from the best passages."""
    sentences = [sentence for hit in hits for sentence in _sentences(hit)]
    asked = word_ids(question)
    having = Counter(word for sentence in sentences for word in sentence.words & asked)
    rarity = {
        word: math.log(1 + (len(sentences) - having[word] + 0.5) / (having[word] + 0.5)) for word in sorted(asked)
    }
    total = sum(rarity.values()) or 1.0
    best = max((hit.score for hit in hits), default=0.0) or 1.0

    def score(sentence: _Sentence) -> float:
        share = sum(rarity[word] for word in sorted(asked & sentence.words)) / total
        return share + PASSAGE_WEIGHT * sentence.hit.score / best

    return sorted(sentences, key=lambda sentence: (-score(sentence), sentence.hit.book_id, sentence.start))[:limit]


def _sentences(hit: Hit) -> list[_Sentence]:
    spans = sentence_spans(hit.text)
    return [
        _Sentence(hit, hit.start + start, hit.start + end, order, word_ids(hit.text[start:end]))
        for order, (start, end) in enumerate(spans)
    ]


def _runs(chosen: Sequence[_Sentence]) -> list[list[_Sentence]]:
    """Chosen sentences that follow each other in a passage belong together; the best run first."""
    runs: list[list[_Sentence]] = []
    for sentence in chosen:
        for run in runs:
            if sentence.hit is run[0].hit and run[0].order - 1 <= sentence.order <= run[-1].order + 1:
                run.append(sentence)
                run.sort(key=lambda member: member.order)
                break
        else:
            runs.append([sentence])
    return runs


def _cite(run: Sequence[_Sentence]) -> Citation:
    hit, start, end = run[0].hit, run[0].start, run[-1].end
    return Citation(hit=hit, quote=hit.text[start - hit.start : end - hit.start], quote_start=start, quote_end=end)
