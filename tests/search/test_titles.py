"""Books that a query names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nlb_retriever import Condition, Retriever, book_from_text, index_books
from nlb_retriever.records import BookRecord
from nlb_retriever.search import titles
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.titles import (
    find_named,
    is_in_title,
    is_titled,
    is_titled_by,
    narrow_to_title,
    split_byline,
    without_copies,
)
from tests.texts import KITCHEN, LIGHTHOUSE


def _book(title: str, author: str | None = None) -> BookRecord:
    return BookRecord(
        id=title,
        uuid=title,
        version="1",
        title=title,
        author=author,
        language=None,
        year=None,
        source=title,
        content_hash="",
        sections=1,
        passages=1,
        chars=1,
        tokens=1,
    )


_BOOKS = [
    _book("Moby-Dick; or, The Whale", "Herman Melville"),
    _book("The Age of Innocence", "Edith Wharton"),
    _book("As You Like It"),
    _book("Summer", "Edith Wharton"),
    _book("Emma: A Novel", "Jane Austen"),
    _book("Ο Ζητιάνος"),
    _book("!?"),
    _book("Frankenstein or, The Modern Prometheus", "Mary Shelley"),
    _book("Almayer’s Folly", "Conrad, Joseph"),
]


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("moby dick", ["Moby-Dick; or, The Whale"]),
        ("Moby Dick by Herman Melville", ["Moby-Dick; or, The Whale"]),
        ("Melville: Moby-Dick; or, the whale", ["Moby-Dick; or, The Whale"]),
        ("Age of Innocence", ["The Age of Innocence"]),
        ("as you like it?", ["As You Like It"]),
        ("Edith Wharton", ["The Age of Innocence", "Summer"]),
        ("summer", ["Summer"]),
        ("ο ζητιάνος", ["Ο Ζητιάνος"]),
        ("almayer's folly", ["Almayer’s Folly"]),
        ("Joseph Conrad", ["Almayer’s Folly"]),
        ("Joseph Conrad Almayers Folly", ["Almayer’s Folly"]),
        ("frankenstein", ["Frankenstein or, The Modern Prometheus"]),
        ("a summer by the sea", []),
        ("Wharton", []),
        ("the whale", []),
        ("who is Emma", []),
        ("by", []),
        ("...", []),
    ],
)
def test_a_title_or_an_author_names_a_book(query: str, titles: list[str]) -> None:
    assert [book.title for book in find_named(query, _BOOKS)] == titles


def test_a_named_book_comes_first_within_the_scope(tmp_path: Path) -> None:
    texts = {"Bread and Salt": LIGHTHOUSE, "The Keeper of the Lighthouse": KITCHEN}
    index_books([book_from_text(text, source=title, title=title) for title, text in texts.items()], tmp_path)
    retriever = Retriever(tmp_path)
    for query, first in (
        ("keeper of the lighthouse", "The Keeper of the Lighthouse"),
        ("the keeper of a lighthouse", "Bread and Salt"),
    ):
        hits = retriever.search(query, level="book")
        assert [hit.title for hit in hits] == sorted(texts, key=lambda title: title != first)
    other = retriever.search("keeper of the lighthouse", level="book", where=Condition("title", "eq", "Bread and Salt"))
    assert [hit.title for hit in other] == ["Bread and Salt"]


@pytest.mark.parametrize(
    ("title", "named"),
    [
        ("Age of Innocence", True),
        ("of innocence", True),
        ("Innocence", True),
        ("the Innocence", True),
        ("the innocence", False),
        ("innocence", False),
        ("The Age", True),
        ("Innocence Age", False),
        ("", False),
        ("?!", False),
    ],
)
def test_some_words_of_a_title_name_it_too(title: str, named: bool) -> None:
    assert is_in_title(_BOOKS[1], title) is named


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("Emma by Jane Austen", "Emma: A Novel"),
        ("Austen's Emma", "Emma: A Novel"),
        ("Herman Melville’s Moby Dick", "Moby-Dick; or, The Whale"),
        ("Wharton's Innocence", "The Age of Innocence"),
        ("innocence, by Edith Wharton", "The Age of Innocence"),
        ("Wharton's The Age of Innocence", "The Age of Innocence"),
        ("Almayer's Folly by Joseph Conrad", "Almayer’s Folly"),
        ("Shakespeare's As You Like It", None),  # it names no author
        ("As's You Like It", "As You Like It"),
        ("Austen's Summer", None),
        ("Emma by", None),
        ("by Jane Austen", None),
        ("Jane Austen's", None),
    ],
)
def test_a_title_with_its_author_names_a_book(name: str, title: str | None) -> None:
    assert [book.title for book in _BOOKS if is_titled_by(book, name)] == ([title] if title else [])


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retriever]:
    folder = tmp_path_factory.mktemp("shelf")
    texts = {
        "Bread and Salt": KITCHEN,
        "Lanterns; or, The Keeper": LIGHTHOUSE,
        "Twice": KITCHEN + ".",
        "twice": "One.",
        "The Adventures of Ada Finn": "Two.",
        "The Further Adventures of Tim": "Three.",
        "Oil Keeping Licence": LIGHTHOUSE + ".",
    }
    books = [
        book_from_text(text, source=title, title=title, author="Mary Baker" if title == "Bread and Salt" else None)
        for title, text in texts.items()
    ]
    index_books(books, folder)
    with Retriever(folder) as retriever:
        yield retriever


@pytest.mark.parametrize(
    ("question", "title", "asked"),
    [
        ("Who is the cook in Bread and Salt?", "Bread and Salt", "Who is the cook?"),
        ("who is the cook in bread and salt", "Bread and Salt", "who is the cook?"),
        ("Who lives in a tower in the novel “Bread and Salt”?", "Bread and Salt", "Who lives in a tower?"),
        ("In Bread and Salt, what is in the oven?", "Bread and Salt", "What is in the oven?"),
        ("Who is Jonas in Lanterns?", "Lanterns; or, The Keeper", "Who is Jonas?"),
        ("In which tower does Jonas sleep in Bread and Salt?", "Bread and Salt", "In which tower does Jonas sleep?"),
        ("Who believes in Lanterns?", "Lanterns; or, The Keeper", "Who believes in Lanterns?"),
        ("Who believes in lanterns?", None, None),
        ("What is a keeper in Lanterns?", "Lanterns; or, The Keeper", "What is a keeper?"),
        ("Who may sleep under the Oil Licence?", "Oil Keeping Licence", "Who may sleep under the Oil Licence?"),
        ("Who may sleep under the OKL?", "Oil Keeping Licence", "Who may sleep under the OKL?"),
        ("What is a keeper under the OKL?", "Oil Keeping Licence", "What is a keeper?"),
        ("What is “oil” in the OKL?", "Oil Keeping Licence", "What is “oil”?"),
        ("What is oil in the OK?", None, None),
        ("Who may sleep in the OKX?", None, None),
        ("Who sleeps under the oil?", None, None),
        ("Who lives in a tower under Bread and Salt?", "Bread and Salt", "Who lives in a tower?"),
        ("who is jonas in lanterns", "Lanterns; or, The Keeper", "who is jonas?"),
        ("who keeps the light in lanterns?", None, None),
        ("who is the keeper in lanterns", None, None),
        ("Who is Jonas in Twice?", None, None),
        ("Who is the cook in Salt and Bread?", None, None),
        ("In Bread and Salt?", None, None),
        ("the cook in Bread and Salt", None, None),
        ("Who is Jim in Ada Finn?", "The Adventures of Ada Finn", "Who is Jim?"),
        ("What does Pap want in Ada Finn?", "The Adventures of Ada Finn", "What does Pap want in Ada Finn?"),
        ("What does Bread and Salt say about love?", "Bread and Salt", "Tell me about love"),
        ("What does the OKL say about lamps?", "Oil Keeping Licence", "Tell me about lamps"),
        ("What does Lanterns say about oil?", "Lanterns; or, The Keeper", "What does Lanterns say about oil?"),
        ("What does Mary Baker say about love in Bread and Salt?", "Bread and Salt", "Tell me about love"),
        ("What does Baker say about love in Bread and Salt?", "Bread and Salt", "Tell me about love"),
        ("What does the cook say about tea in Bread and Salt?", "Bread and Salt", "What does the cook say about tea?"),
        ("What does “” say about oil in Bread and Salt?", "Bread and Salt", "What does “” say about oil?"),
        (
            "What does Al say about oil in Lanterns?",
            "Lanterns; or, The Keeper",
            "What does Al say about oil in Lanterns?",
        ),
        ("Describe Pap in Ada Finn", "The Adventures of Ada Finn", "Describe Pap"),
        ("What does Pap want in ada finn?", None, None),
        ("What does Pap want in Finn?", None, None),
        ("Who is Jim in Adventures of?", None, None),
        ("Find a quote about the sea in Bread and Salt.", "Bread and Salt", "Find a quote about the sea"),
        ("give me a quote about love from bread and salt", "Bread and Salt", "give me a quote about love"),
        ("Tell me about Jonas in the novel Lanterns", "Lanterns; or, The Keeper", "Tell me about Jonas"),
        ("Tell me about Jonas in the Lanterns", "Lanterns; or, The Keeper", "Tell me about Jonas"),
        ("Tell me about life in the lanterns", None, None),
        ("Find where Jonas sleeps in Lanterns", "Lanterns; or, The Keeper", "Find where Jonas sleeps"),
        ("quotes about light in Lanterns", "Lanterns; or, The Keeper", "quotes about light"),
        ("In Bread and Salt, find a quote about love", "Bread and Salt", "Find a quote about love"),
        ("Describe life in Twice", None, None),
        ("Tell me about life in lanterns", None, None),
        ("Find Bread and Salt", None, None),
        ("Find it in Bread and Salt" + " in" * 200, None, None),
    ],
)
def test_a_question_that_names_a_book_is_put_to_it(
    shelf: Retriever, question: str, title: str | None, asked: str | None
) -> None:
    request = narrow_to_title(SearchRequest(query=question), shelf.store)
    assert request.query == (asked or question)
    assert (shelf.store.find_book(request.book).title if request.book else None) == title


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("What does the oil keeping licence require?", "Oil Keeping Licence"),
        ("Does the OKL allow lamps?", "Oil Keeping Licence"),
        ("What does bread and salt say about love?", None),
        ("What is the term of the oil keeping licence?", "Oil Keeping Licence"),
        ("What is the fine for infringing the OKL?", "Oil Keeping Licence"),
        ("What is the colour of Bread and Salt?", None),
        ("What is the difference between bread and the OKL?", None),
        ("What is the fine for infringing the OKX?", None),
        ("What is the capital of the OK?", None),
        ("WHAT IS THE FINE OF OIL?", None),
        ("What does the keeper say about lamps?", None),
    ],
)
def test_a_text_that_is_no_tale_may_be_named_otherwise(shelf: Retriever, question: str, title: str | None) -> None:
    request = narrow_to_title(SearchRequest(query=question), shelf.store)
    assert request.query == question
    assert (shelf.store.find_book(request.book).title if request.book else None) == title


def test_the_answer_keeps_the_question_as_it_was_put(shelf: Retriever) -> None:
    answer = shelf.answer("Who keeps the light in Lanterns?")
    assert answer.question == "Who keeps the light in Lanterns?"
    assert {citation.hit.title for citation in answer.citations} == {"Lanterns; or, The Keeper"}


@pytest.mark.parametrize("scope", [{"book": "Lanterns"}, {"where": Condition("title", "eq", "Twice")}])
def test_a_scope_that_is_given_stays(shelf: Retriever, scope: dict[str, Any]) -> None:
    request = SearchRequest(query="Who is the cook in Bread and Salt?", **scope)
    assert narrow_to_title(request, shelf.store) == request


def _copy(title: str, author: str | None, tokens: int, year: int | None = None) -> BookRecord:
    return replace(_book(title, author), id=f"{title}{author}{tokens}{year}", tokens=tokens, year=year)


@pytest.mark.parametrize(
    ("books", "kept"),
    [
        ([_copy("Emma: A Novel", "Jane Austen", 1_000), _copy("Emma", "Austen, Jane", 1_060, 1815)], [1]),
        ([_copy("Emma", None, 1_000), _copy("Emma", "Jane Austen", 1_060)], [1]),
        ([_copy("Emma", None, 1_000), _copy("Emma", None, 990), _copy("Summer", None, 990)], [0, 2]),
        ([_copy("Poems", "Ann One", 1_000), _copy("Poems", "Zoe Two", 1_000)], [0, 1]),
        ([_copy("Poems", "Ann One", 1_000), _copy("Poems", "Ann One", 1_500)], [0, 1]),
        ([], []),
    ],
)
def test_of_copies_of_a_book_one_is_named(books: list[BookRecord], kept: list[int]) -> None:
    assert without_copies(books) == [books[i] for i in kept]


def test_questions_on_a_book_with_copies_are_answered(tmp_path: Path) -> None:
    index_books(
        [
            book_from_text(f"{LIGHTHOUSE}\n{note}", source=note, title="Lanterns", author="Ann One")
            for note in ("Scanned.", "Proofread.")
        ],
        tmp_path,
    )
    with Retriever(tmp_path) as retriever:
        assert retriever.answer("How long is Lanterns?").short.endswith("words")
        answer = retriever.answer("Who keeps the light in Lanterns?")
        assert len({citation.hit.book_id for citation in answer.citations}) == 1


def test_a_file_s_name_is_a_title_too() -> None:
    book = replace(_book("General Public License"), source="/laws/GPL-2.txt")
    assert is_titled(book, "the GPL 2")
    assert not is_titled(book, "GPL")


@pytest.mark.parametrize("name", ["Mark Twain - The Jumping Frog.txt", "The_Jumping_Frog_-_Mark_Twain.epub"])
def test_a_file_may_be_named_by_author_and_title(name: str) -> None:
    book = replace(_book("Mark Twain The Jumping Frog"), source=f"/books/{name}")
    assert is_titled(book, "the jumping frog") and is_titled(book, "Jumping Frog")
    assert not is_titled(book, "Frog")


@pytest.mark.parametrize(
    ("heading", "title", "author"),
    [
        ("THE LAMP. BY ADA WRITER", "THE LAMP", "ADA WRITER"),
        ("“The Lamp” _—_ by Ada Writer.", "“The Lamp” _", "Ada Writer"),
        ("The Lamp, by Order of the King", "The Lamp, by Order of the King", None),
        ("The Lamp. By the sea", "The Lamp. By the sea", None),
        ("_" * 5_000, "_" * 5_000, None),
    ],
)
def test_a_heading_may_name_its_author(heading: str, title: str, author: str | None) -> None:
    assert split_byline(heading) == (title, author)


def test_books_of_one_title_by_others_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[BookRecord, BookRecord]] = []
    monkeypatch.setattr(titles, "_is_as_long", lambda *pair: bool(compared.append(pair)))
    books = [_book("Report", f"Author {number}x") for number in range(50)]
    assert without_copies(books) == books
    assert compared == []


def test_a_blank_between_letters_and_digits_does_not_count() -> None:
    book = replace(_BOOKS[0], title="Rfc9110", source="/books/rfc9110.txt")
    assert is_titled(book, "RFC 9110")
    assert not is_titled(book, "RFC 911")
