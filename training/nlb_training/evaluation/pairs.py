"""Ranking sets: queries, documents, and which document answers which query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nlb_retriever.records import Level
from nlb_training.data.examples import Span
from nlb_training.evaluation.books import BookCollection
from nlb_training.evaluation.metrics import Truth
from nlb_training.evaluation.rows import Row


@dataclass(frozen=True, kw_only=True)
class Item:
    """One side of a pair: a text of its own, or a span of a book."""

    file: str
    """The book that it is about or in."""
    text: str
    span: Span | None = None
    """Its position in the book; None for a text of its own."""


@dataclass(frozen=True, kw_only=True)
class RankingSet:
    """Queries, documents, and which document answers which query."""

    name: str
    """Short, as in results and thresholds: "booksum-chapters"."""
    title: str
    level: Level
    """Of the documents (or, reversed, of the queries)."""
    queries: tuple[Item, ...]
    documents: tuple[Item, ...]
    relevant: Truth
    """(Q, N), True if a document answers a query."""

    @property
    def groups(self) -> list[str]:
        """Groups of the bootstrap: the queries' books."""
        return [query.file for query in self.queries]

    @property
    def same_book(self) -> Truth:
        """(Q, N), True if the document is from the query's book."""
        queries = np.array([query.file for query in self.queries])
        documents = np.array([document.file for document in self.documents])
        return np.asarray(queries[:, None] == documents[None, :])

    def thin(self, every: int) -> RankingSet:
        """Only every n-th query; all documents."""
        return replace(self, queries=self.queries[::every], relevant=self.relevant[::every])

    def reverse(self) -> RankingSet:
        """The documents as queries, and the queries as documents."""
        return replace(
            self,
            name=f"{self.name}-reversed",
            title=" -> ".join(reversed(self.title.split(" -> "))),
            queries=self.documents,
            documents=self.queries,
            relevant=np.ascontiguousarray(self.relevant.T),
        )


def make_ranking_set(name: str, title: str, level: Level, rows: Sequence[Row], books: BookCollection) -> RankingSet:
    """Each row's query against the distinct spans of all rows (at book level: their books).

    Args:
        name: short, for results.
        title: "summary -> chapter".
        level: "book" for whole books as documents, else the rows' spans.
        rows: checked against the books.
        books: of the rows.
    """
    columns: dict[tuple[str, Span], int] = {}
    answers: list[list[int]] = []
    for row in rows:
        whole = (0, len(books.text(row.file)))
        spans = (whole,) if level == "book" else row.spans or (whole,)
        answers.append([columns.setdefault((row.file, span), len(columns)) for span in spans])
    relevant = np.zeros((len(rows), len(columns)), dtype=np.bool_)
    for query, documents in enumerate(answers):
        relevant[query, documents] = True
    return RankingSet(
        name=name,
        title=title,
        level=level,
        queries=tuple(Item(file=row.file, text=row.query) for row in rows),
        documents=tuple(Item(file=file, text=books.text(file)[span[0] : span[1]], span=span) for file, span in columns),
        relevant=relevant,
    )
