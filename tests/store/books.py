"""Small books with vectors, for tests of the store."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nlb_retriever.config import Manifest
from nlb_retriever.encoding.packing import Packed, pack
from nlb_retriever.encoding.terms import TERM_BYTES
from nlb_retriever.records import Book, Page, Passage, PassageRecord, Section
from nlb_retriever.store import Candidate, LibraryStore
from nlb_retriever.store.backends.base import Floats

DIM = 8
MANIFEST = Manifest(
    chunk_encoder="keywords",
    chunk_encoder_sha256="0" * 64,
    dim=DIM,
    chunk_tokens=256,
    checkpoint="released",
    checkpoint_sha256="1" * 64,
)
WORDS = tuple("whale duel dawn snow king daughter letter storm captain island garden river".split())


def read_passages(store: LibraryStore, candidates: Sequence[Candidate]) -> list[PassageRecord]:
    """The passages that a search found, in that order."""
    return store.get_passages([candidate.id for candidate in candidates])


@dataclass(frozen=True)
class Vectors:
    passages: Floats
    sections: Floats
    book: Floats
    spans: Sequence[Packed] = ()
    terms: Sequence[Packed] = ()


@dataclass(frozen=True)
class Made:
    """All that `publish` takes."""

    book: Book
    passages: tuple[Passage, ...]
    vectors: Vectors

    @property
    def parts(self) -> tuple[Book, tuple[Passage, ...], Vectors]:
        return self.book, self.passages, self.vectors


def unit(rows: npt.NDArray[np.floating[Any]]) -> Floats:
    scaled: Floats = (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)
    return scaled


def make_book(
    number: int, *, edition: int = 0, sections: int = 3, passages: int = 4, dim: int = DIM, **changes: object
) -> Made:
    """A book that its number and edition decide: `sections` chapters of `passages` one-line passages.

    The id depends on the number only, so that editions are versions of one book. Passages have one to three spans
    and two to five terms.
    """
    dice = random.Random(f"{number}/{edition}")
    text, cuts, spans = "", [0], []
    for section in range(sections):
        for _ in range(passages):
            line = f"book{number} edition{edition} " + " ".join(dice.choices(WORDS, k=6)) + "."
            spans.append(Passage(start=len(text), end=len(text) + len(line), section=section, tokens=9))
            text += line + "\n"
        cuts.append(len(text))
    values: dict[str, object] = {
        "id": f"{number:016x}",
        "content_hash": hashlib.sha256(text.encode()).hexdigest(),
        "title": f"Title {number}",
        "author": f"Author {number % 3}" if number % 4 else None,
        "language": ("en", "de", None)[number % 3],
        "year": 1800 + number if number % 5 else None,
        "description": f"All about {number}." if number % 2 else None,
        "source": f"/books/{number}.txt",
        "text": text,
        "sections": tuple(
            Section(path=(f"Part {section // 2}", f"Chapter {section}"), start=cuts[section], end=cuts[section + 1])
            for section in range(sections)
        ),
        "pages": tuple(Page(start=cuts[index], number=index + 1, label="ivx"[index % 3]) for index in range(sections))
        if number % 2
        else (),
        **changes,
    }
    numbers = np.random.default_rng([number, edition])
    vectors = Vectors(
        passages=unit(numbers.standard_normal((len(spans), dim))),
        sections=unit(numbers.standard_normal((sections, dim))),
        book=unit(numbers.standard_normal(dim)),
        spans=[pack(unit(numbers.standard_normal((1 + index % 3, dim)))) for index in range(len(spans))],
        terms=[numbers.integers(0, 256, (2 + index % 4, TERM_BYTES), np.uint8) for index in range(len(spans))],
    )
    return Made(Book(**values), tuple(spans), vectors)  # type: ignore[arg-type]
