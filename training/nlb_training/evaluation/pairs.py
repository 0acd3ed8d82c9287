"""What is ranked for what: sets of queries, documents, and which of them belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nlb_retriever.records import Level
from nlb_training.data.examples import Span
from nlb_training.evaluation.books import Shelf
from nlb_training.evaluation.metrics import Truth
from nlb_training.evaluation.rows import Row


@dataclass(frozen=True, kw_only=True)
class Item:
    """One side of a pair: a text of its own, or a span of a book."""

    file: str
    """The book that it is about or in."""
    text: str
    span: Span | None = None
    """Where it stands in the book; None for a text of its own."""


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
    """(Q, N), True where a document answers a query."""

    @property
    def groups(self) -> list[str]:
        """What is resampled as a whole: the queries' books."""
        return [query.file for query in self.queries]

    @property
    def same_book(self) -> Truth:
        """(Q, N), True where the document is of the query's book."""
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


def pair(name: str, title: str, level: Level, rows: Sequence[Row], shelf: Shelf) -> RankingSet:
    """Rank the distinct spans of all rows (at book level: their books) for each row's query.

    Args:
        name: short, for results.
        title: "summary -> chapter".
        level: "book" takes whole books for documents, else the rows' spans are.
        rows: checked against the books.
        shelf: their books.
    """
    places: dict[tuple[str, Span], int] = {}
    wanted: list[list[int]] = []
    for row in rows:
        whole = (0, len(shelf.text(row.file)))
        spans = (whole,) if level == "book" else row.spans or (whole,)
        wanted.append([places.setdefault((row.file, span), len(places)) for span in spans])
    relevant = np.zeros((len(rows), len(places)), dtype=np.bool_)
    for query, documents in enumerate(wanted):
        relevant[query, documents] = True
    return RankingSet(
        name=name,
        title=title,
        level=level,
        queries=tuple(Item(file=row.file, text=row.query) for row in rows),
        documents=tuple(Item(file=file, text=shelf.text(file)[span[0] : span[1]], span=span) for file, span in places),
        relevant=relevant,
    )
