"""What rounds are made of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nlb_training.encoder.bert import Bert
from nlb_training.encoder.planner import Mix, Planner, _Search
from nlb_training.encoder.queries import (
    SOURCES,
    Query,
    is_held_out,
    read_articles,
    read_books,
    read_summaries,
    read_tales,
)
from nlb_training.encoder.rounds import POSITIVE, Batch
from tests.doubles import bare_tokenizer, minilm_tokenizer
from tests.training.encoder.small import WordReader, write_data, write_model

MIX = Mix(
    steps=4,
    summary=4,
    summary_books=3,
    tale=2,
    tale_books=3,
    novel=2,
    plot=2,
    plot_books=3,
    article=2,
    article_books=3,
    cloze=2,
    cloze_books=3,
)
PLOTS = [
    {
        "question": f"When did somebody carry the {word}?",
        "answers": [f"on day {part}.3"],
        "book_file": f"book{number}.txt",
    }
    for number in range(4)
    for part, word in enumerate(("whale", "violin", "lantern", "garden"), 2)
]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("planner") / "data")


@pytest.fixture(scope="module")
def planner(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Planner:
    tokenizer = bare_tokenizer()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nlb_training.encoder.queries.read_plot_questions", lambda: PLOTS)
        return Planner(data, tokenizer, tmp_path_factory.mktemp("tokens"), MIX, WordReader())


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Bert:
    return Bert.load(write_model(tmp_path_factory.mktemp("planner-model") / "model"))


@pytest.fixture(scope="module")
def batches(planner: Planner, model: Bert) -> list[Batch]:
    return planner.plan(model, 0, 0)


def text_of(ids: np.ndarray) -> str:
    return minilm_tokenizer().decode(ids.tolist())


def test_every_step_has_queries_of_all_sources_with_one_right_passage_each(batches: list[Batch]) -> None:
    assert len(batches) == 4
    for batch in batches:
        assert {SOURCES[number] for number in batch.sources} == set(SOURCES)
        assert ((batch.labels == POSITIVE).sum(axis=1) == 1).all()


def test_the_reader_judges_all_candidates_but_those_of_cloze_queries(batches: list[Batch]) -> None:
    for batch in batches:
        cloze = batch.sources == SOURCES.index("cloze")
        there = batch.candidates >= 0
        assert np.isnan(batch.relevance[cloze]).all()
        assert np.isfinite(batch.relevance[~cloze][there[~cloze]]).all()
        assert (there.sum(axis=1) > 1).all()


def test_the_right_passage_of_a_question_on_a_tale_holds_its_evidence(data: Path, batches: list[Batch]) -> None:
    tokenizer = minilm_tokenizer()
    queries = {query.text.lower(): query for query, _ in read_tales(data)}
    seen = 0
    for batch in batches:
        for row in np.flatnonzero(batch.sources == SOURCES.index("tale")):
            query = tokenizer.decode(batch.queries[row].tolist())
            matching = [own for text, own in queries.items() if text.replace(" ", "") == query.replace(" ", "")]
            assert matching, query
            seen += 1
    assert seen >= 4


def test_the_right_passage_of_a_question_on_a_plot_has_the_words_of_its_answer(batches: list[Batch]) -> None:
    answers = {each["question"].lower(): each["answers"][0] for each in PLOTS}  # type: ignore[attr-defined]
    seen = 0
    for batch in batches:
        for row in np.flatnonzero(batch.sources == SOURCES.index("plot")):
            right = text_of(batch.passages[batch.candidates[row, 0]])
            question = next(each for each in answers if each.rstrip("?") in text_of(batch.queries[row]))
            assert answers[question].split(".")[0] in right  # passages end after sentences: "On day 2." "3 Lucy"
            seen += 1
    assert seen == 8


def test_answers_that_a_book_says_too_often_or_never_have_no_place(planner: Planner, data: Path) -> None:
    texts = read_books(data)
    often, never = (
        Query(
            text="What was it past?",
            source="plot",
            book="book0.txt",
            spans=((0, len(texts["book0.txt"])),),
            answers=(a,),
        )
        for a in ("past the", "a zeppelin")
    )
    search = _Search(Bert.__new__(Bert), planner.books, np.random.default_rng(0))
    assert search._locate(often).spans == search._locate(never).spans == ()
    once = replace(often, answers=("on day 5.3",))
    ((start, end),) = search._locate(once).spans
    assert texts["book0.txt"][start:end] == "day 5.3"


def test_the_same_model_seed_and_number_plan_the_same_round(
    planner: Planner, model: Bert, batches: list[Batch]
) -> None:
    again = planner.plan(model, 0, 0)
    assert all(
        np.array_equal(a, b)
        for before, after in zip(batches, again, strict=True)
        for a, b in zip((*before.queries, *before.passages), (*after.queries, *after.passages), strict=True)
    )
    other = planner.plan(model, 0, 1)
    assert any(
        not np.array_equal(a, b)
        for before, after in zip(batches, other, strict=True)
        for a, b in zip(before.queries, after.queries, strict=False)
    )


def test_held_out_articles_and_tales_are_never_trained_on(data: Path, planner: Planner) -> None:
    queries, texts = read_articles(data)
    assert {query.book for query in queries} == {"squad/Whales", "squad/Pistols", "squad/Oceans"} == set(texts)
    assert "squad/Prime_number" not in planner.books.names
    held_out = [is_held_out(f"story-{number}") for number in range(12)]
    assert len(list(read_tales(data))) == 4 * held_out.count(False)


def test_questions_without_an_answer_are_left_out(data: Path) -> None:
    queries, texts = read_articles(data)
    assert len(queries) == 9  # of 12: each article's first paragraph has none
    for query in queries:
        (start, end), *_ = query.spans
        assert texts[query.book][start - 4 : end].startswith("On d")


def test_sentences_of_summaries_know_where_they_stand(data: Path) -> None:
    queries = list(read_summaries(data, "summary"))
    first = [query.position for query in queries if query.spans == queries[0].spans]
    assert first == [(index + 0.5) / len(first) for index in range(len(first))]
