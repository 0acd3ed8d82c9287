"""A reader by itself: answers in given paragraphs, and which questions their paragraph does not answer.

Measured on SQuAD's articles that no reader is trained on, BiPaR's valid split, which is only ever measured with, and
FairytaleQA val with its evidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nlb_retriever.reader import Reader
from nlb_training.evaluation.results import Measurement
from nlb_training.reader.answers import best_f1, exact_match
from nlb_training.reader.sources import read_books, squad_rows
from nlb_training.training_data import read_rows

TASK = "reading"


@dataclass(frozen=True, kw_only=True)
class Paragraph:
    """A question with the paragraph that should answer it."""

    question: str
    text: str
    answers: tuple[str, ...]
    """People's; empty where the paragraph does not answer."""


def paragraph_sets(data: Path) -> Iterator[tuple[str, list[Paragraph]]]:
    """The sets that the data folder has, by name; SQuAD's with the questions that have no answer."""
    files = {"squad-held": "squad_dev", "bipar": "bipar_en_valid", "fairytaleqa-evidence": "fairytaleqa_val"}
    for name, file in files.items():
        if not (data / "eval" / f"{file}.jsonl.bz2").is_file():
            continue
        if file == "fairytaleqa_val":
            yield name, list(_tale_paragraphs(data))
        else:
            rows = squad_rows(data, held=True) if file == "squad_dev" else read_rows(data, file)
            yield name, [_paragraph(row) for row in rows]


def measure_reading(reader: Reader, name: str, paragraphs: Sequence[Paragraph]) -> list[Measurement]:
    """A reader on one set, without intervals.

    Exact match and token F1 of answerable questions, and AUC of these against unanswerable ones if there are both.
    """
    em, f1, known, relevance, margin = [], [], [], [], []
    for paragraph in paragraphs:
        (reading,) = reader.read(paragraph.question, [paragraph.text])
        known.append(bool(paragraph.answers))
        relevance.append(reading.relevance)
        best = reading.spans[0]
        margin.append(best.score - reading.no_answer_score)
        if paragraph.answers:
            answer = paragraph.text[best.start : best.end]
            em.append(exact_match(answer, paragraph.answers))
            f1.append(best_f1(answer, paragraph.answers))
    from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]

    figures = {"em": np.mean(em), "f1": np.mean(f1)}
    if not all(known):
        figures |= {"auc-relevance": roc_auc_score(known, relevance), "auc-span": roc_auc_score(known, margin)}
    return [
        Measurement(
            task=TASK,
            set=name,
            system="reader",
            metric=metric,
            value=float(value),
            queries=len(paragraphs),
            groups=len({paragraph.text for paragraph in paragraphs}),
            trained=True,
        )
        for metric, value in figures.items()
    ]


def _tale_paragraphs(data: Path) -> Iterator[Paragraph]:
    """FairytaleQA val with the evidence given."""
    texts = read_books(data, "fairytaleqa")
    for row in read_rows(data, "fairytaleqa_val"):
        yield Paragraph(
            question=row["question"],
            text="\n\n".join(texts[row["book_file"]][start:end] for start, end in row["evidence_spans"]),
            answers=tuple(row["answers"]),
        )


def _paragraph(row: dict[str, Any]) -> Paragraph:
    answers = tuple(dict.fromkeys(answer["text"] for answer in row["answers"]))
    return Paragraph(question=row["question"], text=row["context"], answers=answers)
