"""The reader's recipe: which examples its stages are trained on, and with which settings."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from nlb_retriever.indexing.indexer import index_files
from nlb_retriever.reader.load import RELEASED, load_reader
from nlb_training.events import Observer, QueryEvent
from nlb_training.reader.altered import altered_examples
from nlb_training.reader.book_questions import book_examples, read_book_questions
from nlb_training.reader.candidates import Candidates, find_candidates
from nlb_training.reader.cloze import summary_examples
from nlb_training.reader.examples import Example
from nlb_training.reader.litbank import litbank_examples
from nlb_training.reader.loop import LoopSettings
from nlb_training.reader.novels import novel_examples, novel_questions
from nlb_training.reader.plot_questions import plot_examples, read_plot_questions
from nlb_training.reader.ranking import ranking_examples
from nlb_training.reader.sources import (
    qamr_examples,
    read_books,
    read_novels,
    read_train_books,
    squad_examples,
    tale_examples,
)
from nlb_training.reader.storage import read_candidates, read_examples, write_rows
from nlb_training.training_data import read_rows

T = TypeVar("T")
_SHORT = (40, 60, 90)
"""Tokens of passages, one of them at random. A short passage shows as much of a question as a long one for a third of
the time, so that training begins with short ones; the product's have up to 256."""
RETRIEVED = 50
"""Passages that the retriever finds for a question."""
CALIBRATION = 160
"""Questions with passages that int8 is calibrated on."""
_QAMR = 4000
"""Questions of QAMR in the second and third stage."""
_NOVELS = 12_000
"""Questions on novels that are searched for in the third stage; somewhat less than half find a passage to train on."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A pass over some examples."""

    name: Literal["short", "passages", "novels", "teacher", "distilled", "altered", "books", "plots"]
    settings: LoopSettings
    examples: Callable[[Path, Path, random.Random, Observer | None], Iterable[Example]]
    """Makes them from the folder of the data and that of the run."""


def _make_short(data: Path, run: Path, draw: random.Random, observer: Observer | None) -> Iterable[Example]:
    yield from squad_examples(data, draw, _SHORT)
    yield from qamr_examples(data, draw, alone=0.8)
    yield from tale_examples(data, draw, _SHORT)
    yield from _read_summaries(data, run, 500)


def _make_passages(data: Path, run: Path, draw: random.Random, observer: Observer | None) -> Iterable[Example]:
    found = _search_tales(data, run / "data", observer)
    yield from squad_examples(data, draw, (50, 90, 150, 220))
    yield from ranking_examples(data, found, draw, negatives=2, lengths=(60, 100, 150))
    yield from litbank_examples(data, draw)
    yield from _sample(qamr_examples(data, draw, alone=0.2), _QAMR, draw)


@dataclass(frozen=True, kw_only=True)
class _Mixture:
    """How many questions of each kind a stage draws."""

    novels: int | None = None
    """None for all."""
    ranked: int
    """Of FairytaleQA beside `wrong` passages that do not answer, of `ranked_lengths` tokens."""
    wrong: int
    ranked_lengths: tuple[int, ...]
    paragraphs: int
    """Of SQuAD."""
    paragraph_lengths: tuple[int, ...] = (60, 90, 150, 220)
    tales: int = 0
    """Of FairytaleQA with the evidence alone."""
    tale_lengths: tuple[int, ...] = ()
    people: int
    """Of LitBank."""
    qamr: int
    alone: float
    """Share of QAMR's sentences without their neighbours."""
    summaries: int

    def __call__(self, data: Path, run: Path, draw: random.Random, observer: Observer | None) -> Iterable[Example]:
        if self.novels != 0:
            novels = _read_novel_lists(data, run, draw, observer)
            yield from novels if self.novels is None else _sample(novels, self.novels, draw)
        found = _search_tales(data, run / "data", observer)
        ranked = ranking_examples(data, found, draw, negatives=self.wrong, lengths=self.ranked_lengths)
        yield from _sample(ranked, self.ranked, draw)
        yield from _sample(squad_examples(data, draw, self.paragraph_lengths), self.paragraphs, draw)
        if self.tales:
            yield from _sample(tale_examples(data, draw, self.tale_lengths), self.tales, draw)
        yield from _sample(litbank_examples(data, draw), self.people, draw)
        yield from _sample(qamr_examples(data, draw, alone=self.alone), self.qamr, draw)
        yield from _sample(_read_summaries(data, run, 600), self.summaries, draw)


_NOVELS_MIXTURE = _Mixture(
    ranked=2000, wrong=4, ranked_lengths=(80, 120, 170), paragraphs=4000, people=1000, qamr=_QAMR, alone=0.4,
    summaries=2000,
)  # fmt: skip
_TEACHER_MIXTURE = _Mixture(
    novels=1300, ranked=2600, wrong=3, ranked_lengths=(70, 100, 140), paragraphs=8000,
    paragraph_lengths=(40, 60, 90, 150), tales=6000, tale_lengths=(60, 90, 150), people=400, qamr=4000, alone=0.5,
    summaries=2000,
)  # fmt: skip
_DISTILLED_MIXTURE = _Mixture(
    ranked=4800, wrong=5, ranked_lengths=(110, 160, 220), paragraphs=7000, tales=5000, tale_lengths=(90, 150, 240),
    people=400, qamr=3700, alone=0.3, summaries=1800,
)  # fmt: skip
_ALTERED_MIXTURE = _Mixture(
    novels=600, ranked=1200, wrong=3, ranked_lengths=(110, 160, 220), paragraphs=7000,
    paragraph_lengths=(90, 150, 220, 300), tales=1500, tale_lengths=(90, 150, 240), people=100, qamr=1500, alone=0.3,
    summaries=500,
)  # fmt: skip


_BOOKS_MIXTURE = _Mixture(
    novels=0, ranked=1200, wrong=3, ranked_lengths=(110, 160, 220), paragraphs=2500,
    paragraph_lengths=(90, 150, 220, 300), tales=1500, tale_lengths=(90, 150, 240), people=100, qamr=1000, alone=0.3,
    summaries=0,
)  # fmt: skip
_PLOTS_MIXTURE = replace(_BOOKS_MIXTURE, paragraphs=1200, tales=1440, people=80, qamr=640)


def _make_altered(data: Path, run: Path, draw: random.Random, observer: Observer | None) -> Iterable[Example]:
    yield from _ALTERED_MIXTURE(data, run, draw, observer)
    yield from altered_examples(data, draw, (90, 150, 220, 300), share=0.6)


def _make_books(data: Path, run: Path, draw: random.Random, observer: Observer | None) -> Iterable[Example]:
    yield from _read_book_lists(data, run, draw, observer)
    yield from _BOOKS_MIXTURE(data, run, draw, observer)
    yield from _sample(altered_examples(data, draw, (90, 150, 220, 300), share=0.6), 3000, draw)


def _read_book_lists(data: Path, run: Path, draw: random.Random, observer: Observer | None) -> Iterator[Example]:
    """Questions on books with what the retriever found for them there; searched once."""
    rows, texts = _read_written(data, read_book_questions("train"))
    if rows:
        found = _search("books", texts, rows, run / "data", observer, limit=20, in_book=True)
        yield from book_examples(rows, texts, found, draw, negatives=3, lengths=(120, 170, 220, 250))


def _make_plots(data: Path, run: Path, draw: random.Random, observer: Observer | None) -> Iterable[Example]:
    rows, texts = _read_written(data, read_plot_questions())
    if rows:
        found = _search("plots", texts, rows, run / "data", observer, limit=20, in_book=True)
        teacher = load_reader(RELEASED)
        yield from _sample(
            plot_examples(rows, texts, found, teacher, draw, negatives=3, lengths=(100, 150, 200, 250)), 14_000, draw
        )
    yield from _sample(_read_book_lists(data, run, draw, observer), 2800, draw)
    yield from _PLOTS_MIXTURE(data, run, draw, observer)
    yield from _sample(altered_examples(data, draw, (90, 150, 220, 300), share=0.6), 2000, draw)


def _read_written(data: Path, rows: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The rows whose books are in the data, and the books' texts."""
    texts = read_train_books(data, {row["book_file"] for row in rows})
    return [row for row in rows if row["book_file"] in texts], texts


def _read_novel_lists(data: Path, run: Path, draw: random.Random, observer: Observer | None) -> Iterator[Example]:
    """Questions on novels with what the retriever found for them there; searched once."""
    novels = read_novels(data)
    rows = _sample(novel_questions(data, novels, random.Random(4)), _NOVELS, random.Random(4))
    found = _search("novels", novels, rows, run / "data", observer, limit=20, in_book=True)
    return novel_examples(rows, found, draw, negatives=4, lengths=(110, 150, 200))


def _read_summaries(data: Path, run: Path, longest: int) -> Iterator[Example]:
    """Questions of summaries with a passage of at most so many characters; made once."""
    path = run / "data" / "summaries.jsonl.gz"
    if not path.exists():
        write_rows(path, summary_examples(data, random.Random(1)))
    yield from (each for each in read_examples(path) if len(each.candidates[0].text) <= longest)


def _sample(examples: Iterable[T], count: int, draw: random.Random) -> list[T]:
    """At most so many of them, at random."""
    all_examples = list(examples)
    return draw.sample(all_examples, min(count, len(all_examples)))


STAGES = (
    Stage(name="short", settings=LoopSettings(learning_rate=2e-4, seed=1), examples=_make_short),
    Stage(
        name="passages",
        settings=LoopSettings(learning_rate=1.2e-4, seed=2, dropout=0.05, ranking=0.7, tokens=2400),
        examples=_make_passages,
    ),
    Stage(
        name="novels",
        settings=LoopSettings(
            learning_rate=1e-4, seed=3, dropout=0.07, ranking=0.8, relevance=0.4, mean_decay=0.995, start_share=0.5
        ),
        examples=_NOVELS_MIXTURE,
    ),
)
TAUGHT_STAGES = (
    Stage(
        name="teacher",
        settings=LoopSettings(
            steps=1380, learning_rate=8e-5, seed=4, ranking=0.7, relevance=0.4, mean_decay=0.98, warmup=0.1
        ),
        examples=_TEACHER_MIXTURE,
    ),
    Stage(
        name="distilled",
        settings=LoopSettings(
            learning_rate=1.3e-4, seed=5, dropout=0.05, ranking=0.8, relevance=0.4, mean_decay=0.995, start_share=0.4
        ),
        examples=_DISTILLED_MIXTURE,
    ),
)
"""Behind the others: a larger network learns to read, then the reader learns its scores."""
LAST_STAGES = (
    Stage(
        name="altered",
        settings=LoopSettings(
            learning_rate=7e-5, seed=6, dropout=0.05, ranking=0.8, relevance=0.4, mean_decay=0.995, start_share=0.5
        ),
        examples=_make_altered,
    ),
    Stage(
        name="books",
        settings=LoopSettings(
            learning_rate=1e-4, seed=7, dropout=0.05, ranking=0.8, relevance=0.4, mean_decay=0.995, start_share=0.7
        ),
        examples=_make_books,
    ),
    Stage(
        name="plots",
        settings=LoopSettings(
            learning_rate=8e-5, seed=8, dropout=0.05, ranking=0.8, relevance=0.4, mean_decay=0.995, start_share=0.4
        ),
        examples=_make_plots,
    ),
)
"""Of every run: what a passage does not answer, which a teacher does not know better, and questions on books."""


def make_calibration(data: Path, run: Path, observer: Observer | None) -> list[tuple[str, str]]:
    """Questions on tales with passages that the retriever found for them."""
    draw = random.Random(3)
    candidates = {key: each.found for key, each in _search_tales(data, run / "data", observer).items() if each.found}
    questions = {row["id"]: row["question"] for row in read_rows(data, "fairytaleqa_train")}
    chosen = draw.sample(sorted(candidates), min(CALIBRATION, len(candidates)))
    return [(questions[each], draw.choice(candidates[each][:20]).text) for each in chosen]


def _search_tales(data: Path, folder: Path, observer: Observer | None) -> dict[str, Candidates]:
    """What the retriever finds for FairytaleQA's train questions in a library of its collections."""
    texts = read_books(data, "fairytaleqa")
    rows = read_rows(data, "fairytaleqa_train")
    return _search("tales", texts, rows, folder, observer, limit=RETRIEVED, in_book=False)


def _search(
    name: str,
    texts: Mapping[str, str],
    rows: Sequence[dict[str, Any]],
    folder: Path,
    observer: Observer | None,
    *,
    limit: int,
    in_book: bool,
) -> dict[str, Candidates]:
    """What the retriever finds for some rows' questions in a library of these books; searched once."""
    path = folder / f"{name}.jsonl.gz"
    if not path.exists():
        books, library = folder / f"{name}-books", folder / f"{name}-library"
        books.mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            (books / file).write_text(text, encoding="utf-8")
        index_files([str(books)], library, observer=observer)
        candidates = find_candidates(library, rows, limit=limit, in_book=in_book)
        write_rows(path, _watched(candidates, len(rows), observer))
        shutil.rmtree(books, ignore_errors=True)
        shutil.rmtree(library, ignore_errors=True)
    return read_candidates(path)


def _watched(candidates: Iterable[Candidates], total: int, observer: Observer | None) -> Iterator[Candidates]:
    for done, each in enumerate(candidates, start=1):
        yield each
        if observer:
            observer(QueryEvent(done=done, total=total))
