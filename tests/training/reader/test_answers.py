"""Answers compared and looked for in passages."""

from __future__ import annotations

import pytest

from nlb_training.reader.answers import best_f1, closest_spans, exact_match, find_verbatim, token_f1


def test_articles_case_and_stops_do_not_count() -> None:
    assert exact_match("The White Whale.", ["white whale"]) == 1
    assert token_f1("the white whale!", "a White Whale") == 1


@pytest.mark.parametrize(("answer", "f1"), [("Captain Ahab", 2 / 3), ("Starbuck", 0), ("", 0), ("Ahab", 1)])
def test_f1_is_the_share_of_common_words(answer: str, f1: float) -> None:
    assert best_f1(answer, ["Ahab", "the old man"]) == pytest.approx(f1)


def test_an_answer_is_found_as_whole_words_in_any_case() -> None:
    text = "A cat sat. The Cat slept; catnip grew."
    assert [text[start:end] for start, end in find_verbatim(text, "the cat")] == ["cat", "Cat"]


def test_the_closest_span_has_the_best_f1() -> None:
    text = "The fox was tired. The old grey fox ran deep into the dark wood and slept."
    spans = closest_spans(text, ["it ran into the wood"])
    assert text[slice(*spans[0])] == "ran deep into the dark wood"


def test_a_passage_that_shares_little_has_no_closest_span() -> None:
    assert closest_spans("The fox was tired.", ["it ran into the wood"]) == []
