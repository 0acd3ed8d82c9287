"""Cloze questions: a sentence of a summary or of a book becomes a question that one of its phrases answers.

The phrase occurs word for word in another passage, which is the context (arXiv 1906.04980; passage and
statement from different texts as in arXiv 2004.11892; phrases that recur as in arXiv 2101.00438). "A ANSWER B."
becomes "who B A?", or "A who B?", or, where the phrase is the sentence's subject, "Who B?".
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from nlb_retriever.text.sentences import sentence_spans
from nlb_training.reader.contexts import TOKEN_CHARACTERS
from nlb_training.reader.examples import Candidate, Example, Span
from nlb_training.reader.sources import read_novels
from nlb_training.training_data import read_rows

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
NAME = re.compile(
    r"(?:(?:Mr|Mrs|Ms|Dr|St|Sir|Lady|Lord|Captain|Miss|Uncle|Aunt|King|Queen|Prince|Princess|Colonel|Major)\.? )?"
    r"[A-Z][a-z]+(?:['’][A-Z][a-z]+)?(?: (?:of |de |von |van )?[A-Z][a-z]+){0,2}"
)
_YEAR = re.compile(r"\b1[0-9]{3}\b")
FUNCTION_WORDS = frozenset(
    """a about above after again against all along also although am among an and any are around as at away back be
    became because become becomes been before began begin begins behind being below between both but by came can come
    comes could did do does doing done down during each either else even ever every few for from gave get gets give
    gives go goes going gone got had has have having he her here hers herself him himself his how however i if in into
    is it its itself just knew know knows let like made make makes many may me might mine more most much must my myself
    neither never no nor not now of off often on once one only onto or other others our ours out over own put quite
    rather said same saw say says see sees seem seemed seems several shall she should since so some something soon
    still such take takes tell tells than that the their them themselves then there these they thing things think
    thinks this those though through thus till to told too took towards toward two under until unto up upon us very
    want wants was way we well went were what when where whether which while who whom whose why will with within
    without would yes yet you your yours yourself thou thee thy ye hath doth shalt wilt art oh ah chapter""".split()
)
DETERMINERS = frozenset("a an the his her its their my your our this that these those some any no".split())
_PREPOSITIONS = frozenset("in at from near to into through of".split())
_NUMBERS = frozenset(
    "two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand".split()
)
PASSAGE_TOKENS = (48, 80, 120, 180)
_NOT_NAMES = frozenset("I The And But He She It They We You O Oh Ah Yes No What Why How When Where This That".split())


@dataclass(frozen=True, kw_only=True)
class Phrase:
    """A part of a statement that a question can be made for."""

    start: int
    end: int
    question_word: str


@dataclass(frozen=True, kw_only=True)
class Passages:
    """A text cut into short runs of sentences, with their words."""

    text: str
    spans: tuple[Span, ...]
    words: tuple[frozenset[str], ...]
    rarity: Mapping[str, float]
    """Of each word: the logarithm of runs to runs with it."""


def index_passages(text: str, tokens: int) -> Passages:
    """Cut a text in runs of sentences of about so many tokens."""
    spans: list[Span] = []
    for start, end in sentence_spans(text):
        if spans and end - spans[-1][0] <= tokens * TOKEN_CHARACTERS:
            spans[-1] = spans[-1][0], end
        elif end - start <= 350 * TOKEN_CHARACTERS:
            spans.append((start, end))
    words = tuple(content_words(text[start:end]) for start, end in spans)
    having = Counter(word for own in words for word in own)
    rarity = {word: math.log(1 + len(spans) / count) for word, count in having.items()}
    return Passages(text=text, spans=tuple(spans), words=words, rarity=rarity)


def content_words(text: str) -> frozenset[str]:
    """The stems of a text's content words."""
    return frozenset(
        stem(word) for word in map(str.lower, _WORD.findall(text)) if word not in FUNCTION_WORDS and len(word) > 2
    )


def stem(word: str) -> str:
    """A word without "'s", "-s", "-ed", "-ing"."""
    word = re.sub(r"['’]s?$", "", word)
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def find_phrases(statement: str, names: frozenset[str], places: frozenset[str]) -> list[Phrase]:
    """The names, numbers and short noun phrases of a statement, found by function words and case."""
    found: list[Phrase] = []
    for match in NAME.finditer(statement):
        start, end = match.span()
        if match.group().split()[0] in _NOT_NAMES:
            cut = match.group().find(" ")
            if cut < 0:
                continue
            start += cut + 1
        name = statement[start:end]
        if name in names:
            before = statement[:start].rpartition(" ")[0].rpartition(" ")[2].lower()
            question_word = "who" if name not in places else "where" if before in _PREPOSITIONS else "what"
            found.append(Phrase(start=start, end=end, question_word=question_word))
    found += [Phrase(start=match.start(), end=match.end(), question_word="when") for match in _YEAR.finditer(statement)]
    words = list(_WORD.finditer(statement))
    index = 0
    while index < len(words):
        stop = index
        while (
            stop < len(words)
            and stop - index < 4
            and words[stop].group().lower() not in FUNCTION_WORDS
            and not words[stop].group()[0].isupper()
            and (stop == index or statement[words[stop - 1].end() : words[stop].start()] == " ")
        ):
            stop += 1
        if stop == index:
            index += 1
            continue
        before = words[index - 1].group().lower() if index else ""
        if before in DETERMINERS or words[index].group().lower() in _NUMBERS:
            number = words[index].group().lower() in _NUMBERS
            last = words[index].end() if number and stop - index > 1 else words[stop - 1].end()
            found.append(Phrase(start=words[index].start(), end=last, question_word="how many" if number else "what"))
        index = stop
    return found


def make_question(statement: str, phrase: Phrase, draw: random.Random) -> str:
    """A question that the phrase answers, made of its clause or of the whole statement."""
    low, high = _clause(statement, phrase) if draw.random() < 0.6 else (0, len(statement))
    before = statement[low : phrase.start].strip(" \"'“”‘’_()")
    after = statement[phrase.end : high].strip(' .,;:!?"“”‘_()-—')
    question_word = phrase.question_word
    if match := re.match(r"['’]s?(?=\s)", after):
        question_word = "whose" if question_word == "who" else f"{question_word}'s"
        after = after[match.end() :].strip()
    parts = before.rsplit(None, 1)
    if parts and parts[-1].lower() in DETERMINERS:
        before = parts[0] if len(parts) == 2 else ""
    before = before.rstrip(",;:")
    if not before:
        return f"{question_word.capitalize()} {after}?"
    if draw.random() < 0.4:
        return f"{before} {question_word} {after}?".replace(" ?", "?").replace(" ,", ",")
    if question_word == "where":  # "she lives in WHERE": the preposition goes as well
        before = before.rsplit(None, 1)[0] if " " in before else before
    before = before if before.startswith("I ") else before[:1].lower() + before[1:]
    return f"{question_word.capitalize()} {f'{after} {before}'.strip()}?"


def _clause(statement: str, phrase: Phrase) -> Span:
    """The part between stops around a phrase, if it has three other content words; else the whole statement."""
    low = max((match.end() for match in re.finditer(r"[,;:()—]|--", statement[: phrase.start])), default=0)
    match = re.compile(r"[,;:()—]|--").search(statement, phrase.end)
    high = match.start() if match else len(statement)
    rest = content_words(statement[low : phrase.start] + " " + statement[phrase.end : high])
    return (low, high) if len(rest) >= 3 else (0, len(statement))


def find_names(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names in the middle of a book's sentences, and those of them that are probably places."""
    counts: Counter[str] = Counter()
    placed: Counter[str] = Counter()
    for match in re.finditer(rf"\b([a-z]+),? (?:the )?({NAME.pattern})", text):
        if match.group(2).split()[0] in _NOT_NAMES:
            continue
        counts[match.group(2)] += 1
        placed[match.group(2)] += match.group(1) in {"in", "at", "from", "near", "to", "into", "through"}
    names = frozenset(name for name, count in counts.items() if count >= 2)
    return names, frozenset(name for name in names if placed[name] > 0.6 * counts[name])


def summary_examples(data: Path, draw: random.Random) -> Iterator[Example]:
    """Questions made from chapter summaries, with passages of their chapters."""
    texts = read_novels(data)
    known: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    for row in read_rows(data, "booksum_chapters_train"):
        text = texts.get(row["book_file"])
        if text is None:
            continue
        if row["book_file"] not in known:
            known[row["book_file"]] = find_names(text)
        passages = index_passages(text[row["start"] : row["end"]], draw.choice(PASSAGE_TOKENS))
        summary = row["summary"]
        used: Counter[str] = Counter()
        for start, end in sentence_spans(summary):
            statement = " ".join(summary[start:end].split())
            if not 5 <= len(statement.split()) <= 30 or statement.endswith("?"):
                continue
            phrases = find_phrases(statement, *known[row["book_file"]])
            draw.shuffle(phrases)
            for phrase in phrases[:3]:
                answer = statement[phrase.start : phrase.end]
                if used[answer] >= 3:
                    continue
                if example := make_example(statement, phrase, passages, draw):
                    used[answer] += 1
                    yield example
                    break


def make_example(statement: str, phrase: Phrase, passages: Passages, draw: random.Random) -> Example | None:
    """A question for a phrase, with the passage that holds it and shares most words with the statement, if enough.

    Every third has a passage beside it that shares as much and lacks the phrase.
    """
    answer = statement[phrase.start : phrase.end]
    pattern = re.compile(rf"\b{re.escape(answer)}\b")
    rest = content_words(statement[: phrase.start] + " " + statement[phrase.end :]) - content_words(answer)
    total = sum(passages.rarity.get(word, 0.0) for word in rest)
    if len(rest) < 2 or not total:
        return None
    good: list[tuple[float, int]] = []
    bad: list[tuple[float, int]] = []
    for number, ((start, end), words) in enumerate(zip(passages.spans, passages.words, strict=True)):
        if len(shared := rest & words) < 2:
            continue
        score = sum(passages.rarity[word] for word in sorted(shared))
        (good if pattern.search(passages.text, start, end) else bad).append((score, number))
    if not good:
        return None
    score, number = max(good)
    if score < 0.35 * total and len(rest & passages.words[number]) < 3:
        return None
    start, end = passages.spans[number]
    spans = [(match.start() - start, match.end() - start) for match in pattern.finditer(passages.text, start, end)]
    candidates = [Candidate(text=passages.text[start:end], relevant=True, spans=tuple(spans[:6]))]
    if bad and draw.random() < 0.35:
        start, end = passages.spans[max(bad)[1]]
        candidates.append(Candidate(text=passages.text[start:end], relevant=False))
    return Example(source="summaries", question=make_question(statement, phrase, draw), candidates=tuple(candidates))
