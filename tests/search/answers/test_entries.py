"""Entries of dictionaries."""

from __future__ import annotations

import pytest

from nlb_retriever.search.answers.entries import find_entries, is_glossary
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


GLOSSARY = """\
bell
a hollow thing that is struck

**bell tower** the house of a bell

hands (of a clock) thin pieces that point to the hour

Alarm: A bell that wakes people.

nauta, -ae, m., sailor

a clock is wound by hand"""


@pytest.mark.parametrize(
    ("term", "says"),
    [
        ("bell", ["a hollow thing that is struck"]),
        ("bells", ["a hollow thing that is struck"]),
        ("bell tower", ["the house of a bell"]),
        ("hand", ["thin pieces that point to the hour"]),
        ("alarm", ["A bell that wakes people."]),
        ("nauta", ["nauta, -ae, m., sailor"]),
        ("clock", []),
        ("thing", []),
    ],
)
def test_a_glossary_says_what_its_terms_are(term: str, says: list[str]) -> None:
    assert [GLOSSARY[start:end] for _, end, start in Term(term).glossed(GLOSSARY)] == says


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Key Terms", True),
        ("3.4 Key Terms and Concepts", True),
        ("Glossary of the sea", True),
        ("Vocabulary", True),
        ("New Words", True),
        ("Terms", False),
        ("Words, words, words", False),
        ("Key Concepts", False),
    ],
)
def test_a_glossary_is_known_by_its_title(title: str, expected: bool) -> None:
    assert is_glossary(("Chapter 2", title)) is expected
