"""Answers of `Retriever.answer`: how they match human answers, and which questions are refused.

Of an answer the short form is compared by exact match and token F1, or all quotes together if it has none; a question
without an answer counts as 0. "quoted" is the share of questions whose human answer is in the quotes (`answer_match`),
among those that can be checked in this way. Refused are questions that the library cannot answer: everyday questions,
questions on textbooks for a library of novels, and questions on a novel while its book is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nlb_retriever.records import Answer, source_of
from nlb_retriever.search.retriever import Retriever
from nlb_retriever.store import Condition
from nlb_training.evaluation.answer_match import holds_answer, required_stems
from nlb_training.evaluation.metrics import Values
from nlb_training.evaluation.results import Measurement
from nlb_training.evaluation.retrieval import QuerySet
from nlb_training.evaluation.vectors import Notice
from nlb_training.everyday import read_everyday
from nlb_training.reader.answers import best_f1, exact_match

TASK = "answers"
RIGHT = 0.5
"""Least token F1 of a short answer that counts as right."""
_METRICS = ("f1", "em", "quoted", "answered", "words", "right if sure", "right if likely", "right if unsure")
_NOTICE_EVERY = 100


def measure_library(
    queries: QuerySet, retriever: Retriever, system: str, *, strange: QuerySet | None, notice: Notice
) -> list[Measurement]:
    """All measurements of answers from one library.

    Args:
        queries: questions on its books, with "answers" or (multiple choice) without.
        retriever: of the library.
        system: its name.
        strange: questions on books of another kind, which the library should refuse; None to skip them.
        notice: called with the progress.
    """
    name = queries.known.name
    everyday = read_everyday("test")
    measurements = [_measure_refused(f"everyday-to-{name}", everyday, everyday, retriever, system)]
    if strange is not None and strange.known.name != name:
        questions = [row.query for row in strange.rows]
        other = f"{strange.known.name}-to-{name}"
        measurements.append(_measure_refused(other, questions, strange.groups, retriever, system))
    if not all("answers" in row.values for row in queries.rows):
        questions = [row.query for row in queries.rows]
        return [_measure_refused(f"{name}-to-{name}", questions, queries.groups, retriever, system), *measurements]
    matched = [
        each
        for in_book in (False, True)
        for each in measure_answers(queries, retriever, system, in_book=in_book, notice=notice)
    ]
    if queries.known.leave_out:
        measurements.append(measure_left_out(queries, retriever, system))
    return [*matched, *measurements]


def measure_answers(
    queries: QuerySet, retriever: Retriever, system: str, *, in_book: bool, notice: Notice
) -> list[Measurement]:
    """Match the answers to a set's questions with the human ones.

    Args:
        queries: questions with "answers".
        retriever: of a library of their books.
        system: its name.
        in_book: whether the right book is given.
        notice: called with the progress.
    """
    name = f"{queries.known.name}-in-book" if in_book else queries.known.name
    rows: list[dict[str, float]] = []
    for number, row in enumerate(queries.rows, 1):
        book = source_of(queries.books.files[row.file]) if in_book else None
        answer = retriever.answer(row.query, book=book)
        rows.append(compare_answer(answer, row.query, row.values["answers"]))
        if number % _NOTICE_EVERY == 0:
            notice(f"answers to {name}: {number:,} of {len(queries.rows):,} questions")
    measurements = []
    for metric in _METRICS:
        kept = [index for index, row in enumerate(rows) if metric in row]
        if not kept:
            continue
        values: Values = np.array([rows[index][metric] for index in kept])
        groups = [queries.groups[index] for index in kept]
        scale = 1.0 if metric == "words" else 100.0
        measurements.append(Measurement.of(TASK, name, system, metric, values, groups, trained=True, scale=scale))
    return measurements


def compare_answer(answer: Answer, question: str, expected: Sequence[str]) -> dict[str, float]:
    """Metrics of one answer; without "quoted" if the expected answers cannot be checked by words.

    Args:
        answer: of the library.
        question: the question.
        expected: human answers.

    Returns:
        f1, em: of the short answer; quoted: whether the quotes hold an expected answer; answered: 0 if it was
        refused; words: number of words of the quotes; right if sure, likely or unsure: the one of these that a
        short answer is marked with, 1 from `RIGHT` on.
    """
    quotes = " ".join(citation.quote for citation in answer.citations)
    short = answer.short or quotes
    values = {
        "f1": best_f1(short, expected) if short else 0.0,
        "em": exact_match(short, expected) if short else 0.0,
        "answered": float(answer.found),
        "words": float(len(quotes.split())),
    }
    if answer.short and answer.confidence:
        values[f"right if {answer.confidence}"] = float(values["f1"] >= RIGHT)
    if required := required_stems(question, expected):
        values["quoted"] = float(holds_answer(quotes, required))
    return values


def measure_left_out(queries: QuerySet, retriever: Retriever, system: str) -> Measurement:
    """Share of a set's questions that its library refuses while the right book is left out."""
    refused = []
    for row in queries.rows:
        others = Condition("source", "ne", source_of(queries.books.files[row.file]))
        refused.append(float(not retriever.answer(row.query, where=others).found))
    name = f"{queries.known.name}-book-left-out"
    return Measurement.of(TASK, name, system, "refused", np.array(refused), queries.groups, trained=True)


def _measure_refused(
    name: str, questions: Sequence[str], groups: Sequence[str], retriever: Retriever, system: str
) -> Measurement:
    """Share of questions that a library refuses."""
    refused: Values = np.array([float(not retriever.answer(question).found) for question in questions])
    return Measurement.of(TASK, name, system, "refused", refused, groups, trained=True)
