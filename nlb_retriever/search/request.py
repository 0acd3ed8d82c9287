"""What to search for, and how: one record for every way into the library."""

from __future__ import annotations

import operator
import os
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import get_args

from nlb_retriever.errors import QueryError, brief
from nlb_retriever.model.vectors import EncodedQuery
from nlb_retriever.records import LEVELS, Level, Mode, Strategy
from nlb_retriever.search.courtesy import bare_question
from nlb_retriever.search.question import Kind, as_question, is_statement, kind_of
from nlb_retriever.store.filters import Filter, check
from nlb_retriever.text.cleaning import clean_query

MOST = 1_000_000
"""The largest `limit` and `neighbours`."""


@dataclass(frozen=True, kw_only=True)
class SearchRequest:
    """A search, cleaned and checked when it is made.

    Raises:
        QueryError: the query is empty or too long, a choice is unknown, a number is out of range, a name is none, or
            the filter cannot be applied.
    """

    query: str
    """Words to look for, at most `text.cleaning.MAX_CHARS`. Empty only with given `vectors` and mode "dense"."""
    level: Level = "passage"
    """What to find."""
    limit: int = 10
    """At most so many hits."""
    book: str | Path | None = None
    """Only in this book: its id, title or path."""
    section: int | str | None = None
    """Only in this section of the book, or in the sections of this part: number from 1, id or title."""
    before: int | str | None = None
    """Only in what comes before this section of the book."""
    where: Filter | None = None
    """Conditions on the hits, in the keys of their level."""
    mode: Mode = "fused"
    """"fused" is by vectors and words together, "dense" by vectors alone, "bm25" by words alone, which is flat."""
    strategy: Strategy = "coarse-to-fine"
    """"coarse-to-fine" combines the scores of books, sections and passages, "flat" uses only the wanted level."""
    neighbours: int = 0
    """Passages before and after each passage to show with it, inside its section."""
    rerank: bool = False
    """The reader puts the best passages or sections in order (search/readings.py): for `is_readable` queries."""
    diversify: bool = True
    """With `rerank`: the first passages together hold as many likely answers as they can; else each counts alone."""
    relevant_only: bool = False
    """No hits where the library is not likely to hold an answer (search/relevance.py); for passages."""
    vectors: EncodedQuery | None = field(default=None, repr=False, compare=False)
    """To search with these; None to encode the query."""

    def __post_init__(self) -> None:
        check_choices(level=self.level, strategy=self.strategy, mode=self.mode)
        object.__setattr__(self, "limit", check_count("limit", self.limit))
        object.__setattr__(self, "neighbours", check_count("neighbours", self.neighbours))
        object.__setattr__(self, "book", _book_name(self.book))
        object.__setattr__(self, "section", _section_name("section", self.section))
        object.__setattr__(self, "before", _section_name("before", self.before))
        if self.rerank and self.level == "book":
            raise QueryError("rerank puts passages or sections in order: leave it out with level 'book'")
        if self.vectors is None or self.mode != "dense" or self.query.strip():
            object.__setattr__(self, "query", clean_query(self.query))
        if self.where is not None:
            object.__setattr__(self, "where", check(self.where, self.level))

    @cached_property
    def question(self) -> str:
        """The query as the reader takes it."""
        return as_question(bare_question(self.query))

    @cached_property
    def kind(self) -> Kind | None:
        """The kind of answer that the query asks for; None for what is not a short question in English."""
        return kind_of(self.question)

    @property
    def is_readable(self) -> bool:
        """Whether the reader can compare the query with passages: a short question or statement in English."""
        return self.kind is not None or is_statement(self.question)


def check_count(name: str, count: object) -> int:
    """A number of results, or of what is brief with them; 0 for none.

    Raises:
        QueryError: it is not a whole number from 0 to `MOST`.
    """
    try:
        number = -1 if isinstance(count, bool) else operator.index(count)  # type: ignore[arg-type]  # what is none raises
    except TypeError:
        number = -1
    if not 0 <= number <= MOST:
        raise QueryError(f"{name} must be a whole number from 0 to {MOST:,}, not {brief(count)}")
    return number


def _book_name(book: object) -> str | None:
    name = os.fspath(book) if isinstance(book, os.PathLike) else book
    if name is None or isinstance(name, str):
        return name
    raise QueryError(f"book must be an id, a title or a path, not {brief(book)}")


def _section_name(field: str, section: object) -> str | None:
    name = str(section) if isinstance(section, Integral) and not isinstance(section, bool) else section
    if name is None or isinstance(name, str):
        return name
    raise QueryError(f"{field} must be a section's number from 1, its id or its title, not {brief(section)}")


def check_choices(*, level: str, strategy: str, mode: str) -> None:
    """Refuse an unknown choice.

    Raises:
        QueryError: with the known ones.
    """
    for name, choice, known in (
        ("level", level, LEVELS),
        ("strategy", strategy, get_args(Strategy)),
        ("mode", mode, get_args(Mode)),
    ):
        if choice not in known:
            raise QueryError(f"unknown {name} {choice!r}; known: {', '.join(known)}")
