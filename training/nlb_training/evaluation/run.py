"""One evaluation: the tasks, one after the other, of all checkpoints and baselines."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from nlb_retriever import checkpoint as checkpoints
from nlb_retriever.checkpoint import Checkpoint
from nlb_retriever.errors import QueryError
from nlb_retriever.indexer import Observer
from nlb_training.evaluation import retrieval, similarity
from nlb_training.evaluation.bench import TASKS, Bench, Settings, is_mean
from nlb_training.evaluation.pairs import pair
from nlb_training.evaluation.results import Difference, Measurement, Results
from nlb_training.evaluation.sets import RETRIEVAL, SIMILARITY
from nlb_training.evaluation.systems import make_baselines, make_trained
from nlb_training.evaluation.vectors import Notice

_log = logging.getLogger(__name__)


def evaluate(settings: Settings, *, notice: Notice = _log.info, observer: Observer | None = None) -> Results:
    """Run the tasks, one after the other.

    Args:
        settings: what to evaluate.
        notice: told of what takes time, a line each.
        observer: told of the making of libraries, as by `index_books`.

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
        _RUNNERS[task](bench, observer)
    return bench.results


def _keep(bench: Bench, measurements: list[Measurement], differences: list[Difference]) -> None:
    bench.results.measurements += measurements
    bench.results.differences += differences


def _similarity(bench: Bench, observer: Observer | None) -> None:
    settings = bench.settings
    for known, shelf, rows in bench.sets(SIMILARITY, ("section", "book")):
        spaces = [bench.space(checkpoint, shelf, rows) for checkpoint in bench.judged]
        systems = make_baselines(settings.baselines, spaces[0])
        for checkpoint, space in zip(bench.judged, spaces, strict=True):
            if not is_mean(checkpoint) or "mean" not in settings.baselines:
                systems += make_trained(checkpoint, checkpoint.name, space)
        systems += [make(spaces[0]) for make in settings.systems]
        forward = pair(known.name, known.title, known.level, rows, shelf)
        for pairs in (forward, forward.reverse()):
            bench.notice(f"similarity: {pairs.name}, {pairs.title}")
            _keep(bench, *similarity.measure(pairs.thin(settings.every), systems))


def _retrieval(bench: Bench, observer: Observer | None) -> None:
    settings = bench.settings
    asked = list(bench.judged)
    if "mean" in settings.baselines and not any(map(is_mean, asked)):
        asked.insert(0, checkpoints.load(checkpoints.UNTRAINED))
    libraries: dict[str, list[tuple[Checkpoint, Path]]] = {}
    for known, shelf, rows in bench.sets(RETRIEVAL, ("book", "section", "passage")):
        if shelf.name not in libraries:
            bench.notice(f"retrieval: the library of {shelf.folder}")
            libraries[shelf.name] = [
                (each, retrieval.build_library(shelf, each, bench.cache, observer=observer)) for each in asked
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


_RUNNERS: dict[str, Callable[[Bench, Observer | None], None]] = {
    "similarity": _similarity,
    "retrieval": _retrieval,
}
