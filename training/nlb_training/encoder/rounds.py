"""A round of training: what some hundred steps are trained on, chosen by the model as it is then.

A round is fixed before its first step and kept in a file, so that a run that was stopped goes on with the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.errors import TrainingError
from nlb_training.array_files import read_arrays, write_arrays
from nlb_training.encoder.bert import Ids
from nlb_training.encoder.books import Span, TermIds, TokenizedBook
from nlb_training.encoder.similarity import cut_spans

POSITIVE, NEGATIVE, IGNORED, SAME_BOOK = 1, 0, 2, 3
"""`SAME_BOOK`: a wrong passage of the query's own book; `NEGATIVE`: one of another."""
MARGIN = {"summary": 0, "novel": 0, "book": 0, "title": 0, "tale": 100, "article": 150, "cloze": 100, "plot": 100}
"""Tokens around what answers a query that are not taken for wrong either."""
DRAWN = 1, 2, 1
"""Candidates beside the right one: others that may answer, wrong ones of the same book, and of other books."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A passage that a query is compared with."""

    book: TokenizedBook
    span: Span
    inside: bool = False
    """Whether it lies where the answer does."""
    relevance: float = math.nan
    """A reader's logit."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """A query with its candidates."""

    query: Ids
    query_terms: TermIds
    """Of its tokens."""
    vector: NDArray[np.float32]
    """(D,) of the model that found the candidates."""
    text: str
    """Of the query; empty where no reader is to read it."""
    source: int
    """Its number in `queries.SOURCES`."""
    book: TokenizedBook
    spans: tuple[Span, ...]
    """Ranges of tokens that may answer it."""
    candidates: tuple[Candidate, ...]
    """Once they are drawn, the first one is right."""
    hole: Span | None = None
    """Range of tokens that is taken out of the right passage, as in inverse cloze tasks."""


def draw_candidates(example: Example, random: np.random.Generator) -> Example:
    """The right passage, drawn by relevance among those inside, and some of the others: `DRAWN` of each kind.

    Args:
        example: with all its candidates.
        random: what draws.
    """
    own = [each for each in example.candidates if each.inside]
    logits = np.array([0.0 if math.isnan(each.relevance) else each.relevance for each in own])
    right = own.pop(int((logits + random.gumbel(size=len(logits))).argmax()))
    wrong = [each for each in example.candidates if not each.inside]
    same = [each for each in wrong if each.book is example.book]
    other = [each for each in wrong if each.book is not example.book]
    drawn = [
        group[index]
        for group, count in zip((own, same, other), DRAWN, strict=True)
        for index in random.permutation(len(group))[:count]
    ]
    return replace(example, candidates=(right, *drawn))


@dataclass(frozen=True, kw_only=True)
class Batch:
    """One step's texts."""

    queries: list[Ids]
    passages: list[Ids]
    terms: list[TermIds]
    """Of the tokens of queries and then of passages."""
    starts: list[NDArray[np.uint8]]
    """The tokens at which each passage's spans begin."""
    labels: NDArray[np.int8]
    """(Q, P) POSITIVE (one a row), NEGATIVE, IGNORED or SAME_BOOK."""
    candidates: NDArray[np.int32]
    """(Q, C) the passages that were drawn for each query, the right one first; -1 for none."""
    relevance: NDArray[np.float32]
    """(Q, C) a reader's logits, NaN where it has not read."""
    sources: NDArray[np.int8]
    """(Q,)"""


_FIELDS = tuple(field.name for field in fields(Batch))


def make_batch(examples: Sequence[Example], source_names: Sequence[str]) -> Batch:
    """Bring examples together: each passage once, all as negatives of all queries that they do not answer.

    A candidate that lies where the answer does, or that the reader holds for more relevant than the right one, is no
    negative.

    Args:
        examples: of the step, their candidates drawn.
        source_names: by number.
    """
    keys: dict[tuple[str, Span, Span | None], int] = {}
    books: list[TokenizedBook] = []
    width = max(len(example.candidates) for example in examples)
    candidates = np.full((len(examples), width), -1, dtype=np.int32)
    relevance = np.full((len(examples), width), np.nan, dtype=np.float32)
    for row, example in enumerate(examples):
        for place, candidate in enumerate(example.candidates):
            key = candidate.book.name, candidate.span, None if place else example.hole
            if key not in keys:
                keys[key] = len(keys)
                books.append(candidate.book)
            candidates[row, place] = keys[key]
            relevance[row, place] = candidate.relevance
    labels = np.full((len(examples), len(keys)), NEGATIVE, dtype=np.int8)
    for row, example in enumerate(examples):
        margin = MARGIN[source_names[example.source]]
        for (name, (start, end), _), column in keys.items():
            if name == example.book.name:
                near = any(start < b + margin and a - margin < end for a, b in example.spans)
                labels[row, column] = IGNORED if near else SAME_BOOK
        first, *others = example.candidates
        for candidate, column in zip(others, candidates[row, 1:], strict=False):
            if candidate.inside or candidate.relevance > first.relevance:
                labels[row, column] = IGNORED
        labels[row, candidates[row, 0]] = POSITIVE
    cuts = [(book, span, hole) for book, (_, span, hole) in zip(books, keys, strict=True)]
    return Batch(
        queries=[example.query for example in examples],
        passages=[_slice(book.ids, span, hole) for book, span, hole in cuts],
        terms=[
            *(example.query_terms for example in examples),
            *(_slice(book.terms, span, hole) for book, span, hole in cuts),
        ],
        starts=[np.array(cut_spans(book, span, hole), dtype=np.uint8) for book, span, hole in cuts],
        labels=labels,
        candidates=candidates,
        relevance=relevance,
        sources=np.array([example.source for example in examples], dtype=np.int8),
    )


def _slice(values: NDArray[Any], span: Span, hole: Span | None) -> NDArray[Any]:
    if hole is None:
        return values[span[0] : span[1]]
    return np.concatenate([values[span[0] : hole[0]], values[hole[1] : span[1]]])


def write_round(file: Path, batches: Sequence[Batch]) -> None:
    """Keep a round: of each field all arrays one behind the other, and their shapes.

    Raises:
        OSError: the file cannot be written.
    """
    kept: dict[str, NDArray[Any]] = {}
    for name in _FIELDS:
        values = [getattr(batch, name) for batch in batches]
        arrays = [array for value in values for array in (value if isinstance(value, list) else [value])]
        kept[name] = np.concatenate([array.ravel() for array in arrays])
        kept[f"{name}_shapes"] = np.array([array.shape for array in arrays])
    write_arrays(file, **kept)


def read_round(file: Path, way_out: str = "make it again") -> list[Batch]:
    """Read a round back.

    Args:
        file: of the round.
        way_out: what to do if it is damaged.

    Raises:
        TrainingError: the file is missing or damaged.
    """
    try:
        kept = read_arrays(file)
        found = {name: _split(kept[name], kept[f"{name}_shapes"]) for name in _FIELDS}
    except (OSError, ValueError, KeyError) as error:
        raise TrainingError(f"{file} is damaged ({error}): {way_out}") from error
    batches = []
    for labels in found["labels"]:
        queries, passages = labels.shape
        batches.append(
            Batch(
                queries=list(islice(found["queries"], queries)),
                passages=list(islice(found["passages"], passages)),
                terms=list(islice(found["terms"], queries + passages)),
                starts=list(islice(found["starts"], passages)),
                labels=labels,
                candidates=next(found["candidates"]),
                relevance=next(found["relevance"]),
                sources=next(found["sources"]),
            )
        )
    return batches


def _split(values: NDArray[Any], shapes: NDArray[Any]) -> Iterator[NDArray[Any]]:
    parts = np.split(values, np.cumsum(shapes.prod(axis=1))[:-1])
    return iter([part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)])
