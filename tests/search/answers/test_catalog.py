"""Questions on the library itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nlb_retriever import Retriever, book_from_text, index_books
from nlb_retriever.search.answers.catalog import NAMED, answer_catalog
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.store import Condition, Filter
from nlb_retriever.store import points as store_points
from nlb_retriever.store.backends import masks
from nlb_retriever.store.filters import matches

TEXT = "The keeper lit the lamp, wrote seven books and three files, and nobody read them. It rained. "
BOOKS = (
    ("The Lamp", "Jules Verné", 1870),
    ("The Reef", "VERNÉ, Jules", 1880),
    ("Bread", "Ann Miller", 1900),
    ("Poems", "ann miller", 1910),
    ("Blank", None, None),
)


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    library = tmp_path_factory.mktemp("catalog") / "library"
    index_books(
        [
            book_from_text(f"{TEXT}{title}.", source=title, title=title, author=author, year=year)
            for title, author, year in BOOKS
        ],
        library,
    )
    return Retriever(library)


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("What books do you have?", "Blank; Bread; Poems; The Lamp; The Reef"),
        ("What are the titles?", "Blank; Bread; Poems; The Lamp; The Reef"),
        ("list all my books", "Blank; Bread; Poems; The Lamp; The Reef"),
        ("Which books are in the library?", "Blank; Bread; Poems; The Lamp; The Reef"),
        ("Which books by Jules Verne do you have?", "The Lamp; The Reef"),
        ("What books do you have by Verne?", "The Lamp; The Reef"),
        ("List the novels in the library by Jules Verné.", "The Lamp; The Reef"),
        ("books by Jules Verne", "The Lamp; The Reef"),
        ("Which books did Ann Miller write?", "Bread; Poems"),
        ("Which novels are by Miller?", "Bread; Poems"),
        ("Which of my books are by Jules Verne?", "The Lamp; The Reef"),
        ("Which of these books did Ann Miller write?", "Bread; Poems"),
        ("What did Ann Miller write?", "Bread; Poems"),
        ("What has Miller written?", "Bread; Poems"),
        ("What else did Verne write?", "The Lamp; The Reef"),
        ("What is in my library?", "Blank; Bread; Poems; The Lamp; The Reef"),
        ("What can I ask?", "Blank; Bread; Poems; The Lamp; The Reef"),
        ("How many books are there?", "5"),
        ("How many books by Ann Miller do I have?", "2"),
        ("How many works did Ann Miller write?", "2"),
        ("Who are the authors?", "Ann Miller; Jules Verné"),
        ("Which authors are there?", "Ann Miller; Jules Verné"),
        ("How many papers are there?", "5"),
        ("How many notes do I have?", "5"),
        ("Which reports by Ann Miller do I have?", "Bread; Poems"),
        ("List the contracts", "Blank; Bread; Poems; The Lamp; The Reef"),
    ],
)
def test_the_library_answers_for_itself(retriever: Retriever, question: str, short: str) -> None:
    answer = retriever.answer(question)
    listed = "; ".join(sorted((answer.short or "").split("; ")))
    assert (listed, answer.found, answer.confidence) == (short, True, "sure")
    assert all(each.quote == TEXT.split(". ", maxsplit=1)[0] + "." for each in answer.citations)


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("Do I have any books by Verne?", "Yes: The Lamp; The Reef"),
        ("Are there any novels by Ann Miller?", "Yes: Bread; Poems"),
        ("do you have anything by Ann Miller in the library?", "Yes: Bread; Poems"),
        ("Do I have The Lamp?", "Yes: The Lamp"),
        ("do i have the lamp by jules verne", "Yes: The Lamp"),
        ("Is Ann Miller in my library?", "Yes: Bread; Poems"),
        ("Is “The Reef” in the library?", "Yes: The Reef"),
        ("Which book is the oldest?", "The Lamp (1870) (1 more without a year)"),
        ("What is the newest novel here?", "Poems (1910) (1 more without a year)"),
        ("Which books were written in the 19th century?", "The Lamp (1870); The Reef (1880) (1 more without a year)"),
        ("Which books are from the nineteenth century?", "The Lamp (1870); The Reef (1880) (1 more without a year)"),
        ("Which books were published before 1880?", "The Lamp (1870) (1 more without a year)"),
        ("Which books do I have from after 1900?", "Poems (1910) (1 more without a year)"),
        ("books from the 1880s", None),
        ("List the books written in the 1880s", "The Reef (1880) (1 more without a year)"),
        ("Which books are from the 1800s?", "The Lamp (1870); The Reef (1880) (1 more without a year)"),
        ("Which books were published between 1875 and 1900?", "Bread (1900); The Reef (1880) (1 more without a year)"),
        ("How many books were written since 1880?", "3 (1 more without a year)"),
    ],
)
def test_what_the_library_has_and_of_which_years(retriever: Retriever, question: str, short: str | None) -> None:
    answer = answer_catalog(SearchRequest(query=question), retriever.store)
    assert (answer and answer.short) == short


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Do I have any books by Balzac?", "No book by Balzac is in your library."),
        ("Do I have War and Peace?", "War and Peace is not in your library."),
        ("Does my library have Emma?", "Emma is not in your library."),
        ("is balzac in my library", "balzac is not in your library."),
        ("Which books were written after 1990?", "No book in your library is known to be of these years."),
    ],
)
def test_what_the_library_has_not_is_said(retriever: Retriever, question: str, text: str) -> None:
    answer = retriever.answer(question)
    assert (answer.found, answer.text) == (False, text)


@pytest.mark.parametrize("question", ["Do you have a lamp?", "Is Mr. Keeper in the library?", "Do I have to light it?"])
def test_what_a_story_has_is_looked_for_in_the_text(retriever: Retriever, question: str) -> None:
    assert answer_catalog(SearchRequest(query=question), retriever.store) is None


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("Which book is the longest?", "Long"),
        ("What's the longest novel here?", "Long"),
        ("Which is the shortest book in my library?", "Short"),
        ("which document is shortest", "Short"),
    ],
)
def test_the_longest_and_the_shortest_book_are_named(tmp_path: Path, question: str, short: str) -> None:
    texts = {"Short": TEXT, "Long": TEXT * 3, "Middle": TEXT * 2}
    index_books([book_from_text(text, source=title, title=title) for title, text in texts.items()], tmp_path / "lib")
    with Retriever(tmp_path / "lib") as retriever:
        answer = retriever.answer(question)
    assert answer.short == short
    assert {citation.hit.title for citation in answer.citations} == {short}


def test_no_encoder_is_loaded(retriever: Retriever, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **options: object) -> None:
        raise AssertionError

    monkeypatch.setattr("nlb_retriever.search.retriever.load_encoder", refuse)
    with Retriever(retriever.store.location) as fresh:
        assert fresh.answer("How many books are there?").short == "5"


def test_the_scope_decides_what_counts(retriever: Retriever) -> None:
    assert retriever.answer("How many books are there?", where=Condition("year", "gte", 1900)).short == "2"
    assert retriever.answer("What books do I have?", book="Poems").short == "Poems"
    for question in ("How many papers are there?", "Which books are there?"):
        assert answer_catalog(SearchRequest(query=question, book="Poems"), retriever.store) is None
    assert len(retriever.answer("What books do I have?", limit=2).citations) == 2


@pytest.mark.parametrize(
    "question",
    ["What did the keeper write?", "How many books did the keeper write?", "How many files did he write?",
     "Which books by Balzac do you have?", "How many books are there " + "in the house " * 50],
)  # fmt: skip
def test_other_questions_are_answered_from_the_text(retriever: Retriever, question: str) -> None:
    assert answer_catalog(SearchRequest(query=question), retriever.store) is None
    assert retriever.answer(question).short not in {"0", "5"}


def test_a_long_list_is_cut(tmp_path: Path) -> None:
    index_books([book_from_text(TEXT, source=f"{n}", title=f"Book {n}") for n in range(NAMED + 3)], tmp_path / "lib")
    with Retriever(tmp_path / "lib") as retriever:
        assert (retriever.answer("What books do I have?").short or "").endswith("; and 3 more")


def test_copies_of_a_book_are_one(tmp_path: Path) -> None:
    sources = ("/a/lamp.epub", "/a/lamp.pdf", "/a/lamp.mobi")
    copies = [
        book_from_text(f"{TEXT * 20} {n}", source=source, title="The Lamp", author="Jules Verne", year=1870)
        for n, source in enumerate(sources)
    ]
    bread = [book_from_text(f"{TEXT}{n}", source=n, title=n, author="Ann Miller") for n in ("Bread", "Poems")]
    index_books([*copies, *bread], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        shorts = {
            question: retriever.answer(question).short
            for question in (
                "Which books by Jules Verne do I have?",
                "Do I have The Lamp?",
                "Which books are from the 19th century?",
                "How many books are there?",
                "How many books by Ann Miller are there?",
            )
        }
    assert [*shorts.values()] == [
        "The Lamp",
        "Yes: The Lamp",
        "The Lamp (1870) (2 more without a year)",
        "3 (in 5 files)",
        "2",
    ]


def test_a_century_without_a_number_is_not_denied(retriever: Retriever) -> None:
    for century in ("last", "this", "0th"):
        request = SearchRequest(query=f"Which books are from the {century} century?")
        assert answer_catalog(request, retriever.store) is None


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the books that filters are compared with."""
    ids: list[str] = []

    def compare(where: Filter, payload: Mapping[str, Any]) -> bool:
        ids.append(payload["book_id"])
        return matches(where, payload)

    for module in (store_points, masks):
        monkeypatch.setattr(module, "matches", compare)
    return ids


def test_a_filter_is_compared_with_each_book_once(retriever: Retriever, compared: list[str]) -> None:
    request = SearchRequest(query="How many books are there?", where=Condition("year", "gte", 1880))
    answer = answer_catalog(request, retriever.store)
    assert answer and answer.shorts[0].text == "3"
    assert sorted(compared) == sorted(book.id for book in retriever.store.books())


def test_all_searches_for_a_question_compare_its_filter_once(retriever: Retriever, compared: list[str]) -> None:
    for _ in range(2):
        hits = retriever.search("Who lit the lamp?", where=Condition("year", "lte", 1880))
        assert {hit.title for hit in hits} == {"The Lamp", "The Reef"}
    assert sorted(compared) == sorted(book.id for book in retriever.store.books())


def test_a_filter_whose_list_was_changed_is_compared_anew(retriever: Retriever) -> None:
    years = [1870]
    where = Condition("year", "in", years)
    assert [book.title for book in retriever.store.books(where)] == ["The Lamp"]
    years.append(1900)
    assert [book.title for book in retriever.store.books(where)] == ["Bread", "The Lamp"]
