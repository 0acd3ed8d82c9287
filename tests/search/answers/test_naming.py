"""Questions on a part of a book, and on what stands before and behind a chapter or tale."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever import Retriever, index_files

TOLD = "Old Kit walked to the harbour before dawn and counted the boats, as he always did. Nobody knew why.\n\n" * 3


def _parts() -> str:
    return "\n\n".join(
        f"## Part {part}\n\n" + "\n\n".join(f"### Chapter {number}\n\n{TOLD}" for number in range(1, many + 1))
        for part, many in (("One", 3), ("Two", 2))
    )


def _sections(*titles: str) -> str:
    return "\n\n".join(f"## {title}\n\n{TOLD}" for title in titles)


BOOKS = {
    "The Ridge": _parts(),
    "Tales of the Marsh": _sections("The Lamp", "The Two Millers", "The Grey Goose"),
    "The Mill": _sections("I", "II", "III"),
}


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    folder: Path = tmp_path_factory.mktemp("naming")
    for title, text in BOOKS.items():
        (folder / f"{title}.md").write_text(f"# {title}\n\n{text}\n")
    index_files([folder], folder / "library")
    return Retriever(folder / "library")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many chapters are in part two of The Ridge?", "2"),
        ("How many chapters does the first part of The Ridge have?", "3"),
        ("How many chapters are in part three of The Ridge?", None),
    ],
)
def test_the_chapters_of_a_part_are_counted(retriever: Retriever, question: str, answer: str | None) -> None:
    assert retriever.answer(question).short == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which story comes after The Lamp?", "The Two Millers"),
        ("What tale precedes The Grey Goose in Tales of the Marsh?", "The Two Millers"),
        ("Which chapter comes before Part Two of The Ridge?", "Chapter 3"),
        ("What is the next chapter after chapter 2 of The Mill?", "III"),
        ("Which story comes after the war?", None),
    ],
)
def test_the_chapter_or_tale_beside_one_is_named(retriever: Retriever, question: str, answer: str | None) -> None:
    assert retriever.answer(question).short == answer


def test_nothing_stands_behind_the_last_tale(retriever: Retriever) -> None:
    answer = retriever.answer("Which story follows The Grey Goose?")
    assert (answer.found, answer.text) == (False, "That is the last story of Tales of the Marsh.")
    answer = retriever.answer("Which story follows The Lamp?", book="Tales", before="The Two Millers")
    assert "Millers" not in answer.text
