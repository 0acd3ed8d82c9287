"""Questions on tales beside what the retriever found for them: the passage that answers, and others like it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nlb_retriever.text.sentences import sentence_spans
from nlb_training.reader.answers import find_verbatim
from nlb_training.reader.candidates import Candidates, Found
from nlb_training.reader.cloze import content_words
from nlb_training.reader.contexts import TOKEN_CHARACTERS, cut_candidate, sentence_window
from nlb_training.reader.examples import Candidate, Example, Span
from nlb_training.reader.sources import evidence_answers, read_books
from nlb_training.training_data import read_rows

HARDEST = 20
"""Negatives are drawn from so many of the best passages."""


def is_right(found: Found, row: Mapping[str, Any]) -> bool:
    """Whether a passage holds some of a FairytaleQA row's evidence."""
    return found.file == row["book_file"] and any(
        found.start < end and start < found.end for start, end in row["evidence_spans"]
    )


def ranking_examples(
    data: Path,
    candidates: Mapping[str, Candidates],
    draw: random.Random,
    *,
    negatives: int,
    lengths: Sequence[int],
) -> Iterator[Example]:
    """FairytaleQA's train questions, each with a passage that answers and some of the best that do not.

    Args:
        data: folder of the data.
        candidates: what the retriever found, by the rows' ids.
        draw: of everything random.
        negatives: passages without an answer, a question.
        lengths: tokens of a passage, one of them at random; longer passages are cut around what matters in them.
    """
    texts = read_books(data, "fairytaleqa")
    for row in read_rows(data, "fairytaleqa_train"):
        if row["id"] not in candidates:
            continue
        text, found = texts[row["book_file"]], candidates[row["id"]].found
        wrong = [each for each in found if not (is_right(each, row) or _may_be_right(each, row))]
        answers = evidence_answers(text, row)
        made = rank_passages("ranking", row, text, answers, found, wrong, draw, negatives=negatives, lengths=lengths)
        if made:
            yield made


def rank_passages(
    source: str,
    row: Mapping[str, Any],
    text: str,
    answers: Sequence[Span],
    found: Sequence[Found],
    wrong: Sequence[Found],
    draw: random.Random,
    *,
    negatives: int,
    lengths: Sequence[int],
) -> Example | None:
    """A question beside the found passage that answers best and some of the first wrong ones.

    Args:
        source: of the row.
        row: with "question" and "evidence_spans".
        text: of its book.
        answers: where this answers.
        found: what the retriever found, the best first.
        wrong: those of them that do not answer.
        draw: of everything random.
        negatives: passages without an answer.
        lengths: tokens of a passage, one of them at random; longer passages are cut around what matters in them.

    Returns:
        None where no found passage answers, or too few do not.
    """
    right, wrong = [each for each in found if is_right(each, row)], wrong[:HARDEST]
    characters = int(draw.choice(lengths) * TOKEN_CHARACTERS)
    if not right or len(wrong) < negatives:
        return None
    best = max(right, key=lambda each: (_holds(each, answers), _shared(each, row["evidence_spans"])))
    chosen = [wrong[index] for index in draw_first(len(wrong), negatives, draw)]
    return Example(
        source=source,
        question=row["question"],
        candidates=(
            _cut_right(text, best, answers, row["evidence_spans"], characters, draw),
            *(cut_wrong(each.text, row["question"], characters, draw) for each in chosen),
        ),
    )


def _may_be_right(found: Found, row: Mapping[str, Any]) -> bool:
    """Whether a passage of another book has the answer word for word: some tales stand in two collections."""
    return found.file != row["book_file"] and any(find_verbatim(found.text, answer) for answer in row["answers"])


def _holds(found: Found, answers: Sequence[Span]) -> int:
    return sum(found.start <= start and end <= found.end for start, end in answers)


def _shared(found: Found, evidence: Sequence[Sequence[int]]) -> int:
    return sum(max(0, min(found.end, end) - max(found.start, start)) for start, end in evidence)


def draw_first(count: int, wanted: int, draw: random.Random) -> list[int]:
    """Different numbers below `count`, the first ones likelier."""
    keys = sorted((draw.random() ** (1 + index / 4), index) for index in range(count))
    return sorted(index for _, index in keys[-wanted:])


def _cut_right(
    text: str,
    found: Found,
    answers: Sequence[Span],
    evidence: Sequence[Sequence[int]],
    characters: int,
    draw: random.Random,
) -> Candidate:
    passage = text[found.start : found.end]
    inside = [(a - found.start, b - found.start) for a, b in answers if found.start <= a and b <= found.end]
    if inside:
        middle = draw.choice(inside)
    else:
        low, high = max(
            ((max(a, found.start), min(b, found.end)) for a, b in evidence), key=lambda span: span[1] - span[0]
        )
        start = draw.randint(low, max(low, high - 1)) - found.start
        middle = start, start
    return cut_candidate(passage, sentence_window(passage, middle, characters, draw), inside, relevant=True)


def cut_wrong(passage: str, question: str, characters: int, draw: random.Random) -> Candidate:
    """A window around the sentence with most of the question's words."""
    wanted = content_words(question)
    sentences = sentence_spans(passage)
    best = max(sentences, key=lambda span: len(wanted & content_words(passage[span[0] : span[1]])))
    return cut_candidate(passage, sentence_window(passage, best, characters, draw), (), relevant=False)
