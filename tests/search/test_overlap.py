"""Shares of a query's words, worked out by hand."""

from __future__ import annotations

import math

import pytest

from nlb_retriever.search.overlap import find_overlap


def test_rare_words_count_more_and_shares_add_up() -> None:
    texts = ["The whale sank the ship. The whale fled.", "The captain wept."]
    overlap = find_overlap("whale captain", texts)
    whale, captain = (math.log(1 + (3 - df + 0.5) / (df + 0.5)) for df in (2, 1))
    total = whale + captain
    assert overlap.shares[0] == pytest.approx([whale / total, whale / total])
    assert overlap.shares[1] == pytest.approx([captain / total])
    assert captain > whale
    assert overlap.bonuses == pytest.approx((2 * whale / total, 2 * captain / total))


def test_two_neighbouring_sentences_can_hold_what_one_does_not() -> None:
    together = find_overlap("whale captain", ["A whale came. The captain saw it.", "Nothing."])
    apart = find_overlap("whale captain", ["A whale came. Nothing more. The captain saw it.", "Nothing."])
    assert together.bonuses[0] > apart.bonuses[0]
    assert together.bonuses[1] == 0


def test_spans_are_of_the_passages_own_text() -> None:
    text = "One stood here. Two stood there."
    sentences = find_overlap("two", [text]).passages[0]
    assert [text[sentence.start : sentence.end] for sentence in sentences] == ["One stood here.", "Two stood there."]


def test_no_words_and_no_passages_overlap_nothing() -> None:
    assert find_overlap("", []).passages == ()
    assert find_overlap("the of and", ["The end of it and all."]).bonuses == (0.0,)


def test_of_some_passages_the_words_are_as_rare_as_among_them_alone() -> None:
    texts = ["The whale sank the ship. The whale fled.", "The captain wept.", "A whale and a captain."]
    assert find_overlap("whale captain", texts).of([2, 1]) == find_overlap("whale captain", [texts[2], texts[1]])
    some = find_overlap("whale captain", texts).of([2, 1])
    assert some.shares == find_overlap("whale captain", [texts[2], texts[1]]).shares
