"""The questions on books that come with the package: their offsets, and examples made of them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from nlb_training.reader.book_questions import book_examples, read_book_questions
from nlb_training.reader.candidates import Candidates, Found
from nlb_training.reader.examples import Example
from nlb_training.reader.sources import read_train_books

PARTS = ("train", "held", "other")


def test_no_book_is_in_two_parts_and_no_question_is_empty() -> None:
    parts = [read_book_questions(part) for part in PARTS]
    books = [{row["book_file"] for row in rows} for rows in parts]
    assert not books[0] & books[1] and not books[0] & books[2] and not books[1] & books[2]
    for row in (row for rows in parts for row in rows):
        assert row["question"].endswith("?") and row["answers"][0]
    assert len({row["id"] for rows in parts for row in rows}) == sum(map(len, parts))


def test_answers_lie_in_the_evidence_as_whole_words(data_dir: Path) -> None:
    rows = [row for part in PARTS for row in read_book_questions(part)]
    texts = read_train_books(data_dir, {row["book_file"] for row in rows})
    assert len(texts) == len({row["book_file"] for row in rows})
    for row in rows:
        text = texts[row["book_file"]]
        (low, high), *_ = row["evidence_spans"]
        assert text[low:high].strip() == text[low:high] != ""
        for start, end in row["answer_spans"]:
            assert low <= start < end <= high
            assert text[start:end].strip() == text[start:end]


WOODS = ("cedar", "walnut", "oak", "maple", "birch", "rowan", "willow", "ebony")
TEXT = "".join(
    f"Page {page}. Ruth kept her silver thimble in {wood}. {'She slept. ' * 400}" for page, wood in enumerate(WOODS)
)
STARTS = [TEXT.index(f"Page {page}.") for page in range(8)]


def _row(page: int, answer: str) -> dict[str, Any]:
    evidence = STARTS[page], TEXT.index("She slept", STARTS[page]) - 1
    start = TEXT.index(answer, STARTS[page])
    return {
        "id": "books-1",
        "question": "Where did Ruth hide what she sewed with?",
        "book_file": "ruth.txt",
        "answers": [answer],
        "evidence_spans": [evidence],
        "answer_spans": [(start, start + len(answer))],
    }


def _examples(row: dict[str, Any], pages: list[int], negatives: int = 2) -> list[Example]:
    found = tuple(
        Found(file="ruth.txt", start=STARTS[page], end=STARTS[page] + 70, score=1.0, text=TEXT[STARTS[page] :][:70])
        for page in pages
    )
    candidates = {row["id"]: Candidates(id=row["id"], found=found)}
    draw = random.Random(0)
    return list(book_examples([row], {"ruth.txt": TEXT}, candidates, draw, negatives=negatives, lengths=(60,)))


def test_the_passage_with_the_evidence_is_right_and_others_are_wrong() -> None:
    [example] = _examples(_row(3, "maple"), [1, 3, 5])
    right, *wrong = example.candidates
    assert (example.source, right.relevant, [each.relevant for each in wrong]) == ("books", True, [False, False])
    assert [right.text[start:end] for start, end in right.spans] == ["maple"]
    assert all("maple" not in each.text for each in wrong)


@pytest.mark.parametrize(("answer", "pages"), [("silver thimble", [1, 3, 5]), ("maple", [1, 2, 4])])
def test_a_passage_that_may_answer_is_not_wrong_and_without_a_right_one_there_is_nothing(
    answer: str, pages: list[int]
) -> None:
    assert not _examples(_row(3, answer), pages)
