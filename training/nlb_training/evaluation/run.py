"""One evaluation: the tasks, one after the other, of all checkpoints and baselines."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from nlb_retriever.errors import QueryError
from nlb_retriever.indexing.report import Observer
from nlb_retriever.model import checkpoint as checkpoints
from nlb_retriever.model.checkpoint import Checkpoint
from nlb_training.evaluation import classification, multiple_choice, retrieval, similarity
from nlb_training.evaluation.books import archive_of
from nlb_training.evaluation.classification import Labelled
from nlb_training.evaluation.context import TASKS, Bench, Settings, is_mean
from nlb_training.evaluation.documents import chunked, pooled
from nlb_training.evaluation.metrics import Values
from nlb_training.evaluation.multiple_choice import Choice
from nlb_training.evaluation.pairs import pair
from nlb_training.evaluation.reranked import make_reranked
from nlb_training.evaluation.results import Difference, Measurement, Results
from nlb_training.evaluation.sets import CENTURY_ARCHIVES, CHOICES, LABEL, ORIGINS, RETRIEVAL, SIMILARITY
from nlb_training.evaluation.systems import make_baselines, make_trained
from nlb_training.evaluation.vectors import Notice

_log = logging.getLogger(__name__)


Watching = Callable[[], AbstractContextManager[Observer | None]]
"""Opens what watches the making of a library, as `index_files` tells it."""


def evaluate(settings: Settings, *, notice: Notice = _log.info, watching: Watching = nullcontext) -> Results:
    """Run the tasks, one after the other.

    Args:
        settings: what to evaluate.
        notice: told of what takes time, a line each.
        watching: opened while a library is made.

    Returns:
        All that was found. Rows that could not be used are in `problems`; they stop nothing.

    Raises:
        QueryError: there is no data, a file has no usable row, or a name is not known.
        EncoderError, StoreError: a checkpoint or library cannot be used.
    """
    if unknown := [task for task in settings.tasks if task not in TASKS]:
        raise QueryError(f"no task {unknown[0]!r}: choose from {', '.join(TASKS)}")
    bench = Bench(settings, notice)
    bench.results.about = {
        "checkpoints": ", ".join(f"{each.name} ({each.sha256[:12]})" for each in bench.judged),
        "chunk encoder": ", ".join(dict.fromkeys(bench.chunks(each).encoder.identity.name for each in bench.judged)),
        "every": settings.every,
    }
    for task in settings.tasks:
        _RUNNERS[task](bench, watching)
    if not bench.results.measurements:
        raise QueryError(f"nothing to measure: {bench.results.problems[0]}")
    return bench.results


def _keep(bench: Bench, measurements: list[Measurement], differences: list[Difference]) -> None:
    bench.results.measurements += measurements
    bench.results.differences += differences


def _similarity(bench: Bench, watching: Watching) -> None:
    settings = bench.settings
    sets = list(bench.sets(SIMILARITY, ("section", "book")))
    for known, shelf, rows in sets:
        # Cut for all sets alike, so that a book is encoded once.
        together = [row for _, place, own in sets if place is shelf for row in own]
        spaces = [bench.space(checkpoint, shelf, together) for checkpoint in bench.judged]
        systems = make_baselines(settings.baselines, spaces[0])
        for checkpoint, space in zip(bench.judged, spaces, strict=True):
            if not is_mean(checkpoint) or "mean" not in settings.baselines:
                own = make_trained(checkpoint, checkpoint.name, space)
                systems += own
                if reranked := make_reranked(checkpoint, own[-1], space):
                    systems.append(reranked)
        systems += [make(spaces[0]) for make in settings.systems]
        forward = pair(known.name, known.title, known.level, rows, shelf)
        for pairs in (forward, forward.reverse()):
            bench.notice(f"similarity: {pairs.name}, {pairs.title}")
            _keep(bench, *similarity.measure(pairs.thin(settings.every), systems))


def _retrieval(bench: Bench, watching: Watching) -> None:
    settings = bench.settings
    asked = [checkpoint for checkpoint, _ in _with_mean(bench)]
    libraries: dict[str, list[tuple[Checkpoint, Path]]] = {}
    for known, shelf, rows in bench.sets(RETRIEVAL, ("book", "section", "passage")):
        if shelf.name not in libraries:
            bench.notice(f"retrieval: the library of {shelf.folder}")
            with watching() as observer:
                libraries[shelf.name] = [
                    (each, retrieval.build_library(shelf, each, bench.encoder(each), bench.cache, observer=observer))
                    for each in asked
                ]
        bench.notice(f"retrieval: {known.name}, {known.title}")
        _keep(
            bench,
            *retrieval.measure(
                retrieval.Asked(name=known.name, level=known.level, rows=tuple(rows[:: settings.every])),
                shelf,
                libraries[shelf.name],
                trained=[each.name for each in bench.judged],
                notice=bench.notice,
            ),
        )


def _classification(bench: Bench, watching: Watching) -> None:
    from nlb_training.evaluation.tuning import by_tuning  # torch, which similarity and retrieval may do without

    for name, given in _labelled(bench):
        try:
            labelled = classification.keep_frequent(given[:: bench.settings.every])
        except QueryError as error:
            bench.blame([f"{name} is left out: {error}"])
            continue
        bench.notice(f"classification: {name}, {len(labelled):,} documents")
        ways = [("most frequent", classification.by_majority(), False)]
        ways.append(("words (tf-idf)", classification.by_words(labelled), False))
        for checkpoint, judged in _with_mean(bench):
            chunks = bench.chunks(checkpoint)
            books = chunked(chunks, [each.document for each in labelled])
            frozen = classification.by_vectors(pooled(books, chunks, checkpoint))
            ways.append((f"{checkpoint.name} frozen", frozen, judged))
            if checkpoint.config.model.layers:
                ways.append((f"{checkpoint.name} fine-tuned", by_tuning(books, checkpoint), judged))
        for system, classify, judged in ways:
            bench.results.measurements += classification.measure(
                name, labelled, system, classify, bench.settings.seeds, trained=judged
            )


def _labelled(bench: Bench) -> Iterator[tuple[str, list[Labelled]]]:
    settings, data = bench.settings, bench.data
    if settings.questions:
        rows, shelf = bench.rows(settings.questions, "", LABEL)
        yield "own", classification.read_own(rows, shelf)
        return
    assert data is not None
    try:
        shelves = [bench.shelf(name) for name in CENTURY_ARCHIVES if archive_of(data, name).is_file()]
        yield "century", classification.read_centuries(data / "corpus" / "books.tsv", shelves)
    except QueryError as error:
        bench.blame([f"century is left out: {error}"])
    tales = [row for _, _, rows in bench.sets(ORIGINS, ()) for row in rows]
    if tales:
        yield "origin", classification.read_origins(tales, bench.shelf(ORIGINS[0].archive))


def _multiple_choice(bench: Bench, watching: Watching) -> None:
    for name, choices in _choices(bench):
        bench.notice(f"multiple-choice: {name}, {len(choices):,} questions")
        for system, right, judged in _chosen(bench, choices):
            bench.results.measurements += multiple_choice.measure(name, choices, system, right, trained=judged)


def _chosen(bench: Bench, choices: Sequence[Choice]) -> Iterator[tuple[str, list[Values], bool]]:
    """Each way to choose, what it chose right (an array a seed), and whether it is judged."""
    from nlb_training.evaluation.choosing import by_classifier

    seeds, documents = bench.settings.seeds, [each.document for each in choices]
    for number, (checkpoint, judged) in enumerate(_with_mean(bench)):
        chunks = bench.chunks(checkpoint)
        questions, options, pairs = multiple_choice.encode(choices, chunks)
        books = chunked(chunks, documents)
        if not number:
            near_question = multiple_choice.option_to_question(questions, options)
            near_chunk = multiple_choice.option_to_chunk(pairs, books)
            yield "option to question", [multiple_choice.by_scores(near_question, choices)], False
            yield "option to best chunk", [multiple_choice.by_scores(near_chunk, choices)], False
            yield "classifier, no document", [by_classifier(choices, pairs, None, seed) for seed in seeds], False
        vectors = pooled(books, chunks, checkpoint)
        near_document = multiple_choice.option_to_document(pairs, vectors)
        yield f"{checkpoint.name} zero-shot", [multiple_choice.by_scores(near_document, choices)], judged
        right = [by_classifier(choices, pairs, vectors, seed) for seed in seeds]
        yield f"{checkpoint.name} classifier", right, judged


def _choices(bench: Bench) -> Iterator[tuple[str, list[Choice]]]:
    file = bench.settings.questions
    if file and multiple_choice.is_quality(file):
        choices, problems = multiple_choice.read_quality(file)
        bench.blame(problems)
        yield "quality", choices[:: bench.settings.every]
        return
    for known, shelf, rows in bench.sets(CHOICES, ("passage",)):
        choices, problems = multiple_choice.from_rows(rows, shelf)
        bench.blame(problems)
        if choices:
            yield "own" if file else known.name, choices[:: bench.settings.every]


def _with_mean(bench: Bench) -> list[tuple[Checkpoint, bool]]:
    """The checkpoints, and whether each is judged; the untrained mean is the first, if it is a baseline."""
    judged = [(checkpoint, True) for checkpoint in bench.judged]
    if "mean" in bench.settings.baselines and not any(map(is_mean, bench.judged)):
        return [(checkpoints.load(checkpoints.UNTRAINED), False), *judged]
    return judged


_RUNNERS: dict[str, Callable[[Bench, Watching], None]] = {
    "similarity": _similarity,
    "classification": _classification,
    "multiple-choice": _multiple_choice,
    "retrieval": _retrieval,
}
