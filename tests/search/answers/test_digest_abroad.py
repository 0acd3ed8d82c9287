"""Questions on chapters in other languages than English."""

from __future__ import annotations

import time

import pytest

from nlb_retriever.search.answers.digest_abroad import in_english
from nlb_retriever.search.answers.digest_forms import read_digest_question


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Was passiert in Kapitel 3?", "What happens in chapter 3?"),
        ("Was geschieht im dritten Kapitel von „Der Turm“?", "What happens in chapter 3 of Der Turm?"),
        ("Zusammenfassung des ersten Kapitels", "What happens in chapter 1?"),
        ("Que se passe-t-il au chapitre premier du Phare ?", "What happens in chapter 1 of Phare?"),
        ("Que se passe-t-il dans la deuxième partie ?", "What happens in part 2?"),
        ("¿Qué pasa en el capítulo IV?", "What happens in chapter 4?"),
        ("¿qué ocurre en el tercer capítulo de El faro?", "What happens in chapter 3 of El faro?"),
        ("Cosa succede nel capitolo 3?", "What happens in chapter 3?"),
        ("O que acontece no capítulo 3 de O farol?", "What happens in chapter 3 of O farol?"),
        ("Wat gebeurt er in het derde hoofdstuk?", "What happens in chapter 3?"),
        ("Vad händer i tredje kapitlet?", "What happens in chapter 3?"),
        ("Co się dzieje w trzecim rozdziale?", "What happens in chapter 3?"),
        ("Co się dzieje w rozdziale 3?", "What happens in chapter 3?"),
        ("Что происходит в третьей главе?", "What happens in chapter 3?"),
        ("О чём говорится в главе 3?", "What happens in chapter 3?"),
        ("第三章发生了什么？", "What happens in chapter 3?"),
        ("《灯塔》第三回讲了什么", "What happens in chapter 3 of 灯塔?"),
        ("灯台の第三章で何が起きましたか？", "What happens in chapter 3 of 灯台?"),
        ("第3章のあらすじ", "What happens in chapter 3?"),
        ("등대의 섬 제3장에서 무슨 일이 있었나요?", "What happens in chapter 3 of 등대의 섬?"),
    ],
)
def test_a_question_on_a_chapter_is_read_in_any_of_twelve_languages(question: str, expected: str) -> None:
    assert in_english(question) == expected
    found = read_digest_question(question)
    assert found
    assert found[0] == "part"


@pytest.mark.parametrize(
    "question",
    [
        "Was passiert in der Mühle?",
        "Was ist der erste Teil des Plans?",
        "Wer stirbt in Kapitel 3?",
        "What happens in the first part of the dance?",
        "第三章で健吉は何を読みましたか？",
        "Что случилось в части города?",
    ],
)
def test_other_questions_stay_as_they_are(question: str) -> None:
    assert in_english(question) == question


@pytest.mark.parametrize("piece", ["第三章", "в главе ", "was passiert in kapitel ", "3장 "])
def test_long_questions_take_linear_time(piece: str) -> None:
    started = time.perf_counter()
    for times in (50, 50_000):
        in_english(piece * times)
    assert time.perf_counter() - started < 1
