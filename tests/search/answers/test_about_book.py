"""Questions about a book as a whole: its author and its characters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nlb_retriever import Retriever, book_from_text, index_books, index_files
from nlb_retriever.records import Page, Section
from nlb_retriever.search.answers import about_book, naming
from nlb_retriever.store import Condition

WITH_TITLE_PAGE = """\
THE LAMP;

or, A KEEPER'S TALE

by Ada M. Writer

CHAPTER I.

The keeper lit the lamp and wrote a letter to Writer's Club. It was late.
"""
WITHOUT = "The bread rose.\n\nIt was eaten on Sunday by all of us. Who wrote the recipe, nobody knew."
BOOKS = (
    (WITH_TITLE_PAGE, "The Lamp; or, A Keeper's Tale", "Ada M. Writer", "en"),
    (WITHOUT, "Country Bread", "Jean Baker", "en"),
    (WITHOUT.replace("bread", "dough"), "Poems", "Ann One", "en"),
    (WITHOUT.replace("bread", "pain"), "Poems", "Zoe Two", "fr"),
    (WITHOUT.replace("bread", "scone"), "Nobody's Book", None, "en"),
    (WITHOUT.replace("bread", "rusk"), "Blank", " ", "en"),
)


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    library = tmp_path_factory.mktemp("authors") / "library"
    books = [
        replace(book_from_text(text, source=f"{title} {author}", title=title, author=author), language=language)
        for text, title, author, language in BOOKS
    ]
    index_books(books, library)
    return Retriever(library)


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote The Lamp?",
        "who wrote the lamp",
        "Who is the author of “The Lamp; or, A Keeper's Tale”?",
        "Who's the author of the novel 'Lamp'?",
        "Who are the authors of The Lamp?",
        "Who was the writer of the book called The Lamp ?",
        "Who wrote A Keeper's Tale?",
        "who wrote keeper's tale",
        "Who wrote Keeper's?",
    ],
)
def test_the_author_is_named_with_the_line_of_the_title_page(retriever: Retriever, question: str) -> None:
    answer = retriever.answer(question)
    assert (answer.found, answer.short, answer.text, answer.confidence) == (
        True,
        "Ada M. Writer",
        "by Ada M. Writer",
        "sure",
    )
    [citation] = answer.citations
    assert WITH_TITLE_PAGE[citation.quote_start : citation.quote_end] == "by Ada M. Writer"
    assert citation.hit.title == "The Lamp; or, A Keeper's Tale"


def test_a_book_without_a_title_page_is_cited_by_its_first_sentence(retriever: Retriever) -> None:
    answer = retriever.answer("Who wrote Country Bread?")
    assert (answer.short, answer.text) == ("Jean Baker", "It was eaten on Sunday by all of us.")


def test_no_encoder_is_loaded(retriever: Retriever, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **options: object) -> None:
        raise AssertionError

    monkeypatch.setattr("nlb_retriever.search.retriever.load_encoder", refuse)
    with Retriever(retriever.store.location) as fresh:
        assert fresh.answer("Who wrote The Lamp?").short == "Ada M. Writer"
        with pytest.raises(AssertionError):
            fresh.answer("Who ate the bread?")


def test_a_misspelt_title_is_found(tmp_path: Path) -> None:
    text = "Marigold lit the lamp. We ate with Marigold on Sunday."
    index_books([book_from_text(text, source="it", title="Marigold", author="Jean Baker")], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        answer = retriever.answer("Who wrote Marigodl?")
    assert (answer.short, answer.searched) == ("Jean Baker", "Who wrote Marigold?")


def test_the_author_of_a_poem_is_that_of_its_collection(tmp_path: Path) -> None:
    poem = "Here lies the keeper of a light that burned for forty winters on the sound."
    titles = ["PREFACE", "THE GULL", "ON HIS LAMP", "IV. TO A BELL"]
    text = "PREFACE\n\nThese verses were written at sea.\n\n" + "".join(
        f"{title}\n\n{poem}\n\nIt was his {title.lower()}.\n\n" for title in titles[1:]
    )

    starts = [*(text.index(f"{title}\n") for title in titles), len(text)]
    sections = [Section(path=(t,), start=s, end=e) for t, s, e in zip(titles, starts, starts[1:], strict=False)]

    def library(*authors: str | None) -> Retriever:
        books = [
            book_from_text(text, source=f"{n}", title=f"Verses {n}", author=author, sections=sections)
            for n, author in enumerate(authors)
        ]
        index_books(books, tmp_path / str(authors))
        return Retriever(tmp_path / str(authors))

    one = library("Ann One", None)
    assert one.answer("Who wrote On His Lamp?", book="Verses 0").short == "Ann One"
    answer = library("Ann One").answer("Who wrote “To a Bell”?")
    assert (answer.short, answer.text, answer.citations[0].hit.section) == ("Ann One", poem, ("IV. TO A BELL",))
    for retriever, question in (
        (one, "Who wrote On His Lamp?"),  # of two books
        (library("Various"), "Who wrote On His Lamp?"),
        (library("Ann One"), "Who wrote Preface?"),
        (library("Ann One"), "Who wrote On His Lantern?"),
    ):
        assert "Ann One" not in {short.text for short in retriever.answer(question).shorts}


def test_two_books_of_one_title_have_two_authors(retriever: Retriever) -> None:
    answer = retriever.answer("Who wrote Poems?")
    assert {short.text for short in answer.shorts} == {"Ann One", "Zoe Two"}
    for short in answer.shorts:
        assert answer.citations[short.citation].hit.author == short.text


def test_the_scope_decides_which_book_is_meant(retriever: Retriever) -> None:
    french = Condition("language", "eq", "fr")
    assert retriever.answer("Who wrote Poems?", where=french).short == "Zoe Two"
    assert retriever.answer("Who wrote this book?", book="Country Bread").short == "Jean Baker"
    assert retriever.answer("Who is the author of it?", book="Country Bread").short == "Jean Baker"
    for kind in ("paper", "report", "agreement", "judgment"):
        assert retriever.answer(f"Who wrote the {kind}?", book="Country Bread").short == "Jean Baker"
    for question, options in (
        ("Who wrote Country Bread?", {"where": french}),
        ("Who wrote Country Bread?", {"book": "The Lamp"}),
        ("Who wrote this book?", {}),
        ("Who wrote the recipe?", {"book": "Country Bread"}),
        ("Who wrote the letter?", {"book": "Country Bread"}),
        ("Who wrote the document that was eaten?", {"book": "Country Bread"}),
    ):
        assert retriever.answer(question, **options).short != "Jean Baker"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote a letter?",
        "Describe Country.",
        "Who wrote?",
        "Who wrote “”?",
    ],
)
def test_other_questions_are_answered_from_the_text(retriever: Retriever, question: str) -> None:
    authors = {author for _, _, author, _ in BOOKS}
    assert retriever.answer(question).short not in authors - {None}


def test_what_a_book_is_called_may_be_its_title(tmp_path: Path) -> None:
    texts = {"The Contract": "The cook is paid on Sunday.", "Lease": "The house is let. "}
    books = [book_from_text(text, source=title, title=title, author=f"{title} Inc") for title, text in texts.items()]
    index_books(books, tmp_path / "library")
    with Retriever(tmp_path / "library") as contracts:
        assert contracts.answer("What is the contract about?").text == texts["The Contract"]
        assert contracts.answer("Who wrote the contract?").short == "The Contract Inc"
        assert contracts.answer("What is the agreement about?", book="Lease").text == texts["Lease"].strip()


def test_a_report_that_a_novel_tells_of_is_not_the_novel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "The report was written by the sergeant on Sunday. The cook was arrested. "
    pages = [Page(start=0, number=1, label="1")]
    book = book_from_text(text, source="novel", title="The Cook", author="Ann One")
    paged = book_from_text(text, source="paper", title="The Baker", author="Ann One", pages=pages)
    index_books([book, paged], tmp_path / "library")
    monkeypatch.setattr(about_book, "LONG_BOOK", 10)
    monkeypatch.setattr(naming, "LONG_BOOK", 10)
    with Retriever(tmp_path / "library") as retriever:
        assert retriever.answer("Who wrote the report?", book=book.id).short != "Ann One"
        assert retriever.answer("Who wrote this report?", book=book.id).short == "Ann One"
        assert retriever.answer("Who wrote the book?", book=book.id).short == "Ann One"
        assert retriever.answer("Who wrote the report?", book=paged.id).short == "Ann One"


@pytest.mark.parametrize("title", ["Nobody's Book", "Blank"])
def test_an_author_who_is_not_known_is_nobody_else(retriever: Retriever, title: str) -> None:
    answer = retriever.answer(f"Who wrote {title}?")
    assert (answer.found, answer.text) == (False, f"The library does not know who wrote {title}.")
    assert (answer.short, answer.citations, answer.confidence) == (None, (), None)


STORY = """\
CHAPTER I.

Dickson McCunn walked out. "A fine day," said Dickson. Heritage was late. Heritage laughed. Dickson had a stick. Then
Saskia came, and Dickson looked at her. Heritage went home.

CHAPTER II.

Dickson went to bed and Dickson sat up; Heritage did not. "Who is there?" asked Saskia. Dickson thought of tea. Heritage
said no. Saskia smiled. Dickson McCunn slept, Dickson McCunn ate. "I was," said Saskia, and Saskia turned away.
"""


@pytest.fixture(scope="module")
def stories(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    library = tmp_path_factory.mktemp("characters") / "library"
    texts = {"The Tower; or, A Romance": STORY, "Country Bread": WITHOUT}
    index_books([book_from_text(text, source=title, title=title) for title, text in texts.items()], library)
    return Retriever(library)


@pytest.mark.parametrize(
    ("question", "options", "short"),
    [
        ("Who is the main character of The Tower?", {}, "Dickson McCunn"),
        ("Who's the hero in “The Tower”?", {}, "Dickson McCunn"),
        ("Who is the protagonist?", {"book": "The Tower"}, "Dickson McCunn"),
        ("who is the central character of the story", {"book": "The Tower"}, "Dickson McCunn"),
        ("Who are the characters in the novel The Tower?", {}, "Dickson McCunn, Heritage, Saskia"),
        ("main characters in The Tower", {}, "Dickson McCunn, Heritage, Saskia"),
        ("the characters of The Tower", {}, "Dickson McCunn, Heritage, Saskia"),
        ("Name three characters in The Tower", {}, "Dickson McCunn, Heritage, Saskia"),
        ("Can you tell me who the main characters of The Tower are?", {}, "Dickson McCunn, Heritage, Saskia"),
        ("List all the main characters.", {"book": "The Tower"}, "Dickson McCunn, Heritage, Saskia"),
    ],
)
def test_characters_are_named_with_the_sentences_that_name_them(
    stories: Retriever, question: str, options: dict[str, str], short: str
) -> None:
    answer = stories.answer(question, **options)  # type: ignore[arg-type]
    assert answer.short == short
    for name, citation in zip(short.split(", "), answer.citations, strict=False):
        assert citation.answer
        start, end = citation.answer
        assert STORY[start:end] == name
        assert citation.quote_start <= start < end <= citation.quote_end
    assert answer.citations[0].quote == "Dickson McCunn walked out."


def test_a_preface_does_not_tell_of_characters(tmp_path: Path) -> None:
    path = tmp_path / "tower.md"
    preface = "# Preface\n\nThe phrases of Dickson McCunn are kept as they were printed."
    path.write_text(f"{preface}\n\n{STORY.replace('CHAPTER', '# CHAPTER')}", encoding="utf-8")
    index_files([path], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        assert retriever.answer("Who is the hero?").citations[0].quote == "Dickson McCunn walked out."


def test_two_who_do_as_much_are_both_named(tmp_path: Path) -> None:
    text = "Anna said no. Otto said yes. " * 6 + "Berta laughed. " * 5
    index_books([book_from_text(text, source="duet", title="Duet")], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        answer = retriever.answer("Who is the protagonist?")  # the only book of the library
        assert [short.text for short in answer.shorts] == ["Anna", "Otto"]


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ("Who are the characters?", {}),  # of which book?
        ("Who are the characters in Emma?", {}),  # no such book
        ("Who are the characters in The Tower?", {"book": "Country Bread"}),
        ("Who is the main character?", {"book": "Country Bread"}),  # it has none
        ("Who is the hero's friend?", {"book": "The Tower"}),
    ],
)
def test_who_is_not_known_is_looked_for_in_the_text(stories: Retriever, question: str, options: dict[str, str]) -> None:
    answer = stories.answer(question, **options)  # type: ignore[arg-type]
    assert answer.short != "Dickson McCunn, Heritage, Saskia"
    assert "Dickson McCunn walked out." not in [citation.quote for citation in answer.citations]


def test_what_comes_later_is_not_told(stories: Retriever) -> None:
    early = stories.answer("Who are the characters in The Tower?", book="The Tower", before="2")
    assert early.short == "Dickson McCunn"
    assert all(citation.quote_end <= STORY.index("CHAPTER II.") for citation in early.citations)
    late = stories.answer("How does The Tower begin?", book="The Tower", section="2")
    assert [citation.quote.split(" and ")[0] for citation in late.citations] == ["Dickson went to bed"]


def test_no_more_sentences_are_quoted_than_wanted(stories: Retriever) -> None:
    answer = stories.answer("Who are the characters in The Tower?", limit=1)
    assert (answer.short, len(answer.citations)) == ("Dickson McCunn, Heritage, Saskia", 1)
    assert answer.text == answer.citations[0].quote
