"""Books as tokens, and their passages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nlb_training.encoder.books import TokenizedBook, TokenizedBooks
from tests.doubles import bare_tokenizer, minilm_tokenizer

TEXT = "\n\n".join(
    f"In year {n} Mr. Silas Marner counted his gold. Nobody saw it! It lay under the floor, n. {n}." for n in range(40)
)


@pytest.fixture
def books(tmp_path: Path) -> TokenizedBooks:
    tokenizer = bare_tokenizer()
    return TokenizedBooks(tokenizer, tmp_path, {"silas.txt": TEXT, "long.txt": "gold " * 500})


@pytest.mark.parametrize("limit", [16, 64, 256])
def test_passages_are_whole_sentences_that_hold_every_token_once(books: TokenizedBooks, limit: int) -> None:
    book = books.open("silas.txt")
    spans = book.cut(limit)
    assert [start for start, _ in spans] == [0, *(end for _, end in spans[:-1])]
    assert spans[-1][1] == len(book.ids)
    assert all(end - start <= limit - 2 for start, end in spans)
    begins = set(book.sentences.tolist())
    assert sum(start in begins for start, _ in spans) > 0.9 * len(spans)


def test_a_sentence_without_end_is_cut(books: TokenizedBooks) -> None:
    book = books.open("long.txt")
    assert [end - start for start, end in book.cut(64)] == [62] * 8 + [4]


def test_passages_of_a_part_stay_in_it_and_an_offset_moves_their_borders(books: TokenizedBooks) -> None:
    book = books.open("silas.txt")
    part = book.find_tokens((TEXT.index("In year 10"), TEXT.index("In year 20")))
    spans = book.cut(64, part)
    moved = book.cut(64, part, offset=2)
    assert spans[0][0] == moved[0][0] == part[0] and spans[-1][1] == moved[-1][1] == part[1]
    assert moved != spans


def test_tokens_and_characters_are_found_from_each_other(books: TokenizedBooks) -> None:
    book = books.open("silas.txt")
    span = (TEXT.index("Nobody"), TEXT.index("It lay"))
    assert book.find_text(book.find_tokens(span)) == "Nobody saw it!"
    assert book.find_text((0, len(book.ids))) == TEXT


def test_what_was_tokenised_is_read_back_equal(books: TokenizedBooks, tmp_path: Path) -> None:
    first = books.open("silas.txt")
    tokenizer = minilm_tokenizer()
    again = TokenizedBooks(tokenizer, tmp_path, {"silas.txt": TEXT})
    second = again.open("silas.txt")
    assert isinstance(second, TokenizedBook)
    assert all(np.array_equal(getattr(first, name), getattr(second, name)) for name in ("ids", "starts", "sentences"))


def test_a_damaged_cache_is_made_again(books: TokenizedBooks, tmp_path: Path) -> None:
    first = books.open("silas.txt")
    file = tmp_path / "silas.txt.npz"
    file.write_bytes(file.read_bytes()[:200])
    tokenizer = bare_tokenizer()
    assert np.array_equal(TokenizedBooks(tokenizer, tmp_path, {"silas.txt": TEXT}).open("silas.txt").ids, first.ids)
