"""Figures as tables, conditions and a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nlb_retriever.errors import QueryError
from nlb_training.evaluation.metrics import compare
from nlb_training.evaluation.plot import draw
from nlb_training.evaluation.results import Difference, Measurement, Results, Threshold


def found() -> Results:
    values, groups = np.array([1.0, 0.5, 0.5, 0.0]), ["a", "a", "b", "b"]
    return Results(
        measurements=[
            Measurement.of("retrieval", "section", "bm25", "mrr", values, groups),
            Measurement.of("retrieval", "section", "ours", "mrr", values + 0.25, groups, trained=True),
            Measurement.of("multiple-choice", "quality", "ours", "accuracy", values, groups, spread=0.01),
        ]
    )


def test_the_table_has_a_row_a_system_with_interval_and_spread() -> None:
    text = found().markdown()
    assert "## Retrieval from a library: section (4 queries, 2 groups)" in text
    assert "| bm25 | 50.0 | 25.0–75.0 |" in text
    assert "| ours | 50.0 ± 1.0 | 25.0–75.0 |" in text


def test_of_one_query_there_is_no_interval() -> None:
    measurement = Measurement.of("retrieval", "book", "bm25", "mrr", np.array([0.5]), ["a"])
    estimate = compare(np.array([1.0]), np.array([0.5]), ["a"])
    difference = Difference.of("retrieval", "book", "ours", "bm25", "mrr", estimate)
    [table] = Results(measurements=[measurement], differences=[difference]).tables()
    assert table.title == "Retrieval from a library: book (1 query, 1 group)"
    assert (table.columns, table.rows) == (("system", "mrr"), (("bm25", "50.0"),))
    assert table.notes == ("ours less bm25, mrr: +50.0",)


def test_a_condition_is_about_the_judged_system_unless_one_is_named() -> None:
    results = found()
    assert Threshold.parse("retrieval.section.mrr=0.7").missed(results) is None
    missed = Threshold.parse("retrieval.section.mrr@bm25=0.7").missed(results)
    assert missed == "retrieval.section.mrr@bm25 is 0.5000 (bm25), should be 0.7 or more"
    with pytest.raises(QueryError, match=r"there is no measurement 'retrieval.book.mrr'; known: .*section.mrr"):
        Threshold.parse("retrieval.book.mrr=0.7").missed(results)


def test_the_cut_of_a_metric_is_not_taken_for_a_system() -> None:
    hits = Measurement.of("similarity", "book", "bm25", "hit@1", np.array([1.0, 0.0]), ["a", "b"])
    ours = Measurement.of("similarity", "book", "ours", "hit@1", np.array([1.0, 1.0]), ["a", "b"], trained=True)
    results = Results(measurements=[hits, ours])
    assert results.find("similarity.book.hit@1").value == 1
    assert results.find("similarity.book.hit@1@bm25").value == 0.5


@pytest.mark.parametrize("text", ["0.8", "mrr=0.8", "retrieval.section.mrr", "retrieval.section.mrr=80", "a.b.c=x"])
def test_what_is_no_condition_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(QueryError, match="is not a condition: write TASK.SET.METRIC=VALUE"):
        Threshold.parse(text)


def test_the_picture_is_a_png(tmp_path: Path) -> None:
    draw(found(), tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(QueryError, match="cannot be written"):
        draw(found(), tmp_path / "absent" / "plot.png")
