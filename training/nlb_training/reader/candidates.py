"""What the retriever finds for questions: passages to rank in training, and to measure with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nlb_retriever.search.retriever import Retriever


@dataclass(frozen=True, kw_only=True)
class Found:
    """A passage that the retriever found."""

    file: str
    """Name of its book's file."""
    start: int
    end: int
    """Characters of the book's text."""
    score: float
    text: str


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """A question with what the retriever found, the best first."""

    id: str
    """Of the question's row."""
    found: tuple[Found, ...]


def find_candidates(
    library: Path, rows: Sequence[dict[str, Any]], *, limit: int, in_book: bool
) -> Iterator[Candidates]:
    """Search a library of the rows' books for each row's question.

    Args:
        library: indexed from files that are named as the rows' `book_file`.
        rows: with "id", "question" and "book_file".
        limit: passages a question.
        in_book: only in the question's own book.
    """
    with Retriever(library) as retriever:
        sources = {Path(book.source).name: book.id for book in retriever.store.books()}
        for row in rows:
            book = sources[row["book_file"]] if in_book else None
            hits = retriever.search(row["question"], level="passage", limit=limit, book=book)
            found = tuple(
                Found(file=Path(hit.source).name, start=hit.start, end=hit.end, score=hit.score, text=hit.text)
                for hit in hits
            )
            yield Candidates(id=row["id"], found=found)
