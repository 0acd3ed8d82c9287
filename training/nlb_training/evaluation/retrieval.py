"""Retrieval with the library's own search, on libraries of real books.

A section is right if it shares at least half of the shorter one of the two with a span, a passage if it overlaps the
span, a book if it is the row's. Metrics are of the first right hit among 50: recall@k is the share of questions with a
right hit among k, and nDCG@10 is that of one right document at its rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nlb_retriever.config import DEFAULT_CHUNK_TOKENS
from nlb_retriever.encoding import DEFAULT_ENCODER
from nlb_retriever.errors import QueryError
from nlb_retriever.indexing.indexer import index_files
from nlb_retriever.indexing.report import Observer
from nlb_retriever.model.checkpoint import Checkpoint
from nlb_retriever.records import Hit, Level, Mode, source_of
from nlb_retriever.search.retriever import Retriever
from nlb_training.evaluation import metrics
from nlb_training.evaluation.books import BookCollection
from nlb_training.evaluation.metrics import Values
from nlb_training.evaluation.results import Difference, Measurement
from nlb_training.evaluation.rows import Row
from nlb_training.evaluation.vectors import Notice

TASK = "retrieval"
MODES: tuple[Mode, ...] = ("dense", "bm25", "fused")
LOOK_AT = 50
"""Number of hits in which the first right one is searched."""
CUTS = (1, 5, 10)
_NOTICE_EVERY = 250
"""Questions between two notices."""


@dataclass(frozen=True, kw_only=True)
class QuerySet:
    """Queries to one library at one level."""

    name: str
    level: Level
    rows: tuple[Row, ...]
    """Checked against the books."""


def build_library(
    books: BookCollection,
    checkpoint: Checkpoint,
    encoder: tuple[str, int],
    cache: Path,
    *,
    observer: Observer | None = None,
) -> Path:
    """Index a collection with a checkpoint, or update its library.

    Args:
        books: the collection.
        checkpoint: the next-level encoder.
        encoder: name of the chunk encoder, and chunk length.
        cache: folder of the libraries.
        observer: as of `index_files`.

    Raises:
        QueryError: no book could be indexed.
        StoreError, EncoderError: as `index_files`.
    """
    name, tokens = encoder
    kind = "" if encoder == (DEFAULT_ENCODER, DEFAULT_CHUNK_TOKENS) else f"-{Path(name).name}-{tokens}"
    folder = cache / "libraries" / f"{books.name}-{checkpoint.sha256[:12]}{kind}"
    report = index_files(
        [books.folder],
        folder,
        chunk_encoder=name,
        chunk_tokens=tokens,
        checkpoint=checkpoint.folder,
        prune=True,
        observer=observer,
    )
    if not (report.indexed or report.unchanged or report.renamed):
        reason = report.failed[0].reason if report.failed else "it is empty"
        raise QueryError(f"{books.folder} cannot be indexed: {reason}")
    return folder


def measure(
    queries: QuerySet,
    books: BookCollection,
    libraries: Sequence[tuple[Checkpoint, Path]],
    *,
    trained: Sequence[str] = (),
    notice: Notice = lambda line: None,
) -> tuple[list[Measurement], list[Difference]]:
    """Search every checkpoint's library with one set: by vectors, by BM25 and fused (the default).

    Args:
        queries: the set.
        books: of the set.
        libraries: of these books, by checkpoint.
        trained: names of the checkpoints that are evaluated.
        notice: called with the progress.

    Returns:
        Measurements, and the difference of each fused search to the better of its parts by MRR.
    """
    ranks: dict[str, Values] = {}
    evaluated: set[str] = set()
    for checkpoint, library in libraries:
        with Retriever(library) as retriever:
            for mode in MODES:
                system = _system(checkpoint, mode)
                if system not in ranks:  # BM25 is the same for all checkpoints
                    ranks[system] = _rank(queries, books, retriever, mode, notice)
                if mode != "bm25" and checkpoint.name in trained:
                    evaluated.add(system)
    groups = [row.group for row in queries.rows]
    measurements = [
        Measurement.of(TASK, queries.name, system, metric, values, groups, trained=system in evaluated)
        for system, own in ranks.items()
        for metric, values in compute_metrics(own).items()
    ]
    reciprocal = {system: metrics.reciprocal_ranks(own) for system, own in ranks.items()}
    differences = []
    for checkpoint, _ in libraries:
        dense, words, fused = (_system(checkpoint, mode) for mode in MODES)
        better = max((dense, words), key=lambda name: float(reciprocal[name].mean()))
        estimate = metrics.compare(reciprocal[fused], reciprocal[better], groups)
        differences.append(Difference.of(TASK, queries.name, fused, better, "mrr", estimate))
    return measurements, differences


def _system(checkpoint: Checkpoint, mode: Mode) -> str:
    return mode if mode == "bm25" else f"{checkpoint.name} {mode}"


def compute_metrics(ranks: Values) -> dict[str, Values]:
    """Each question's metrics from the rank of its first right hit."""
    values = {"mrr": metrics.reciprocal_ranks(ranks)}
    values |= {f"recall@{cut}": metrics.hits(ranks, cut) for cut in CUTS}
    return values | {"ndcg@10": metrics.gains(ranks, 10)}


def first_right(row: Row, hits: Sequence[Hit], level: Level, source: str) -> float:
    """Rank, from 1, of the first right hit; infinite without one.

    Args:
        row: the question.
        hits: best first.
        level: of the hits.
        source: of the row's book.
    """
    right = (rank for rank, hit in enumerate(hits, 1) if hit.source == source and _answers(hit, row, level))
    return next(right, float("inf"))


def _answers(hit: Hit, row: Row, level: Level) -> bool:
    if level == "book":
        return True
    for start, end in row.spans:
        shared = min(hit.end, end) - max(hit.start, start)
        least = 0.5 * min(hit.end - hit.start, end - start) if level == "section" else 1
        if shared >= max(least, 1):
            return True
    return False


def _rank(queries: QuerySet, books: BookCollection, retriever: Retriever, mode: Mode, notice: Notice) -> Values:
    ranks = []
    for number, row in enumerate(queries.rows, 1):
        hits = retriever.search(row.query, level=queries.level, mode=mode, limit=LOOK_AT)
        ranks.append(first_right(row, hits, queries.level, source_of(books.files[row.file])))
        if number % _NOTICE_EVERY == 0:
            notice(f"{queries.name}, {mode}: {number:,} of {len(queries.rows):,} questions")
    return np.array(ranks, dtype=np.float64)
