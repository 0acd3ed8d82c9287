"""Which hits are right, and the metrics of their ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nlb_retriever import index_files
from nlb_retriever.errors import QueryError
from nlb_retriever.model import checkpoint as checkpoints
from nlb_retriever.reader import Reading
from nlb_retriever.records import Hit, Level
from nlb_training.evaluation.books import BookCollection, data_folder, open_archive, open_folder
from nlb_training.evaluation.retrieval import (
    READER,
    compute_metrics,
    first_right,
    make_query_set,
    measure,
    right_by_answer,
    right_by_span,
)
from nlb_training.evaluation.rows import Row, keep_within, read_rows
from nlb_training.evaluation.sets import RETRIEVAL


def hit(level: Level, start: int, end: int, source: str = "/a.txt", text: str = "") -> Hit:
    return Hit(
        level=level, id="", book_id="", title="", author=None, source=source, section=(), section_id=None,
        start=start, end=end, page=None, score=0, text=text, metadata={},
    )  # fmt: skip


def row(*spans: tuple[int, int]) -> Row:
    return Row(query="q", file="a.txt", spans=spans, group="a.txt", where="test", values={})


@pytest.mark.parametrize(
    ("level", "start", "end", "right"),
    [
        ("section", 0, 100, True),
        ("section", 50, 150, True),  # half of both
        ("section", 51, 151, False),
        ("section", 90, 110, True),  # half of the shorter one
        ("section", 91, 111, False),
        ("passage", 99, 200, True),
        ("passage", 100, 200, False),
        ("book", 500, 600, True),
    ],
)
def test_a_hit_is_right_by_what_it_shares_with_the_span(level: Level, start: int, end: int, right: bool) -> None:
    assert right_by_span(row((0, 100)), level, "/a.txt")(hit(level, start, end)) is right


def test_the_same_place_in_another_book_is_wrong() -> None:
    hits = [hit("passage", 0, 9, "/b.txt"), hit("passage", 20, 30), hit("passage", 0, 9)]
    assert first_right(hits, right_by_span(row((5, 8), (200, 300)), "passage", "/a.txt")) == 3
    assert first_right(hits[:2], right_by_span(row((5, 8)), "passage", "/a.txt")) == float("inf")


QUESTION = Row(
    query="Who bought the grey mare?",
    file="a.txt",
    spans=(),
    group="a.txt",
    where="test",
    values={"answers": ["The miller of Trant bought the mare", "a mare"]},
)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("It was sold to the millers of Trant.", True),  # by stems; the question's own words are not needed
        ("It was sold to the miller.", False),  # not all words
        ("The grey mare.", False),  # an answer of the question's words alone counts for nothing
    ],
)
def test_without_spans_a_hit_is_right_if_it_holds_all_words_of_an_answer(text: str, right: bool) -> None:
    assert right_by_answer(QUESTION)(hit("passage", 0, 9, text=text)) is right


def test_a_set_of_answers_has_only_questions_that_can_be_checked_by_words() -> None:
    known = next(each for each in RETRIEVAL if each.right == "answer")
    unknown = replace(QUESTION, values={"answers": ["a grey mare"]})
    books = BookCollection("b", {}, Path())
    assert make_query_set(known, [unknown, QUESTION, QUESTION, QUESTION], books).rows == (QUESTION,) * 3
    assert len(make_query_set(known, [QUESTION] * 3, books, every=2).rows) == 2


def test_each_metric_is_of_the_first_right_hit() -> None:
    values = compute_metrics(np.array([1.0, 3.0, np.inf]))
    assert {metric: each.tolist() for metric, each in values.items()} == {
        "mrr": [1, 1 / 3, 0],
        "recall@1": [1, 0, 0],
        "recall@5": [1, 1, 0],
        "recall@10": [1, 1, 0],
        "recall@20": [1, 1, 0],
        "recall@50": [1, 1, 0],
        "ndcg@10": [1, 0.5, 0],
    }


def test_a_folder_without_data_or_books_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NLB_DATA", raising=False)
    with pytest.raises(QueryError, match="no evaluation data: name its folder"):
        data_folder()
    with pytest.raises(QueryError, match="has no corpus/ and eval/"):
        data_folder(tmp_path)
    with pytest.raises(QueryError, match="no books in .*--books"):
        open_folder(tmp_path)
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "dev.tar.bz2").write_bytes(b"BZh9 torn")
    with pytest.raises(QueryError, match=r"dev.tar.bz2 cannot be unpacked"):
        open_archive(tmp_path, "dev", tmp_path / "cache")
    assert not list((tmp_path / "cache" / "books").iterdir())


def test_every_real_question_on_fairy_tales_is_usable(data_dir: Path, tmp_path: Path) -> None:
    books = open_archive(data_dir, "fairytaleqa", tmp_path)
    rows = read_rows(data_dir / "eval" / "fairytaleqa_val.jsonl.bz2").rows
    kept = keep_within(rows, books.texts({each.file for each in rows}), "there")
    assert len(kept.rows) == 1025
    assert not kept.problems


class LampReader:
    """Finds passages with "lamp" relevant."""

    backend = "words"

    def read(self, question: str, passages: Sequence[str], *, shortest: int = 1) -> list[Reading]:
        return [Reading(relevance=9.0 if "lamp" in text else -9.0, spans=(), no_answer_score=0) for text in passages]


def test_a_reader_moves_right_passages_up_and_its_difference_to_fused_search_is_given(tmp_path: Path) -> None:
    books = tmp_path / "books"
    books.mkdir()
    texts = {
        "a.txt": "Tobias wrote about the night of the storm. " * 20,
        "b.txt": "Margaret took the lamp that night. " * 20,
    }
    for name, text in texts.items():
        (books / name).write_text(text)
    index_files([books], tmp_path / "library")
    known = next(each for each in RETRIEVAL if each.level == "passage" and each.right == "span")
    row = Row(
        query="What did Tobias write about in the night?",
        file="b.txt",
        spans=((0, 99),),
        group="b",
        where="",
        values={},
    )
    queries = make_query_set(known, [row, replace(row, query="night storm")], open_folder(books))
    released = checkpoints.load(None)
    measurements, differences = measure(queries, [(released, tmp_path / "library")], reader=LampReader())
    found = {(each.system.removeprefix(f"{released.name} "), each.metric): each.value for each in measurements}
    assert found["fused", "recall@1"] == 0
    assert found[READER, "recall@1"] == 0.5  # words without a question are not read
    [difference] = [each for each in differences if each.baseline != "bm25" and each.metric == "recall@1"]
    assert (difference.system, difference.value) == (f"{released.name} {READER}", 0.5)


def test_a_reader_puts_sections_in_order_by_their_passages(tmp_path: Path) -> None:
    books = tmp_path / "books"
    books.mkdir()
    chapters = (
        "Tobias wrote about the night of the storm. " * 40,
        "Tobias took the lamp in the night of the storm. " * 40,
    )
    text = "\n\n".join(f"CHAPTER {number}\n\n{body}" for number, body in enumerate((*chapters, chapters[0]), 1))
    (books / "a.txt").write_text(text)
    index_files([books], tmp_path / "library")
    known = next(each for each in RETRIEVAL if each.level == "section")
    span = (text.index("CHAPTER 2"), text.index("CHAPTER 3"))
    row = Row(query="Tobias tells of the storm", file="a.txt", spans=(span,), group="a", where="", values={})
    queries = make_query_set(known, [row], open_folder(books))
    measurements, _ = measure(queries, [(checkpoints.load(None), tmp_path / "library")], reader=LampReader())
    found = {each.system.partition(" ")[2]: each.value for each in measurements if each.metric == "recall@1"}
    assert (found["fused"], found[READER]) == (0, 1)
