"""Entries of dictionaries."""

from __future__ import annotations

import pytest

from nlb_retriever.search.entries import find_entries
from nlb_retriever.text.definitions import Term
from nlb_retriever.text.sentences import sentence_spans

ORIGIN = "[NL., fr. Gr. kardia heart + -itis: cf. F. cardite.] (Med.)"
SAID = "Inflammation of the fleshy substance of the heart. See {Pericarditis}."


@pytest.mark.parametrize(
    "entry",
    [
        f'Carditis \\Car*di"tis\\, n.\n   {ORIGIN}\n   {SAID}',
        f'Carditis \\Car*di"tis\\ (k[aum]r*d[imac]"t[i^]s), n.\n   {ORIGIN}\n   1. {SAID}',
        f'CARDITIS\nCar*di"tis, n. Etym: {ORIGIN}\n\nDefn: {SAID}',
    ],
)
def test_what_a_dictionary_says_stands_behind_where_a_word_comes_from(entry: str) -> None:
    found = find_entries(Term("carditis"), f"{entry}\n\n", sentence_spans(entry))
    assert [(SAID[:50] in entry[start:], label) for start, label in found.items()] == [(True, True)]
    assert entry[next(iter(found)) :].endswith((SAID, f"1. {SAID}", f"Defn: {SAID}"))
    assert len(entry) - next(iter(found)) <= len(SAID) + 6
