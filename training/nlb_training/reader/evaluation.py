"""Measures of a reader on paragraphs: its answers, and how well it detects that a paragraph has none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nlb_retriever.reader.interface import Reading
from nlb_training.reader.answers import best_f1, exact_match
from nlb_training.reader.sources import read_books, squad_rows
from nlb_training.training_data import read_rows

Read = Callable[[str, Sequence[str]], list[Reading]]


@dataclass(frozen=True, kw_only=True)
class Paragraph:
    """A question with the paragraph that should answer it."""

    question: str
    text: str
    answers: tuple[str, ...]
    """People's; empty where the paragraph does not answer."""


def squad_paragraphs(data: Path) -> list[Paragraph]:
    """The held SQuAD articles' questions, those without an answer included."""
    return [_paragraph(row) for row in squad_rows(data, held=True)]


def bipar_paragraphs(data: Path) -> list[Paragraph]:
    """BiPaR's valid split, which is only ever measured with."""
    return [_paragraph(row) for row in read_rows(data, "bipar_en_valid")]


def tale_paragraphs(data: Path) -> list[Paragraph]:
    """FairytaleQA val with the evidence given."""
    texts = read_books(data, "fairytaleqa")
    return [
        Paragraph(
            question=row["question"],
            text="\n\n".join(texts[row["book_file"]][start:end] for start, end in row["evidence_spans"]),
            answers=tuple(row["answers"]),
        )
        for row in read_rows(data, "fairytaleqa_val")
    ]


def _paragraph(row: dict[str, Any]) -> Paragraph:
    answers = tuple(dict.fromkeys(answer["text"] for answer in row["answers"]))
    return Paragraph(question=row["question"], text=row["context"], answers=answers)


def measure_paragraphs(read: Read, paragraphs: Sequence[Paragraph]) -> dict[str, float]:
    """EM and token F1 of answerable ones, AUC of answerable against unanswerable ones if there are both; all x 100."""
    em, f1, known, relevance, margin = [], [], [], [], []
    for paragraph in paragraphs:
        (reading,) = read(paragraph.question, [paragraph.text])
        known.append(bool(paragraph.answers))
        relevance.append(reading.relevance)
        best = reading.spans[0]
        margin.append(best.score - reading.no_answer_score)
        if paragraph.answers:
            answer = paragraph.text[best.start : best.end]
            em.append(exact_match(answer, paragraph.answers))
            f1.append(best_f1(answer, paragraph.answers))
    figures = {"EM": 100 * float(np.mean(em)), "F1": 100 * float(np.mean(f1))}
    if not all(known):
        figures |= {"AUC relevance": 100 * auc(relevance, known), "AUC span": 100 * auc(margin, known)}
    return figures


def auc(scores: Sequence[float], good: Sequence[bool]) -> float:
    """Share of pairs of a good and a bad one in which the good one has the higher score; ties count half."""
    order = np.argsort(scores, kind="stable")
    values = np.asarray(scores, dtype=float)[order]
    marks = np.asarray(good)[order]
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    many = int(marks.sum())
    return float((ranks[marks].sum() - many * (many + 1) / 2) / (many * (len(marks) - many)))
