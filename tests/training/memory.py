"""A corpus in memory, for tests of what reads one."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from nlb_retriever.encoding import EncoderIdentity


@dataclass(frozen=True, kw_only=True)
class MemoryBook:
    file: str
    length: int
    chunking: str = "256"

    def __len__(self) -> int:
        return self.length


@dataclass(frozen=True, kw_only=True)
class MemoryCorpus:
    """Has of `nlb_training.corpus.Corpus` what training reads."""

    books: tuple[MemoryBook, ...]
    all_vectors: Mapping[MemoryBook, NDArray[np.float16]]
    encoder: EncoderIdentity = field(
        default_factory=lambda: EncoderIdentity(name="numbers", sha256="0" * 64, dim=8, max_tokens=256)
    )

    def vectors(self, book: MemoryBook, /) -> NDArray[np.float16]:
        return self.all_vectors[book]


def numbered_books(*lengths: int, dim: int = 8, chunkings: tuple[str, ...] = ("256",), seed: int = 0) -> MemoryCorpus:
    """Books of so many chunks, each of which lies about its book's own direction: the others tell where."""
    random = np.random.default_rng(seed)
    vectors = {}
    for number, length in enumerate(lengths):
        about = random.normal(size=dim)
        for chunking in chunkings:
            chunks = about + 0.5 * random.normal(size=(length, dim))
            chunks /= np.linalg.norm(chunks, axis=1, keepdims=True)
            vectors[MemoryBook(file=f"{number}.txt", length=length, chunking=chunking)] = chunks.astype(np.float16)
    identity = EncoderIdentity(name="numbers", sha256="0" * 64, dim=dim, max_tokens=256)
    return MemoryCorpus(books=tuple(vectors), all_vectors=vectors, encoder=identity)


@pytest.fixture(scope="module", autouse=True)
def no_old_garbage() -> Iterator[None]:
    """The Trainer collects garbage when it starts: half a second, if it has to look at all imported modules."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
