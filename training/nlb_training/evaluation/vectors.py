"""Chunk vectors of books and raw vectors of queries, encoded once and cached in a folder.

A book's chunks never cross the border of a span of the rows, so that each span is a run of whole chunks. A cache
file's name is a hash of all that its content depends on (encoder, chunk length, text, borders), so that stale files
are never read, and an interrupted run continues with the first missing book.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.encoding import ChunkEncoder, Parts, Vectors, identify_encoder, load_encoder
from nlb_retriever.errors import EncoderError
from nlb_retriever.model.vectors import RawQuery
from nlb_retriever.records import Section
from nlb_retriever.text.chunking import Chunker
from nlb_training.array_files import read_arrays, write_arrays
from nlb_training.data.examples import Span
from nlb_training.data.queries import encode_queries

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_log = logging.getLogger(__name__)

_SECONDS = 5.0
"""Minimum time between two notices."""
Notice = Callable[[str], None]
"""Receives one line for each step that takes time."""


@dataclass(frozen=True, kw_only=True)
class ChunkedBook:
    """A book's chunks in order."""

    vectors: Vectors
    """(C, D)."""
    spans: NDArray[np.int64]
    """(C, 2), each chunk's start and end in the book's text."""

    def find(self, span: Span) -> tuple[int, int]:
        """The run of chunks of a span: first, and one after the last.

        Raises:
            EncoderError: the span has no text.
        """
        first = int(np.searchsorted(self.spans[:, 0], span[0]))
        last = int(np.searchsorted(self.spans[:, 1], span[1], side="right"))
        if first >= last:
            raise EncoderError(f"characters {span[0]} to {span[1]} have no text to encode")
        return first, last


class LazyEncoder:
    """A chunk encoder that is loaded when it first encodes: cached vectors need none."""

    def __init__(self, name: str, device: str) -> None:
        self.identity = identify_encoder(name)
        self._name, self._device = name, device

    @cached_property
    def _encoder(self) -> ChunkEncoder:
        return load_encoder(self._name, device=self._device)

    @property
    def tokenizer(self) -> Tokenizer:
        return self._encoder.tokenizer

    @property
    def backend(self) -> str:
        return self._encoder.backend

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        return self._encoder.encode(texts, query=query)

    def encode_parts(
        self,
        texts: Sequence[str],
        starts: Sequence[Sequence[int]],
        offsets: Sequence[Sequence[int]] = (),
        *,
        query: bool = False,
    ) -> Parts:
        return self._encoder.encode_parts(texts, starts, offsets, query=query)


class ChunkVectors:
    """Encodes and caches the vectors of one chunk encoder at one chunk length.

    Args:
        folder: of the cache.
        encoder: the chunk encoder.
        tokens: chunk length, with [CLS] and [SEP]; 0 for one sentence per chunk.
        notice: called for books that are encoded.
    """

    def __init__(self, folder: Path, encoder: ChunkEncoder, *, tokens: int = 256, notice: Notice = _log.info) -> None:
        self.encoder = encoder
        self.tokens = tokens
        self.notice = notice
        self._last_notice = -_SECONDS
        name, sha256 = encoder.identity.name.replace("/", "--"), encoder.identity.sha256[:12]
        self._folder = folder / "vectors" / f"{name}-{sha256}-{tokens}"

    @cached_property
    def _chunker(self) -> Chunker:
        return Chunker(self.encoder.tokenizer, tokens=self.tokens)

    def book(self, file: str, text: str, borders: Sequence[int]) -> ChunkedBook:
        """The chunks of a book, which do not cross `borders`.

        Raises:
            EncoderError: the book has no text, or the encoder returned NaN.
        """
        cuts = sorted({0, len(text), *borders})
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass") + repr(cuts).encode()).hexdigest()[:24]
        path = self._folder / f"book-{key}.npz"
        if (kept := _read(path)) is None:
            self._notify(f"encoding {file}")
            sections = [Section(path=(str(start),), start=start, end=end) for start, end in pairwise(cuts)]
            passages = self._chunker.passages(text, sections)
            if not passages:
                raise EncoderError(f"{file} has no text to encode")
            vectors = self.encoder.encode([text[passage.start : passage.end] for passage in passages])
            if not np.isfinite(vectors).all():
                raise EncoderError(f"{self.encoder.backend} returned NaN for a chunk of {file}: run `nlb doctor`")
            spans = np.array([(passage.start, passage.end) for passage in passages], dtype=np.int64)
            kept = {"vectors": vectors.astype(np.float16), "spans": spans}
            with _writing(self._folder):
                write_arrays(path, **kept)
        return ChunkedBook(vectors=kept["vectors"].astype(np.float32), spans=kept["spans"].astype(np.int64))

    def _notify(self, line: str) -> None:
        """Call `notice`, but not too often."""
        if time.monotonic() - self._last_notice > _SECONDS:
            self._last_notice = time.monotonic()
            self.notice(line)

    def questions(self, texts: Sequence[str]) -> list[RawQuery]:
        """Raw vectors of query texts and their sentences."""

        def load() -> ChunkEncoder:
            self.notice(f"encoding {len(texts)} queries")
            return self.encoder

        with _writing(self._folder):
            found = encode_queries(texts, self._folder, identity=self.encoder.identity, load=load)
        return [RawQuery(whole=whole, sentences=found.of(row)) for row, whole in enumerate(found.whole)]


def _read(path: Path) -> dict[str, NDArray[np.generic]] | None:
    """The arrays of a cache file; None if it is missing or damaged."""
    try:
        return read_arrays(path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        _log.warning("%s is damaged (%s): encoding again", path, error)
        return None


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turn an OSError while vectors are written into an EncoderError."""
    try:
        yield
    except OSError as error:
        raise EncoderError(
            f"vectors cannot be written to {folder} ({error.strerror}): make room, or name another --cache"
        ) from error
