"""Answers from the reader's spans: the best ones with the sentences that they stand in."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from nlb_retriever.reader import AnswerSpan, Reading
from nlb_retriever.records import Answer, Citation, Confidence, Hit, ShortAnswer
from nlb_retriever.search.answers.definition import read_term_question
from nlb_retriever.search.answers.quotes import Quote, choose_quotes, cite, is_code, is_prose, is_question, make_answer
from nlb_retriever.search.answers.trimming import CLAUSE_WORDS, is_reference, strip, trim
from nlb_retriever.search.question import asks_about_name, asks_who_did, fits, name_of
from nlb_retriever.search.run import SearchResult
from nlb_retriever.text.persons import find_gender, find_person, gender_of
from nlb_retriever.text.words import word_ids

HIT_WEIGHT, WORDS_WEIGHT, QUESTION_PENALTY = 4.0, 1.5, 3.0
"""Weights of a passage's score, of the share of the question's words in the sentence, and of a sentence that is itself
a question, beside 1 for the span's score over "no answer": chosen on FairytaleQA and LiteraryQA val."""
HEADING_WEIGHT = 4.0
"""Weight of the fit of the section's heading, which in manuals is often the question itself (docs/reader-notes.md)."""
VOTES = 3.5
"""Weight of the same words in several passages, where a question asks for words: names that come back answer more
often. 1 for a clause, whose words hardly come back, and for who a name is, which another name does not answer."""
MENTIONS, BOOK_WEIGHT = 2.0, 2.0
"""Weights of the logarithms of the number of passages that have the words, marked there or not, on average over the
words (0 for who a name is), and of the number of passages that are of the same book."""
FACTUAL_WORDS = 4.0
"""`WORDS_WEIGHT` where the passages are about facts of the world. There, votes and mentions do not count: articles say
a fact once, and what they often name is what they are about."""
CLOSE = 1.0
"""A second answer is given where its score is at most so much lower."""
TRUST_VOTES, LEAD, RELEVANCE = 5.0, 0.5, 1.5
"""How far an answer is trusted, beside its span's score: weights of the same words in several passages, which tell more
of it in novels, of its lead over the best other answer and, against it, of the mean relevance of the passages, by which
questions on tales, novels and articles compare (docs/reader-notes.md)."""
MOST_LEAD = 8.0
"""A greater lead counts as so much."""
SURE, LIKELY = 13.0, 8.0
"""Least trust for these words: on 663 questions of FairytaleQA val 80%, 54% and, of the others, 21% are right."""
LEAST_SHARE, ALONE = 0.25, 5.0
"""Share of the question's words that one sentence with the answer has; else it is trusted so much less."""
MOST_REPEATED = 0.6
"""Share of the question's words in a clause that only repeats the question."""
_SAYS = re.compile(r"[,.;:!?—-][\"”’'][\s,]*(?:[a-z]+[ ,]+){0,3}(?:[A-Z][a-z]*\.? )?\Z")
_SAID = re.compile(r"(?: [\w’'-]+){1,4}[,:—]\s*[“‘\"](?=\S)")
"""Before and behind who says something: `,” said Miss Mary`, `Mary said, “`."""
_FOR_WORKS = re.compile(r"\b(?:when|where|year|works?|books?|papers?|stud(?:y|ies))\b", re.IGNORECASE)
"""Such a question may be answered by "Wick and Orme, 2011"."""
_OWNS = re.compile(r"['’]s\Z")
"""Of a name that has something, which is not who is wanted but by "whose"."""
_WHO = re.compile(r"\bwho\b(?!.*\bwhose\b)", re.IGNORECASE)
_HELD = re.compile(
    r"\bwho(?:['’]s| is| was| are| were) (?:(?:the|an?) (?:[\w-]+ )?)?(?P<held>[\w-]+) of ", re.IGNORECASE
)
"""What somebody is of something: "president" in "Who is the president of France?"."""
_OF = r" of (?:(?:the|an?|his|her|their|our|my|of|and|[A-Z][\w’'-]*) )*\Z"
"""Before a name that somebody is it of: of "the Literary Society of the Kirk"."""
_IGNORED = re.compile(r"\b(?:a|an|the|his|her|their|my|your|our|its)\b|[^\w\s]")


@dataclass(frozen=True, kw_only=True)
class _Found:
    """A span of a hit, in its sentence."""

    quote: Quote
    text: str
    score: float
    own: float = 0.0
    """Its score without what other passages say."""
    trust: float = 0.0
    """That, and the same words in several passages."""
    share: float = 0.0
    """Of the question's words in the sentence; none where it only names who says it and the question is who did it."""

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(_IGNORED.sub(" ", self.text.casefold()).split())


def answer_shortly(result: SearchResult, limit: int | None) -> Answer | None:
    """An answer from what the reader found in a search's hits; None where it found no words in a sentence.

    Args:
        result: of a search with readings.
        limit: see `choose_quotes`.
    """
    hits = result.hits
    name = asks_about_name(result.request.question)
    term = read_term_question(result.request.question)
    unsure = name or (term is not None and term.asks_for_meaning)  # more often wrong than not
    votes = VOTES if result.request.kind == "words" and not name else 1.0
    fiction = 1.0 - result.facts
    found = _pool(_spans(result), hits, votes=votes * fiction, mentions=0.0 if name else MENTIONS * fiction)
    if not found:
        return None
    if result.request.kind == "clause":
        found.sort(key=lambda each: _echoes(each.text, result.overlap.words))
    best = found[0]
    others = sorted(found, key=lambda each: (-each.own, each.quote.hit, each.quote.order))
    citations = cite(hits, choose_quotes(hits, (each.quote for each in (best, *others)), limit))
    shown = [best]
    if result.request.kind == "words":
        second = next((each for each in found if not each.words & best.words), None)
        if second and second.score >= best.score - CLOSE:
            shown.append(second)
    shorts = []
    for each in shown:
        assert each.quote.answer
        number = _find_citation(citations, hits[each.quote.hit], each.quote.answer[0])
        if number is not None:
            shorts.append(ShortAnswer(text=each.text, citation=number))
    confidence = "unsure" if unsure else _confidence(found, result.readings)
    return make_answer(result.request.query, citations, shorts, confidence)


def _find_citation(citations: Sequence[Citation], hit: Hit, answer: int) -> int | None:
    """Number of the citation that holds the words at a place of a hit; None where it is not among them."""
    start = hit.start + answer
    holding = (each.hit is hit and each.quote_start <= start < each.quote_end for each in citations)
    return next((number for number, holds in enumerate(holding) if holds), None)


def quote_spans(result: SearchResult, index: int) -> Iterator[tuple[Quote, AnswerSpan]]:
    """The reader's spans in a hit, the best first, with their sentences; not in headings, lists, licences and code.

    One that begins in these and goes on behind them ("Actions: J. Reyes") is what is behind them.
    """
    hit, sentences = result.hits[index], result.overlap.passages[index]
    of_who = _WHO.search(result.request.question) is not None
    for span in result.readings[index].spans:
        start, end = trim(hit.text, span.start, span.end)
        for order, sentence in enumerate(sentences):
            if start >= sentence.end:
                continue
            start, end = trim(hit.text, max(start, sentence.start), end)
            if start >= end or is_code(hit, sentence.start, sentence.end):
                break
            if is_prose(hit, sentence.start, sentence.end):
                answer = strip(hit.text, start, min(end, sentence.end))
                if of_who and (owned := _OWNS.search(hit.text, *answer)):
                    answer = answer[0], owned.start()
                yield Quote(hit=index, order=order, start=sentence.start, end=sentence.end, answer=answer), span
                break


def score_span(result: SearchResult, quote: Quote, span: AnswerSpan, words_weight: float) -> float:
    """A span of `quote_spans` by the reader, its passage's score and the question's words in its sentence."""
    hit = result.hits[quote.hit]
    return (
        span.score
        - result.readings[quote.hit].no_answer_score
        + HIT_WEIGHT * (hit.score - result.hits[0].score)
        + words_weight * result.overlap.shares[quote.hit][quote.order]
        + HEADING_WEIGHT * result.heading_fits[quote.hit]
        - QUESTION_PENALTY * is_question(hit, quote.start, quote.end)
    )


def _spans(result: SearchResult) -> list[_Found]:
    """All spans that stand in a sentence of prose and have a word besides articles.

    Who a name is, only a sentence says that has one of its words.
    """
    hits, shares = result.hits, result.overlap.shares
    name = asks_about_name(result.request.question)
    words_weight = WORDS_WEIGHT + (FACTUAL_WORDS - WORDS_WEIGHT) * result.facts
    did = asks_who_did(result.request.question)
    for_works = did or _FOR_WORKS.search(result.request.question) is not None
    held = _HELD.search(result.request.question)
    of_held = re.compile(rf"\b(?i:{re.escape(held['held'])}){_OF}") if held else None
    found = []
    for index, hit in enumerate(hits):
        for quote, span in quote_spans(result, index):
            assert quote.answer
            if of_held and of_held.search(hit.text, quote.start, quote.answer[0]):
                continue
            if (name and not shares[index][quote.order]) or (not for_works and is_reference(hit.text, *quote.answer)):
                continue
            score = score_span(result, quote, span, words_weight)
            text = quote.answer_text(hits)
            share = 0.0 if did and _is_speaker(hit.text, quote) else shares[index][quote.order]
            found.append(_Found(quote=quote, text=text, score=score, share=share))
    question = result.request.question
    if any(hit.text != hit.text.lower() for hit in hits):  # a name has a capital there, however it is looked for
        question = question[:1].upper() + question[1:]
    found = [each for each in found if each.words and fits(question, each.text)]
    who = name_of(question)
    gender = find_gender(who, (hit.text for hit in hits)) if who else None
    return [each for each in found if not gender or gender_of(find_person(each.text) or "") in {None, gender}]


def _echoes(text: str, query: frozenset[int]) -> bool:
    """Whether a clause says little more than the question: "the door is locked" for "Why is the door locked?"."""
    words = word_ids(text)
    return len(words) >= CLAUSE_WORDS and len(words & query) >= MOST_REPEATED * len(words)


def _is_speaker(text: str, quote: Quote) -> bool:
    """Whether the words that answer only say who speaks the words beside them."""
    assert quote.answer
    start, end = quote.answer
    return bool(_SAYS.search(text, quote.start, start) or _SAID.match(text, end))


def _pool(found: Sequence[_Found], hits: Sequence[Hit], *, votes: float, mentions: float) -> list[_Found]:
    """The spans, the best first.

    Args:
        found: spans in the hits.
        hits: all of them.
        votes: weight of the same words in several passages.
        mentions: weight of the passages that have the words.
    """
    passages = [word_ids(hit.text) for hit in hits]
    books = Counter(hit.book_id for hit in hits)
    pooled = []
    for each in found:
        bonus = _bonus(each, found)
        score = each.score + votes * bonus + mentions * _mentioned(each.text, passages)
        score += BOOK_WEIGHT * math.log(books[hits[each.quote.hit].book_id])
        pooled.append(replace(each, score=score, own=each.score, trust=each.score + TRUST_VOTES * bonus))
    return sorted(pooled, key=lambda each: (-each.score, each.quote.hit, each.quote.order))


def _mentioned(text: str, passages: Sequence[frozenset[int]]) -> float:
    """The mean logarithm of the number of passages that have a word of a text."""
    words = sorted(word_ids(text))
    counts = (sum(word in passage for passage in passages) for word in words)
    return sum(math.log(max(count, 1)) for count in counts) / max(len(words), 1)


def _bonus(span: _Found, found: Sequence[_Found]) -> float:
    """The logarithm of how often its words are found, and in part a form with fewer: "Ahab" for "Captain Ahab"."""
    return math.log(
        sum(
            len(other.words) / len(span.words) * math.exp(min(other.score - span.score, 0.0))
            for other in found
            if other.words <= span.words
        )
    )


def _confidence(found: Sequence[_Found], readings: Sequence[Reading]) -> Confidence:
    """How far the first of the spans, the best one, is trusted.

    A name that stands in most passages has many votes, whether or not it has to do with the question.
    """
    best = found[0]
    other = max((each.trust for each in found if not each.words & best.words), default=-math.inf)
    relevance = sum(reading.relevance for reading in readings) / len(readings)
    trust = best.trust + LEAD * min(best.trust - other, MOST_LEAD) - RELEVANCE * relevance
    if max(each.share for each in found if each.words == best.words) < LEAST_SHARE:
        trust -= ALONE
    return "sure" if trust >= SURE else "likely" if trust >= LIKELY else "unsure"
