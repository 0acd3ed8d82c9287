"""Questions on the library's record in other languages than English."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from nlb_retriever import Retriever, book_from_text, index_books
from nlb_retriever.search.answers.record_abroad import record_in_english


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Wie viele Kapitel hat die Mühle?", "How many chapters are in die Mühle?"),
        ("Wie viele Kapitel hat dieses Buch?", "How many chapters are in this book?"),
        ("Wer hat den Müller geschrieben?", "Who wrote Müller?"),
        ("Wann erschien die Mühle?", "When was die Mühle written?"),
        ("Wie viele Bücher gibt es?", "How many books are there?"),
        ("Welche Bücher von Ida Fenn gibt es?", "Which books by Ida Fenn are there?"),
        ("Qui a écrit « Le Phare » ?", "Who wrote Le Phare?"),
        ("Combien de chapitres y a-t-il dans Le Phare ?", "How many chapters are in Le Phare?"),
        ("Combien d’actes a Le Phare ?", "How many acts are in Le Phare?"),
        ("Combien de livres y a-t-il ?", "How many books are there?"),
        ("¿Cuántos capítulos tiene El faro?", "How many chapters are in El faro?"),
        ("¿Quién escribió El faro?", "Who wrote El faro?"),
        ("Chi ha scritto Il faro?", "Who wrote Il faro?"),
        ("Quanti capitoli ha Il faro?", "How many chapters are in Il faro?"),
        ("Quantos capítulos tem O farol?", "How many chapters are in O farol?"),
        ("Wie heeft De molen geschreven?", "Who wrote De molen?"),
        ("Hur många kapitel har Fyren?", "How many chapters are in Fyren?"),
        ("Ile rozdziałów ma Latarnia?", "How many chapters are in Latarnia?"),
        ("Кто написал «Маяк»?", "Who wrote Маяк?"),
        ("Сколько глав в романе «Маяк»?", "How many chapters are in Маяк?"),
        ("《灯塔》一共有多少回？", "How many chapters are in 灯塔?"),
        ("灯塔的作者是谁？", "Who wrote 灯塔?"),
        ("灯台は全部で何章ありますか？", "How many chapters are in 灯台?"),
        ("이 책은 몇 장인가요?", "How many chapters are in this book?"),
    ],
)
def test_a_question_on_the_record_is_read_in_any_of_twelve_languages(question: str, expected: str) -> None:
    assert record_in_english(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "Wie viele Inseln hat der See?",
        "Wer hat die Lampe gelöscht?",
        "Who wrote Emma?",
        "健吉は誰ですか？",
        "In che consiste?",
    ],
)
def test_other_questions_stay_as_they_are(question: str) -> None:
    assert record_in_english(question) == question


@pytest.mark.parametrize("piece", ["wer hat ", "灯台 ", "combien de chapitres "])
def test_long_questions_take_linear_time(piece: str) -> None:
    started = time.perf_counter()
    for times in (50, 50_000):
        record_in_english(piece * times)
    assert time.perf_counter() - started < 1


def test_a_record_answers_in_other_languages(tmp_path: Path) -> None:
    told = "Der alte Müller ging jeden Morgen langsam zum Bach, und niemand wusste, was er dort wollte.\n\n" * 3
    text = f"Erstes Kapitel\n\n{told}Zweites Kapitel\n\n{told}"
    index_books([book_from_text(text, source="m.txt", title="Der Müller", author="Ida Fenn")], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        answers = [
            retriever.answer(question).short
            for question in (
                "Wer hat den Müller geschrieben?",
                "Wie viele Kapitel hat der Müller?",
                "Hoeveel boeken zijn er?",
            )
        ]
        assert retriever.answer("Wer schrieb Der Müller?").question == "Wer schrieb Der Müller?"
    assert answers == ["Ida Fenn", "2", "1"]
