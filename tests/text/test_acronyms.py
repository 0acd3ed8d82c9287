from __future__ import annotations

import re

import pytest

from nlb_retriever.text.acronyms import find_long_form, is_acronym


@pytest.mark.parametrize(
    ("acronym", "sentence"),
    [
        ("NWO", "He served in the [National Weather Office] (NWO) for years."),
        ("NWO", "The [National Weather Office] (NWO, part of the navy) was small."),
        ("MRL", "It has 12 [Members of the River League] (MRLs)."),
        ("OAK", "The [Organization of Ardent Keepers] (OAK, part of it) met."),
        ("NWO", "The “[National Weather Office]” (NWO) met."),
        ("ATP", "It is stored in [adenosine triphosphate] (ATP)."),
        ("GULL", "His GULL – “[Great Universal Lamp Light]” – burned."),
        ("NWO", "The NWO ([National Weather Office]) was small."),
        ("NWO", "NWO stands for [National Weather Office], as all know."),
        ("mRNA", "It is [messenger ribonucleic acid] (mRNA)."),
    ],
)
def test_an_acronym_is_spelled_out(acronym: str, sentence: str) -> None:
    before, says, after = re.split(r"[\[\]]", sentence)
    text = f"{before}{says}{after}"
    found = find_long_form(acronym, text)
    assert found is not None and text[slice(*found)] == says


@pytest.mark.parametrize(
    "sentence", ["The NWO honoured 32 of them.", "The men (NWO) came.", "The NWO (now closed) came.", "NWO – a club."]
)
def test_other_sentences_spell_nothing_out(sentence: str) -> None:
    assert find_long_form("NWO", sentence) is None


def test_acronyms_are_told_from_words() -> None:
    assert is_acronym("AI") and is_acronym("NWO") and is_acronym("mRNA")
    assert not is_acronym("Ahab") and not is_acronym("whale") and not is_acronym("A")
