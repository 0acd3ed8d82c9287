"""Multiple choice over long documents in QuALITY's format (arXiv 2402.17682, section 4).

As in the paper, each option is joined to the question and encoded as one chunk; its vector is concatenated with that
of the document, and a small classifier scores the pair. A softmax over the scores of a question's options gives the
loss. The classifier has one hidden layer with dropout, as a linear one could not use the document, which is the same
for all options. Cross-validated, with all questions of a group (an article, a textbook's section) in the same fold.
"no document" is the same classifier without the document's vector: its accuracy comes from questions and options.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nlb_retriever.encoding import Vectors
from nlb_retriever.errors import QueryError
from nlb_training.evaluation.books import BookCollection
from nlb_training.evaluation.documents import Document
from nlb_training.evaluation.metrics import Values
from nlb_training.evaluation.results import Measurement
from nlb_training.evaluation.rows import Row, read_lines
from nlb_training.evaluation.vectors import ChunkVectors

if TYPE_CHECKING:
    from torch import Tensor, nn

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


@dataclass(frozen=True, kw_only=True)
class ClassifierSettings:
    """Of the classifier; suited to some hundred or thousand questions."""

    hidden: int = 128
    dropout: float = 0.3
    epochs: int = 20
    batch: int = 128
    rate: float = 2e-3
    weight_decay: float = 0.05


def read_quality(file: Path) -> tuple[list[Choice], list[str]]:
    """Read QuALITY's JSONL: articles with questions of "question", "options" and "gold_label" (from 1).

    Returns:
        The questions, and the problems of those that are skipped.

    Raises:
        QueryError: the file cannot be read, or has no usable question.
    """
    choices: list[Choice] = []
    problems: list[str] = []
    for number, line in read_lines(file):
        where = f"{file.name}, line {number}"
        try:
            article = json.loads(line)
            document = Document(name=str(article["article_id"]), text=_check_text(article["article"]))
            questions = list(article["questions"])
        except (ValueError, KeyError, TypeError) as error:
            problems.append(f"{where}: not an article in QuALITY's format ({type(error).__name__}: {error})")
            continue
        for index, question in enumerate(questions, 1):
            try:
                choices.append(_make_choice(document, question, question["gold_label"] - 1, document.name))
            except (ValueError, KeyError, TypeError) as error:
                problems.append(f"{where}, question {index}: skipped ({type(error).__name__}: {error})")
    if not choices:
        reason = problems[0] if problems else f"{file} is empty"
        raise QueryError(f"{reason}: give QuALITY's JSONL, with gold labels")
    return choices, problems


def is_quality(file: Path) -> bool:
    """Whether a file's first line is an article with its questions."""
    first = next((line for _, line in read_lines(file)), "")
    try:
        values = json.loads(first)
    except ValueError:
        return False
    return isinstance(values, dict) and "article" in values


def from_rows(rows: Sequence[Row], books: BookCollection) -> tuple[list[Choice], list[str]]:
    """Questions of rows with "options" and "answer" (from 0); the document is the row's span, or its book.

    Returns:
        The questions, and the problems of those that are skipped.
    """
    choices: list[Choice] = []
    problems: list[str] = []
    for row in rows:
        text = books.text(row.file)
        start, end = row.spans[0] if row.spans else (0, len(text))
        document = Document(name=f"{row.file} {start}", text=text[start:end])
        try:
            values = {**row.values, "question": row.query}
            choices.append(_make_choice(document, values, row.values["answer"], row.group))
        except (ValueError, KeyError, TypeError) as error:
            problems.append(f'{row.where}: it needs "options" and "answer" (from 0) ({type(error).__name__}: {error})')
    return choices, problems


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
    """Accuracy of a system.

    Args:
        name: of the set.
        choices: the questions.
        system: name of the system.
        right: for each seed (Q,), 1 if the right option was chosen.
        trained: whether the system is evaluated, not a baseline.
    """
    spread = float(np.std([values.mean() for values in right])) if len(right) > 1 else None
    groups = [choice.group for choice in choices]
    mean = np.mean(right, axis=0)
    return [Measurement.of(TASK, name, system, "accuracy", mean, groups, spread=spread, trained=trained)]


def choose_by_scores(scores: Sequence[Vectors], choices: Sequence[Choice]) -> Values:
    """1 where the right option's score is the highest and no other's equals it."""
    right = [
        float(own[choice.gold] > np.delete(own, choice.gold).max()) for own, choice in zip(scores, choices, strict=True)
    ]
    return np.array(right)


def compare_options_to_questions(questions: Sequence[Vectors], options: Sequence[Vectors]) -> list[Vectors]:
    """Baseline without a document: each option's cosine with the question."""
    return [own @ question for question, own in zip(questions, options, strict=True)]


def compare_pairs_to_chunks(pairs: Sequence[Vectors], books: Sequence[Vectors]) -> list[Vectors]:
    """Baseline without training: the cosine of question and option with the nearest chunk of the document."""
    return [(own @ book.T).max(axis=1) for own, book in zip(pairs, books, strict=True)]


def compare_pairs_to_documents(pairs: Sequence[Vectors], documents: Vectors) -> list[Vectors]:
    """Without training: the cosine of question and option with the document's vector, of (Q, D) of them."""
    return [own @ document for own, document in zip(pairs, documents, strict=True)]


def choose_by_classifier(
    choices: Sequence[Choice],
    pairs: Sequence[Vectors],
    documents: Vectors | None,
    seed: int,
    settings: ClassifierSettings | None = None,
) -> Values:
    """Train and test the classifier, cross-validated.

    Args:
        choices: Q questions.
        pairs: for each question (options, D) vectors of it joined to each option.
        documents: (Q, D) vectors of their documents; None for no document.
        seed: of folds, weights and order.
        settings: of the classifier.

    Returns:
        (Q,), 1 where the right option has the highest score.
    """
    import torch

    chosen = settings or ClassifierSettings()
    most = max(len(own) for own in pairs)
    parts = 1 if documents is None else 2
    dim = pairs[0].shape[1]
    features = np.zeros((len(pairs), most, parts * dim), dtype=np.float32)
    mask = np.zeros((len(pairs), most), dtype=np.bool_)
    for index, own in enumerate(pairs):
        features[index, : len(own), -dim:] = own
        if documents is not None:
            features[index, : len(own), :dim] = documents[index]
        mask[index, : len(own)] = True
    inputs, used = torch.from_numpy(features * dim**0.5), torch.from_numpy(mask)
    targets = torch.tensor([choice.gold for choice in choices])
    scores = torch.zeros(len(pairs), most)
    with torch.random.fork_rng(devices=[]):
        for fold, (training, others) in enumerate(split_folds(choices, seed)):
            torch.manual_seed(1000 * seed + fold)
            model = _train(inputs[training], used[training], targets[training], chosen)
            with torch.inference_mode():
                scores[others] = _score_options(model, inputs[others], used[others])
    return choose_by_scores([own[: len(pair)].numpy() for own, pair in zip(scores, pairs, strict=True)], choices)


def split_folds(choices: Sequence[Choice], seed: int) -> Iterator[tuple[list[int], list[int]]]:
    """Training and test questions of each fold, with whole groups.

    Raises:
        QueryError: all questions are in one group.
    """
    names = sorted({choice.group for choice in choices})
    if len(names) < 2:
        raise QueryError(f"{len(choices)} questions on one document: cross-validation needs two documents or more")
    drawn = np.random.default_rng(seed).permutation(len(names))
    fold_of = {names[index]: number % min(FOLDS, len(names)) for number, index in enumerate(drawn)}
    own = [fold_of[choice.group] for choice in choices]
    for fold in sorted({*own}):
        yield [i for i, each in enumerate(own) if each != fold], [i for i, each in enumerate(own) if each == fold]


def _train(inputs: Tensor, used: Tensor, targets: Tensor, settings: ClassifierSettings) -> nn.Module:
    import torch
    from torch import nn
    from torch.nn.functional import cross_entropy

    model = nn.Sequential(
        nn.Linear(inputs.shape[-1], settings.hidden),
        nn.GELU(),
        nn.Dropout(settings.dropout),
        nn.Linear(settings.hidden, 1),
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.rate, weight_decay=settings.weight_decay)
    for _ in range(settings.epochs):
        for batch in torch.split(torch.randperm(len(inputs)), settings.batch):
            loss = cross_entropy(_score_options(model, inputs[batch], used[batch]), targets[batch])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    return model.eval()


def _score_options(model: nn.Module, inputs: Tensor, used: Tensor) -> Tensor:
    """(Q, options) scores, minus infinity for options that a question does not have."""
    scores: Tensor = model(inputs)[..., 0].masked_fill(~used, float("-inf"))
    return scores


def _make_choice(document: Document, values: dict[str, Any], gold: Any, group: str) -> Choice:
    options = tuple(_check_text(option) for option in values["options"])
    if type(gold) is not int or not 0 <= gold < len(options) or len(options) < 2:
        raise ValueError(f"the right option is {gold!r} of {len(options)}")
    question = _check_text(values["question"])
    return Choice(document=document, question=question, options=options, gold=gold, group=group)


def _check_text(text: Any) -> str:
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"{text!r} is not a text")
    return text
