"""Books become rows."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from nlb_retriever.errors import TrainingError
from nlb_training.pretraining.sequences import Piece, Sequences, cut_books, pack_pieces, pad_rows
from tests.training.memory import numbered_books


def test_a_book_is_cut_into_windows_and_what_is_left() -> None:
    assert cut_books([7, 0, 3], 3) == [
        Piece(book=0, first=0, last=3),
        Piece(book=0, first=3, last=6),
        Piece(book=0, first=6, last=7),
        Piece(book=2, first=0, last=3),
    ]


def test_pieces_share_a_row_while_they_and_the_separators_fit() -> None:
    pieces = [Piece(book=book, first=0, last=length) for book, length in enumerate([4, 3, 5, 2, 1, 10])]
    packed = pack_pieces(pieces, 10)
    assert [[len(piece) for piece in row] for row in packed] == [[4, 3, 1], [5, 2], [10]]  # 4+1+3+1+1 slots


@pytest.mark.parametrize("window", [1, 2, 5, 30])
def test_every_chunk_of_every_chunking_is_in_exactly_one_row(window: int) -> None:
    corpus = numbered_books(17, 3, 1, 30, 2, 64, chunkings=("256", "128"))
    rows = Sequences(corpus, window).rows
    seen = sorted((piece.book, chunk) for row in rows for piece in row for chunk in range(piece.first, piece.last))
    assert seen == [(book, chunk) for book in range(12) for chunk in range(len(corpus.books[book]))]
    assert max(sum(map(len, row)) + len(row) - 1 for row in rows) <= window
    for row in rows:
        assert len({corpus.books[piece.book].chunking for piece in row}) == 1


def test_a_row_holds_its_books_vectors_with_a_separator_between() -> None:
    corpus = numbered_books(3, 4)
    (row,) = Sequences(corpus, 10)
    first, second = (corpus.vectors(corpus.books[piece.book]) for piece in Sequences(corpus, 10).rows[0])
    expected = np.concatenate([first, np.zeros((1, 8)), second]).astype(np.float32)
    assert torch.equal(row["chunks"], torch.from_numpy(expected))
    assert row["separators"].nonzero()[:, 0].tolist() == [len(first)]


def test_rows_are_padded_behind_their_slots() -> None:
    short = {"chunks": torch.ones(2, 8), "separators": torch.tensor([False, True])}
    long = {"chunks": torch.full((3, 8), 2.0), "separators": torch.tensor([False, False, False])}
    batch: dict[str, Tensor] = pad_rows([short, long])
    assert batch["mask"].tolist() == [[True, True, False], [True, True, True]]
    assert batch["separators"].tolist() == [[False, True, False], [False, False, False]]
    assert batch["chunks"][:, :, 0].tolist() == [[1, 1, 0], [2, 2, 2]]


def test_which_pieces_meet_depends_on_the_seed_alone() -> None:
    corpus = numbered_books(*range(1, 30))
    one, same, other = (Sequences(corpus, 40, seed=seed).rows for seed in (1, 1, 2))
    assert one == same != other


def test_a_corpus_without_a_chunk_is_refused() -> None:
    with pytest.raises(TrainingError, match=r"the corpus has no chunks to train on \(2 books\)"):
        Sequences(numbered_books(0, 0), 10)


def test_a_vector_that_is_none_is_named_with_its_book_and_number() -> None:
    corpus = numbered_books(30)
    corpus.vectors(corpus.books[0])[23, 4] = np.nan
    rows = Sequences(corpus, 10)
    with pytest.raises(TrainingError, match="no usable vector for chunk 23 of 0.txt"):
        [rows[index] for index in range(len(rows))]
