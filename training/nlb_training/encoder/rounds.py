"""A round of training: what some hundred steps are trained on, chosen by the model as it is then.

A round is fixed before its first step and kept in a file, so that a run that was stopped goes on with the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.errors import TrainingError
from nlb_training.encoder.bert import Ids
from nlb_training.encoder.books import Span, TokenizedBook, write_arrays
from nlb_training.encoder.mining import WordIndex

POSITIVE, NEGATIVE, IGNORED = 1, 0, 2
MARGIN = {"summary": 0, "book": 0, "title": 0, "tale": 100, "article": 150, "cloze": 100}
"""Tokens around what answers a query that are not taken for wrong either."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A query with its passages."""

    query: Ids
    source: int
    """Its number in `queries.SOURCES`."""
    book: TokenizedBook
    spans: tuple[Span, ...]
    """Ranges of tokens that may answer it."""
    positive: Span
    """The passage that does."""
    hole: Span | None = None
    """Range of tokens that is taken out of the positive, as in inverse cloze tasks."""
    negative: Span | None = None
    """A wrong passage of the same text."""
    text: str = ""
    """The query's text."""
    lead: float = 0.0
    """By how much the positive led all wrong passages of the text, in cosine."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """One step's texts."""

    queries: list[Ids]
    passages: list[Ids]
    labels: NDArray[np.int8]
    """(Q, P) POSITIVE (one a row), NEGATIVE or IGNORED."""
    words: NDArray[np.float16]
    """(Q, P) BM25, divided by the best of each query's passages."""
    sources: NDArray[np.int8]
    """(Q,)"""


def make_batch(pairs: Sequence[Pair], source_names: Sequence[str], rarity: NDArray[np.float32]) -> Batch:
    """Bring pairs together: each passage once, all as negatives of all queries that they do not answer.

    Args:
        pairs: of the step.
        source_names: by number.
        rarity: (vocabulary,) weights of ids in BM25.
    """
    keys: dict[tuple[str, Span, Span | None], int] = {}
    books: list[TokenizedBook] = []
    for pair in pairs:
        for span, hole in ((pair.positive, pair.hole), (pair.negative, None)):
            if span and (pair.book.name, span, hole) not in keys:
                keys[pair.book.name, span, hole] = len(keys)
                books.append(pair.book)
    labels = np.zeros((len(pairs), len(keys)), dtype=np.int8)
    for row, pair in enumerate(pairs):
        margin = MARGIN[source_names[pair.source]]
        for (name, (start, end), _), column in keys.items():
            if name == pair.book.name and any(start < b + margin and a - margin < end for a, b in pair.spans):
                labels[row, column] = IGNORED
        labels[row, keys[pair.book.name, pair.positive, pair.hole]] = POSITIVE
    queries = [pair.query for pair in pairs]
    passages = [_slice(book, span, hole) for book, (_, span, hole) in zip(books, keys, strict=True)]
    words = WordIndex(passages, rarity).score(queries)
    return Batch(
        queries=queries,
        passages=passages,
        labels=labels,
        words=(words / np.maximum(words.max(axis=1, keepdims=True), 1e-6)).astype(np.float16),
        sources=np.array([pair.source for pair in pairs], dtype=np.int8),
    )


def _slice(book: TokenizedBook, span: Span, hole: Span | None) -> Ids:
    if hole is None:
        return book.ids[span[0] : span[1]]
    return np.concatenate([book.ids[span[0] : hole[0]], book.ids[hole[1] : span[1]]])


def write_round(file: Path, batches: Sequence[Batch]) -> None:
    """Keep a round.

    Raises:
        TrainingError: the file cannot be written.
    """
    texts = [text for batch in batches for text in (*batch.queries, *batch.passages)]
    write_arrays(
        file,
        tokens=np.concatenate(texts),
        lengths=np.array([len(text) for text in texts]),
        shapes=np.array([batch.labels.shape for batch in batches]),
        labels=np.concatenate([batch.labels.ravel() for batch in batches]),
        words=np.concatenate([batch.words.ravel() for batch in batches]),
        sources=np.concatenate([batch.sources for batch in batches]),
    )


def read_round(file: Path) -> list[Batch]:
    """Read a round back.

    Raises:
        TrainingError: the file is missing or damaged.
    """
    try:
        with file.open("rb") as stream, np.load(stream) as stored:
            tokens, lengths, shapes = stored["tokens"], stored["lengths"], stored["shapes"].tolist()
            all_labels, all_words, all_sources = stored["labels"], stored["words"], stored["sources"]
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise TrainingError(f"{file} is damaged ({error}): delete it, it is made again from the last state") from error
    texts = np.split(tokens, np.cumsum(lengths)[:-1])
    batches, text, label, source = [], 0, 0, 0
    for count, size in shapes:
        batches.append(
            Batch(
                queries=texts[text : text + count],
                passages=texts[text + count : text + count + size],
                labels=all_labels[label : label + count * size].reshape(count, size),
                words=all_words[label : label + count * size].reshape(count, size),
                sources=all_sources[source : source + count],
            )
        )
        text, label, source = text + count + size, label + count * size, source + count
    return batches
