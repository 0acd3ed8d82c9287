"""The part of a passage that is shown."""

from __future__ import annotations

from nlb_cli.output.snippets import pattern_of, snippet


def test_words_are_shown_where_no_spaces_are() -> None:
    text = "那年春天花园里的桃花开得很早，众人都说今年的天气比往年暖和许多。" * 10 + "贾宝玉在潇湘馆外面站了半日。"
    pieces = snippet(text, pattern_of("贾宝玉"))
    assert ("贾宝玉", True) in pieces
    assert pieces[0] == ("…", False)
    assert ("宝玉", True) in snippet(text, pattern_of("宝玉是谁？"))
    assert sum(len(piece) for piece, _ in pieces) <= 217


def test_words_are_shown_with_their_endings_and_from_a_words_start() -> None:
    text = "The keeper of the lamp walked along the stair. " * 10 + "Whales were hunted by whaling men."
    pieces = snippet(text, pattern_of("Who hunts the whale?"))
    assert [piece for piece, matches in pieces if matches] == ["Whales", "hunted", "whaling"]
    assert pieces[1][0].split()[0] in {"The", "keeper", "of", "the", "lamp", "walked", "along", "stair."}
