"""What a term means: "What is a norm?", answered by a sentence that explains it, wherever in the books it stands.

A search finds the passages that use a term most; the one that explains it may be far below, and the reader, trained on
questions for a few words, seldom takes a definition. So the passages with the term's words are looked through for the
forms in which English explains a term (`text/definitions.py`), and the reader says which of these sentences answer.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from nlb_retriever.reader import Reader, Reading
from nlb_retriever.records import Answer, Confidence, Hit, ShortAnswer
from nlb_retriever.search.answers.entries import ENDS, TELLS, find_entries, is_glossary, join_cut
from nlb_retriever.search.answers.quotes import (
    Quote,
    choose_quotes,
    cite,
    find_sentences,
    is_code,
    is_prose,
    is_question,
    make_answer,
)
from nlb_retriever.search.forms import compile_forms, match_form
from nlb_retriever.search.heading_fit import is_heading_of
from nlb_retriever.search.hits import to_hit
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.scope import resolve_scope
from nlb_retriever.store import LibraryStore, StoreQuery
from nlb_retriever.text.acronyms import find_long_form, is_acronym
from nlb_retriever.text.definitions import LEAST_WORDS, Explanation, Term, is_term, skip_labels, split_definitions, trim
from nlb_retriever.text.sentences import sentence_spans

PASSAGES = 250
"""Best passages for the term's words that are looked through."""
READ = 24
"""Sentences that are read, those of the strongest forms first."""
RELEVANCE, CLIP = 0.5, 8.0
"""Weight of the reader's relevance, a logit cut at `CLIP`, beside a form's strength."""
LEAST, UNSURE, LIKELY, SURE = 1.0, 2.9, 3.0, 4.8
"""Least scores of an answer, the most of an unsure one, and the least of the others (docs/reader-notes.md)."""
HEADED, LABELLED, LEAST_HEADED = 2.5, 4.0, 4
"""Strength of the first sentence below the term as a heading, and in a dictionary's entry, and the least words of the
former."""
LEAD = 1.0
"""Of a dictionary's entry before other sentences, beside the scores."""
ENTRY = 700
"""Characters that an entry of a glossary has at most."""
_POINTS = re.compile(r"(?:this|these|it|they)\b", re.IGNORECASE)
"""The beginning of a sentence that goes on from its heading."""
_TERM = r"(?P<term>[^?]+?)"
_OTHER = r"(?P<other>[^?]+?)"
_A = r"(?P<article>an? |the )?"
_IS = r"(?:['’]s| is| are| was| were)"
_QUESTIONS = compile_forms(
    (
        ("meaning", rf"what{_IS} (?:the (?:meaning|definition) of|meant by) {_A}{_TERM}"),
        ("meaning", rf"what (?:does|do|did) [^?]{{1,40}}? mean by {_A}{_TERM}"),
        ("meaning", rf"how{_IS} {_A}{_TERM} defined"),
        ("meaning", rf"how (?:does|do|did) [^?]{{1,40}}? define {_A}{_TERM}"),
        ("stands for", rf"what (?:does|do|did) {_A}{_TERM} stand for"),
        ("meaning", rf"what (?:does|do|did) {_A}{_TERM} (?:mean|refer to)"),
        ("meaning", rf"explain (?:what |the (?:term|word|concept)(?: of)? )?{_A}{_TERM}(?: is| are| means?)?"),
        ("difference", rf"(?:what{_IS} )?(?:the )?differences? between {_A}{_TERM} and (?:an? |the )?{_OTHER}"),
        ("difference", rf"how (?:does|do|did) {_A}{_TERM} differ from (?:an? |the )?{_OTHER}"),
        ("difference", rf"how (?:do|did) {_A}{_TERM} and (?:the )?{_OTHER} differ"),
        ("difference", rf"compare {_A}{_TERM} (?:and|with|to) (?:an? |the )?{_OTHER}"),
        ("what", rf"what{_IS} {_A}{_TERM}"),
        ("who", rf"who{_IS} (?P<article>an? ){_TERM}"),
    )
)
_OF = re.compile(r"\bof\b|['’]s\b")


@dataclass(frozen=True, kw_only=True)
class TermQuestion:
    """A question that may ask what a term means, or two: "What is a norm?", "How do norms differ from laws?"."""

    terms: tuple[str, ...]
    """Without their articles."""
    asks_for_meaning: bool
    """Whether it can ask for nothing else; "What is the capital?" and "What is Anna's profession?" can."""
    questions: tuple[str, ...]
    """One a term, as the reader takes it."""
    acronym: str | None = None
    """What is to be spelled out: "What does NWO stand for?"."""
    least: float = LEAST
    """Least score of an answer: "Who is a contributor?" wants a law's, not of anybody who is one."""


@dataclass(frozen=True, kw_only=True)
class _Found:
    """A sentence that explains the term."""

    quote: Quote
    score: float
    exact: bool
    """Whether the quote's answer is the explanation, and does not just hold it."""
    headed: bool = False
    """Whether it explains the term since that is its heading; the reader reads it with it."""
    labelled: bool = False
    """Whether it stands in an entry of a dictionary."""
    sure: bool = True
    """Whether it can be more than unsure: not where only its heading says what it is on."""


def read_term_question(question: str) -> TermQuestion | None:
    """The terms that a question names; None of other questions."""
    form = match_form(question, _QUESTIONS)
    if form is None:
        return None
    kind, match = form
    terms = tuple(match[group].strip(" \"“”‘’'") for group in ("term", "other") if match.groupdict().get(group))
    if not all(map(is_term, terms)):
        return None
    article, term = (match["article"] or "").lower(), terms[0]
    return TermQuestion(
        terms=terms,
        asks_for_meaning=kind not in {"what", "who"}
        or (article != "the " and term == term.lower() and not _OF.search(term)),
        least=SURE if kind == "who" else LEAST,
        acronym=term if kind == "stands for" and is_acronym(term) else None,
        questions=(question,) if kind == "what" else tuple(f"What is {each}?" for each in (article + term, *terms[1:])),
    )


def answer_definition(
    request: SearchRequest, store: LibraryStore, load_reader: Callable[[], Reader] | None, limit: int | None = None
) -> Answer | None:
    """What a term means, in the words of the sentence that explains it best; how two differ, by a sentence on each.

    Args:
        request: of the question; only what is in its scope is looked through.
        store: the library.
        load_reader: gives the reader, called where there are such sentences; None where there is none.
        limit: at most so many sentences are quoted.

    Returns:
        None for other questions, and where no sentence explains a term in a form that is known here.
    """
    parsed = read_term_question(request.question)
    if parsed is None or load_reader is None:
        return None
    with store.session():
        where = resolve_scope(request, store).filter("passage")
        texts = [text for term in parsed.terms for text in (term, f"{term} means definitions")]  # of a law: all have it
        queries = [StoreQuery(level="passage", text=text, where=where, limit=PASSAGES) for text in texts]
        ids = dict.fromkeys(candidate.id for found in store.search(queries) for candidate in found)
        terms = [Term(each) for each in parsed.terms]
        hits = join_cut(terms, [to_hit(record) for record in store.get_passages(list(ids))], store)
    if parsed.acronym:
        return _spell_out(parsed.acronym, hits, request, limit)
    explained = []
    for term, question in zip(terms, parsed.questions, strict=True):
        explained.append(_explain(term, question, hits, load_reader))
        if not explained[-1] or explained[-1][0].score < parsed.least:
            return None
    score = min(found[0].score for found in explained)
    others = {(each.quote.hit, each.quote.order) for found in explained[1:] for each in found}
    both = [each for each in explained[0] if (each.quote.hit, each.quote.order) in others]
    ranked = [*both[:1], *(each for place in zip_longest(*explained) for each in place if each)]
    citations = cite(hits, choose_quotes(hits, (each.quote for each in ranked), limit))
    is_of_story = not parsed.asks_for_meaning and re.fullmatch("[a-z]+", parsed.terms[0])  # "the letter"
    shorts = (ShortAnswer(text=ranked[0].quote.answer_text(hits), citation=0),) if len(explained) == 1 else ()
    confidence: Confidence = "sure" if score >= SURE and not is_of_story else "likely" if score >= LIKELY else "unsure"
    return make_answer(request.query, citations, shorts, confidence)


def _spell_out(acronym: str, hits: Sequence[Hit], request: SearchRequest, limit: int | None) -> Answer | None:
    """What an acronym stands for, in the words that most sentences have; None where no sentence says so."""
    found: defaultdict[str, list[Quote]] = defaultdict(list)
    for quote in find_sentences(hits):
        if said := find_long_form(acronym, quote.text(hits)):
            spelled = replace(quote, answer=(quote.start + said[0], quote.start + said[1]))
            found[spelled.answer_text(hits).casefold()].append(spelled)
    if not found:
        return None
    quotes = max(found.values(), key=len)
    citations = cite(hits, choose_quotes(hits, quotes, limit))
    short = ShortAnswer(text=quotes[0].answer_text(hits), citation=0)
    return make_answer(request.query, citations, [short], "sure")


def _explain(term: Term, question: str, hits: Sequence[Hit], load_reader: Callable[[], Reader]) -> list[_Found]:
    """The sentences that explain a term, the best first."""
    found = sorted(_find(term, hits), key=lambda each: (-each.score, each.quote.hit, each.quote.order))[:READ]
    if not found:
        return []
    sentences = [each.quote.text(hits) for each in found]
    shown = [f"{term.text}: {text}" if each.headed else text for each, text in zip(found, sentences, strict=True)]
    readings = load_reader().read(question, shown)
    read = [each for three in zip(found, sentences, readings, strict=True) if (each := _read(*three))]
    return sorted(read, key=lambda each: (-each.score - LEAD * each.labelled, each.quote.hit, each.quote.order))


def _find(term: Term, hits: Sequence[Hit]) -> Iterator[_Found]:
    """The sentences of prose that explain a term, scored by the strength of their forms, or stand first below it."""
    for index, hit in enumerate(hits):
        sentences = sentence_spans(hit.text)
        defined = [
            (order, *span) for order, span in enumerate(sentences) for span in split_definitions(hit.text, *span)
        ]
        yield from _find_glossed(term, index, hit, sentences)
        awaited, entries = _is_headed(hit, term.text), find_entries(term, hit.text, sentences)
        for order, start, end in defined:
            sentence = hit.text[start:end]
            said = term.explain(sentence)
            entry = entries.get(start)
            headed = entry is not None or (awaited and _explains_heading(sentence, term, hit))
            if not (said or headed) or not is_prose(hit, start, end):
                continue
            if is_code(hit, start, end) or is_question(hit, start, end):
                continue
            awaited = awaited and not headed
            strength = LABELLED if entry else HEADED
            if said is None or (headed and said.strength < strength):
                said = Explanation(strength=strength, start=skip_labels(sentence), end=end - start)
            answer = start + said.start, start + said.end
            quote = Quote(hit=index, order=order, start=start, end=end, answer=answer)
            sure = not headed or entry is not None or _names_heading(sentence, term)
            yield _Found(
                quote=quote,
                score=said.strength,
                exact=said.exact,
                headed=headed,
                labelled=entry is True,
                sure=sure,
            )


def _find_glossed(term: Term, index: int, hit: Hit, sentences: Sequence[tuple[int, int]]) -> Iterator[_Found]:
    """The entries of a term in a glossary, whose text need not be sentences."""
    for start, end, says in term.glossed(hit.text) if is_glossary(hit.section) else ():
        order = next((at for at, (_, stop) in enumerate(sentences) if start < stop), 0)
        answer = trim(hit.text, says, end)
        if not _is_headed(hit, term.text) and answer[0] < answer[1]:
            quote = Quote(hit=index, order=order, start=start, end=end, answer=answer)
            yield _Found(quote=quote, score=LABELLED, exact=True, labelled=True)


def _explains_heading(sentence: str, term: Term, hit: Hit) -> bool:
    """Whether a sentence can be the one that a heading announces, and no running head.

    It has the term or points to it, or is of an entry of a glossary, where nobody tells a story.
    """
    if len(sentence.split()) < LEAST_HEADED or sentence.rstrip()[-1:] not in ENDS:
        return False
    return _names_heading(sentence, term) or (len(hit.text) <= ENTRY and not TELLS.match(sentence))


def _names_heading(sentence: str, term: Term) -> bool:
    return term.is_in(sentence) or _POINTS.match(sentence) is not None


def _is_headed(hit: Hit, term: str) -> bool:
    """Whether a passage begins a section whose heading is a term, or asks for it."""
    first = hit.text.lstrip().partition("\n")[0]
    return bool(hit.section) and is_heading_of(term, hit.section[-1]) and is_heading_of(term, first)


def _read(found: _Found, sentence: str, reading: Reading) -> _Found | None:
    """A sentence with the reader's relevance in its score, and its span where the form alone does not say which."""
    score = found.score + RELEVANCE * min(max(reading.relevance, -CLIP), CLIP)
    score = max(score, LIKELY) if found.labelled else score if found.sure else min(score, UNSURE)
    if found.exact:
        return replace(found, score=score)
    quote = found.quote
    assert quote.answer
    for span in reading.spans:
        start, end = trim(sentence, span.start, span.end)
        if quote.start + end <= quote.answer[1] and len(sentence[start:end].split()) >= LEAST_WORDS:
            answer = quote.start + start, quote.start + end
            return replace(found, score=score, quote=replace(quote, answer=answer))
    return None
