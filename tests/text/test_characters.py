"""The people of a story."""

from __future__ import annotations

from nlb_retriever.text.characters import LEAST_DEEDS, find_characters


def names(text: str, most: int = 5) -> list[str]:
    return [each.name for each in find_characters([text], most)]


def test_who_does_most_comes_first() -> None:
    text = "Anna said no. " * 9 + '"Yes," said Otto. ' * 7 + "Berta\u2019s dog barked. Berta laughed. " * 5
    assert names(text) == ["Anna", "Otto", "Berta"]
    assert names(text, 2) == ["Anna", "Otto"]
    assert [each.deeds for each in find_characters([text], 5)] == [9, 7, 5]


def test_names_that_stand_together_are_one() -> None:
    text = "Anna Berg was here. " * 3 + "Anna said no. " * 9 + "Berg laughed. " * 6 + "Otto Berg laughed. " * 6
    assert names(text) == ["Otto Berg", "Anna"], "of two with one surname the first one has it"
    assert names("Anna said no. " * 200 + "Anna Berg came. " * 3) == ["Anna"], "hardly ever together"
    assert names("Anna said to Otto, Anna, Otto. " * 6) == ["Anna"]


def test_words_that_are_no_names_are_left_out() -> None:
    text = (
        "Hope said no, as they did. They had hope, all hope. The hope was hope. " * 9
        + "She was. Then had. God said. Mr. was. "
    )
    assert names(text) == []
    assert names("ANNA SAID NO. " * 9) == []
    assert names("Anna said no. " * (LEAST_DEEDS - 1)) == []
    assert names("") == []
