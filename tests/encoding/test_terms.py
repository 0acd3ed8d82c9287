"""Vectors of terms: pooled from states, and like those of similar words in similar places."""

from __future__ import annotations

import numpy as np
import pytest

from nlb_retriever.encoding import DEFAULT_ENCODER, ChunkEncoder, find_term_projection, identify_encoder, load_encoder
from nlb_retriever.encoding.terms import (
    NO_TERMS,
    SENTENCES,
    TERM_BYTES,
    TERM_DIM,
    TermProjection,
    compare_terms,
    find_sentences,
    pack_terms,
)
from nlb_retriever.text.terms import find_terms


@pytest.fixture(scope="module")
def projection() -> TermProjection:
    found = find_term_projection(identify_encoder(DEFAULT_ENCODER).sha256)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def encoder() -> ChunkEncoder:
    return load_encoder(device="cpu")


def test_a_terms_vector_is_the_mean_state_of_its_words_mapped(projection: TermProjection) -> None:
    assert projection.weight.shape == (TERM_DIM, 384)
    states = np.random.default_rng(0).standard_normal((5, 384)).astype(np.float32)
    one, none, two = projection.pool([states[:3], states[:0], states[3:]], [[7, 4, 7], [], [9, 4]])
    expected = projection.weight @ np.stack([states[1], states[[0, 2]].mean(axis=0)]).T + projection.bias[:, None]
    np.testing.assert_allclose(one, (expected / np.linalg.norm(expected, axis=0)).T, atol=1e-5)
    assert none.shape == (0, TERM_DIM)
    np.testing.assert_allclose(two, projection.pool([states[[4, 3]]], [[4, 9]])[0], atol=1e-6)
    assert [own.shape for own in projection.pool([states[:0]], [[]])] == [(0, TERM_DIM)]


def test_terms_are_kept_as_signs_and_sentences() -> None:
    vectors = np.random.default_rng(1).standard_normal((3, TERM_DIM)).astype(np.float32)
    first, none = pack_terms([vectors, NO_TERMS], [[9, 4, 7, 4], []], [[0, 1, 1, 40], []])
    assert first.shape == (3, TERM_BYTES) and none.shape == (0, TERM_BYTES)
    products = compare_terms(first, vectors)
    np.testing.assert_allclose(products, np.where(vectors > 0, 1, -1) @ vectors.T / TERM_DIM**0.5, atol=2e-3)
    rows, sentences = find_sentences(np.concatenate([none, first]))
    assert [*zip(rows.tolist(), sentences.tolist(), strict=True)] == [(0, 1), (0, SENTENCES - 1), (1, 1), (2, 0)]


def test_other_encoders_have_none() -> None:
    assert find_term_projection("0" * 64) is None


def test_a_word_is_most_like_the_same_or_a_similar_word_in_a_similar_place(
    encoder: ChunkEncoder, projection: TermProjection
) -> None:
    texts = [
        "The keeper rowed his boat to the bank of the river.",
        "The clerk carried the money to the bank in the city.",
        "The vessel lay at the shore.",
    ]
    words = [find_terms(text) for text in texts]
    parts = encoder.encode_parts(texts, [[0]] * 3, [own.offsets for own in words])
    terms = projection.pool(parts.states, [own.ids for own in words])

    def find(text: int, word: str) -> np.ndarray:
        own = words[text].ids[words[text].offsets.index(texts[text].index(word))]
        vector: np.ndarray = terms[text][sorted({*words[text].ids}).index(own)]
        return vector

    assert find(0, "boat") @ find(2, "vessel") > find(0, "boat") @ find(1, "money")
    assert find(0, "bank") @ find(2, "shore") > find(1, "bank") @ find(2, "shore")
