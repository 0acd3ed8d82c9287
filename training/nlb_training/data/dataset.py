"""What retrieval training learns from, as tensors: books, the sections asked for, queries and their answers.

Shapes: N chunks of all books, B books, S sections, Q queries, D chunk_dim.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]
from torch import Tensor
from torch.nn.functional import normalize

from nlb_retriever.encoding import Vectors
from nlb_retriever.errors import TrainingError
from nlb_retriever.model.dct import waves
from nlb_training.corpus import Corpus
from nlb_training.data.examples import Example, find_chunks
from nlb_training.data.queries import QueryVectors

Indexes = NDArray[np.int64]
Contextualize = Callable[[Vectors], Vectors]
LONG = 2
"""Sentences of a query that counts as long."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Queries of one kind (q of them), each with the one section or book that answers it."""

    query: Tensor
    """(q,) numbers of the queries."""
    answer: Tensor
    """(q,) numbers of the sections, or of the books."""
    book: Tensor
    """(q,) the books that the answers are in."""

    def __len__(self) -> int:
        return len(self.query)

    def among(self, books: Tensor) -> Tensor:
        """Rows (r,) of those whose book is one of these."""
        return torch.where(torch.isin(self.book, books))[0]


@dataclass(frozen=True, kw_only=True)
class Material:
    """Everything that is ranked and everything that is asked, by number."""

    files: tuple[str, ...]
    """Paths of the B books."""
    chunks: Tensor
    """(N, D) chunk vectors of all books, book after book."""
    contextual: Tensor
    """(N, D) what sections and books are pooled from: `chunks` themselves where there is no trunk."""
    book_rows: Tensor
    """(B + 1,): each book's first chunk."""
    sections: csr_matrix
    """(S, N), 1 where a chunk is in a section; book after book."""
    spans: tuple[tuple[tuple[int, int], ...], ...]
    """Of each section in its book's text."""
    section_rows: Tensor
    """(B + 1,): each book's first section."""
    alike: tuple[Tensor, ...]
    """For each book (s, s) bool: sections that share a chunk or a group are no negatives of each other."""
    whole: Tensor
    """(Q, D) queries, all of their text."""
    averaged: Tensor
    """(Q, D) queries, the unit mean of their sentences."""
    counts: Tensor
    """(Q,) sentences."""
    queries: QueryVectors
    texts: tuple[str, ...]
    """Of the queries."""
    long: Asked
    """Queries of two sentences or more for a section."""
    short: Asked
    """Those of one sentence for a section, such as titles."""
    works: Asked
    """Queries for a whole book."""
    passages: tuple[tuple[int, int, Indexes], ...]
    """Query, book, and the chunks that answer it."""

    @property
    def dim(self) -> int:
        return self.chunks.shape[1]

    def used_books(self) -> list[int]:
        """Numbers of the books that anything asks for."""
        asked = [*self.long.book.tolist(), *self.short.book.tolist(), *self.works.book.tolist()]
        return sorted({*asked, *(book for _, book, _ in self.passages)})

    def rows(self, books: Tensor) -> Tensor:
        """Numbers of all chunks of these books."""
        return _ranges(self.book_rows, books)

    def section_numbers(self, books: Tensor) -> Tensor:
        """Numbers of all sections of these books."""
        return _ranges(self.section_rows, books)

    def pool_sections(self, weights: Vectors | None = None) -> Tensor:
        """(S, D) unit means of the sections' chunks, weighed (N,) if told so."""
        chunks = self.contextual.numpy()
        weighed = chunks if weights is None else chunks * weights[:, None]
        return normalize(torch.from_numpy(np.asarray(self.sections @ weighed, dtype=np.float32)), dim=-1)

    def section_waves(self, count: int) -> Tensor:
        """(S, F, D) `nlb_retriever.model.dct.waves` of the sections' chunks, F = count."""
        chunks = self.contextual.numpy()
        result = np.empty((self.sections.shape[0], count, chunks.shape[1]), dtype=np.float32)
        for section, (first, last) in enumerate(pairwise(self.sections.indptr)):
            result[section] = waves(chunks[self.sections.indices[first:last]], count)
        return torch.from_numpy(result)

    def pool_books(self, weights: Vectors | None = None) -> Tensor:
        """(B, D) unit means of the books' chunks, weighed (N,) if told so."""
        chunks = self.contextual if weights is None else self.contextual * torch.from_numpy(weights)[:, None]
        borders = self.book_rows.tolist()
        sums = [chunks[first:last].sum(0) for first, last in pairwise(borders)]
        return normalize(torch.stack(sums), dim=-1)


def collect(
    corpus: Corpus,
    examples: Sequence[Example],
    queries: QueryVectors,
    *,
    contextualize: Contextualize | None = None,
) -> Material:
    """Bring books and examples together.

    Args:
        corpus: the books, each in one chunking.
        examples: each with the `source` of its book as its file; others are an error.
        queries: vectors of the examples' queries, in their order.
        contextualize: a book's chunk vectors (C, D) -> what its sections and the book are pooled from.

    Raises:
        TrainingError: a vector is none (NaN).
    """
    numbers = {book.source: number for number, book in enumerate(corpus.books)}
    vectors = [np.asarray(corpus.vectors(book), dtype=np.float32) for book in corpus.books]
    for book, own in zip(corpus.books, vectors, strict=True):
        _check(own, book.file)
    _check(queries.whole, "the queries")
    _check(queries.sentences, "the queries' sentences")
    book_rows = np.concatenate([[0], np.cumsum([len(own) for own in vectors])])
    chunks = np.concatenate(vectors)
    contextual = chunks if contextualize is None else np.concatenate([contextualize(own) for own in vectors])
    _check(contextual, "the contextual vectors")
    found = _Sections([corpus.spans(book) for book in corpus.books], book_rows)
    long: list[tuple[int, int, int]] = []
    short: list[tuple[int, int, int]] = []
    works: list[tuple[int, int, int]] = []
    passages: list[tuple[int, int, Indexes]] = []
    for query, example in enumerate(examples):
        number = numbers[example.file]
        if example.level == "passage":
            if len(rows := found.touched(number, example)):
                passages.append((query, number, rows))
        elif example.level == "book" or not example.spans:
            works.append((query, number, number))
        elif (place := found.add(number, example)) is not None:
            (long if queries.counts[query] >= LONG else short).append((query, place, number))
    order = sorted(range(len(found.members)), key=lambda place: (found.owners[place], place))
    to = {place: number for number, place in enumerate(order)}
    members = [found.members[place] for place in order]
    owners = [found.owners[place] for place in order]
    matrix = csr_matrix(
        (
            np.ones(sum(map(len, members)), dtype=np.float32),
            np.concatenate([np.zeros(0, dtype=np.int64), *members]),
            np.concatenate([[0], np.cumsum([len(rows) for rows in members])]),
        ),
        shape=(len(members), len(chunks)),
    )
    groups = [found.groups[place] for place in order]
    section_rows = np.searchsorted(owners, np.arange(len(corpus.books) + 1))
    averaged = np.stack([queries.of(query).mean(axis=0) for query in range(len(examples))]) if examples else chunks[:0]
    return Material(
        files=tuple(book.source for book in corpus.books),
        chunks=torch.from_numpy(chunks),
        contextual=torch.from_numpy(np.asarray(contextual, dtype=np.float32)),
        book_rows=torch.from_numpy(book_rows),
        sections=matrix,
        spans=tuple(found.spans[place] for place in order),
        section_rows=torch.from_numpy(section_rows),
        alike=tuple(_alike(matrix[first:last], groups[first:last]) for first, last in pairwise(section_rows.tolist())),
        whole=torch.from_numpy(queries.whole),
        averaged=normalize(torch.from_numpy(averaged), dim=-1),
        counts=torch.from_numpy(queries.counts.astype(np.float32)),
        queries=queries,
        texts=tuple(example.query for example in examples),
        long=_asked([(query, to[place], book) for query, place, book in long]),
        short=_asked([(query, to[place], book) for query, place, book in short]),
        works=_asked(works),
        passages=tuple(passages),
    )


class _Sections:
    """The different sections that are asked for."""

    def __init__(self, spans: Sequence[NDArray[np.int32]], rows: Indexes) -> None:
        self.places = spans
        self.rows = rows
        self.known: dict[tuple[int, tuple[tuple[int, int], ...]], int] = {}
        self.members: list[Indexes] = []
        self.owners: list[int] = []
        self.groups: list[str | None] = []
        self.spans: list[tuple[tuple[int, int], ...]] = []

    def add(self, book: int, example: Example) -> int | None:
        """The place of an example's section; None where no chunk is in it."""
        key = (book, example.spans)
        if key not in self.known:
            chunks = find_chunks(example, self.places[book])
            if not len(chunks):
                return None
            self.known[key] = len(self.members)
            self.members.append(chunks + self.rows[book])
            self.owners.append(book)
            self.groups.append(example.group)
            self.spans.append(example.spans)
        return self.known[key]

    def touched(self, book: int, example: Example) -> Indexes:
        """Chunks that share a character with one of an example's spans."""
        starts, ends = self.places[book].T
        hit = np.zeros(len(starts), dtype=np.bool_)
        for start, end in example.spans:
            hit |= (starts < end) & (ends > start)
        rows: Indexes = np.flatnonzero(hit) + self.rows[book]
        return rows


def _alike(sections: csr_matrix, groups: Sequence[str | None]) -> Tensor:
    shared = (sections @ sections.T).toarray() > 0
    names = np.array([f"#{number}" if group is None else f"={group}" for number, group in enumerate(groups)])
    return torch.from_numpy(shared | (names[:, None] == names[None, :])) if len(groups) else torch.zeros(0, 0).bool()


def _asked(rows: Sequence[tuple[int, int, int]]) -> Asked:
    query, answer, book = torch.tensor(rows, dtype=torch.long).reshape(-1, 3).T.contiguous()
    return Asked(query=query, answer=answer, book=book)


def _ranges(borders: Tensor, books: Tensor) -> Tensor:
    parts = [torch.arange(int(borders[book]), int(borders[book + 1])) for book in books.tolist()]
    return torch.cat([torch.zeros(0, dtype=torch.long), *parts])


def _check(vectors: Vectors, name: str) -> None:
    if bad := int((~(np.abs(np.linalg.norm(vectors, axis=1) - 1) < 1e-2)).sum()):
        raise TrainingError(
            f"{bad} of {len(vectors)} vectors of {name} are no unit vectors (NaN?): "
            "delete the run's corpus and start the run again"
        )
