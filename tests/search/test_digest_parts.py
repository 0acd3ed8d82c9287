"""Chapters and verses by the part that they are in, and parts that a book has not."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever import Retriever, book_from_text, index_books
from nlb_retriever.reading import read_book

DEEDS = (
    "Anna found a letter under the floor of the old mill.",
    "The miller said that her father was alive.",
    "She took the ferry to the island with her brother.",
    "The ferryman stole the letter and rowed away in the fog.",
    "Her brother saw a light in the chapel on the hill.",
    "She broke the door of the chapel with an axe.",
    "The father lay bound beside the altar, and she cut the ropes.",
    "All of them sailed home on a raft of barrels.",
    "The ferryman was arrested by the constable at the pier.",
    "Anna burnt the letter and married the miller.",
)
SCRIPTURE = "\n\n".join(
    f"{book}\n\n"
    + "\n\n".join(f"{chapter}:{verse} {DEEDS[verse - 1]}" for chapter in (1, 2, 3) for verse in range(1, 11))
    for book in ("Psalms", "1 Travels", "2 Travels")
)


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    library = tmp_path_factory.mktemp("parts") / "library"
    index_books([book_from_text(SCRIPTURE, source="scripture", title="Scripture")], library)
    return Retriever(library)


@pytest.mark.parametrize("chapter", ["1 Travels 3", "First Travels 3", "chapter 3 of I Travels"])
def test_one_of_several_parts_is_named_with_its_number(retriever: Retriever, chapter: str) -> None:
    answer = retriever.answer(f"What happens in {chapter}?")
    assert {citation.hit.section for citation in answer.citations} == {("1 Travels", "Chapter 3")}


@pytest.mark.parametrize("options", [{}, {"book": "Scripture"}])
def test_a_verse_is_quoted(retriever: Retriever, options: dict[str, str]) -> None:
    answer = retriever.answer("What does Psalm 2:10 say?", **options)  # type: ignore[arg-type]
    assert [citation.quote for citation in answer.citations] == [f"2:10 {DEEDS[9]}"]
    assert answer.citations[0].hit.section == ("Psalms", "Chapter 2")
    assert not retriever.answer("What does Psalm 2:11 say?", **options).found  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("verses", "last"),
    [("Psalm 2:3-5", 5), ("Psalm 2:3 – 5", 5), ("1 Travels 2:3-5", 5), ("Second Travels 2:3-12", 10)],
)
def test_verses_in_a_row_are_quoted_together(retriever: Retriever, verses: str, last: int) -> None:
    for question in (f"What does {verses} say?", f"What is in {verses}?"):
        answer = retriever.answer(question, book="Scripture")
        text = "\n\n".join(f"2:{verse} {DEEDS[verse - 1]}" for verse in range(3, last + 1))
        assert "\n\n".join(citation.quote for citation in answer.citations) == text


def test_a_verse_may_have_its_own_number_alone(tmp_path: Path) -> None:
    text = "\n\n".join(
        f"{'' if chapter > 1 else '# ' + book}\n\n## Chapter {chapter}\n\n"
        + "\n\n".join(f"{verse} {deed}" for verse, deed in enumerate(DEEDS, 1))
        for book in ("Songs", "Psalms")
        for chapter in (1, 2, 3)
    )
    (tmp_path / "psalms.md").write_text(text)
    index_books([read_book(tmp_path / "psalms.md")], tmp_path / "library")
    answer = Retriever(tmp_path / "library").answer("What does Psalm 2:3-4 say?")
    assert [each.quote for each in answer.citations] == [f"3 {DEEDS[2]}\n\n4 {DEEDS[3]}"]
    assert {each.hit.section[-1] for each in answer.citations} == {"Chapter 2"}
