"""The reader's recipe: which examples its two stages are trained on, and with which settings."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nlb_retriever.indexing.indexer import index_files
from nlb_training.events import Observer, QueryEvent
from nlb_training.reader.candidates import Candidates, find_candidates, read_candidates, write_candidates
from nlb_training.reader.cloze import summary_examples
from nlb_training.reader.examples import Example
from nlb_training.reader.litbank import litbank_examples
from nlb_training.reader.loop import LoopSettings
from nlb_training.reader.ranking import ranking_examples
from nlb_training.reader.sources import (
    qamr_examples,
    read_books,
    read_rows,
    squad_examples,
    tale_examples,
)
from nlb_training.reader.storage import read_examples, write_examples

RETRIEVED = 50
"""Passages that the retriever finds for a question."""
CALIBRATION = 160
"""Questions with passages that int8 is calibrated on."""
_QAMR = 4000
"""Questions of QAMR in the second stage."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A pass over some examples."""

    name: Literal["short", "passages"]
    settings: LoopSettings
    examples: Callable[[Path, Path, random.Random, Observer | None], Iterable[Example]]
    """Makes them from the folder of the data and that of the run."""


def _make_short(data: Path, run: Path, draw: random.Random, observer: Observer | None) -> Iterable[Example]:
    yield from squad_examples(data, draw, (40, 60, 90))
    yield from qamr_examples(data, draw, alone=0.8)
    yield from tale_examples(data, draw, (40, 60, 90))
    summaries = run / "data" / "summaries.jsonl.gz"
    if not summaries.exists():
        write_examples(summaries, summary_examples(data, random.Random(1)))
    yield from (each for each in read_examples(summaries) if len(each.candidates[0].text) <= 500)


def _make_passages(data: Path, run: Path, draw: random.Random, observer: Observer | None) -> Iterable[Example]:
    found = _search_tales(data, run / "data", observer)
    yield from squad_examples(data, draw, (50, 90, 150, 220))
    yield from ranking_examples(data, found, draw, negatives=2, lengths=(60, 100, 150))
    yield from litbank_examples(data, draw)
    questions = list(qamr_examples(data, draw, alone=0.2))
    yield from draw.sample(questions, min(_QAMR, len(questions)))


STAGES = (
    Stage(name="short", settings=LoopSettings(learning_rate=2e-4, seed=1), examples=_make_short),
    Stage(
        name="passages",
        settings=LoopSettings(learning_rate=1.2e-4, seed=2, dropout=0.05, ranking=0.7, tokens=2400),
        examples=_make_passages,
    ),
)


def make_calibration(data: Path, run: Path, observer: Observer | None) -> list[tuple[str, str]]:
    """Questions on tales with passages that the retriever found for them."""
    draw = random.Random(3)
    candidates = {key: each.found for key, each in _search_tales(data, run / "data", observer).items() if each.found}
    questions = {row["id"]: row["question"] for row in read_rows(data, "fairytaleqa_train")}
    chosen = draw.sample(sorted(candidates), min(CALIBRATION, len(candidates)))
    return [(questions[each], draw.choice(candidates[each][:20]).text) for each in chosen]


def _search_tales(data: Path, folder: Path, observer: Observer | None) -> dict[str, Candidates]:
    """What the retriever finds for FairytaleQA's train questions in a library of its collections; searched once."""
    path = folder / "tales.jsonl.gz"
    if not path.exists():
        books, library = folder / "books", folder / "library"
        books.mkdir(parents=True, exist_ok=True)
        for name, text in read_books(data / "corpus" / "fairytaleqa.tar.bz2").items():
            (books / name).write_text(text, encoding="utf-8")
        index_files([str(books)], library, observer=observer)
        rows = read_rows(data, "fairytaleqa_train")
        candidates = find_candidates(library, rows, limit=RETRIEVED, in_book=False)
        write_candidates(path, _watched(candidates, len(rows), observer))
        shutil.rmtree(books, ignore_errors=True)
        shutil.rmtree(library, ignore_errors=True)
    return read_candidates(path)


def _watched(candidates: Iterable[Candidates], total: int, observer: Observer | None) -> Iterator[Candidates]:
    for done, each in enumerate(candidates, start=1):
        yield each
        if observer:
            observer(QueryEvent(done=done, total=total))
