"""Who somebody is, found in all of a book."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever import Retriever, book_from_text, index_books

TEXTS = {
    "Ship": """\
CHAPTER I.

Starbuck laughed, and Starbuck sang. Everybody liked Starbuck. Mrs. Hall came on deck, and Starbuck waved at her. Where
Starbuck was, there was singing, and Starbuck knew it. Hall, the smith, was silent.

CHAPTER II.

The storm went on. Starbuck, the chief mate of the ship, stood at the wheel. My friend Ilsa held the lamp. Mrs. Hall,
the cook, was below. She spoke of a daughter of Ilsa, and of the kindness of Starbuck.

CHAPTER III.

Mr. Tom Reed was a painter. Nobody had told us. "He is your uncle, Ilsa," said Tom, "and Gregor is his dog."
""",
    "Brig": "“For _you_ too have a boy, Captain Voss—a child,” said the cook. Captain Voss is the captain of the brig.",
    "Barn": "My father, Nora, and the others came. Nora said that she was cold. Nora took her coat. Nora hid her face.",
    "Farm": "Starbuck is an old horse. He eats oats. Nobody rides Starbuck, and the farm is quiet in winter."
    " Mr. King, the grocer, came on Sunday.",
}


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    library = tmp_path_factory.mktemp("who") / "library"
    index_books([book_from_text(text, source=title, title=title) for title, text in TEXTS.items()], library)
    return Retriever(library)


@pytest.mark.parametrize(
    ("question", "book", "short"),
    [
        ("Who is Starbuck?", "Ship", "chief mate of the ship"),
        ("who was Starbuck", "Ship", "chief mate of the ship"),
        ("Who is Starbuck?", "Farm", "old horse"),
        ("Who is Mrs. Hall?", "Ship", "cook"),
        ("Who is Mr. Hall?", "Ship", "smith"),
        ("Who is Tom Reed?", "Ship", "painter"),
        ("Who is Ilsa?", "Ship", "friend"),
        ("Who is Mr. King?", "Farm", "grocer"),
        ("Who is Captain Voss?", "Brig", "captain of the brig"),
    ],
)
def test_a_sentence_says_who_somebody_is(retriever: Retriever, question: str, book: str, short: str) -> None:
    answer = retriever.answer(question, book=book)
    assert answer.short == short
    cited = answer.citations[answer.shorts[0].citation]
    assert cited.answer is not None
    assert short in " ".join(TEXTS[book][slice(*cited.answer)].split())
    assert cited.quote_start <= cited.answer[0] < cited.answer[1] <= cited.quote_end


def test_she_is_nobodys_father(retriever: Retriever) -> None:
    answer = retriever.answer("Who is Nora?", book="Barn")
    assert answer.found
    assert "father" not in (answer.short or "")


def test_small_letters_do_as_well(retriever: Retriever) -> None:
    for question in ("who is starbuck?", "whos starbuck"):
        answer = retriever.answer(question, book="Ship")
        assert (answer.question, answer.short) == (question, "chief mate of the ship")


def test_without_a_book_that_of_the_best_passage_is_read(retriever: Retriever) -> None:
    answer = retriever.answer("Who is Starbuck?")
    assert answer.short in {"chief mate of the ship", "old horse"}
    assert len({citation.hit.book_id for citation in answer.citations}) == 1


def test_what_comes_later_is_not_told(retriever: Retriever) -> None:
    answer = retriever.answer("Who is Starbuck?", book="Ship", before="CHAPTER II.")
    assert answer.short is None
    assert "mate" not in answer.text
    assert retriever.answer("Who is Tom Reed?", book="Ship", section="CHAPTER II.").short is None


def test_no_more_sentences_are_quoted_than_wanted(retriever: Retriever) -> None:
    answer = retriever.answer("Who is Starbuck?", book="Ship", limit=1)
    assert (answer.short, len(answer.citations)) == ("chief mate of the ship", 1)


def test_a_library_without_the_name_says_so(tmp_path: Path) -> None:
    index_books([book_from_text(TEXTS["Farm"], source="farm", title="Farm")], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        assert not retriever.answer("Who is Captain Ahab?").found
