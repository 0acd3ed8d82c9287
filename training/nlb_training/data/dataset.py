"""The dataset of retrieval training as tensors: books, sections, queries and their answers.

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
from nlb_retriever.model.dct import dct_coefficients
from nlb_training.corpus import Corpus
from nlb_training.corpus.books import not_unit
from nlb_training.data.examples import Example, find_chunks
from nlb_training.data.queries import QueryVectors

Indexes = NDArray[np.int64]
Contextualize = Callable[[Vectors], Vectors]
LONG_QUERY = 2
"""Minimum number of sentences of a long query."""


@dataclass(frozen=True, kw_only=True)
class QuerySet:
    """q queries of one kind, each with the section or book that answers it."""

    query: Tensor
    """(q,) indexes of the queries."""
    answer: Tensor
    """(q,) indexes of the sections, or of the books."""
    book: Tensor
    """(q,) indexes of the answers' books."""

    def __len__(self) -> int:
        return len(self.query)

    def among(self, books: Tensor) -> Tensor:
        """Rows (r,) whose book is one of these."""
        return torch.where(torch.isin(self.book, books))[0]


@dataclass(frozen=True, kw_only=True)
class RetrievalDataset:
    """Books, sections, chunks and queries, by index."""

    files: tuple[str, ...]
    """Paths of the B books."""
    chunks: Tensor
    """(N, D) chunk vectors of all books, book after book."""
    contextual: Tensor
    """(N, D) vectors that sections and books are pooled from; `chunks` itself without a backbone."""
    book_rows: Tensor
    """(B + 1,): each book's first chunk."""
    sections: csr_matrix
    """(S, N), 1 if a chunk is in a section; book after book."""
    spans: tuple[tuple[tuple[int, int], ...], ...]
    """Each section's spans in its book's text."""
    section_rows: Tensor
    """(B + 1,): each book's first section."""
    overlapping: tuple[Tensor, ...]
    """For each book (s, s) bool: sections that share a chunk or a group are not negatives of each other."""
    whole: Tensor
    """(Q, D) vectors of the queries' whole texts."""
    sentence_means: Tensor
    """(Q, D) unit means of the queries' sentences."""
    sentence_counts: Tensor
    """(Q,) number of sentences of each query."""
    queries: QueryVectors
    texts: tuple[str, ...]
    """Of the queries."""
    long_queries: QuerySet
    """Queries of `LONG_QUERY` sentences or more for a section."""
    short_queries: QuerySet
    """Queries of one sentence for a section, such as titles."""
    book_queries: QuerySet
    """Queries for a whole book."""
    passage_queries: tuple[tuple[int, int, Indexes], ...]
    """Indexes of query, book, and the chunks that answer it."""

    @property
    def dim(self) -> int:
        return self.chunks.shape[1]

    def used_books(self) -> list[int]:
        """Indexes of the books with examples."""
        books = [*self.long_queries.book.tolist(), *self.short_queries.book.tolist(), *self.book_queries.book.tolist()]
        return sorted({*books, *(book for _, book, _ in self.passage_queries)})

    def rows(self, books: Tensor) -> Tensor:
        """Indexes of all chunks of these books."""
        return _ranges(self.book_rows, books)

    def section_numbers(self, books: Tensor) -> Tensor:
        """Indexes of all sections of these books."""
        return _ranges(self.section_rows, books)

    def pool_sections(self, weights: Vectors | None = None) -> Tensor:
        """(S, D) unit means of the sections' chunks, with weights (N,) if given."""
        chunks = self.contextual.numpy()
        weighted = chunks if weights is None else chunks * weights[:, None]
        return normalize(torch.from_numpy(np.asarray(self.sections @ weighted, dtype=np.float32)), dim=-1)

    def section_coefficients(self, count: int) -> Tensor:
        """(S, F, D) `nlb_retriever.model.dct.dct_coefficients` of the sections' chunks, F = count."""
        chunks = self.contextual.numpy()
        result = np.empty((self.sections.shape[0], count, chunks.shape[1]), dtype=np.float32)
        for section, (first, last) in enumerate(pairwise(self.sections.indptr)):
            result[section] = dct_coefficients(chunks[self.sections.indices[first:last]], count)
        return torch.from_numpy(result)

    def pool_books(self, weights: Vectors | None = None) -> Tensor:
        """(B, D) unit means of the books' chunks, with weights (N,) if given."""
        chunks = self.contextual if weights is None else self.contextual * torch.from_numpy(weights)[:, None]
        borders = self.book_rows.tolist()
        sums = [chunks[first:last].sum(0) for first, last in pairwise(borders)]
        return normalize(torch.stack(sums), dim=-1)


def build_dataset(
    corpus: Corpus,
    examples: Sequence[Example],
    queries: QueryVectors,
    *,
    contextualize: Contextualize | None = None,
) -> RetrievalDataset:
    """Build the dataset from books and examples.

    Args:
        corpus: the books, each in one chunking.
        examples: each with the `source` of its book as its file.
        queries: vectors of the examples' queries, in their order.
        contextualize: a book's chunk vectors (C, D) -> the vectors (C, D) that its sections and the book are pooled
            from.

    Raises:
        TrainingError: a vector is not a unit vector (NaN).
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
    sections = _Sections([corpus.spans(book) for book in corpus.books], book_rows)
    long: list[tuple[int, int, int]] = []
    short: list[tuple[int, int, int]] = []
    whole_books: list[tuple[int, int, int]] = []
    passages: list[tuple[int, int, Indexes]] = []
    for query, example in enumerate(examples):
        number = numbers[example.file]
        if example.level == "passage":
            if len(rows := sections.overlapping_chunks(number, example)):
                passages.append((query, number, rows))
        elif example.level == "book" or not example.spans:
            whole_books.append((query, number, number))
        elif (section := sections.add(number, example)) is not None:
            (long if queries.counts[query] >= LONG_QUERY else short).append((query, section, number))
    order = sorted(range(len(sections.members)), key=lambda section: (sections.owners[section], section))
    index = {section: number for number, section in enumerate(order)}
    members = [sections.members[section] for section in order]
    owners = [sections.owners[section] for section in order]
    matrix = csr_matrix(
        (
            np.ones(sum(map(len, members)), dtype=np.float32),
            np.concatenate([np.zeros(0, dtype=np.int64), *members]),
            np.concatenate([[0], np.cumsum([len(rows) for rows in members])]),
        ),
        shape=(len(members), len(chunks)),
    )
    groups = [sections.groups[section] for section in order]
    section_rows = np.searchsorted(owners, np.arange(len(corpus.books) + 1))
    means = np.stack([queries.of(query).mean(axis=0) for query in range(len(examples))]) if examples else chunks[:0]
    return RetrievalDataset(
        files=tuple(book.source for book in corpus.books),
        chunks=torch.from_numpy(chunks),
        contextual=torch.from_numpy(np.asarray(contextual, dtype=np.float32)),
        book_rows=torch.from_numpy(book_rows),
        sections=matrix,
        spans=tuple(sections.spans[section] for section in order),
        section_rows=torch.from_numpy(section_rows),
        overlapping=tuple(
            _overlapping(matrix[first:last], groups[first:last]) for first, last in pairwise(section_rows.tolist())
        ),
        whole=torch.from_numpy(queries.whole),
        sentence_means=normalize(torch.from_numpy(means), dim=-1),
        sentence_counts=torch.from_numpy(queries.counts.astype(np.float32)),
        queries=queries,
        texts=tuple(example.query for example in examples),
        long_queries=_query_set([(query, index[section], book) for query, section, book in long]),
        short_queries=_query_set([(query, index[section], book) for query, section, book in short]),
        book_queries=_query_set(whole_books),
        passage_queries=tuple(passages),
    )


class _Sections:
    """The distinct sections of all examples."""

    def __init__(self, chunk_spans: Sequence[NDArray[np.int32]], rows: Indexes) -> None:
        self.chunk_spans = chunk_spans
        self.rows = rows
        self.known: dict[tuple[int, tuple[tuple[int, int], ...]], int] = {}
        self.members: list[Indexes] = []
        self.owners: list[int] = []
        self.groups: list[str | None] = []
        self.spans: list[tuple[tuple[int, int], ...]] = []

    def add(self, book: int, example: Example) -> int | None:
        """The index of an example's section; None if it has no chunk."""
        key = (book, example.spans)
        if key not in self.known:
            chunks = find_chunks(example, self.chunk_spans[book])
            if not len(chunks):
                return None
            self.known[key] = len(self.members)
            self.members.append(chunks + self.rows[book])
            self.owners.append(book)
            self.groups.append(example.group)
            self.spans.append(example.spans)
        return self.known[key]

    def overlapping_chunks(self, book: int, example: Example) -> Indexes:
        """Chunks that overlap one of an example's spans."""
        starts, ends = self.chunk_spans[book].T
        overlaps = np.zeros(len(starts), dtype=np.bool_)
        for start, end in example.spans:
            overlaps |= (starts < end) & (ends > start)
        rows: Indexes = np.flatnonzero(overlaps) + self.rows[book]
        return rows


def _overlapping(sections: csr_matrix, groups: Sequence[str | None]) -> Tensor:
    shared = (sections @ sections.T).toarray() > 0
    names = np.array([f"#{number}" if group is None else f"={group}" for number, group in enumerate(groups)])
    return torch.from_numpy(shared | (names[:, None] == names[None, :])) if len(groups) else torch.zeros(0, 0).bool()


def _query_set(rows: Sequence[tuple[int, int, int]]) -> QuerySet:
    query, answer, book = torch.tensor(rows, dtype=torch.long).reshape(-1, 3).T.contiguous()
    return QuerySet(query=query, answer=answer, book=book)


def _ranges(borders: Tensor, books: Tensor) -> Tensor:
    parts = [torch.arange(int(borders[book]), int(borders[book + 1])) for book in books.tolist()]
    return torch.cat([torch.zeros(0, dtype=torch.long), *parts])


def _check(vectors: Vectors, name: str) -> None:
    if bad := len(not_unit(vectors)):
        raise TrainingError(
            f"{bad} of {len(vectors)} vectors of {name} are not unit vectors (NaN?): "
            "delete the run's corpus and start the run again"
        )
