"""A query's terms beside those of passages and of their sentences."""

from __future__ import annotations

import numpy as np
import pytest

from nlb_retriever.encoding.packing import Packed, pack_signs
from nlb_retriever.encoding.terms import NO_TERMS, TERM_DIM
from nlb_retriever.search.matching import TermMatches, match_terms
from nlb_retriever.text.terms import find_terms

WORDS = "keeper lamp storm sea bread oven".split()
SIGNS = dict(zip(WORDS, np.sign(np.random.default_rng(0).standard_normal((6, TERM_DIM))), strict=True))
APART = "The keeper slept. A storm came. The lamp went out."
TOGETHER = "The keeper lit his lamp. The sea was calm. Nobody came."
ELSEWHERE = "The bread was in the oven."


def vectors(text: str) -> Packed:
    """The terms of a text: those of `WORDS` as in `SIGNS`, all others alike."""
    known = {find_terms(word).ids[0]: signs for word, signs in SIGNS.items()}
    rows = [known.get(term, np.full(TERM_DIM, -1.0)) for term in sorted({*find_terms(text).ids})]
    return pack_signs(np.array(rows, np.float32))


def match(query: str, texts: dict[str, str]) -> TermMatches:
    rows = np.stack([SIGNS[word] for word in query.split()]).astype(np.float32) / np.float32(TERM_DIM**0.5)
    return match_terms(rows, {name: vectors(text) for name, text in texts.items()})


def test_a_passage_is_as_similar_as_its_most_similar_term_to_each_of_the_query_on_average() -> None:
    texts = {"apart": APART, "together": TOGETHER, "elsewhere": ELSEWHERE}
    found = match("keeper lamp", texts).of_passages()
    assert found["apart"] == found["together"] == pytest.approx(1, abs=1e-5)
    assert found["elsewhere"] < 0.5
    halves = match("keeper bread", texts).of_passages()
    assert halves["apart"] == pytest.approx(
        0.5 + max(SIGNS["bread"] @ SIGNS[each] for each in WORDS[:3]) / 384, abs=0.1
    )


def test_terms_count_more_in_one_sentence_or_in_two_neighbouring_ones() -> None:
    texts = {"apart": APART, "together": TOGETHER, "elsewhere": ELSEWHERE}
    apart, together, elsewhere = match("keeper lamp", texts).of_sentences([*texts.items()])
    assert together == 1 > apart > elsewhere >= 0
    near, far = "The keeper slept. The lamp went out. A storm came.", APART
    one, two = match("keeper lamp", {"near": near, "far": far}).of_sentences([("near", near), ("far", far)])
    assert one == 1 > two


def test_what_has_no_terms_matches_nothing() -> None:
    matches = match("lamp", {"lamp": TOGETHER})
    assert matches.of_sentences([("lamp", TOGETHER), ("unknown", APART)]) == [1, 0]
    assert matches.of_sentences([("lamp", "A text that was not encoded.")]) == [0], "its terms are others"
    assert matches.of_sentences([]) == []
    none = match_terms(NO_TERMS, {})
    assert none.of_passages() == {}
    assert none.of_sentences([("lamp", TOGETHER), ("empty", "")]) == [0, 0]
