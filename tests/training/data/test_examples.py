from __future__ import annotations

import bz2
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlb_retriever.errors import TrainingError
from nlb_retriever.records import Section
from nlb_training.data.examples import Example, find_borders, find_chunks, match_examples, parse_row, read_examples
from nlb_training.data.synthetic import PseudoQueries, make_sentence_queries, make_title_queries

PLACE = {"book_file": "moby.txt", "start": 10, "end": 50}


def example(*spans: tuple[int, int], file: str = "moby.txt", **changes: Any) -> Example:
    return replace(Example(query="Who?", kind="question", file=file, spans=spans), **changes)


@pytest.mark.parametrize(
    ("row", "kind", "level", "spans"),
    [
        ({**PLACE, "summary": "All."}, "summary", "section", ((10, 50),)),
        ({"book_file": "moby.txt", "summary": "All.", "bid": "1"}, "book-summary", "book", ()),
        ({**PLACE, "chapter_title": "Loomings and more"}, "title", "section", ((10, 50),)),
        ({**PLACE, "synopsis": "Departure--Arrival"}, "synopsis", "section", ((10, 50),)),
        ({**PLACE, "question": "Who?", "options": ["a"], "answer": 0}, "question", "section", ((10, 50),)),
        ({"book_file": "moby.txt", "question": "Who?", "answers": ["Ahab"]}, "question", "book", ()),
        (
            {"book_file": "m.txt", "question": "Who?", "story_span": [5, 90], "evidence_spans": [[40, 60], [10, 20]]},
            "question",
            "passage",
            ((10, 20), (40, 60)),
        ),
        ({"file": "a/moby.txt", "query": "The whale", "start": 1, "end": 2}, "summary", "section", ((1, 2),)),
        (
            {"file": "moby.txt", "query": "Who?", "spans": [[1, 2]], "level": "passage"},
            "question",
            "passage",
            ((1, 2),),
        ),
        ({"file": "moby.txt", "query": "A whaler's end"}, "book-summary", "book", ()),
        (
            {"file": "moby.txt", "query": "A title", "kind": "title", "start": 1, "end": 2},
            "title",
            "section",
            ((1, 2),),
        ),
    ],
)
def test_rows_are_read_as_they_are(
    row: dict[str, Any], kind: str, level: str, spans: tuple[tuple[int, int], ...]
) -> None:
    read = parse_row(row)
    assert (read.kind, read.level, read.spans) == (kind, level, spans)


def test_rows_of_a_chapter_or_a_story_share_their_group() -> None:
    assert parse_row({**PLACE, "summary": "All.", "chapter_id": "Moby.chapter 1", "bid": "7"}).group == "Moby.chapter 1"
    story = parse_row({**PLACE, "question": "Who?", "story": "tin-soldier", "story_span": [5, 90]})
    assert (story.group, story.within) == ("tin-soldier", (5, 90))
    assert parse_row({**PLACE, "synopsis": "All."}).group is None


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("[1]", "is not a JSON object but [1]"),
        ('{"query": "a"', "is not JSON (Expecting ',' delimiter at column 14)"),
        ('{"file": "m.txt", "start": 1, "end": 2}', "has no query: it has none of the keys query, summary"),
        ('{"file": "m.txt", "query": "  "}', "has no query: its `query` is empty"),
        ('{"file": "m.txt", "query": ["Who?"]}', "has no query: its `query` is no text"),
        ('{"query": "Who?"}', "has no `file`: name the book's file"),
        ('{"file": "m.txt", "query": "Who?", "start": 3}', "has only `start`: write both"),
        ('{"file": "m.txt", "query": "Who?", "start": 3, "end": 3}', "its `start, end` [3, 3] is not a span"),
        ('{"file": "m.txt", "query": "Who?", "start": "3", "end": 9}', 'its `start, end` ["3", 9] is not a span'),
        ('{"file": "m.txt", "query": "Who?", "start": -1, "end": 9}', "is not a span"),
        ('{"file": "m.txt", "query": "Who?", "spans": [[1, 2, 3]]}', "its `spans` [1, 2, 3] is not a span"),
        ('{"file": "m.txt", "query": "Who?", "spans": 7}', "its `spans` is not a list of [start, end]"),
        ('{"file": "m.txt", "query": "Who?", "level": "page"}', "has the level 'page'; known: book, section, passage"),
        ('{"file": "m.txt", "query": "Who?", "level": "section"}', "has the level section and no span"),
        ('{"file": "m.txt", "query": "Who?", "kind": "riddle"}', "has the kind 'riddle'; known: summary, title"),
    ],
)
def test_a_row_that_cannot_be_used_is_named_with_its_file_line_and_reason(
    tmp_path: Path, row: str, reason: str
) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(f'{{"file": "m.txt", "query": "Good"}}\n\n{row}\n{{"file": "m.txt", "query": "Also good"}}\n')
    examples, [problem] = read_examples(file)
    assert [one.query for one in examples] == ["Good", "Also good"]
    assert str(problem).startswith(f"{file} line 3: ")
    assert reason in problem.reason


def test_packed_files_are_read_and_unreadable_ones_named(tmp_path: Path) -> None:
    rows = "".join(
        json.dumps({"file": "m.txt", "query": f"Frage {number} über"}, ensure_ascii=False) + "\n" for number in (1, 2)
    )
    (tmp_path / "rows.jsonl.bz2").write_bytes(bz2.compress(rows.encode()))
    assert [one.query for one in read_examples(tmp_path / "rows.jsonl.bz2")[0]] == ["Frage 1 über", "Frage 2 über"]
    (tmp_path / "torn.jsonl.bz2").write_bytes(bz2.compress(rows.encode())[:-9])
    (tmp_path / "other.jsonl.bz2").write_text(rows)
    (tmp_path / "latin.jsonl").write_bytes(rows.encode("latin-1"))
    for name, why in (
        ("none.jsonl", "No such file"),
        ("torn.jsonl.bz2", "ended before"),
        ("other.jsonl.bz2", "Invalid data"),
    ):
        with pytest.raises(TrainingError, match=rf"examples .*{name} cannot be read \(.*{why}"):
            read_examples(tmp_path / name)
    with pytest.raises(TrainingError, match="latin.jsonl is not UTF-8 text"):
        read_examples(tmp_path / "latin.jsonl")


def test_examples_find_their_books_by_name_or_by_the_end_of_their_path() -> None:
    books = {"/a/moby.txt": 100, "/b/moby.txt": 200, "/b/emma.txt": 300}
    wanted = [example((0, 300), file="emma.txt"), example((0, 150), file="b/moby.txt", origin="rows.jsonl line 2")]
    wrong = [
        example((0, 9), file="moby.txt", origin="line 3"),
        example((0, 301), file="emma.txt", origin="line 4"),
        example(file="dracula.txt", origin="line 5"),
    ]
    found, problems = match_examples([*wanted, *wrong], books)
    assert found == [(wanted[0], "/b/emma.txt"), (wanted[1], "/b/moby.txt")]
    assert [str(problem) for problem in problems] == [
        "line 3: 2 books are called moby.txt: write more of the path",
        "line 4: ends at 301, but emma.txt has 300 characters",
        "line 5: its book dracula.txt is not among the books",
    ]


def test_borders_are_the_ends_of_sections_and_stories_but_not_of_passages() -> None:
    rows = [
        example((10, 50)),
        example((50, 90), file="x/moby.txt"),
        example((3, 4), file="tales.txt", level="passage", within=(0, 70)),
        example(file="emma.txt", level="book"),
    ]
    assert find_borders(rows) == {"moby.txt": [10, 50, 90], "tales.txt": [0, 70]}


def test_the_chunks_of_an_example_are_those_in_its_spans_or_the_one_that_holds_most_of_it() -> None:
    chunks = np.array([(0, 10), (11, 20), (21, 30), (31, 40)], dtype=np.int32)
    assert find_chunks(example((0, 20)), chunks).tolist() == [0, 1]
    assert find_chunks(example((5, 32)), chunks).tolist() == [1, 2]  # chunks that it has a part of are no answer
    assert find_chunks(example((12, 15)), chunks).tolist() == [1]
    assert find_chunks(example((8, 16)), chunks).tolist() == [1]
    assert find_chunks(example((0, 10), (31, 40)), chunks).tolist() == [0, 3]
    assert find_chunks(example(), chunks).tolist() == [0, 1, 2, 3]
    assert find_chunks(example((50, 60)), chunks).tolist() == []


def test_titles_of_three_words_ask_for_their_sections_and_parts() -> None:
    paths = [
        ("Front matter",),
        ("BOOK I. The Long War of the North", "CHAPTER IV. A Ship and a Whale"),
        ("BOOK I. The Long War of the North", "CHAPTER V. Loomings"),
        ("BOOK II", "CHAPTER I: At the Inn (continued)"),
        ("BOOK II", "II. At the Inn"),
        ("Part 3 of 10",),
        ("The very short section",),
    ]
    sizes = [500] * 6 + [100]
    starts = np.cumsum([0, *sizes]).tolist()
    sections = [Section(path=path, start=starts[i], end=starts[i + 1]) for i, path in enumerate(paths)]
    queries = make_title_queries("moby.txt", sections)
    assert [(one.query, one.spans) for one in queries] == [
        ("The Long War of the North", ((500, 1500),)),
        ("A Ship and a Whale", ((500, 1000),)),
    ]
    assert all((one.kind, one.file, one.level) == ("title", "moby.txt", "section") for one in queries)
    assert queries[0].group == queries[1].group  # neither is the other's wrong answer


@pytest.mark.parametrize(
    ("title", "query"),
    [
        ("CHAPTER IV. A Ship Without Sails", "A Ship Without Sails"),
        ("Chapter 7 - A Daring Deed", "A Daring Deed"),
        ("BOOK THE FIFTH. The Story of Perseus", "The Story of Perseus"),
        ("III: One Hundred Pounds Reward", "One Hundred Pounds Reward"),
        ("I Go to Sea", "I Go to Sea"),
        ("Nine Men in a Boat", "Nine Men in a Boat"),
        ("Civil War Begins", "Civil War Begins"),
        ("The First Battle of the Cruives", "The First Battle of the Cruives"),
        ("Part Third. At Melchester", None),
        ("CHAPTER XX", None),
    ],
)
def test_numbers_are_left_out_of_titles_and_words_are_not(title: str, query: str | None) -> None:
    queries = make_title_queries("a.txt", [Section(path=(title,), start=0, end=5000)])
    assert [one.query for one in queries] == ([query] if query else [])


def test_a_part_that_comes_back_later_asks_for_nothing() -> None:
    war, peace = ("The long war", "One"), ("A short peace then", "Two")
    sections = [Section(path=path, start=500 * i, end=500 * i + 500) for i, path in enumerate([war, peace, war])]
    assert [one.query for one in make_title_queries("a.txt", sections)] == ["A short peace then"]


TEXT = " ".join(f"Sentence number {number} of the book tells of something new." for number in range(60))


def chunked(text: str, each: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Chunks of `each` sentences."""
    starts = [index for index in range(len(text)) if text.startswith("Sentence", index)][::each]
    return np.array([(a, b - 1) for a, b in zip(starts, [*starts[1:], len(text) + 1], strict=True)], dtype=np.int32)


def test_sentences_ask_for_their_section_without_the_chunk_that_holds_them() -> None:
    chunks = chunked(TEXT, 5)
    border = int(chunks[6][0])
    sections = [Section(path=("One",), start=0, end=border), Section(path=("Two",), start=border, end=len(TEXT))]
    queries = make_sentence_queries("moby.txt", TEXT, sections, chunks, seed=3)
    assert len(queries) == 4
    for one, section in zip(queries, [sections[0]] * 2 + [sections[1]] * 2, strict=True):
        at = TEXT.index(one.query)
        kept = find_chunks(one, chunks).tolist()
        [left] = {chunk for chunk in range(12) if section.start <= chunks[chunk][0] < section.end} - set(kept)
        assert chunks[left][0] <= at < at + len(one.query) <= chunks[left][1]
        assert all(section.start <= chunks[chunk][0] < section.end for chunk in kept)
        assert one.kind == ("question" if one.query.count("Sentence") == 1 else "summary")
    assert {one.group for one in queries} == {"moby.txt#0", f"moby.txt#{border}"}


def test_a_section_of_one_chunk_answers_as_a_whole() -> None:
    section = Section(path=("All",), start=0, end=len(TEXT))
    [query] = make_sentence_queries("moby.txt", TEXT, [section], chunked(TEXT, 60), seed=1)
    assert query.spans == ((0, len(TEXT)),)


def test_the_same_seed_draws_the_same_sentences_and_another_one_others() -> None:
    section = [Section(path=("All",), start=0, end=len(TEXT))]
    form = PseudoQueries(each=8, sentences=(1, 3))
    one, same, other = (
        make_sentence_queries("moby.txt", TEXT, section, chunked(TEXT, 5), seed=seed, form=form) for seed in (1, 1, 2)
    )
    assert one == same != other
    assert len(one) == 8
    assert {example.query.count("Sentence") for example in one} == {1, 2, 3}
    moved = make_sentence_queries("moved/moby.txt", TEXT, section, chunked(TEXT, 5), seed=1, form=form)
    assert [example.query for example in moved] == [example.query for example in one]


@given(st.integers(0, 1000), st.integers(1, 7), st.integers(1, 12))
def test_whatever_is_drawn_lies_word_for_word_in_the_section(seed: int, each: int, sentences: int) -> None:
    section = [Section(path=("All",), start=0, end=len(TEXT))]
    chunks = chunked(TEXT, sentences)
    for one in make_sentence_queries("a.txt", TEXT, section, chunks, seed=seed, form=PseudoQueries(each=each)):
        assert one.query in TEXT
        assert all(0 <= start < end <= len(TEXT) for start, end in one.spans)


def test_the_development_rows_can_all_be_used(data_dir: Path) -> None:
    for name, kind, level, count in (
        ("booksum_chapters_val", "summary", "section", 1333),
        ("booksum_books_val", "book-summary", "book", 31),
        ("chapter_titles_val", "title", "section", 338),
        ("chapter_synopses_train", "synopsis", "section", 54),
        ("fairytaleqa_val", "question", "passage", 1025),
        ("openstax_questions_dev", "question", "section", 648),
        ("literaryqa_val_questions", "question", "book", 1080),
    ):
        examples, problems = read_examples(data_dir / "eval" / f"{name}.jsonl.bz2")
        assert (problems, len(examples)) == ([], count)
        assert {(one.kind, one.level) for one in examples} == {(kind, level)}


def test_a_byte_order_mark_is_no_problem_and_deep_brackets_are_one(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    row = json.dumps({**PLACE, "summary": "All."})
    file.write_text(f"\ufeff{row}\n{'[' * 100_000}\n{row}\n", encoding="utf-8")
    examples, problems = read_examples(file)
    assert len(examples) == 2
    assert [problem.origin for problem in problems] == [f"{file} line 2"]
