"""One training run of the reader: data, start model and settings in, a reader's folder out.

A run's folder holds

    run.json               settings and start model; a resume with others is refused
    data/                  what is made from the data once: questions from summaries, what the retriever found
    short/, passages/,
    novels/                the stages, see `nlb_training.reader.loop`
    teacher/, distilled/   the same, of a run with a teacher
    altered/, books/,
    plots/                 the last stages
    reader/                the result, for `nlb_retriever.reader.load_reader`; written last
"""

from __future__ import annotations

import importlib.util
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from tokenizers import Tokenizer

from nlb_retriever.encoding.load import BASE_ENCODER, find_weights
from nlb_retriever.errors import MissingExtra, TrainingError
from nlb_retriever.reader.files import CONFIG
from nlb_training.events import Observer, QueryEvent, StageEvent
from nlb_training.reader.distillation import score_rows
from nlb_training.reader.loop import LoopSettings, read_final, run_stage
from nlb_training.reader.mpnet import start_mpnet
from nlb_training.reader.quantize import write_reader
from nlb_training.reader.recipe import LAST_STAGES, STAGES, TAUGHT_STAGES, Stage, make_calibration
from nlb_training.reader.rows import RowSet, tokenize
from nlb_training.reader.sources import check_data, shuffled
from nlb_training.reader.start import check_start, start_network
from nlb_training.run_control import check_folder, find_device, hash_file, lock_folder, report_disk_errors
from nlb_training.settings import check_same, read_numbers, write_json
from nlb_training.start_model import read_tokenizer

NAME = "nlb-reader"
RUN, READER, WEIGHTS = "run.json", "reader", "model.safetensors"
LONGEST = 384
"""Tokens of a row."""
_SHOWN_STEPS = 20
"""Steps that the first and the last loss of a report are means of."""
_MAY_CHANGE = ("checkpoint_every",)
"""Settings that may differ when a run is resumed."""


@dataclass(frozen=True, kw_only=True)
class ReaderRequest:
    """What is to be trained."""

    data: Path
    """Folder with corpus/ and eval/."""
    out: Path
    """Of the run, and of the reader in `reader/` at its end."""
    start: str = BASE_ENCODER
    """A BERT encoder of the sentence-transformers format: its name or folder."""
    teacher: str | None = None
    """An MPNet encoder that the reader learns from in the end: its name or folder."""
    device: str = "auto"
    """Where to train: "auto" (CUDA where there is any, else the CPU), "cpu", "cuda"."""
    stages: tuple[Stage, ...] = (*STAGES, *LAST_STAGES)
    """`STAGES`, with a teacher `TAUGHT_STAGES`, and `LAST_STAGES`."""


@dataclass(frozen=True, kw_only=True)
class StageReport:
    """How a stage went."""

    name: str
    steps: int
    first_loss: float
    """Mean of the first 20 steps."""
    last_loss: float
    """Mean of the last 20 steps."""


@dataclass(frozen=True, kw_only=True)
class ReaderReport:
    """What a training run made."""

    reader: Path
    """The reader's folder."""
    start: str
    stages: tuple[StageReport, ...]
    seconds: float
    """Of this run; what an earlier one did is not counted."""

    def to_json(self) -> dict[str, Any]:
        """For `nlb train-reader --json`."""
        return {**asdict(self), "reader": str(self.reader)}


def read_stages(changes: Sequence[str], *, taught: bool = False) -> tuple[Stage, ...]:
    """The recipe's stages with changes like "passages.learning_rate=1e-4"; with a teacher's two if `taught`.

    Raises:
        TrainingError: a change names no setting, or its value is none or out of range.
    """
    recipe = (*STAGES, *(TAUGHT_STAGES if taught else ()), *LAST_STAGES)
    kinds = {
        f"{stage.name}.{each.name}": float if each.type == "float" else int
        for stage in recipe
        for each in fields(LoopSettings)
    }
    values = read_numbers(changes, kinds)
    stages = []
    for stage in recipe:
        own = {key.partition(".")[2]: value for key, value in values.items() if key.startswith(f"{stage.name}.")}
        stages.append(replace(stage, settings=replace(stage.settings, **own)))
    return tuple(stages)


def train_reader(request: ReaderRequest, *, resume: bool = False, observer: Observer | None = None) -> ReaderReport:
    """Train the reader to the end and write its folder.

    Args:
        request: what is to be trained.
        resume: go on with the run in `request.out`.
        observer: called when a stage begins, while books are indexed and queries are searched, and after each step.

    Raises:
        TrainingInterrupted: a signal to stop came; resumed, the run goes on with the next step.
        TrainingError: data, settings, start model or the folder do not allow it, the disk is full, or the loss is no
            number.
        EncoderError: the start model is not to be found.
        MissingExtra: NNCF is not installed.
    """
    started = time.monotonic()
    if importlib.util.find_spec("nncf") is None:
        raise MissingExtra("nncf is not installed: run `pip install 'nlb-retriever[train]'`")
    check_data(request.data)
    _, start = find_weights(request.start)
    device = find_device(request.device)
    network = start_network(start).to(device)
    tokenizer = read_tokenizer(start)
    check_start(network, tokenizer, start)
    teacher = start_mpnet(find_weights(request.teacher)[1], tokenizer).to(device) if request.teacher else None
    out, reports = request.out, []
    with _open_run(request, start, resume=resume):
        (out / "data").mkdir(exist_ok=True)
        for stage in request.stages:
            learner = teacher if teacher and stage.name == "teacher" else network
            losses = read_final(learner, out / stage.name)
            if losses is None:
                rows = _make_rows(stage, request, tokenizer, observer)
                if teacher and stage.name == "distilled":
                    _notify(observer, StageEvent(stage="scores"))
                    rows = score_rows(teacher, rows, out / stage.name, observer=_count_rows(observer))
                _notify(observer, StageEvent(stage=stage.name))
                losses = run_stage(learner, rows, out / stage.name, stage.settings, observer=observer)
            else:
                _notify(observer, StageEvent(stage=stage.name, done=True))
            first, last = fmean(losses[:_SHOWN_STEPS]), fmean(losses[-_SHOWN_STEPS:])
            reports.append(StageReport(name=stage.name, steps=len(losses), first_loss=first, last_loss=last))
        if not (out / READER / CONFIG).is_file():
            _notify(observer, StageEvent(stage="saving"))
            calibration = make_calibration(request.data, out, observer)
            write_reader(network.cpu(), tokenizer, out / READER, name=NAME, calibration=calibration)
    seconds = time.monotonic() - started
    return ReaderReport(reader=out / READER, start=request.start, stages=tuple(reports), seconds=seconds)


@contextmanager
def _open_run(request: ReaderRequest, start: Path, *, resume: bool) -> Iterator[None]:
    """Hold the folder of a run: a new one, or one that was begun with the same settings.

    Raises:
        TrainingError: the folder holds another run or other files, or none to resume, or another process trains there.
    """
    out, file = request.out, request.out / RUN
    with report_disk_errors(out):
        has_run = file.is_file()
        check_folder(out, has_run=has_run, resume=resume)
        with lock_folder(out):
            record = _record(request, start)
            if not has_run:
                write_json(file, record)
            else:
                check_same(record, file, out)
            yield


def _record(request: ReaderRequest, start: Path) -> dict[str, Any]:
    """All that the result depends on, but for the data."""
    record: dict[str, Any] = {"start": hash_file(start / WEIGHTS)[:16]}
    if request.teacher:
        record["teacher"] = hash_file(find_weights(request.teacher)[1] / WEIGHTS)[:16]
    for stage in request.stages:
        record[stage.name] = {key: value for key, value in asdict(stage.settings).items() if key not in _MAY_CHANGE}
    return record


def _make_rows(stage: Stage, request: ReaderRequest, tokenizer: Tokenizer, observer: Observer | None) -> RowSet:
    path = request.out / stage.name / "rows.npz"
    if not path.exists():
        _notify(observer, StageEvent(stage="examples"))
        path.parent.mkdir(exist_ok=True)
        draw = random.Random(stage.settings.seed)
        examples = shuffled(stage.examples(request.data, request.out, draw, observer), draw)
        if not examples:
            raise TrainingError(f"{request.data} holds no examples for the stage {stage.name}: see docs/reader.md")
        tokenize(examples, tokenizer, longest=LONGEST).save(path)
    return RowSet.load(path)


def _count_rows(observer: Observer | None) -> Callable[[int, int], None] | None:
    return observer and (lambda done, total: observer(QueryEvent(done=done, total=total)))


def _notify(observer: Observer | None, event: StageEvent) -> None:
    if observer:
        observer(event)
