"""Books as rows for the backbone: windows of long books, and packs of short ones with [SEP] between.

Vectors are read from disk when a row is used. Shapes: B rows, C slots of a row, D chunk_dim.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset

from nlb_retriever.errors import TrainingError
from nlb_training.corpus import Chunking, Corpus

_OPEN_ROWS = 64


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A run of chunks of one book in one chunking."""

    book: int
    """Index among the corpus's books."""
    first: int
    last: int
    """One after its last chunk."""

    def __len__(self) -> int:
        return self.last - self.first


def cut_books(lengths: Sequence[int], window: int) -> list[Piece]:
    """Cut each book into runs of `window` chunks, the last one shorter."""
    return [
        Piece(book=book, first=first, last=min(first + window, length))
        for book, length in enumerate(lengths)
        for first in range(0, length, window)
    ]


def pack_pieces(pieces: Sequence[Piece], window: int) -> list[tuple[Piece, ...]]:
    """Put each piece into the first row with room for it and a [SEP], or else into a new row."""
    rows: list[tuple[Piece, ...]] = []
    room: dict[int, int] = {}  # free slots of the rows that are still open
    for piece in pieces:
        fitting = next((row for row, slots in room.items() if len(piece) + 1 <= slots), None)
        if fitting is None:
            room[len(rows)] = window - len(piece)
            rows.append((piece,))
        else:
            room[fitting] -= len(piece) + 1
            rows[fitting] += (piece,)
        room = {row: slots for row, slots in list(room.items())[-_OPEN_ROWS:] if slots > 1}
    return rows


class Sequences(Dataset[dict[str, Tensor]]):
    """Rows of at most `window` slots from all books of a corpus in all of their chunkings."""

    def __init__(self, corpus: Corpus, window: int, *, seed: int = 0) -> None:
        """Cut and pack; short pieces are packed at random with others of the same chunking.

        Raises:
            TrainingError: the corpus has no chunks.
        """
        self.corpus = corpus
        lengths = [len(book) for book in corpus.books]
        if not any(lengths):
            raise TrainingError(f"the corpus has no chunks to train on ({len(lengths)} books): use other books")
        pieces = cut_books(lengths, window)
        random = np.random.default_rng(seed)
        kinds: dict[Chunking, list[Piece]] = {}
        for index in random.permutation(len(pieces)).tolist():
            kinds.setdefault(corpus.books[pieces[index].book].chunking, []).append(pieces[index])
        self.rows = [row for kind in kinds.values() for row in pack_pieces(kind, window)]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        """A row: `chunks` (C, D) and `separators` (C,) bool, True at [SEP], where the vector is zero.

        Raises:
            TrainingError: a vector holds NaN or infinity, with its book and number.
        """
        parts: list[NDArray[np.float16]] = []
        separators: list[bool] = []
        for piece in self.rows[index]:
            if parts:
                parts.append(np.zeros((1, parts[0].shape[1]), dtype=np.float16))
                separators.append(True)
            parts.append(self._read(piece))
            separators += [False] * len(piece)
        chunks = torch.from_numpy(np.concatenate(parts)).float()
        return {"chunks": chunks, "separators": torch.tensor(separators)}

    def _read(self, piece: Piece) -> NDArray[np.float16]:
        book = self.corpus.books[piece.book]
        vectors = np.asarray(self.corpus.vectors(book)[piece.first : piece.last])
        bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if len(bad):
            raise TrainingError(
                f"the corpus has no usable vector for chunk {piece.first + int(bad[0])} of {book.file} "
                f"({len(bad)} of {len(vectors)} chunks around it hold NaN): build the corpus again"
            )
        return vectors


def pad_rows(rows: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Rows to a batch: `chunks` (B, C, D), `mask` (B, C) True at used slots, `separators` (B, C)."""
    lengths = torch.tensor([len(row["chunks"]) for row in rows])
    longest = int(lengths.max())
    chunks = rows[0]["chunks"].new_zeros(len(rows), longest, rows[0]["chunks"].shape[1])
    separators = torch.zeros(len(rows), longest, dtype=torch.bool)
    for index, row in enumerate(rows):
        chunks[index, : lengths[index]] = row["chunks"]
        separators[index, : lengths[index]] = row["separators"]
    return {"chunks": chunks, "mask": torch.arange(longest) < lengths[:, None], "separators": separators}
