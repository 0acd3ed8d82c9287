"""Questions on a part of a book."""

from __future__ import annotations

import pytest

from nlb_retriever import Retriever, index_files

TOLD = "Old Kit walked to the harbour before dawn and counted the boats, as he always did. Nobody knew why.\n\n" * 3


def _parts() -> str:
    return "\n\n".join(
        f"## Part {part}\n\n" + "\n\n".join(f"### Chapter {number}\n\n{TOLD}" for number in range(1, many + 1))
        for part, many in (("One", 3), ("Two", 2))
    )


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    folder = tmp_path_factory.mktemp("naming")
    (folder / "The Ridge.md").write_text(f"# The Ridge\n\n{_parts()}\n")
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
