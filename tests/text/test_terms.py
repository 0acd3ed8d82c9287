"""The terms of passages and queries."""

from __future__ import annotations

import pytest

from nlb_retriever.text.terms import MOST_TERMS, find_query_terms, find_terms
from nlb_retriever.text.words import count_words


def test_terms_are_the_words_that_count_and_where_they_stand() -> None:
    text = "The keepers kept the lamp; a keeper's lamps (2) burnt."
    found = find_terms(text)
    words = ["keepers", "kept", "lamp", "keeper", "lamps", "2", "burnt"]
    assert [text[offset:].startswith(word) for offset, word in zip(found.offsets, words, strict=True)] == [True] * 7
    assert found.ids[0] == found.ids[3] != found.ids[1]
    assert found.ids[2] == found.ids[4]
    assert {*found.ids} == {*count_words(text).indices}


def test_terms_know_their_sentences() -> None:
    text = " The keeper slept. A storm came!\n\nThe lamp of the keeper went out."
    found = find_terms(text)
    assert found.in_sentences(text) == [0, 0, 1, 1, 2, 2, 2]
    assert find_terms("").in_sentences("") == []
    assert find_terms("lamp").in_sentences("lamp") == [0]


@pytest.mark.parametrize("text", ["", "  ", "the of and", "—“”!"])
def test_a_text_may_have_none(text: str) -> None:
    assert find_terms(text).offsets == find_terms(text).ids == []


def test_a_query_leaves_out_words_of_questions_unless_there_are_no_others() -> None:
    query = "What happened when the lamp broke?"
    assert find_query_terms(query).offsets == [query.index("lamp"), query.index("broke")]
    assert find_query_terms("What happened?").ids == find_terms("happened").ids


def test_a_summary_has_none() -> None:
    words = [f"word{number}" for number in range(MOST_TERMS + 1)]
    assert len(find_query_terms(" ".join(words[1:])).ids) == MOST_TERMS
    assert find_query_terms(" ".join(words)).ids == []
