"""The vectors of passages' spans and terms, on every backend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from nlb_retriever.encoding.packing import unpack
from nlb_retriever.errors import StoreError
from nlb_retriever.store import LibraryStore, StoreQuery
from nlb_retriever.store.backends.base import Floats
from tests.store.books import DIM, make_book
from tests.store.conftest import Opener

UNKNOWN = "00000000-0000-0000-0000-000000000000"


def compare_spans(store: LibraryStore, vector: Floats, ids: Sequence[str]) -> dict[str, float]:
    query = StoreQuery(level="passage", dense=vector, spans=True, ids=tuple(ids), limit=len(ids))
    return {hit.id: hit.score for hit in store.search([query])[0]}


def test_passages_are_compared_by_their_most_similar_span(open_library: Opener) -> None:
    store = open_library()
    made = [make_book(number) for number in (1, 2)]
    for each in made:
        store.publish(*each.parts)
    ids = [passage.id for each in made for passage in store.passages(each.book.id)]
    spans = [unpack(own, DIM) for each in made for own in each.vectors.spans]
    vector = spans[7][-1]
    expected = {point: float((own @ vector).max()) for point, own in zip(ids, spans, strict=True)}
    assert max(expected, key=lambda each: expected[each]) == ids[7]
    assert compare_spans(store, vector, ids) == pytest.approx(expected, abs=2e-4)
    assert next(iter(compare_spans(store, vector, ids))) == ids[7]
    assert compare_spans(store, vector, ids[3:5]) == pytest.approx(
        {each: expected[each] for each in ids[3:5]}, abs=2e-4
    )
    assert compare_spans(store, vector, [UNKNOWN]) == {}
    store.optimize()
    assert compare_spans(store, vector, ids) == pytest.approx(expected, abs=2e-4)


def test_passages_have_the_terms_that_were_written(open_library: Opener) -> None:
    store = open_library()
    with_terms, without = make_book(1), make_book(2)
    without = replace(without, vectors=replace(without.vectors, terms=()))
    none = with_terms.vectors.terms[4][:0]
    terms = [*with_terms.vectors.terms[:4], none, *with_terms.vectors.terms[5:]]
    store.publish(with_terms.book, with_terms.passages, replace(with_terms.vectors, terms=terms))
    store.publish(*without.parts)
    ids, others = ([passage.id for passage in store.passages(each.book.id)] for each in (with_terms, without))
    for _ in range(2):
        found = store.terms([*others, UNKNOWN, *reversed(ids)])
        assert sorted(found.ids) == sorted({*ids} - {ids[4]})
        own = dict(zip(found.ids, np.split(found.packed, np.cumsum(found.counts)[:-1]), strict=True))
        for point, expected in zip(ids, terms, strict=True):
            np.testing.assert_array_equal(own.get(point, none), expected)
        for nothing in (store.terms([]), store.terms([UNKNOWN])):
            assert (len(nothing.ids), len(nothing.packed), len(nothing.counts)) == (0, 0, 0)
        store.optimize()


def test_books_without_vectors_of_spans_stand_beside_others(open_library: Opener) -> None:
    store = open_library()
    with_spans, without = make_book(1), make_book(2)
    without = replace(without, vectors=replace(without.vectors, spans=()))
    for each in (without, with_spans):
        store.publish(*each.parts)
    own, others = ([passage.id for passage in store.passages(each.book.id)] for each in (with_spans, without))
    vector = with_spans.vectors.passages[0]
    found = compare_spans(store, vector, [*others, *own])
    assert sorted(found) == sorted(own)
    store.optimize()
    assert compare_spans(store, vector, [*others, *own]) == pytest.approx(found)


def test_spans_of_some_passages_alone_are_refused(open_library: Opener) -> None:
    made, store = make_book(1), open_library()
    with pytest.raises(StoreError, match="11 of 12 passages have spans"):
        store.publish(made.book, made.passages, replace(made.vectors, spans=made.vectors.spans[1:]))
    with pytest.raises(StoreError, match="11 of 12 passages have terms"):
        store.publish(made.book, made.passages, replace(made.vectors, terms=made.vectors.terms[1:]))
