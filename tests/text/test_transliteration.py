"""Other spellings of foreign names."""

from __future__ import annotations

import pytest

from nlb_retriever.text.transliteration import MOST_CHANGES, make_variants

MOST = 2000


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("pozdnyshev", "posdnicheff"),
        ("raskolnikov", "raskolnikoff"),
        ("kutuzov", "koutouzoff"),
        ("vronsky", "wronsky"),
        ("oblonsky", "oblonskii"),
        ("calchas", "calkas"),
        ("astolfo", "astolpho"),
        ("phillamon", "philammon"),
        ("aeneas", "eneas"),
        ("isaac", "isac"),
        ("agramante", "agramant"),
    ],
)
def test_names_are_spelled_as_in_another_translation(name: str, other: str) -> None:
    assert other in make_variants(name, MOST)


def test_few_changes_come_first() -> None:
    variants = make_variants("calchas", MOST)
    assert variants.index("calkas") < variants.index("kalkas") < variants.index("kallkass")
    assert len(set(variants)) == len(variants)
    assert "calchas" not in variants


def test_their_number_is_bounded() -> None:
    assert len(make_variants("tchaikovskychristoff", 50)) == 50
    assert len(make_variants("tchaikovskychristoff" * 20, MOST)) == MOST  # in a moment, of many millions
    assert MOST_CHANGES == 4
    assert "vvvvv" not in make_variants("wwwww", MOST)  # five changes


@pytest.mark.parametrize("name", ["", "a", "日本"])
def test_names_without_such_letters_have_few(name: str) -> None:
    assert name not in make_variants(name, MOST)
