"""A search is cleaned and checked when it is made."""

from __future__ import annotations

from pathlib import Path
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


def test_names_and_numbers_of_other_types_that_are_clear_are_taken() -> None:
    request = SearchRequest(
        query="whale", limit=np.int64(3), book=Path("books/emma.txt"), section=2, before=np.int64(4)
    )
    assert (request.limit, request.book, request.section, request.before) == (3, "books/emma.txt", "2", "4")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"query": " \x00"}, "the question is empty"),
        ({"level": "chapter"}, "unknown level 'chapter'; known: book, section, passage"),
        ({"mode": "words"}, "unknown mode 'words'; known: fused, dense, bm25"),
        ({"strategy": "deep"}, "unknown strategy 'deep'; known: coarse-to-fine, flat"),
        ({"limit": -1}, "limit must be a whole number from 0 to 1,000,000, not -1"),
        ({"limit": 2**64}, "limit must be a whole number from 0 to 1,000,000"),
        ({"neighbours": -2}, "neighbours must be a whole number from 0 to 1,000,000"),
        ({"limit": 10**5_000}, "limit must be a whole number from 0 to 1,000,000, not int"),
        ({"limit": None}, "limit must be a whole number"),
        ({"limit": 2.0}, "limit must be a whole number"),
        ({"limit": True}, "limit must be a whole number"),
        ({"query": None}, "the question must be words, not None"),
        ({"query": ["whale"]}, r"the question must be words, not \['whale'\]"),
        ({"book": ["Emma"]}, r"book must be an id, a title or a path, not \['Emma'\]"),
        ({"book": 1984}, "book must be an id, a title or a path, not 1984"),
        ({"section": 2.0}, "section must be a section's number from 1, its id or its title, not 2.0"),
        ({"before": [*range(99)]}, r"before must be .*, not \[0, 1, 2, .*…$"),
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
