"""A search is cleaned and checked when it is made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nlb_retriever.errors import QueryError
from nlb_retriever.model.vectors import EncodedQuery
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.store import Condition

VECTOR = np.array([1, 0], dtype=np.float32)
VECTORS = EncodedQuery(vector=VECTOR, order=VECTOR[:0], sentences=VECTOR[None], whole=VECTOR)


def test_its_query_is_clean_and_its_filter_has_values_of_the_keys_own_types() -> None:
    request = SearchRequest(query=" the\nwhale ", where=Condition("year", "gte", "1850"))
    assert request.query == "the whale"
    assert request.where == Condition("year", "gte", 1850)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"query": " \x00"}, "the question is empty"),
        ({"level": "chapter"}, "unknown level 'chapter'; known: book, section, passage"),
        ({"mode": "words"}, "unknown mode 'words'; known: fused, dense, bm25"),
        ({"strategy": "deep"}, "unknown strategy 'deep'; known: coarse-to-fine, flat"),
        ({"limit": -1}, "limit and neighbours must be numbers from 0 to 1,000,000"),
        ({"limit": 2**64}, "limit and neighbours must be numbers from 0 to 1,000,000"),
        ({"neighbours": -2}, "limit and neighbours must be numbers from 0 to 1,000,000"),
        ({"query": "whale " * 20_000}, "the question has 120,000 characters, at most 100,000 are searched for"),
        ({"where": Condition("colour", "eq", "red")}, "cannot filter a passage by 'colour'"),
    ],
)
def test_what_cannot_be_searched_for_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(QueryError, match=message):
        SearchRequest(**{"query": "whale", **wrong})


def test_only_given_vectors_in_mode_dense_need_no_words() -> None:
    assert SearchRequest(query=" ", mode="dense", vectors=VECTORS).vectors is VECTORS
    with pytest.raises(QueryError, match="the question is empty"):
        SearchRequest(query="", vectors=VECTORS)
    with pytest.raises(QueryError, match="the question is empty"):
        SearchRequest(query="", mode="dense")
