"""What the encoders make of books and queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from nlb_retriever.encoding import Vectors
from nlb_retriever.encoding.packing import Packed
from nlb_retriever.encoding.terms import NO_TERMS
from nlb_retriever.records import Level
from nlb_retriever.text.terms import Terms


@dataclass(frozen=True, kw_only=True)
class BookVectors:
    """All vectors of a book: float32 rows of unit length, D numbers each; those of sections may go on behind them."""

    passages: Vectors
    """(n, D), one row a passage: the chunk encoder's vectors, mapped by the checkpoint's projection if it has one."""
    sections: Vectors
    """(s, section_dim), one row a section of the book: the mean of its passages' contextual vectors, likewise mapped,
    followed by its order features, if the checkpoint has any. A section without a passage (a heading's path and no
    text) has the vector of its titles."""
    book: Vectors
    """(D,), the mean over all passages, likewise mapped."""
    spans: Sequence[Packed] = ()
    """For each passage its spans' vectors as the chunk encoder makes them, packed, at least one; empty where it makes
    none."""
    terms: Sequence[Packed] = ()
    """For each passage its terms, packed (`encoding.terms.pack_terms`); empty where the library has none."""


@dataclass(frozen=True, kw_only=True)
class PassageBatch:
    """Passages that are encoded together, and what is looked for in them."""

    texts: list[str]
    names: list[str]
    """What they are called in messages."""
    spans: list[list[int]]
    """Of each passage where its spans begin."""
    terms: list[Terms]
    """Of each passage its terms; none where the library has none."""
    tokens: int


@dataclass(frozen=True, kw_only=True)
class PackedParts:
    """The vectors of a batch of passages, as `BookVectors` has them."""

    whole: Vectors
    """(n, D), not yet mapped."""
    spans: list[Packed]
    terms: list[Packed]


@dataclass(frozen=True, kw_only=True)
class PooledVectors:
    """What the chunks of a book are together: float32 rows."""

    sections: Vectors
    """(s, section_dim), one row a range of chunks: unit vectors (D,), then their order features."""
    book: Vectors
    """(D,), the whole book's."""


@dataclass(frozen=True, kw_only=True)
class RawQuery:
    """A query as the chunk encoder encodes it."""

    whole: Vectors
    """(D,), of all of its text."""
    sentences: Vectors
    """(n, D), one row a sentence, in order; a query of one sentence has `whole` as its only row."""
    terms: Vectors = field(default_factory=lambda: NO_TERMS)
    """(t, d), one row a term; none for a summary, and where libraries have none."""


@dataclass(frozen=True, kw_only=True)
class EncodedQuery:
    """A query as libraries are searched with it."""

    vector: Vectors
    """(D,), a unit vector for books, sections and passages alike."""
    order: Vectors
    """(section_dim - D,), its order features, which follow it for sections."""
    sentences: Vectors
    """(n, D), each to be compared with passages."""
    whole: Vectors
    """(D,), as the chunk encoder encodes it."""
    terms: Vectors = field(default_factory=lambda: NO_TERMS)
    """(t, d), unit rows, each to be compared with the terms of passages; none where there are none to compare with."""

    def at(self, level: Level) -> Vectors:
        """The vector that a level is searched with."""
        return np.concatenate([self.vector, self.order]) if level == "section" else self.vector
