"""Questions on a part of a book are put to the sections of that part."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever import Retriever, book_from_text, index_books, index_files
from nlb_retriever.search.answers.narrowing import narrow_to_part
from nlb_retriever.search.request import SearchRequest

GUIDE = """# Portugal on Foot

## Part I

### Porto

#### Where to Eat

Try a francesinha at the Café Santiago.

#### Where to Stay

Pensão Favorita has a garden.

## Part II

### Faro

#### Where to Eat

The Tertúlia does a cataplana of clams.

#### Where to Stay

The Hotel Eva looks on the marina.

### Braga

Braga has one museum, and a hotel beside it.
"""


@pytest.fixture(scope="module")
def guide(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    folder = tmp_path_factory.mktemp("guide")
    (folder / "portugal.md").write_text(GUIDE, encoding="utf-8")
    index_files([folder], folder / "library")
    return Retriever(folder / "library")


@pytest.mark.parametrize(
    ("question", "section", "put"),
    [
        ("Where can I eat in Faro?", "Faro", "Where can I eat?"),
        ("Where can I stay by the sea in part 2?", "part 2", "Where can I stay by the sea?"),
        ("Where can I sleep in a hotel in Part II?", "Part II", "Where can I sleep in a hotel?"),
        ("Where is the museum in Braga?", None, None),  # one section is not all on a town
        ("Where can I eat in part 3?", None, None),
        ("In part 2, where can I stay?", "part 2", "where can I stay?"),
        ("Where can I stay in part 2 of Portugal on Foot?", "part 2", "Where can I stay?"),
        ("Where can I eat in Lisbon?", None, None),
        ("Where can I eat?", None, None),
        ("in Faro", None, None),
    ],
)
def test_a_question_is_put_to_the_part_that_it_ends_with(
    guide: Retriever, question: str, section: str | None, put: str | None
) -> None:
    request = narrow_to_part(SearchRequest(query=question, book="Portugal on Foot"), guide.store)
    assert (request.section, request.query) == (section, put or question)


def test_without_a_book_and_with_a_section_it_stays(guide: Retriever) -> None:
    for scope in ({}, {"book": "Portugal on Foot", "section": "Part I"}):
        request = SearchRequest(query="Where can I eat in Faro?", **scope)  # type: ignore[arg-type]
        assert narrow_to_part(request, guide.store) == request


def test_an_answer_is_of_the_part_that_is_named(guide: Retriever) -> None:
    answer = guide.answer("Where should I stay in Faro?", book="Portugal on Foot")
    assert answer.citations[0].quote == "The Hotel Eva looks on the marina."


@pytest.mark.parametrize(
    ("question", "book"),
    [
        ("What does Lady Orrin say in Act 1, Scene 2?", "Orrin"),
        ("What does the lady say in Act I Scene 2 of Orrin?", "Orrin"),
        ("What does Anna say to Otto in the second act?", "Anna and Otto"),
        ("What does Anna say in Act 1 Scene 2?", None),
        ("What does Lady Orrin say in Act 3?", None),
        ("Where does Lady Orrin go in Lent?", None),
    ],
)
def test_the_names_in_a_question_may_tell_the_book(tmp_path: Path, question: str, book: str | None) -> None:
    scene = "\n\nThe lamp burns on the stairs, and a lady waits for news of the war." * 8
    play = "".join(f"ACT {act}\n\nSCENE 1\n\n{scene}\n\nSCENE 2\n\n{scene}\n\n" for act in ("I", "II"))
    books = [book_from_text(play, source=title, title=title) for title in ("Orrin", "Anna and Otto")]
    index_books(books, tmp_path / "library")
    retriever = Retriever(tmp_path / "library")
    request = narrow_to_part(SearchRequest(query=question), retriever.store)
    named = {each.id: each.title for each in retriever.store.books()}
    assert named.get(str(request.book)) == book
    assert (request.section is not None) == (book is not None)
