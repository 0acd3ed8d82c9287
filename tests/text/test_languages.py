"""The language of a text and of a query, and words as their languages inflect them."""

from __future__ import annotations

import pytest

from nlb_retriever.text.languages import find_language, is_latin, language_of_query, languages_of_query, number_of_words
from nlb_retriever.text.words import OTHER_LANGUAGE_WEIGHT, is_counted, weigh_document, weigh_query, word_ids
from tests.texts import FOREIGN, KITCHEN, LIGHTHOUSE


@pytest.mark.parametrize(("language", "text"), FOREIGN.items())
def test_a_text_tells_its_language(language: str, text: str) -> None:
    assert find_language(text) == language
    assert find_language(text * 400) == language


@pytest.mark.parametrize("text", [LIGHTHOUSE, KITCHEN])
def test_english_is_english_with_other_words_in_it(text: str) -> None:
    assert find_language(text) == "en"
    assert find_language(f"{text}\n\nDie Leute sagen: „Der Turm ist alt.“ 这座灯塔很旧。") == "en"


def test_a_book_in_two_languages_counts_as_english() -> None:
    assert find_language(f"{FOREIGN['de']}\n\n{LIGHTHOUSE}") == "en"


@pytest.mark.parametrize("text", ["", "  \n", "1234 5678", "Ahab", "Zażółć gęślą jaźń i pchnij w tę łódź jeża", "----"])
def test_what_does_not_tell_is_unknown(text: str) -> None:
    assert find_language(text) is None


@pytest.mark.parametrize(
    ("query", "languages", "language"),
    [
        ("Wer ist der Mann mit dem Hut?", ("de", "en"), "de"),
        ("Who is the man with the hat?", ("de", "en"), "en"),
        ("Who is the man with the hat?", ("de",), "en"),
        ("Wer tötet Siegfried?", ("de", "en"), "de"),
        ("Hvem dræbte Hamlet?", ("da", "en"), "da"),
        ("Was Siegfried brave?", ("de", "en"), "en"),
        ("Effi Briest", ("de", "en"), "en"),
        ("Effi Briest", ("de",), "de"),
        ("谁是Effi", ("de", "en", "zh"), "zh"),
        ("谁是Effi", ("de", "en"), "en"),
        ("Wer ist der Mann?", (), "en"),
        ("Wer ist der Mann?", ("en",), "en"),
        ("", ("de", "fr"), "de"),
    ],
)
def test_a_query_is_in_one_of_the_books_languages_or_english(
    query: str, languages: tuple[str, ...], language: str
) -> None:
    assert language_of_query(query, languages) == language


def test_a_query_without_common_words_is_in_any() -> None:
    assert languages_of_query("Effi Briest", ["de", "fr"]) == ["de", "en", "fr"]


@pytest.mark.parametrize(
    ("text", "latin"),
    [
        ("Où est l'œuvre de Göthe?", True),
        ("Người Việt", True),
        ("1851", True),
        ("", True),
        ("What does 愛 mean exactly?", True),
        ("Кто такой Ahab?", False),
        ("谁是Ahab", False),
        ("Ποιος είναι;", False),
    ],
)
def test_letters_are_latin_ones_or_not(text: str, latin: bool) -> None:
    assert is_latin(text) is latin


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("de", "Häuser", "Haus"),
        ("fr", "chevaux blancs", "cheval blanc"),
        ("pt", "São Paulo", "Sao Paulo"),
        ("ru", "корабли", "корабля"),
        ("en", "whales", "whale"),
        ("en", "Dvořák", "Dvorak"),
        ("und", "Łęcka", "Lecka"),
        ("ru", "Алёна", "Алена"),
        ("el", "Ὀδυσσεύς", "Οδυσσευς"),
        ("he", "שָׁלוֹם", "שלום"),
        ("ko", "어머니가", "어머니"),
        ("zh", "（ＡＢＣ）", "ABC"),
    ],
)
def test_forms_of_a_word_are_one(language: str, one: str, other: str) -> None:
    assert word_ids(one, language) == word_ids(other, language) != frozenset()


def test_words_are_found_where_no_spaces_are() -> None:
    assert word_ids("软件包", "zh") < word_ids("如何安装软件包", "zh")
    assert word_ids("東京", "ja") < word_ids("東京に住んでいる", "ja")
    assert word_ids("宝玉", "zh") < word_ids("贾宝玉走进房间。", "zh")
    assert word_ids("食べる", "ja") & word_ids("ご飯を食べた", "ja")


def test_particles_do_not_tell_what_a_text_is_about() -> None:
    assert not word_ids("ました", "ja") & word_ids("食べました", "ja")
    assert not word_ids("학교에서", "ko") & word_ids("서울에서", "ko")
    assert not word_ids("й", "ru") & word_ids("и", "ru")


@pytest.mark.parametrize(
    ("language", "text", "part"), [("zh", "贾宝玉", "宝玉"), ("ja", "東京都", "京都"), ("ko", "왕이", "왕")]
)
def test_a_search_counts_pairs_and_letters(language: str, text: str, part: str) -> None:
    document = weigh_document("passage", f"{text} {text * 3}", language)
    query = weigh_query("passage", part, (language,))
    assert {*query.indices} <= {*document.indices}
    assert {*query.values} == {1.0}
    long = weigh_document("passage", text * 30_000, language)
    assert len(long.indices) <= 6


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("the white whale", 3), ("老渔夫住在海边的小屋里。", 6), ("배를 만들었다", 2), ("Debian 是什么", 3)],
)
def test_words_are_counted_where_no_spaces_are(text: str, count: int) -> None:
    assert number_of_words(text) == count


def test_words_of_other_languages_count_less_and_common_ones_not() -> None:
    german, english = word_ids("Frauen", "de"), word_ids("Frauen", "en")
    query = weigh_query("passage", "Wer traf die Frauen?", ("de", "en"))
    weights = dict(zip(query.indices, query.values, strict=True))
    assert {weights[index] for index in german} == {1.0}
    assert {weights[index] for index in english - german} == {OTHER_LANGUAGE_WEIGHT}
    assert not word_ids("die", "en") & weights.keys()  # an English word that is common in the query's language
    assert list(query.indices) == sorted(query.indices)


def test_questions_words_count_only_alone() -> None:
    assert not is_counted("warum", "de")
    assert not is_counted("die", "de")
    assert is_counted("die", "en")
    assert is_counted("Haus", "de")
    assert word_ids("warum", "de")


def test_english_books_are_searched_as_ever() -> None:
    query = "What happens to the whales that Ahab hunts?"
    assert weigh_query("passage", query) == weigh_query("passage", query, ()) == weigh_query("passage", query, ("en",))
