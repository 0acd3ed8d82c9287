"""A query's terms beside those of passages and of their sentences."""

from __future__ import annotations

import numpy as np
import pytest

from nlb_retriever.encoding.packing import Packed
from nlb_retriever.encoding.terms import NO_TERMS, SENTENCES, TERM_DIM, pack_terms
from nlb_retriever.search.matching import TermMatches
from nlb_retriever.store import PassageTerms
from nlb_retriever.text.terms import find_terms

WORDS = "keeper lamp storm sea bread oven".split()
SIGNS = dict(zip(WORDS, np.sign(np.random.default_rng(0).standard_normal((6, TERM_DIM))), strict=True))
KNOWN = {find_terms(word).ids[0]: signs for word, signs in SIGNS.items()}
OTHER = np.full(TERM_DIM, -1.0)
TEXTS = {
    "apart": "The keeper slept. A storm came. The lamp went out.",
    "together": "The keeper lit his lamp. The sea was calm. Nobody came.",
    "near": "The keeper slept. The lamp went out. A storm came.",
    "elsewhere": "The bread was in the oven.",
}


def pack(text: str) -> Packed:
    """The terms of a text: those of `WORDS` as in `SIGNS`, all others alike."""
    found = find_terms(text)
    rows = [KNOWN.get(term, OTHER) for term in sorted({*found.ids})]
    return pack_terms([np.array(rows, np.float32)], [found.ids], [found.in_sentences(text)])[0]


def match(query: str, names: list[str]) -> TermMatches:
    rows = np.stack([SIGNS[word] for word in query.split()]).astype(np.float32) / np.float32(TERM_DIM**0.5)
    return TermMatches(rows, PassageTerms.of({name: pack(TEXTS[name]) for name in names}))


def cosine(query: str, text: str) -> float:
    """The highest of a word to those of a text."""
    rows = [KNOWN.get(term, OTHER) for term in find_terms(text).ids]
    return max(float(SIGNS[query] @ row) / TERM_DIM for row in rows)


def test_a_passage_is_as_similar_as_its_most_similar_term_to_each_of_the_query_on_average() -> None:
    for query in ("keeper lamp", "keeper bread", "oven"):
        expected = {name: np.mean([cosine(word, text) for word in query.split()]) for name, text in TEXTS.items()}
        assert match(query, [*TEXTS]).whole == pytest.approx(expected, abs=1e-5)


def test_terms_count_more_in_one_sentence_and_in_two_neighbouring_ones() -> None:
    found = match("keeper lamp", [*TEXTS]).closely
    assert found["together"] == pytest.approx(1, abs=1e-5)
    assert found["together"] > found["near"] > found["apart"] > found["elsewhere"]
    keeper, lamp, _ = ["The keeper slept.", "The lamp went out.", "A storm came."]
    one = max((1 + cosine("lamp", keeper)) / 2, (1 + cosine("keeper", lamp)) / 2)
    assert found["near"] == pytest.approx((one + 1) / 2, abs=1e-5), "all of it in the first two"


def test_each_passage_is_compared_as_it_is_alone() -> None:
    together = match("keeper lamp storm", [*TEXTS])
    for name in TEXTS:
        alone = match("keeper lamp storm", [name])
        assert (alone.whole[name], alone.closely[name]) == (together.whole[name], together.closely[name])
    assert together.closely_in(["near", "unknown", "apart"]) == {
        name: together.closely[name] for name in ("near", "apart")
    }


def test_sentences_behind_many_are_as_one() -> None:
    text = "Nobody came. " * (SENTENCES - 1) + "The keeper slept. A storm came. A storm came. The lamp went out."
    rows = np.stack([SIGNS[word] for word in ("keeper", "lamp")]).astype(np.float32) / np.float32(TERM_DIM**0.5)
    found = TermMatches(rows, PassageTerms.of({"long": pack(text)}))
    assert found.closely["long"] == pytest.approx(1, abs=1e-5)


def test_no_passages_match_nothing() -> None:
    found = TermMatches(NO_TERMS, PassageTerms.of({}))
    assert found.whole == found.closely == found.closely_in(["unknown"]) == {}
