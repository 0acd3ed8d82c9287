"""Retrieval with the library's own search, on libraries of real books: vectors alone, BM25 alone, fused, and reranked.

A section is right if it shares at least half of the shorter one of the two with a span, a passage if it overlaps the
span, a book if it is the row's. Without spans, a passage is right if it holds a human answer (`answer_match`). Metrics
are of the first right hit among 50: recall@k is the share of queries with a right hit among k, and nDCG@10 is that of
one right document at its rank.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from nlb_retriever.model.checkpoint import Checkpoint
from nlb_retriever.reader import Reader
from nlb_retriever.records import Hit, Level, Mode, source_of
from nlb_retriever.search.readings import READ, order_sections, read_hits
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.retriever import Retriever
from nlb_retriever.search.run import SearchResult
from nlb_training.evaluation import metrics
from nlb_training.evaluation.answer_match import holds_answer, required_stems
from nlb_training.evaluation.books import BookCollection
from nlb_training.evaluation.metrics import Values
from nlb_training.evaluation.results import Difference, Measurement
from nlb_training.evaluation.rows import Row
from nlb_training.evaluation.sets import KnownSet
from nlb_training.evaluation.vectors import Notice

TASK = "retrieval"
MODES: tuple[Mode, ...] = ("dense", "bm25", "fused")
READER = "fused + reader"
"""Of fused search, the passages or sections of a short question or statement put in order by a reader."""
DEPTH = 50
"""Number of hits in which the first right one is searched."""
_NOTICE_EVERY = 100
"""Queries between two notices."""

IsRight = Callable[[Hit], bool]


@dataclass(frozen=True, kw_only=True)
class QuerySet:
    """Queries to one library."""

    known: KnownSet
    rows: tuple[Row, ...]
    """Checked against the books."""
    books: BookCollection

    @property
    def groups(self) -> list[str]:
        return [row.group for row in self.rows]


def make_query_set(known: KnownSet, rows: Sequence[Row], books: BookCollection, every: int = 1) -> QuerySet:
    """Every n-th query of a set; answers that cannot be checked by words are left out."""
    if known.right == "answer":
        rows = [row for row in rows if required_stems(row.query, row.values["answers"])]
    return QuerySet(known=known, rows=tuple(rows[::every]), books=books)


def measure(
    queries: QuerySet,
    libraries: Sequence[tuple[Checkpoint, Path]],
    *,
    trained: Sequence[str] = (),
    reader: Reader | None = None,
    notice: Notice = lambda line: None,
) -> tuple[list[Measurement], list[Difference]]:
    """Search every checkpoint's library with one set.

    Args:
        queries: the set.
        libraries: of its books, by checkpoint.
        trained: names of the checkpoints that are evaluated.
        reader: puts the hits in order, which must be passages or sections; None to skip that.
        notice: called with the progress.

    Returns:
        Measurements, and for every metric the differences of fused search to BM25 alone, and of reranked to fused.
    """
    name, groups = queries.known.name, queries.groups
    values: dict[str, dict[str, Values]] = {}
    evaluated: set[str] = set()
    for checkpoint, library in libraries:
        modes = [mode for mode in MODES if _system(checkpoint, mode) not in values]  # BM25 only once
        with Retriever(library) as retriever:
            ranks = _rank(queries, retriever, modes, reader, notice)
        for way, own in ranks.items():
            values[_system(checkpoint, way)] = compute_metrics(own)
            if way != "bm25" and checkpoint.name in trained:
                evaluated.add(_system(checkpoint, way))
    order = [*queries.known.metrics, *sorted({*next(iter(values.values()))} - {*queries.known.metrics})]
    measurements = [
        Measurement.of(TASK, name, system, metric, own[metric], groups, trained=system in evaluated)
        for system, own in values.items()
        for metric in order
    ]
    differences = []
    for checkpoint, _ in libraries:
        fused, reranked = _system(checkpoint, "fused"), _system(checkpoint, READER)
        for system, baseline in ((fused, "bm25"), (reranked, fused)):
            for metric in order if system in values else ():
                estimate = metrics.compare(values[system][metric], values[baseline][metric], groups)
                differences.append(Difference.of(TASK, name, system, baseline, metric, estimate))
    return measurements, differences


def _system(checkpoint: Checkpoint, way: str) -> str:
    return way if way == "bm25" else f"{checkpoint.name} {way}"


def compute_metrics(ranks: Values) -> dict[str, Values]:
    """Each query's metrics from the rank of its first right hit."""
    recalls = {f"recall@{cut}": metrics.hits(ranks, cut) for cut in (1, 5, 10, 20, DEPTH)}
    return {"mrr": metrics.reciprocal_ranks(ranks), **recalls, "ndcg@10": metrics.gains(ranks, 10)}


def right_by_span(row: Row, level: Level, source: str) -> IsRight:
    """Whether a hit of a level is right by a row's spans, in the book of this source."""

    def is_right(hit: Hit) -> bool:
        if hit.source != source:
            return False
        if level == "book":
            return True
        for start, end in row.spans:
            shared = min(hit.end, end) - max(hit.start, start)
            least = 0.5 * min(hit.end - hit.start, end - start) if level == "section" else 1
            if shared >= max(least, 1):
                return True
        return False

    return is_right


def right_by_answer(row: Row) -> IsRight:
    """Whether a hit holds one of a row's human answers."""
    required = required_stems(row.query, row.values["answers"])
    return lambda hit: holds_answer(hit.text, required)


def first_right(hits: Sequence[Hit], is_right: IsRight) -> float:
    """Rank, from 1, of the first right hit; infinite without one."""
    return next((float(rank) for rank, hit in enumerate(hits, 1) if is_right(hit)), float("inf"))


def _rank(
    queries: QuerySet, retriever: Retriever, modes: Sequence[Mode], reader: Reader | None, notice: Notice
) -> dict[str, Values]:
    """For each mode, and for the reader, the rank (q,) of each query's first right hit."""
    known = queries.known
    ranks: dict[str, list[float]] = {way: [] for way in (*modes, *([READER] if reader else []))}
    for number, row in enumerate(queries.rows, 1):
        source = source_of(queries.books.files[row.file])
        is_right = right_by_answer(row) if known.right == "answer" else right_by_span(row, known.level, source)
        book = source if known.in_book else None
        encoded: SearchResult | None = None  # the modes with vectors share its query, as it was respelled, and vectors
        for mode in modes:
            request = SearchRequest(query=row.query, level=known.level, limit=DEPTH, book=book, mode=mode)
            if encoded and mode != "bm25":
                request = replace(encoded.request, mode=mode, vectors=encoded.vectors)
            result = retriever.run(request)
            encoded = encoded or (result if result.vectors else None)
            ranks[mode].append(first_right(result.hits, is_right))
            if reader and mode == "fused":
                ranks[READER].append(first_right(_read(result, retriever, reader), is_right))
        if number % _NOTICE_EVERY == 0:
            notice(f"{known.name}: {number:,} of {len(queries.rows):,} queries")
    return {way: np.array(own, dtype=np.float64) for way, own in ranks.items()}


def _read(result: SearchResult, retriever: Retriever, reader: Reader) -> Sequence[Hit]:
    """Hits in the order of `rerank=True`."""
    request, hits = result.request, result.hits
    if not request.is_readable:
        return hits
    if request.level == "section":
        passages = retriever.run(replace(request, level="passage", limit=READ, vectors=result.vectors)).hits
        return order_sections(request.question, hits, passages, reader)
    diversify = request.kind is not None
    return (*read_hits(request.question, hits[:READ], reader, diversify=diversify).hits, *hits[READ:])
