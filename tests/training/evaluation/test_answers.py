"""Answers compared with human ones, and refusals, on a real library of small books."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever import Retriever, index_files
from nlb_retriever.records import Answer, Citation, Confidence, Hit, ShortAnswer
from nlb_training.evaluation import answers
from nlb_training.evaluation.books import BookCollection
from nlb_training.evaluation.results import Measurement
from nlb_training.evaluation.retrieval import QuerySet
from nlb_training.evaluation.rows import Row
from nlb_training.evaluation.sets import ANSWERS, TEXTBOOK_QUESTIONS

LAMP = "Old Tobias kept the lighthouse. When Tobias died, his niece Margaret took the lamp of Carrow Point.\n" * 3
MARE = "The grey mare of the farm was sold at the fair. The miller of Trant paid forty crowns for her.\n" * 3


def answer(quote: str, *, short: str | None = None, confidence: Confidence | None = None) -> Answer:
    hit = Hit(
        level="passage", id="", book_id="", title="", author=None, source="/a.txt", section=(), section_id=None,
        start=0, end=len(quote), page=None, score=1, text=quote, metadata={},
    )  # fmt: skip
    citation = Citation(hit=hit, quote=quote, quote_start=0, quote_end=len(quote))

    shorts = () if short is None else (ShortAnswer(text=short, citation=0),)
    return Answer(question="q", found=True, text=quote, citations=(citation,), shorts=shorts, confidence=confidence)


def test_quotes_are_compared_by_words_with_the_best_of_the_human_answers() -> None:
    values = answers.compare_answer(
        answer("His niece Margaret took it."), "Who took the lamp?", ["Margaret", "his niece Margaret"]
    )
    assert values["f1"] == pytest.approx(2 * 3 / (3 + 5))
    assert (values["em"], values["quoted"], values["answered"], values["words"]) == (0, 1, 1, 5)


def test_a_short_answer_is_compared_in_place_of_the_quotes() -> None:
    values = answers.compare_answer(answer("The niece took it.", short="Margaret"), "Who took the lamp?", ["Margaret."])
    assert (values["f1"], values["em"], values["quoted"], values["words"]) == (1, 1, 0, 4)


@pytest.mark.parametrize(("short", "right"), [("Margaret", 1), ("his niece", 0)])
def test_what_is_marked_sure_is_right_or_not(short: str, right: float) -> None:
    given = answer("His niece Margaret took it.", short=short, confidence="sure")
    values = answers.compare_answer(given, "Who took the lamp?", ["Margaret", "Tobias' niece Margaret"])
    assert {metric: value for metric, value in values.items() if "right" in metric} == {"right if sure": right}


def test_a_refused_question_counts_as_0() -> None:
    refused = Answer(question="q", found=False, text="Not in your library.")
    values = answers.compare_answer(refused, "Who took the lamp?", ["Margaret"])
    assert values == {"f1": 0, "em": 0, "answered": 0, "words": 0, "quoted": 0}


def test_an_answer_of_the_questions_own_words_cannot_be_checked_in_quotes() -> None:
    assert "quoted" not in answers.compare_answer(answer("The mare."), "Was the mare sold?", ["the mare", "sold"])


@pytest.fixture(scope="module")
def queries(tmp_path_factory: pytest.TempPathFactory) -> QuerySet:
    folder = tmp_path_factory.mktemp("books")
    rows = []
    for name, text, question, human in (
        ("lamp.txt", LAMP, "Who took the lamp when Tobias died?", "Margaret"),
        ("mare.txt", MARE, "Who paid forty crowns for the grey mare?", "the miller of Trant"),
    ):
        (folder / name).write_text(text)
        rows.append(
            Row(query=question, file=name, spans=(), group=name, where="test", values={"answers": [human, human]})
        )
    books = BookCollection("two", {path.name: path for path in folder.iterdir()}, folder)
    return QuerySet(known=ANSWERS[1], rows=tuple(rows), books=books)


@pytest.mark.usefixtures("few_everyday_questions")
def test_a_librarys_answers_and_refusals_are_measured_on_real_books(queries: QuerySet, tmp_path: Path) -> None:
    index_files(queries.books.paths, tmp_path / "library")
    strange = QuerySet(
        known=TEXTBOOK_QUESTIONS,
        rows=(Row(query="What is a covalent bond?", file="x", spans=(), group="x", where="test", values={}),),
        books=queries.books,
    )
    with Retriever(tmp_path / "library") as retriever:
        results = answers.measure_library(queries, retriever, "ours", strange=strange, notice=lambda line: None)
    found: dict[tuple[str, str], Measurement] = {(each.set, each.metric): each for each in results}
    assert {name for name, _ in found} == {
        "literaryqa",
        "literaryqa-in-book",
        "everyday-to-literaryqa",
        "openstax-to-literaryqa",
        "literaryqa-book-left-out",
    }
    assert found["literaryqa", "quoted"].value == found["literaryqa-in-book", "answered"].value == 1
    assert found["literaryqa", "f1"].value > 0.2
    assert found["literaryqa", "words"].value > 5
    assert found["everyday-to-literaryqa", "refused"].queries == 6
    assert found["everyday-to-literaryqa", "refused"].value > 0.5
    assert found["openstax-to-literaryqa", "refused"].value == 1
    assert found["literaryqa-book-left-out", "refused"].queries == 2


@pytest.mark.usefixtures("few_everyday_questions")
def test_questions_without_answers_are_only_refused_or_kept(queries: QuerySet, tmp_path: Path) -> None:
    index_files(queries.books.paths, tmp_path / "library")
    rows = tuple(Row(**{**vars(row), "values": {}}) for row in queries.rows)
    textbook = QuerySet(known=TEXTBOOK_QUESTIONS, rows=rows, books=queries.books)
    with Retriever(tmp_path / "library") as retriever:
        results = answers.measure_library(textbook, retriever, "ours", strange=textbook, notice=lambda line: None)
    assert {(each.set, each.metric) for each in results} == {
        ("openstax-to-openstax", "refused"),
        ("everyday-to-openstax", "refused"),
    }
    assert results[0].value == 0
