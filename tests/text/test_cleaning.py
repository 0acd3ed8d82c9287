"""What of a query reaches tokenizers and stores."""

from __future__ import annotations

import pytest

from nlb_retriever.errors import QueryError
from nlb_retriever.text.cleaning import clean_query


def test_control_characters_become_spaces_and_broken_encoding_question_marks() -> None:
    assert clean_query(" who\nhunts\x00the \u2028 whale? ") == "who hunts the   whale?"
    assert clean_query("\udcff whale \ud800") == "? whale ?"
    assert clean_query("Où est 灯台 🔦?") == "Où est 灯台 🔦?"


def test_a_query_is_written_as_texts_are_read() -> None:
    assert clean_query("rivie\u0300re ge\xadle\u0301e \u1112\u1161\u11ab\u200b") == "rivière gelée 한"


@pytest.mark.parametrize("query", ["", "  \n\t ", "\x00\x1b"])
def test_a_query_of_which_nothing_is_left_is_refused(query: str) -> None:
    with pytest.raises(QueryError, match="the question is empty: ask in words"):
        clean_query(query)
