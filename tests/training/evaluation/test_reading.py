"""A reader by itself on given paragraphs: any object with `read` is one."""

from __future__ import annotations

import bz2
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from nlb_retriever.reader import AnswerSpan, Reading
from nlb_training.evaluation.reading import measure_reading, paragraph_sets


class FirstWord:
    """Answers with the first word, and finds paragraphs with "lamp" relevant."""

    def read(self, question: str, passages: Sequence[str]) -> list[Reading]:
        return [
            Reading(
                relevance=float("lamp" in text),
                spans=(AnswerSpan(start=0, end=text.index(" "), score=float("lamp" in text)),),
                no_answer_score=0.5,
            )
            for text in passages
        ]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "eval").mkdir()
    rows = [
        {"article": "Prime_number", "context": "Margaret took the lamp.", "question": "Who?", "answers": ["Margaret"]},
        {"article": "Prime_number", "context": "Nobody came at all.", "question": "Who?", "answers": []},
        {"article": "Trained_on", "context": "Tobias had the lamp.", "question": "Who?", "answers": ["Tobias"]},
    ]
    lines = [json.dumps(row | {"answers": [{"start": 0, "text": text} for text in row["answers"]]}) for row in rows]
    (tmp_path / "eval" / "squad_dev.jsonl.bz2").write_bytes(bz2.compress("\n".join(lines).encode()))
    return tmp_path


def test_a_reader_is_measured_on_the_articles_that_no_reader_is_trained_on(data: Path) -> None:
    [(name, paragraphs)] = paragraph_sets(data)  # the other sets are not there
    assert (name, len(paragraphs)) == ("squad-held", 2)
    found = {each.metric: each.value for each in measure_reading(FirstWord(), name, paragraphs)}
    assert found == {"em": 1, "f1": 1, "auc-relevance": 1, "auc-span": 1}
