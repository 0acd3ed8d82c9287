"""One book in one chunking as one Arrow file: vectors, spans, and the book's metadata in its schema.

`datasets` memory-maps the file, as it does its own: `datasets.Dataset.from_file` reads it too. It is written
atomically: to a temporary file, which is flushed to the disk and renamed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
from numpy.typing import NDArray

from nlb_retriever.atomic import write_file
from nlb_retriever.errors import TrainingError
from nlb_retriever.records import Section
from nlb_training.corpus.cutting import Chunking

_HEADER = b"nlb-corpus-book"

ChunkVectors = NDArray[np.float16]
Spans = NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class CorpusBook:
    """One book in one of its chunkings."""

    key: str
    """Hash of all that its vectors depend on; the name of its file."""
    file: str
    """Name of the file it was read from, without folders."""
    source: str
    """Absolute path of that file."""
    content_hash: str
    """SHA-256 of that file's bytes."""
    title: str
    author: str | None
    chunking: Chunking
    tokens: int
    """Of all chunks, without special tokens."""
    characters: int
    """Of the book's text."""
    rows: tuple[int, int]
    """Its range of chunks in the whole corpus, end exclusive."""

    def __len__(self) -> int:
        return self.rows[1] - self.rows[0]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> CorpusBook:
        return cls(**{**values, "chunking": Chunking(**values["chunking"]), "rows": tuple(values["rows"])})


@dataclass(frozen=True, kw_only=True)
class StoredBook:
    """Content of a book's file."""

    book: CorpusBook
    """With rows from 0."""
    sections: tuple[Section, ...]
    vectors: ChunkVectors
    """(C, D), memory-mapped, read-only."""
    spans: Spans
    """(C, 2), start and end of each chunk in the book's text."""


def write_book(file: Path, book: CorpusBook, vectors: ChunkVectors, spans: Spans, sections: Sequence[Section]) -> None:
    """Write a book's file atomically.

    Raises:
        OSError: it cannot be written.
    """
    header = {"book": book.to_dict(), "sections": [asdict(section) for section in sections]}
    columns = {
        "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1]),
        "start": pa.array(spans[:, 0]),
        "end": pa.array(spans[:, 1]),
    }
    table = pa.table(columns).replace_schema_metadata({_HEADER: json.dumps(header).encode()})

    def write(stream: IO[bytes]) -> None:
        with pa.ipc.new_stream(stream, table.schema) as writer:
            writer.write_table(table)

    write_file(file, write)


def read_book(file: Path) -> StoredBook:
    """Memory-map a book's file.

    Raises:
        TrainingError: it is missing or damaged.
    """
    from datasets.table import MemoryMappedTable  # type: ignore[import-untyped]  # takes a second

    try:
        table = MemoryMappedTable.from_file(str(file)).table
        header = json.loads(table.schema.metadata[_HEADER])
        book = CorpusBook.from_dict(header["book"])
        sections = tuple(
            Section(path=tuple(section["path"]), start=section["start"], end=section["end"])
            for section in header["sections"]
        )
        column = table.column("vector").combine_chunks()
        vectors = column.values.to_numpy(zero_copy_only=True).reshape(-1, column.type.list_size)
        spans = np.stack([table.column(name).to_numpy() for name in ("start", "end")], axis=1)
        if len(vectors) != len(book):
            raise ValueError(f"{len(vectors)} rows, not {len(book)}")
    except (OSError, pa.ArrowException, ValueError, KeyError, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise TrainingError(
            f"the corpus's file {file} is missing or damaged ({reason}): delete it and build the corpus again"
        ) from error
    return StoredBook(book=book, sections=sections, vectors=vectors, spans=spans)
