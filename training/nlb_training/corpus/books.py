"""A corpus as training reads it: a list of books, each memory-mapped when it is first used."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from nlb_retriever.config import expand
from nlb_retriever.encoding import EncoderIdentity, Vectors
from nlb_retriever.errors import TrainingError
from nlb_retriever.records import FailedFile, Section
from nlb_training.corpus.storage import ChunkVectors, CorpusBook, Spans, StoredBook, read_book
from nlb_training.settings import write_json

FORMAT = 1
"""Version of a corpus's layout and chunking; raised when older ones can no longer be used."""
LISTING = "corpus.json"
BOOKS = "books"
TEXTS = "texts"


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Chunk vectors of many books on disk. Any number of processes may read the same one."""

    folder: Path
    encoder: EncoderIdentity
    """Of the chunk encoder that made the vectors."""
    books: tuple[CorpusBook, ...]
    """Each book in each of its chunkings."""
    failed: tuple[FailedFile, ...] = ()
    """Files that could not be used, and why."""
    warnings: tuple[tuple[str, str], ...] = ()
    """Files and warnings."""
    _stored: dict[str, StoredBook] = field(default_factory=dict, repr=False, compare=False)

    @property
    def chunks(self) -> int:
        """Number of chunks of all books in all chunkings."""
        return sum(map(len, self.books))

    def select(self, keep: Callable[[CorpusBook], bool]) -> Corpus:
        """The corpus with only some of its books; their `rows` do not change."""
        return replace(self, books=tuple(book for book in self.books if keep(book)))

    def vectors(self, book: CorpusBook) -> ChunkVectors:
        """Chunk vectors (C, D) of a book in reading order: float16, of unit length, memory-mapped, read-only.

        Raises:
            TrainingError: its file is missing or damaged.
        """
        return self._read(book).vectors

    def spans(self, book: CorpusBook) -> Spans:
        """(C, 2) int32: each chunk's start and end in the book's text.

        Raises:
            TrainingError: its file is missing or damaged.
        """
        return self._read(book).spans

    def sections(self, book: CorpusBook) -> tuple[Section, ...]:
        """The book's sections.

        Raises:
            TrainingError: its file is missing or damaged.
        """
        return self._read(book).sections

    def text(self, book: CorpusBook) -> str:
        """The book's text, which all spans refer to.

        Raises:
            TrainingError: it is missing or damaged.
        """
        file = text_file(self.folder, book.content_hash)
        try:
            text = file.read_bytes().decode("utf-8", "surrogatepass")
        except (OSError, UnicodeDecodeError) as error:
            raise TrainingError(f"the corpus's file {file} is missing or damaged: build the corpus again") from error
        if len(text) != book.characters:
            raise TrainingError(
                f"the corpus's file {file} has {len(text)} characters, not {book.characters}: delete it and build "
                "the corpus again"
            )
        return text

    def verify(self) -> None:
        """Check every vector.

        Raises:
            TrainingError: a vector is not a unit vector (NaN), or a file is damaged; names book and chunk.
        """
        for book in self.books:
            bad = not_unit(self.vectors(book))
            if len(bad):
                start, end = self.spans(book)[bad[0]].tolist()
                raise TrainingError(
                    f"the corpus holds no unit vector for {len(bad)} of {len(book)} chunks of {book.file} (the first: "
                    f"number {bad[0]}, characters {start} to {end}): delete {book_file(self.folder, book.key)} and "
                    "build the corpus again"
                )

    def _read(self, book: CorpusBook) -> StoredBook:
        stored = self._stored.get(book.key)
        if stored is None:
            stored = self._stored[book.key] = read_book(book_file(self.folder, book.key))
        return stored

    def __reduce__(self) -> tuple[Any, ...]:
        # A worker process maps the files itself; their content is not sent.
        return _rebuild, (self.folder, self.encoder, self.books)


def _rebuild(folder: Path, encoder: EncoderIdentity, books: tuple[CorpusBook, ...]) -> Corpus:
    return Corpus(folder=folder, encoder=encoder, books=books)


def open_corpus(folder: str | Path, *, listing: Path | None = None) -> Corpus:
    """Open a corpus that `build_corpus` finished.

    Args:
        folder: of the corpus.
        listing: file with the list of books; None for that of the last `build_corpus`.

    Raises:
        TrainingError: there is none, or it is unfinished or damaged.
    """
    folder = expand(folder).absolute()
    listing = listing or folder / LISTING
    values = read_listing(listing)
    if values is None:
        raise TrainingError(f"there is no corpus at {folder}: name the folder that `build_corpus` made")
    if values["books"] is None:
        raise TrainingError(f"the corpus at {folder} is unfinished: run the command that made it again to continue")
    try:
        return Corpus(
            folder=folder,
            encoder=EncoderIdentity(**values["encoder"]),
            books=tuple(CorpusBook.from_dict(book) for book in values["books"]),
            failed=tuple(FailedFile(source=source, reason=reason) for source, reason in values["failed"]),
            warnings=tuple((source, warning) for source, warning in values["warnings"]),
        )
    except (KeyError, TypeError) as error:
        raise TrainingError(f"{listing} is damaged ({error}): delete it and build the corpus again") from error


def read_listing(file: Path) -> dict[str, Any] | None:
    """The content of a listing; None if there is none.

    Raises:
        TrainingError: it is damaged or has another format version.
    """
    try:
        values = json.loads(file.read_bytes())
        version, _, _ = values["format"], values["encoder"], values["books"]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TrainingError(f"{file} is damaged ({error}): delete it and build the corpus again") from error
    if version != FORMAT:
        raise TrainingError(f"{file} has format {version!r}, this version reads {FORMAT}: build the corpus anew")
    return dict(values)


def write_listing(file: Path, encoder: EncoderIdentity, corpus: Corpus | None) -> None:
    """Write the list of a corpus's books; without a corpus, that of an unfinished one.

    Raises:
        OSError: it cannot be written.
    """
    values: Mapping[str, Any] = {
        "format": FORMAT,
        "encoder": asdict(encoder),
        "books": [book.to_dict() for book in corpus.books] if corpus else None,
        "failed": [(file.source, file.reason) for file in corpus.failed] if corpus else [],
        "warnings": corpus.warnings if corpus else [],
    }
    write_json(file, values)


def book_file(folder: Path, key: str) -> Path:
    return folder / BOOKS / f"{key}.arrow"


def text_file(folder: Path, content_hash: str) -> Path:
    return folder / TEXTS / f"{content_hash[:32]}.utf8"  # not a book's suffix: a run may be in a folder of books


def not_unit(vectors: ChunkVectors | Vectors) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Indexes of the rows that are not unit vectors, including NaN."""
    norms = np.linalg.norm(vectors.astype(np.float32), axis=1)
    return np.flatnonzero(~(np.abs(norms - 1) < 1e-2))
