"""Runs the tasks of an evaluation on all checkpoints and baselines."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext

from nlb_retriever.errors import QueryError
from nlb_retriever.model import checkpoint as checkpoints
from nlb_retriever.model.checkpoint import Checkpoint
from nlb_retriever.search.retriever import Retriever
from nlb_training.evaluation import answers, classification, multiple_choice, reading, retrieval, similarity
from nlb_training.evaluation.books import archive_path
from nlb_training.evaluation.classification import Labelled
from nlb_training.evaluation.context import TASKS, EvaluationContext, Settings, is_mean
from nlb_training.evaluation.documents import encode_documents, pool_documents
from nlb_training.evaluation.libraries import IndexWatch
from nlb_training.evaluation.metrics import Values
from nlb_training.evaluation.multiple_choice import Choice
from nlb_training.evaluation.pairs import make_ranking_set
from nlb_training.evaluation.reranked import make_reranked
from nlb_training.evaluation.results import Difference, Measurement, Results
from nlb_training.evaluation.sets import (
    ANSWERS,
    CENTURY_ARCHIVES,
    CHOICES,
    LABEL,
    ORIGINS,
    RETRIEVAL,
    SIMILARITY,
    TEXTBOOK_QUESTIONS,
    own_answers,
    own_levels,
    own_sets,
)
from nlb_training.evaluation.systems import check_baselines, make_baselines, make_trained
from nlb_training.evaluation.vectors import Notice

_log = logging.getLogger(__name__)


def evaluate(settings: Settings, *, notice: Notice = _log.info, watch: IndexWatch = nullcontext) -> Results:
    """Run the tasks, one after the other.

    Args:
        settings: of the evaluation.
        notice: called with one line for each step that takes time.
        watch: opened while a library is indexed.

    Returns:
        All measurements; rows that could not be used are in `problems`.

    Raises:
        QueryError: there is no data, a file has no usable row, or a name is unknown.
        EncoderError, StoreError: a checkpoint or library cannot be used.
    """
    if unknown := [task for task in settings.tasks if task not in TASKS]:
        raise QueryError(f"no task {unknown[0]!r}: choose from {', '.join(TASKS)}")
    check_baselines(settings.baselines)
    context = EvaluationContext(settings, notice, watch)
    encoders = (context.chunks(each).encoder.identity.name for each in context.evaluated)
    context.results.about = {
        "checkpoints": ", ".join(f"{each.name} ({each.sha256[:12]})" for each in context.evaluated),
        "chunk encoder": ", ".join(dict.fromkeys(encoders)),
        "every": settings.every,
    }
    for task in settings.tasks:
        _RUNNERS[task](context)
    if not context.results.measurements:
        reason = next(iter(context.results.problems), "no row has human answers, `answers`")
        raise QueryError(f"nothing to measure: {reason}")
    return context.results


def _add(context: EvaluationContext, measurements: list[Measurement], differences: list[Difference]) -> None:
    context.results.measurements += measurements
    context.results.differences += differences


def _similarity(context: EvaluationContext) -> None:
    settings = context.settings
    sets = list(context.sets(SIMILARITY, lambda rows: own_levels(rows, ("section", "book"))))
    for known, books, rows in sets:
        # With the borders of all sets of these books, so that a book is encoded once.
        together = [row for _, other, own in sets if other is books for row in own]
        spaces = [context.space(checkpoint, books, together) for checkpoint in context.evaluated]
        systems = make_baselines(settings.baselines, spaces[0])
        for checkpoint, space in zip(context.evaluated, spaces, strict=True):
            if not is_mean(checkpoint) or "mean" not in settings.baselines:
                own = make_trained(checkpoint, checkpoint.name, space)
                systems += own
                if reranked := make_reranked(checkpoint, own[-1], space):
                    systems.append(reranked)
        forward = make_ranking_set(known.name, known.title, known.level, rows, books)
        for pairs in (forward, forward.reverse()):
            context.notice(f"similarity: {pairs.name}, {pairs.title}")
            _add(context, *similarity.measure(pairs.thin(settings.every), systems))


def _retrieval(context: EvaluationContext) -> None:
    for known, books, rows in context.sets(RETRIEVAL, own_sets):
        queries = retrieval.make_query_set(known, rows, books, context.settings.every)
        if not queries.rows:
            context.add_problems([f"{known.name} is skipped: it has no queries"])
            continue
        libraries = [(checkpoint, context.library(books, checkpoint)) for checkpoint, _ in _with_mean(context)]
        context.notice(f"retrieval: {known.name}, {known.title}, {len(queries.rows):,} queries")
        trained = [each.name for each in context.evaluated]
        reader = context.reader if known.level != "book" else None
        _add(context, *retrieval.measure(queries, libraries, trained=trained, reader=reader, notice=context.notice))


def _answers(context: EvaluationContext) -> None:
    sets = [
        retrieval.QuerySet(known=known, rows=tuple(rows[:: context.settings.every]), books=books)
        for known, books, rows in context.sets((*ANSWERS, TEXTBOOK_QUESTIONS), own_answers)
    ]
    textbooks = next((queries for queries in sets if queries.known is TEXTBOOK_QUESTIONS), None)
    for checkpoint in context.evaluated:
        for queries in sets:
            context.notice(f"answers: {queries.known.name}, {len(queries.rows):,} questions")
            library = context.library(queries.books, checkpoint)
            with Retriever(library, reader=context.settings.reader) as retriever:
                context.results.measurements += answers.measure_library(
                    queries, retriever, checkpoint.name, strange=textbooks, notice=context.notice
                )


def _reading(context: EvaluationContext) -> None:
    reader = context.reader
    if reader is None or context.data is None:
        context.add_problems(["reading is skipped: there is no reader, or no evaluation data"])
        return
    for name, paragraphs in reading.paragraph_sets(context.data):
        context.notice(f"reading: {name}, {len(paragraphs):,} questions")
        context.results.measurements += reading.measure_reading(reader, name, paragraphs[:: context.settings.every])


def _classification(context: EvaluationContext) -> None:
    from nlb_training.evaluation.tuning import classify_fine_tuned  # imports torch

    for name, documents in _labelled_sets(context):
        try:
            labelled = classification.keep_frequent(documents[:: context.settings.every])
        except QueryError as error:
            context.add_problems([f"{name} is skipped: {error}"])
            continue
        context.notice(f"classification: {name}, {len(labelled):,} documents")
        classifiers = [("most frequent", classification.classify_as_majority(), False)]
        classifiers.append(("words (tf-idf)", classification.classify_words(labelled), False))
        for checkpoint, evaluated in _with_mean(context):
            chunks = context.chunks(checkpoint)
            books = encode_documents(chunks, [each.document for each in labelled])
            frozen = classification.classify_vectors(pool_documents(books, chunks, checkpoint))
            classifiers.append((f"{checkpoint.name} frozen", frozen, evaluated))
            if checkpoint.config.model.layers:
                tuned = classify_fine_tuned(books, checkpoint)
                classifiers.append((f"{checkpoint.name} fine-tuned", tuned, evaluated))
        for system, classify, evaluated in classifiers:
            context.results.measurements += classification.measure(
                name, labelled, system, classify, context.settings.seeds, trained=evaluated
            )


def _labelled_sets(context: EvaluationContext) -> Iterator[tuple[str, list[Labelled]]]:
    settings, data = context.settings, context.data
    if settings.questions:
        rows, books = context.rows(settings.questions, "", LABEL)
        yield "own", classification.read_own(rows, books)
        return
    assert data is not None
    try:
        collections = [context.collection(name) for name in CENTURY_ARCHIVES if archive_path(data, name).is_file()]
        yield "century", classification.read_centuries(data / "corpus" / "books.tsv", collections)
    except QueryError as error:
        context.add_problems([f"century is skipped: {error}"])
    tales = [row for _, _, rows in context.sets(ORIGINS, lambda rows: ()) for row in rows]
    if tales:
        yield "origin", classification.read_origins(tales, context.collection(ORIGINS[0].collection))


def _multiple_choice(context: EvaluationContext) -> None:
    for name, choices in _choice_sets(context):
        context.notice(f"multiple-choice: {name}, {len(choices):,} questions")
        for system, right, evaluated in _choose(context, choices):
            context.results.measurements += multiple_choice.measure(name, choices, system, right, trained=evaluated)


def _choose(context: EvaluationContext, choices: Sequence[Choice]) -> Iterator[tuple[str, list[Values], bool]]:
    """Each system, its right choices (one array for each seed), and whether it is evaluated."""
    seeds, documents = context.settings.seeds, [each.document for each in choices]
    for number, (checkpoint, evaluated) in enumerate(_with_mean(context)):
        chunks = context.chunks(checkpoint)
        questions, options, pairs = multiple_choice.encode(choices, chunks)
        books = encode_documents(chunks, documents)
        if not number:
            to_question = multiple_choice.compare_options_to_questions(questions, options)
            to_chunk = multiple_choice.compare_pairs_to_chunks(pairs, books)
            yield "option to question", [multiple_choice.choose_by_scores(to_question, choices)], False
            yield "option to best chunk", [multiple_choice.choose_by_scores(to_chunk, choices)], False
            right = [multiple_choice.choose_by_classifier(choices, pairs, None, seed) for seed in seeds]
            yield "classifier, no document", right, False
        vectors = pool_documents(books, chunks, checkpoint)
        to_document = multiple_choice.compare_pairs_to_documents(pairs, vectors)
        yield f"{checkpoint.name} zero-shot", [multiple_choice.choose_by_scores(to_document, choices)], evaluated
        right = [multiple_choice.choose_by_classifier(choices, pairs, vectors, seed) for seed in seeds]
        yield f"{checkpoint.name} classifier", right, evaluated


def _choice_sets(context: EvaluationContext) -> Iterator[tuple[str, list[Choice]]]:
    file = context.settings.questions
    if file and multiple_choice.is_quality(file):
        choices, problems = multiple_choice.read_quality(file)
        context.add_problems(problems)
        yield "quality", choices[:: context.settings.every]
        return
    for known, books, rows in context.sets(CHOICES, lambda rows: own_levels(rows, ("passage",))):
        choices, problems = multiple_choice.from_rows(rows, books)
        context.add_problems(problems)
        if choices:
            yield "own" if file else known.name, choices[:: context.settings.every]


def _with_mean(context: EvaluationContext) -> list[tuple[Checkpoint, bool]]:
    """The checkpoints, and whether each is evaluated; first the untrained mean, if it is a baseline."""
    evaluated = [(checkpoint, True) for checkpoint in context.evaluated]
    if "mean" in context.settings.baselines and not any(map(is_mean, context.evaluated)):
        return [(checkpoints.load(checkpoints.UNTRAINED), False), *evaluated]
    return evaluated


_RUNNERS: dict[str, Callable[[EvaluationContext], None]] = {
    "similarity": _similarity,
    "classification": _classification,
    "multiple-choice": _multiple_choice,
    "retrieval": _retrieval,
    "answers": _answers,
    "reading": _reading,
}
