"""Labelled questions as examples: SQuAD's development articles, QAMR, FairytaleQA's train tales."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from nlb_retriever.errors import TrainingError
from nlb_training.reader.answers import closest_spans, find_verbatim
from nlb_training.reader.contexts import TOKEN_CHARACTERS, cut_candidate, other_windows, sentence_window
from nlb_training.reader.examples import Candidate, Example, Span
from nlb_training.training_data import HELD_ARTICLES, read_archive, read_rows

Rows = list[dict[str, Any]]

FILES = (
    *(
        f"eval/{name}.jsonl.bz2"
        for name in ("squad_dev", "qamr_dev_test", "fairytaleqa_train", "booksum_chapters_train")
    ),
    *(f"corpus/{name}.tar.bz2" for name in ("fairytaleqa", "litbank", "train-*")),
)
"""What the reader is trained on, in the folder of the data."""


def check_data(data: Path) -> None:
    """See that a folder has all files that the reader is trained on.

    Raises:
        TrainingError: it lacks one.
    """
    missing = [name for name in FILES if not any(data.glob(name))]
    if missing:
        raise TrainingError(f"{data} lacks {', '.join(missing)}: give the folder of the training data (docs/reader.md)")


@cache
def read_books(data: Path, name: str) -> dict[str, str]:
    """The texts of corpus/NAME.tar.bz2 by file name.

    Raises:
        TrainingError: the archive is missing or damaged.
    """
    return dict(read_archive(data, name))


def read_novels(data: Path) -> dict[str, str]:
    """Texts of the books whose chapters BookSum's train rows summarise, by their names."""
    return read_train_books(data, {row["book_file"] for row in read_rows(data, "booksum_chapters_train")})


def read_train_books(data: Path, wanted: Collection[str]) -> dict[str, str]:
    """Texts of those books of corpus/train-*.tar.bz2 that are wanted, by their names."""
    return {
        name: text
        for archive in sorted((data / "corpus").glob("train-*.tar.bz2"))
        for name, text in read_books(data, archive.name.removesuffix(".tar.bz2")).items()
        if name in wanted
    }


def squad_rows(data: Path, *, held: bool) -> Rows:
    """SQuAD's development questions: of the articles held out, or of all others."""
    return [row for row in read_rows(data, "squad_dev") if (row["article"] in HELD_ARTICLES) is held]


def squad_examples(data: Path, draw: random.Random, lengths: Sequence[int]) -> Iterator[Example]:
    """SQuAD questions, each with a window of its paragraph and, where there is one, a window without the answer."""
    for row in squad_rows(data, held=False):
        text, spans = row["context"], row_spans(row)
        if spans:
            span = draw.choice(spans)
            window = sentence_window(text, span, _characters(draw, lengths), draw)
            candidates = [cut_candidate(text, window, spans, relevant=True)]
            others = other_windows(text, spans, _characters(draw, lengths))
            if others and draw.random() < 0.3:
                candidates.append(cut_candidate(text, draw.choice(others), (), relevant=False))
        else:
            start = draw.randrange(len(text))
            window = sentence_window(text, (start, start), int(2 * _characters(draw, lengths)), draw)
            candidates = [cut_candidate(text, window, (), relevant=False)]
        yield Example(source="squad", question=row["question"], candidates=tuple(candidates))


def qamr_examples(data: Path, draw: random.Random, *, alone: float) -> Iterator[Example]:
    """QAMR questions, a share of them on their sentence alone, the others on it among up to three other sentences."""
    rows = read_rows(data, "qamr_dev_test")
    articles: dict[str, list[str]] = defaultdict(list)
    for sentence, article in {row["context"]: row["id"].rpartition(":")[0].rpartition(":")[0] for row in rows}.items():
        articles[article].append(sentence)
    sentences = sorted({row["context"] for row in rows})
    for row in rows:
        own, spans = row["context"], row_spans(row)
        relevant = True
        if draw.random() < 0.1:  # another sentence: no answer here
            article = articles[row["id"].rpartition(":")[0].rpartition(":")[0]]
            own = draw.choice([each for each in article if each != own] or [each for each in sentences if each != own])
            spans, relevant = [], False
        before, after = "", ""
        if draw.random() >= alone:
            neighbours = draw.sample(sentences, draw.randint(1, 3))
            cut = draw.randint(0, len(neighbours))
            before = "".join(f"{each} " for each in neighbours[:cut])
            after = "".join(f" {each}" for each in neighbours[cut:])
        moved = tuple((start + len(before), end + len(before)) for start, end in spans)
        candidate = Candidate(text=before + own + after, relevant=relevant, spans=moved)
        yield Example(source="qamr", question=row["question"], candidates=(candidate,))


def tale_examples(data: Path, draw: random.Random, lengths: Sequence[int]) -> Iterator[Example]:
    """FairytaleQA's train questions, each with a window around its evidence and one of the same tale without it."""
    texts = read_books(data, "fairytaleqa")
    for row in read_rows(data, "fairytaleqa_train"):
        text = texts[row["book_file"]]
        spans = evidence_answers(text, row)
        low, high = row["story_span"]
        tale = text[low:high]
        inside = [(a - low, b - low) for a, b in spans]
        evidence = [(a - low, b - low) for a, b in row["evidence_spans"]]
        if inside:
            window = sentence_window(tale, draw.choice(inside), _characters(draw, lengths), draw)
        else:
            start, end = draw.choice(evidence)
            window = start, min(end, start + int(300 * TOKEN_CHARACTERS))
        candidates = [cut_candidate(tale, window, inside, relevant=True)]
        others = other_windows(tale, evidence, _characters(draw, lengths))
        if others and draw.random() < 0.5:
            candidates.append(cut_candidate(tale, draw.choice(others), (), relevant=False))
        yield Example(source="tales", question=row["question"], candidates=tuple(candidates))


def evidence_answers(text: str, row: dict[str, Any]) -> list[Span]:
    """Where a FairytaleQA row's evidence holds its answer: word for word, else in the words most like it."""
    found: list[Span] = []
    for start, end in row["evidence_spans"]:
        evidence = text[start:end]
        verbatim = {span for answer in row["answers"] for span in find_verbatim(evidence, answer)}
        closest = sorted(verbatim)[:4] or closest_spans(evidence, row["answers"])
        found += [(a + start, b + start) for a, b in closest]
    return found


def row_spans(row: dict[str, Any]) -> list[Span]:
    """A row's answers as spans of its context, each once."""
    return sorted({(answer["start"], answer["start"] + len(answer["text"])) for answer in row["answers"]})


def shuffled(examples: Iterable[Example], draw: random.Random) -> Sequence[Example]:
    """Examples in a random order."""
    result = list(examples)
    draw.shuffle(result)
    return result


def _characters(draw: random.Random, lengths: Sequence[int]) -> int:
    return int(draw.choice(lengths) * TOKEN_CHARACTERS)
