"""Rows are read as users write them; what cannot be used is named with its line."""

from __future__ import annotations

import bz2
import json
from pathlib import Path
from typing import Any

import pytest

from nlb_retriever.errors import QueryError
from nlb_training.evaluation.rows import keep_within, read_rows


def write(file: Path, *rows: Any) -> Path:
    file.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return file


def test_the_three_shapes_of_a_row(tmp_path: Path) -> None:
    file = write(
        tmp_path / "own.jsonl",
        {"query": "one span", "file": "a.txt", "start": 3, "end": 9},
        {"query": "more spans", "file": "a.txt", "spans": [[0, 2], [5, 9]], "group": "tale"},
        {"query": "the book", "file": "a.txt"},
    )
    rows = read_rows(file).rows
    assert [row.spans for row in rows] == [((3, 9),), ((0, 2), (5, 9)), ()]
    assert [row.group for row in rows] == ["a.txt", "tale", "a.txt"]


def test_a_packed_file_is_read_like_a_plain_one(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl.bz2"
    file.write_bytes(bz2.compress(b'{"question": "Who?", "book_file": "a.txt", "evidence_spans": [[1, 2]]}\n'))
    assert read_rows(file).rows[0].query == "Who?"


def test_lines_that_cannot_be_used_are_named_and_the_others_count(tmp_path: Path) -> None:
    good = {"query": "q", "file": "a.txt"}
    file = write(
        tmp_path / "own.jsonl", good, "{broken", [1], {"file": "a.txt"}, {"query": "q"}, "", good | {"start": 1}
    )
    read = read_rows(file)
    assert len(read.rows) == 1
    assert [problem.split(":")[0] for problem in read.problems] == [
        f"own.jsonl, line {number}" for number in (2, 3, 4, 5, 7)
    ]
    assert "is not JSON (" in read.problems[0] and read.problems[0].endswith(" at column 2)")


def test_a_file_is_named_as_in_a_shell(tmp_path: Path) -> None:
    file = write(tmp_path / "own.jsonl", {"query": "q", "file": "./a.txt"}, {"query": "q", "file": "tales//a.txt"})
    assert [row.file for row in read_rows(file).rows] == ["a.txt", "tales/a.txt"]


def test_missing_books_and_spans_outside_of_the_text_are_left_out(tmp_path: Path) -> None:
    rows = read_rows(
        write(
            tmp_path / "own.jsonl",
            {"query": "q", "file": "a.txt", "start": 0, "end": 100},
            {"query": "q", "file": "a.txt", "start": 90, "end": 101},
            {"query": "q", "file": "b.txt"},
        )
    ).rows
    kept = keep_within(rows, {"a.txt": "a" * 100}, "/books")
    assert [row.where for row in kept.rows] == ["own.jsonl, line 1"]
    assert kept.problems[0].startswith("own.jsonl, line 2: 90 to 101 is not a span of a.txt, which has 100 characters")
    assert kept.problems[1].startswith("own.jsonl, line 3: no book 'b.txt' in /books")
    with pytest.raises(QueryError, match=r"line 1: no book 'a.txt' in /books.*all 3 rows"):
        keep_within(rows, {}, "/books")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "is empty"),
        (b"not json\n", "line 1"),
        (b"\xff\xfe\n", "is not UTF-8"),
    ],
)
def test_a_file_without_a_usable_row_is_one_clear_error(tmp_path: Path, content: bytes, complaint: str) -> None:
    file = tmp_path / "own.jsonl"
    file.write_bytes(content)
    with pytest.raises(QueryError, match=complaint):
        read_rows(file)
    with pytest.raises(QueryError, match="cannot be read"):
        read_rows(tmp_path / "absent.jsonl")


def test_a_question_that_search_does_not_take_is_a_problem_of_its_line_alone(tmp_path: Path) -> None:
    good = {"query": "q", "file": "a.txt"}
    read = read_rows(
        write(tmp_path / "own.jsonl", good, good | {"query": "lamps" * 30_000}, good | {"query": "\u200b"})
    )
    assert len(read.rows) == 1
    assert read.problems[0].startswith("own.jsonl, line 2: the question has 150,000 characters")
    assert read.problems[1].startswith("own.jsonl, line 3: the question is empty")


def test_half_a_character_is_replaced_and_null_says_nothing(tmp_path: Path) -> None:
    row = {"query": "Who \ud83d?", "file": "a.txt", "answers": ["Tobias \ud83d"]}
    null = {"query": "q", "file": "a.txt", "start": None, "end": None, "answers": None}
    first, second = read_rows(write(tmp_path / "own.jsonl", row, null)).rows
    assert (first.query, first.values["answers"]) == ("Who ??", ["Tobias ?"])
    assert (second.spans, second.values["answers"]) == ((), None)


def test_a_blank_span_and_a_book_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    file = write(
        tmp_path / "own.jsonl",
        {"query": "q", "file": "a.txt", "start": 0, "end": 3},
        {"query": "q", "file": "a.txt", "start": 4, "end": 6},
        {"query": "q", "file": "b.txt"},
    )
    kept = keep_within(read_rows(file).rows, {"a.txt": "One \n\nTwo"}, "/books", {"b.txt": "2 books are called b.txt"})
    assert len(kept.rows) == 1
    assert kept.problems == (
        "own.jsonl, line 2: 4 to 6 of a.txt is blank: name a span that answers",
        "own.jsonl, line 3: 2 books are called b.txt",
    )
