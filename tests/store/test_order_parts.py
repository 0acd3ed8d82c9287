"""Sections whose vectors go on behind the numbers that all levels have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nlb_retriever.config import Manifest
from nlb_retriever.errors import QueryError, StoreError
from nlb_retriever.store import StoreQuery
from tests.store.books import DIM, MANIFEST, Made, Vectors, make_book
from tests.store.conftest import Opener

WIDE = replace(MANIFEST, order_dim=4)


def made(number: int, scale: float = 1.0) -> Made:
    """A book with order features of norm `scale`."""
    plain = make_book(number)
    order = np.random.default_rng(number).standard_normal((len(plain.vectors.sections), WIDE.order_dim))
    order *= scale / np.linalg.norm(order, axis=1, keepdims=True)
    sections = np.concatenate([plain.vectors.sections, order.astype(np.float32)], axis=1)
    return replace(plain, vectors=Vectors(plain.vectors.passages, sections, plain.vectors.book))


def test_sections_are_ranked_by_the_product_with_all_of_their_numbers(open_library: Opener) -> None:
    store = open_library(create=WIDE)
    books = [made(1, 0.5), made(2, 1.5)]
    for each in books:
        store.publish(*each.parts)
    everything = np.concatenate([each.vectors.sections for each in books])
    question = np.random.default_rng(9).standard_normal(DIM + 4).astype(np.float32)
    hits = store.search([StoreQuery(level="section", dense=question, limit=6)])[0]
    np.testing.assert_allclose([hit.score for hit in hits], np.sort(everything @ question)[::-1], rtol=1e-4)
    found = store.section_vectors([hit.id for hit in hits], most=10)
    np.testing.assert_allclose([each.section @ question for each in found], [hit.score for hit in hits], rtol=1e-4)
    assert store.verify() == []


def test_a_question_without_an_order_part_sees_the_first_numbers_alone(open_library: Opener) -> None:
    store = open_library(create=WIDE)
    book = made(1, 1.5)
    store.publish(*book.parts)
    asked = np.concatenate([book.vectors.sections[1, :DIM], np.zeros(4, dtype=np.float32)])
    hits = store.search([StoreQuery(level="section", dense=asked, limit=3)])[0]
    assert store.get_sections([hits[0].id])[0].ordinal == 1
    assert hits[0].score == pytest.approx(1, abs=1e-4)


def test_each_level_takes_vectors_of_its_own_length_only(open_library: Opener) -> None:
    store = open_library(create=WIDE)
    with pytest.raises(StoreError, match=r"section vectors have shape \(3, 8\).*\(3, 12\)"):
        store.publish(*make_book(1).parts)
    for level, size in (("section", DIM), ("passage", DIM + 4), ("book", DIM + 4)):
        with pytest.raises(QueryError, match=rf"shape \({size},\), the library's {level}s need"):
            store.search([StoreQuery(level=level, dense=np.ones(size, np.float32))])  # type: ignore[arg-type]


def test_a_manifest_is_read_back_and_order_parts_change_its_fingerprint() -> None:
    assert Manifest.from_dict(WIDE.to_dict()) == WIDE
    assert WIDE.fingerprint() != MANIFEST.fingerprint()
