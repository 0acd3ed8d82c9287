"""Queries that are chosen or made from the rows of a set."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nlb_training.evaluation.books import BookCollection
from nlb_training.evaluation.queries import choose_queries, share_of_words
from nlb_training.evaluation.rows import Row
from nlb_training.evaluation.sets import RETRIEVAL, KnownSet

TEXT = (
    "The keeper climbed the stairs. He said: Whatever the storm may break, the lamp shall burn until morning comes.\n"
    "Then he slept, and the sea was quiet."
)


@pytest.fixture
def books(tmp_path: Path) -> BookCollection:
    (tmp_path / "lamp.txt").write_text(TEXT)
    return BookCollection("lamp", {"lamp.txt": tmp_path / "lamp.txt"}, tmp_path)


def known(queries: str) -> KnownSet:
    return next(each for each in RETRIEVAL if each.queries == queries)


def row(query: str, start: int = 0, end: int = len(TEXT)) -> Row:
    return Row(query=query, file="lamp.txt", spans=((start, end),), group="lamp.txt", where="test", values={})


def test_questions_with_few_words_of_their_evidence_are_kept(books: BookCollection) -> None:
    near, far = row("Who climbed the stairs?"), row("Which official mounted a staircase before sleeping?")
    assert share_of_words(near, books) == 1
    assert share_of_words(far, books) < 0.6
    assert choose_queries(known("few-words"), [near, far], books) == [far]


def test_sentences_about_a_quotation_are_a_query_for_it_without_its_words(books: BookCollection) -> None:
    quotation = "whatever the storm may break - the lamp shall burn until morning"
    summary = (
        f'An opening far away. The keeper is a stubborn man. He swears, "{quotation}," to nobody. So he sleeps. An end.'
    )
    [made] = choose_queries(known("quotes"), [row(summary), row(summary)], books)  # the same quotation once
    assert made.query == "The keeper is a stubborn man. He swears, to nobody. So he sleeps."
    [(start, end)] = made.spans
    assert TEXT[start:end] == "Whatever the storm may break, the lamp shall burn until morning"


def test_quotations_that_are_short_or_not_in_the_span_make_no_query(books: BookCollection) -> None:
    about = "The keeper is stubborn and swears an oath on the tower that evening, namely {}. Then he goes to bed."
    short, other = about.format('"the lamp shall burn"'), about.format('"a lamp that nobody lit in seven long years"')
    assert choose_queries(known("quotes"), [row(short), row(other)], books) == []
    outside = row(about.format('"whatever the storm may break, the lamp shall burn until"'), 0, 30)
    assert choose_queries(known("quotes"), [outside], books) == []


def test_a_set_of_all_queries_has_the_rows_as_they_are(books: BookCollection) -> None:
    rows = [row("Who slept?"), replace(row("Who climbed?"), spans=())]
    assert choose_queries(known("all"), rows, books) == rows


def test_a_statement_is_the_middle_sentence_that_names_nobody(books: BookCollection) -> None:
    summary = (
        "Tomas is the keeper of the lamp. He climbs the stairs of the tower. A storm breaks all of the windows. "
        "He meets Anna on the stairs at night. Too short. In the end the sea is quiet again. What of us?"
    )
    [made] = choose_queries(known("statements"), [row(summary), row("Too short.")], books)
    assert made.query == "A storm breaks all of the windows."
    assert made.spans == row(summary).spans
