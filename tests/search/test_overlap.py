"""Shares of a question's words, worked out by hand."""

from __future__ import annotations

import math

import pytest

from nlb_retriever.search.overlap import gather_evidence


def test_rare_words_count_more_and_shares_add_up() -> None:
    texts = ["The whale sank the ship. The whale fled.", "The captain wept."]
    evidence = gather_evidence("whale captain", texts)
    whale, captain = (math.log(1 + (3 - df + 0.5) / (df + 0.5)) for df in (2, 1))
    total = whale + captain
    shares = [[sentence.share for sentence in own] for own in evidence.sentences]
    assert shares[0] == pytest.approx([whale / total, whale / total])
    assert shares[1] == pytest.approx([captain / total])
    assert captain > whale
    assert evidence.bonuses == pytest.approx((2 * whale / total, 2 * captain / total))


def test_two_neighbouring_sentences_can_hold_what_one_does_not() -> None:
    together = gather_evidence("whale captain", ["A whale came. The captain saw it.", "Nothing."])
    apart = gather_evidence("whale captain", ["A whale came. Nothing more. The captain saw it.", "Nothing."])
    assert together.bonuses[0] > apart.bonuses[0]
    assert together.bonuses[1] == 0


def test_spans_are_of_the_passages_own_text() -> None:
    text = "One stood here. Two stood there."
    sentences = gather_evidence("two", [text]).sentences[0]
    assert [text[sentence.start : sentence.end] for sentence in sentences] == ["One stood here.", "Two stood there."]
    assert [sentence.order for sentence in sentences] == [0, 1]


def test_no_words_and_no_passages_are_no_evidence() -> None:
    assert gather_evidence("", []).sentences == ()
    assert gather_evidence("the of and", ["The end of it and all."]).bonuses == (0.0,)
