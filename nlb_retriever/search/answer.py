"""Answers in the books' own words: the sentences that answer a question, each with its place.

No language model takes part, so nothing is said that does not stand in a book.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from nlb_retriever.encoding import DEFAULT_ENCODER
from nlb_retriever.model.vectorizer import clean_question
from nlb_retriever.records import Answer, Citation, Hit
from nlb_retriever.search.overlap import Sentence, gather_evidence
from nlb_retriever.search.retriever import Mode, Ranking, Retriever, Strategy
from nlb_retriever.search.scope import Scope, make_scope
from nlb_retriever.store import Filter
from nlb_retriever.text.words import word_ids

PASSAGES = 5
"""Best passages whose sentences are looked at."""
PASSAGE_WEIGHT = 2.0
"""Weight of a sentence's passage, beside 1 for the share of the question's words in the sentence: chosen on
FairytaleQA and LiteraryQA val (benchmarks/quality.py); the sentences' own vectors add nothing to these."""
NEAR, FARTHEST_NEAR = 0.40, 0.48
"""Bounds of the least nearness of an answer: cosine of the nearest passage, and a little for shared words."""
NEAR_PASSAGES, NEAR_GROWTH = 300, 0.05
"""Up to so many passages the lower bound holds; it grows by so much with ten times as many."""
WORDS_NEAR = 0.25
"""Weight of the share of the question's words that stand in the best passage."""
NOT_FOUND = "Not in your library."
_ENDS = frozenset(".!?…;:\"'”’»)")


def answer(
    question: str,
    retriever: Retriever,
    *,
    book: str | None = None,
    section: str | None = None,
    where: Filter | None = None,
    before: str | None = None,
    mode: Mode = "fused",
    strategy: Strategy = "coarse-to-fine",
    limit: int = 3,
) -> Answer:
    """Answer a question with sentences of a library.

    Args:
        question: in words, of any length.
        retriever: of the library.
        book: only from this book: its id, title or path.
        section: only from this section of it, or from the sections of this part.
        where: conditions on the passages' payloads.
        before: only from what comes before this section of the book.
        mode, strategy: how the passages are found, as in `Retriever.search`. With "bm25" no encoder is loaded, and
            an answer is found wherever a word of the question is.
        limit: at most so many sentences.

    Returns:
        The sentences, the likeliest first, each cited with its passage and a quote that is verbatim in
        the book; `found` is False where nothing in the library is near the question.

    Raises:
        QueryError, LibraryNotFound, StoreError, EncoderError: see `Retriever.search`.
    """
    question = clean_question(question)
    hits = find_near(
        question, retriever, book=book, section=section, where=where, before=before, mode=mode, strategy=strategy
    )
    chosen = _choose(question, hits, limit)
    if not chosen:
        return Answer(question=question, found=False, answer=NOT_FOUND)
    citations = tuple(_cite(hits[run[0].passage], run) for run in _runs(chosen))
    return Answer(
        question=question,
        found=True,
        answer=" ".join(" ".join(citation.quote.split()) for citation in citations),
        citations=citations,
    )


def find_near(
    question: str,
    retriever: Retriever,
    *,
    book: str | None = None,
    section: str | None = None,
    where: Filter | None = None,
    before: str | None = None,
    mode: Mode = "fused",
    strategy: Strategy = "coarse-to-fine",
    limit: int = PASSAGES,
) -> list[Hit]:
    """The best passages for a question; none where nothing in the library is near it.

    Args:
        limit: at most so many passages. Everything else is as for `answer`, and so is what it raises.
    """
    question = clean_question(question)
    scope = make_scope(retriever.store, book=book, section=section, before=before, where=where)
    asked = retriever.vectorizer.question(question) if mode != "bm25" else None
    with retriever.session():
        ranking = retriever.rank(
            question, asked, level="passage", limit=limit, scope=scope, mode=mode, strategy=strategy
        )
        hits = retriever.hits(ranking, limit)
        return hits if _is_near(question, hits, ranking, retriever, scope) else []


def _is_near(question: str, hits: Sequence[Hit], ranking: Ranking, retriever: Retriever, scope: Scope) -> bool:
    """Whether the library is likely to hold an answer; in doubt, yes.

    Judged by the chunk encoder's own vectors of the question and the nearest passage. The nearest of many
    passages is always nearer, so the bound grows with their number. What it keeps and refuses is in the README.
    """
    near = ranking.dense["passage"]
    if not hits or not near:
        return bool(hits)
    vectorizer = retriever.vectorizer
    if vectorizer.encoder.identity.name != DEFAULT_ENCODER:
        return True  # another encoder's cosines mean something else
    nearness = near[0].score
    if vectorizer.heads and ranking.asked:  # whose space tells what is asked for, and less well what is not there
        nearest = retriever.store.retrieve("passage", [near[0].id], payload=("text",))
        vectors = vectorizer.encoder.encode([point.payload["text"] for point in nearest])
        nearness = max((float(vector @ ranking.asked.whole) for vector in vectors), default=0.0)
    asked = word_ids(question)
    share = len(asked & word_ids(hits[0].text)) / max(1, len(asked))
    passages = scope.passages if scope.passages is not None else retriever.store.count("passage")
    bound = NEAR + NEAR_GROWTH * math.log10(max(1, passages) / NEAR_PASSAGES)
    return nearness + WORDS_NEAR * share >= min(max(bound, NEAR), FARTHEST_NEAR)


def _choose(question: str, hits: Sequence[Hit], limit: int) -> list[Sentence]:
    """The sentences with most of the question's words, from the best passages."""
    evidence = gather_evidence(question, [hit.text for hit in hits])
    best = max((hit.score for hit in hits), default=0.0) or 1.0

    def score(sentence: Sentence) -> float:
        return sentence.share + PASSAGE_WEIGHT * hits[sentence.passage].score / best

    sentences = [
        sentence
        for own in evidence.sentences
        for sentence in own
        if not _is_heading(hits[sentence.passage], sentence) and not _is_list(hits[sentence.passage], sentence)
    ]
    return sorted(sentences, key=lambda sentence: (-score(sentence), sentence.passage, sentence.order))[:limit]


def _is_heading(hit: Hit, sentence: Sentence) -> bool:
    """Whether a sentence is only a title, or a piece of one ("CHAPTER I. The Keeper" reads as two sentences).

    A text without a title is called by its first words, all of them or cut short: these are no heading.
    """
    own = {hit.title} if hit.title.endswith("…") or hit.title == " ".join(hit.text.split()) else set()
    titles = [part.casefold() for part in (hit.title, *hit.section) if part not in own]
    pieces = {piece.strip() for title in titles for piece in (title, *re.split("[.:]", title))}
    return hit.text[sentence.start : sentence.end].casefold().strip(" .:") in pieces


def _is_list(hit: Hit, sentence: Sentence) -> bool:
    """Whether a sentence is a run of lines that none ends, as in a table of contents."""
    text = hit.text[sentence.start : sentence.end].rstrip()
    return text.count("\n") >= 3 and text[-1:] not in _ENDS


def _runs(chosen: Sequence[Sentence]) -> list[list[Sentence]]:
    """Chosen sentences that follow each other in a passage belong together; the best run first."""
    runs: list[list[Sentence]] = []
    for sentence in chosen:
        for run in runs:
            if sentence.passage == run[0].passage and run[0].order - 1 <= sentence.order <= run[-1].order + 1:
                run.append(sentence)
                run.sort(key=lambda member: member.order)
                break
        else:
            runs.append([sentence])
    return runs


def _cite(hit: Hit, run: Sequence[Sentence]) -> Citation:
    start, end = run[0].start, run[-1].end
    return Citation(hit=hit, quote=hit.text[start:end], quote_start=hit.start + start, quote_end=hit.start + end)
