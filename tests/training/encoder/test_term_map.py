"""The map of terms that is trained with the encoder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from nlb_retriever.encoding.openvino import TERMS_FILE
from nlb_retriever.encoding.terms import TermProjection
from nlb_retriever.text.terms import find_query_terms
from nlb_training.encoder.books import NO_TERM, TokenizedBooks
from nlb_training.encoder.term_map import BIAS, WEIGHT, apply_map, group_terms, write_map
from tests.doubles import minilm_tokenizer


def test_the_places_of_equal_terms_are_one_group() -> None:
    terms = np.array([NO_TERM, 7, NO_TERM, 3, 7], dtype=np.uint32)
    assert sorted(group_terms(terms)) == [[1, 4], [3]]
    assert list(group_terms(terms[:1])) == []


def test_terms_stand_at_the_first_token_of_their_words(tmp_path: Path) -> None:
    tokenizer = minilm_tokenizer()
    tokenizer.no_padding()
    books = TokenizedBooks(tokenizer, tmp_path, {"book": "The harpooner sang. Harpooners sing."})
    book = books.open("book")
    words = [tokenizer.id_to_token(token) for token, term in zip(book.ids, book.terms, strict=True) if term != NO_TERM]
    assert words == ["harp", "sang", "harp", "sing"]
    first, _, second, _ = (term for term in book.terms if term != NO_TERM)
    assert first == second
    assert np.array_equal(TokenizedBooks(tokenizer, tmp_path, {"book": book.text}).open("book").terms, book.terms)
    question = "Who sees the harpooner?"
    (ids,), (terms,) = books.encode([question]), books.find_query_terms([question])
    assert len(ids) == len(terms)
    assert set(terms.tolist()) - {NO_TERM} == set(find_query_terms(question).ids)


def test_the_map_is_read_back_as_search_reads_it(tmp_path: Path) -> None:
    weights = {WEIGHT: torch.randn(5, 3), BIAS: torch.randn(5)}
    write_map(weights, tmp_path)
    states = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    found = TermProjection.read(tmp_path / TERMS_FILE).pool([states], [range(4)])[0]
    np.testing.assert_allclose(apply_map(weights, torch.from_numpy(states)), found, atol=1e-6)
