"""Multiple choice over long documents in QuALITY's format (arXiv 2402.17682, section 4).

As in the paper, each option is joined to the question and encoded as one chunk; its vector and the document's
stand side by side, [document; question and option], and a small classifier gives the pair a score; the four
scores go through a softmax. Here the classifier is one hidden layer with dropout (a linear layer could not
tell options apart by the document, whose part is the same for all four). Cross-validated with all questions of
a group (an article, a textbook's section) on one side. "no document" is the same classifier without the
document's half: what it reaches, questions and options give away by themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nlb_retriever.encoding import Vectors
from nlb_retriever.errors import QueryError
from nlb_training.evaluation.books import Shelf
from nlb_training.evaluation.documents import Document
from nlb_training.evaluation.metrics import Values
from nlb_training.evaluation.results import Measurement
from nlb_training.evaluation.rows import Row, read_lines
from nlb_training.evaluation.vectors import ChunkVectors

TASK = "multiple-choice"
FOLDS = 5


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A question on a document, with options of which one is right."""

    document: Document
    question: str
    options: tuple[str, ...]
    gold: int
    """Index of the right option."""
    group: str

    @property
    def pairs(self) -> list[str]:
        """The question with each of its options, as they are encoded."""
        return [f"{self.question} {option}" for option in self.options]


def read_quality(file: Path) -> tuple[list[Choice], list[str]]:
    """Read QuALITY's JSONL: articles with questions of "question", "options" and "gold_label" (from 1).

    Returns:
        The questions, and what is wrong with those that are left out.

    Raises:
        QueryError: the file cannot be read, or holds no usable question.
    """
    found: list[Choice] = []
    problems: list[str] = []
    for number, line in read_lines(file):
        where = f"{file.name}, line {number}"
        try:
            article = json.loads(line)
            document = Document(name=str(article["article_id"]), text=_filled(article["article"]))
            questions = list(article["questions"])
        except (ValueError, KeyError, TypeError) as error:
            problems.append(f"{where}: no article of QuALITY's format ({type(error).__name__}: {error})")
            continue
        for place, given in enumerate(questions, 1):
            try:
                found.append(_choice(document, given, given["gold_label"] - 1, document.name))
            except (ValueError, KeyError, TypeError) as error:
                problems.append(f"{where}, question {place}: left out ({type(error).__name__}: {error})")
    if not found:
        reason = problems[0] if problems else f"{file} is empty"
        raise QueryError(f"{reason}: give QuALITY's JSONL, with gold labels")
    return found, problems


def is_quality(file: Path) -> bool:
    """Whether a file's first line is an article with its questions."""
    first = next((line for _, line in read_lines(file)), "")
    try:
        values = json.loads(first)
    except ValueError:
        return False
    return isinstance(values, dict) and "article" in values


def from_rows(rows: Sequence[Row], shelf: Shelf) -> tuple[list[Choice], list[str]]:
    """Questions of rows with "options" and "answer" (from 0); the document is the row's span, or its book.

    Returns:
        The questions, and what is wrong with those that are left out.
    """
    found: list[Choice] = []
    problems: list[str] = []
    for row in rows:
        text = shelf.text(row.file)
        start, end = row.spans[0] if row.spans else (0, len(text))
        document = Document(name=f"{row.file} {start}", text=text[start:end])
        try:
            found.append(_choice(document, {**row.values, "question": row.query}, row.values["answer"], row.group))
        except (ValueError, KeyError, TypeError) as error:
            problems.append(
                f'{row.where}: "options" and "answer" (from 0) are wanted ({type(error).__name__}: {error})'
            )
    return found, problems


def encode(choices: Sequence[Choice], chunks: ChunkVectors) -> tuple[list[Vectors], list[Vectors], list[Vectors]]:
    """Vectors of each question (D,), of its options (n, D), and of it joined to each option (n, D)."""
    texts = [text for each in choices for text in (each.question, *each.options, *each.pairs)]
    whole = [raw.whole for raw in chunks.questions(texts)]
    questions, options, pairs = [], [], []
    start = 0
    for each in choices:
        count = len(each.options)
        questions.append(whole[start])
        options.append(np.stack(whole[start + 1 : start + 1 + count]))
        pairs.append(np.stack(whole[start + 1 + count : start + 1 + 2 * count]))
        start += 1 + 2 * count
    return questions, options, pairs


def measure(
    name: str, choices: Sequence[Choice], system: str, right: Sequence[Values], *, trained: bool
) -> list[Measurement]:
    """Accuracy of a way to choose.

    Args:
        name: of the set.
        choices: the questions.
        system: the way's name.
        right: for each seed 1 where the right option was chosen, a question each.
        trained: whether it is what is judged.
    """
    spread = float(np.std([values.mean() for values in right])) if len(right) > 1 else None
    groups = [choice.group for choice in choices]
    mean = np.mean(right, axis=0)
    return [Measurement.of(TASK, name, system, "accuracy", mean, groups, spread=spread, trained=trained)]


def by_scores(scores: Sequence[Vectors], choices: Sequence[Choice]) -> Values:
    """1 where the highest of a question's scores is the right option's, and no other's (a tie is wrong)."""
    right = [
        float(own[choice.gold] > np.delete(own, choice.gold).max()) for own, choice in zip(scores, choices, strict=True)
    ]
    return np.array(right)


def option_to_question(questions: Sequence[Vectors], options: Sequence[Vectors]) -> list[Vectors]:
    """Baseline without a document: each option's cosine with the question."""
    return [own @ question for question, own in zip(questions, options, strict=True)]


def option_to_chunk(pairs: Sequence[Vectors], books: Sequence[Vectors]) -> list[Vectors]:
    """Baseline without training: the cosine of question and option with the nearest chunk of the document."""
    return [(own @ book.T).max(axis=1) for own, book in zip(pairs, books, strict=True)]


def option_to_document(pairs: Sequence[Vectors], documents: Vectors) -> list[Vectors]:
    """Without training: the cosine of question and option with the document's vector, of (Q, D) of them."""
    return [own @ document for own, document in zip(pairs, documents, strict=True)]


def folds(choices: Sequence[Choice], seed: int) -> Iterator[tuple[list[int], list[int]]]:
    """Training and judged questions, groups kept together."""
    names = sorted({choice.group for choice in choices})
    if len(names) < 2:
        raise QueryError(f"{len(choices)} questions on one document: cross-validation takes two documents or more")
    drawn = np.random.default_rng(seed).permutation(len(names))
    fold_of = {names[place]: number % min(FOLDS, len(names)) for number, place in enumerate(drawn)}
    own = [fold_of[choice.group] for choice in choices]
    for fold in sorted({*own}):
        yield [i for i, each in enumerate(own) if each != fold], [i for i, each in enumerate(own) if each == fold]


def _choice(document: Document, given: dict[str, Any], gold: Any, group: str) -> Choice:
    options = tuple(_filled(option) for option in given["options"])
    if type(gold) is not int or not 0 <= gold < len(options) or len(options) < 2:
        raise ValueError(f"the right option is {gold!r} of {len(options)}")
    return Choice(document=document, question=_filled(given["question"]), options=options, gold=gold, group=group)


def _filled(text: Any) -> str:
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"{text!r} is no text")
    return text
