"""Books in other languages than English, beside English ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever import Retriever, book_from_text, index_books
from nlb_retriever.store import Condition
from tests.texts import FOREIGN, LIGHTHOUSE


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("languages") / "library"
    texts = {**FOREIGN, "en": LIGHTHOUSE}
    index_books(
        [book_from_text(text, source=f"{tag}.txt", title=f"Book {tag}") for tag, text in texts.items()], library
    )
    return library


@pytest.fixture(scope="module")
def retriever(library: Path) -> Retriever:
    return Retriever(library)


@pytest.mark.parametrize("mode", ["fused", "bm25"])
@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("Welches Haus baut ein Schmied für den Sohn?", "de"),
        ("Où était le cheval de la boulangère?", "fr"),
        ("Где корабль старого капитана?", "ru"),
        ("谁点了灯塔的灯？", "zh"),
        ("金の時計を作ったのは誰ですか", "ja"),
        ("누가 배를 만들었나요?", "ko"),
        ("Who keeps the lighthouse?", "en"),
    ],
)
def test_questions_find_their_book_in_any_language(retriever: Retriever, query: str, language: str, mode: str) -> None:
    [hit] = retriever.search(query, limit=1, mode=mode)  # type: ignore[arg-type]
    assert hit.source == f"{language}.txt"


def test_a_book_that_names_no_language_gets_the_one_of_its_text(retriever: Retriever) -> None:
    assert {book.source: book.language for book in retriever.store.books()} == {
        f"{tag}.txt": tag for tag in (*FOREIGN, "en")
    }
    hits = retriever.search("the captain", where=Condition("language", "eq", "ru"))
    assert {hit.source for hit in hits} == {"ru.txt"}


def test_names_and_nouns_are_found_in_any_form(tmp_path: Path) -> None:
    texts = {
        "zh": "石头的故事里，贾宝玉在潇湘馆外面站了半日，不敢进去。",
        "ko": "옛날 어느 마을에 홍길동이 살았다. 어머니는 매우 슬퍼하였다.",
        "pl": "Panna Izabela Łęcka siedziała w salonie i czytała książkę, a jej ojciec zasnął przy kominku. "
        "Wieczorem przyszli goście i długo rozmawiali o podróży.",
        "ru": "Алёна Ивановна жила в старом доме на углу улицы. Она была вдова и никого не любила, кроме себя самой. "
        "Сестра её молчала и работала с утра до вечера.",
        "en": LIGHTHOUSE,
    }
    index_books(
        [book_from_text(text, source=tag, title=f"Book {tag}") for tag, text in texts.items()], tmp_path / "new"
    )
    with Retriever(tmp_path / "new") as retriever:
        for query, tag in {"宝玉": "zh", "홍길동은": "ko", "Lecka": "pl", "Алена": "ru", "lighthouse": "en"}.items():
            assert [hit.source for hit in retriever.search(query, limit=1, mode="bm25")] == [tag]
        assert "贾宝玉" in retriever.answer("宝玉是谁？").text
        assert "홍길동" in retriever.answer("홍길동은 누구인가?").text
        assert not retriever.answer("공룡은 왜 멸종했습니까?").found


def test_english_is_believed_only_of_english_books(tmp_path: Path) -> None:
    declared = {"ru": "en", "de": "en-GB", "fr": "fr-CA", "zh": "ja", "en": "en-US"}
    texts = {**FOREIGN, "en": LIGHTHOUSE}
    books = [book_from_text(texts[tag], source=tag, language=language) for tag, language in declared.items()]
    index_books(books, tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        found = {book.source: book.language for book in retriever.store.books()}
    assert found == {"ru": "ru", "de": "de", "fr": "fr-CA", "zh": "ja", "en": "en-US"}


def test_answers_are_quoted_by_the_words_of_the_language(retriever: Retriever) -> None:
    answer = retriever.answer("Wie viele Häuser hatte der Schmied für einen Sohn gebaut?")
    assert "Er hatte drei Häuser für seine Söhne gebaut" in answer.text
    assert not answer.shorts  # the reader knows English alone, though "Was" and "Will" begin questions there, too
    assert not retriever.answer("Was hatte der Schmied gebaut?").shorts
    assert "村里的人说，灯塔的灯是他父亲点的。" in retriever.answer("谁点了灯塔的灯？").text


@pytest.mark.parametrize("question", ["Сколько калорий в яблоке?", "Как испечь хлеб на закваске?"])
def test_letters_that_the_encoder_does_not_know_are_judged_by_words(retriever: Retriever, question: str) -> None:
    assert not retriever.answer(question).found
    assert retriever.answer("Кто ждал корабля на берегу?").found


def test_common_words_of_the_language_are_not_respelled(retriever: Retriever) -> None:
    for query in ("Warum, weshalb und wohin ging meiner Meinung nach der Schmied?", "Pourquoi voulait la boulangère?"):
        assert retriever.answer(query).searched is None


def test_an_english_question_is_answered_from_the_only_book_that_has_its_names(tmp_path: Path) -> None:
    german = (
        "Konrad Lindner lebte mit seiner Schwester am Hafen. Er wollte die Insel kaufen und dort ein Krankenhaus bauen."
        " Der Bürgermeister lachte über ihn und ging nach Hause, denn es war spät und der Wind kam aus dem Norden."
    )
    books = [("de", german), ("en", LIGHTHOUSE)]
    index_books([book_from_text(text, source=f"{tag}.txt", title=f"Book {tag}") for tag, text in books], tmp_path)
    with Retriever(tmp_path) as found:
        answer = found.answer("What did Konrad Lindner want to build?")
        assert answer.citations[0].hit.source == "de.txt"
        assert answer.short is None
        assert not found.answer("What did Edward Fairbanks want to build?").found
