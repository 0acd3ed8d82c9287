"""Training runs: transformers' Trainer does the loop, this decides what a run writes, how it stops and goes on.

A run's folder holds

    settings.json      what the run was started with; a resume with other settings is refused
    checkpoints/       checkpoint-N after N steps: weights, optimizer, schedule, random states, losses.json
    loss.json loss.png the loss of every step so far, and the validation figures

A checkpoint is written beside its place and moved there when it is complete, so that a full disk or a killed
process costs the steps since the last one and nothing else. On the CPU a resumed run is the unbroken one bit
for bit. Several GPUs: start it with `torchrun` or `accelerate launch`, which the Trainer notices.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nlb_retriever.errors import TrainingError, TrainingInterrupted
from nlb_training.plots import draw_losses
from nlb_training.settings import list_differences

if TYPE_CHECKING:
    from torch import Tensor, nn
    from torch.utils.data import Dataset

SETTINGS_FILE, LOSS_FILE, PLOT_FILE, CHECKPOINTS = "settings.json", "loss.json", "loss.png", "checkpoints"

Validate = Callable[["nn.Module"], Mapping[str, float]]


@dataclass(frozen=True, kw_only=True)
class LoopSettings:
    """How a model is trained: AdamW, a linear warm-up, then a cosine to zero.

    Raises:
        TrainingError: a number cannot be.
    """

    epochs: float = 1.0
    """Passes over the data; only where `steps` is 0."""
    steps: int = 0
    """Of the optimizer; 0: as many as the epochs take."""
    batch_size: int = 16
    """Rows of a batch on one device."""
    accumulate: int = 1
    """Batches of a step."""
    learning_rate: float = 1e-4
    """At its peak."""
    warmup: float = 0.05
    """Share of the steps over which the learning rate rises."""
    weight_decay: float = 0.01
    """Of all weights but biases and norms."""
    clip: float = 1.0
    """Longest gradient, over all parameters together."""
    seed: int = 0
    """Of the order of rows, dropout and masks."""
    checkpoint_every: int = 500
    """Steps."""
    keep: int = 2
    """Checkpoints kept, the last ones."""
    validate_every: int = 500
    """Steps."""
    device: Literal["auto", "cpu"] = "auto"
    """"auto": CUDA in bf16 where there is any, else the CPU in fp32."""

    def __post_init__(self) -> None:
        for key in ("batch_size", "accumulate", "checkpoint_every", "keep", "validate_every"):
            if getattr(self, key) < 1:
                raise TrainingError(f"{key} is {getattr(self, key)}, must be 1 or more")
        for key in ("learning_rate", "clip", "epochs"):
            if not 0 < getattr(self, key) < float("inf"):
                raise TrainingError(f"{key} is {getattr(self, key)}, must be more than 0")
        if self.steps < 0 or self.weight_decay < 0 or not 0 <= self.warmup < 1:
            raise TrainingError(
                f"steps ({self.steps}) and weight_decay ({self.weight_decay}) must be 0 or more, "
                f"warmup ({self.warmup}) a share of the steps below 1"
            )


@dataclass(frozen=True, kw_only=True)
class TrainingEvent:
    """A moment of a run, for those who watch."""

    kind: Literal["start", "step", "validation", "checkpoint", "done"]
    step: int
    """Steps done."""
    steps: int
    """Steps of the whole run."""
    loss: float | None = None
    """Of a step."""
    learning_rate: float | None = None
    """Of a step."""
    figures: Mapping[str, float] | None = None
    """Of a validation."""
    folder: Path | None = None
    """Of a checkpoint."""


Observer = Callable[[TrainingEvent], None]


@dataclass(frozen=True, kw_only=True)
class History:
    """What a run's losses were, those before a resume included."""

    steps: int
    """Of the whole run, done or not."""
    losses: tuple[float, ...]
    """One a step done."""
    validation: tuple[Mapping[str, float], ...] = ()
    """What `validate` gave, with "step" beside it; first of the untrained model at step 0."""
    seconds: float = 0.0
    """Of the last call."""

    def to_json(self) -> dict[str, Any]:
        return {"steps": self.steps, "losses": list(self.losses), "validation": [dict(row) for row in self.validation]}


def run_training(
    model: nn.Module,
    dataset: Dataset[Any],
    collator: Callable[[list[Any]], Mapping[str, Tensor]],
    settings: LoopSettings,
    folder: str | Path,
    *,
    resume: bool = False,
    observer: Observer | None = None,
    validate: Validate | None = None,
    stage: Mapping[str, Any] | None = None,
) -> History:
    """Train a model to its end, from the start or from the last checkpoint.

    Args:
        model: its `forward` takes what the collator gives as keywords, and returns {"loss": ()}. It is trained
            in place, and left in eval mode on the CPU.
        dataset: rows, of a known number.
        collator: rows to a batch; must not draw random numbers (`forward` may, from torch's own generator).
        settings: of the run.
        folder: of the run, see above.
        resume: go on from the last checkpoint in the folder, if it has one.
        observer: told of every step.
        validate: gives figures of the model, which it finds in eval mode; it draws no lasting random numbers.
        stage: the settings of what is trained, which a resume must share.

    Raises:
        TrainingInterrupted: Ctrl-C or SIGTERM; a checkpoint of that step was written.
        TrainingError: settings differ from those of the run to be resumed, the folder holds another run, the
            loss is no number any more, or the disk is full.
    """
    from nlb_training.pretraining.trainer import train

    folder = Path(folder).expanduser()
    record = {"loop": asdict(settings), "stage": dict(stage or {}), "rows": len(dataset)}  # type: ignore[arg-type]
    record = json.loads(json.dumps(record))
    try:
        if os.environ.get("RANK", "0") == "0":  # of several processes the first one writes
            _open_run(folder, record, resume=resume)
        started = time.perf_counter()
        result = train(model, dataset, collator, settings, folder / CHECKPOINTS, observer=observer, validate=validate)
        history = History(
            steps=result.steps,
            losses=tuple(result.losses),
            validation=tuple(result.validation),
            seconds=time.perf_counter() - started,
        )
        if result.writes:
            _write_json(folder / LOSS_FILE, history.to_json())
            draw_losses(history.losses, history.validation, folder / PLOT_FILE)
    except OSError as error:
        raise TrainingError(f"cannot write {folder} ({error.strerror}): its checkpoints are intact") from error
    if len(history.losses) < history.steps:
        raise TrainingInterrupted(
            f"training was stopped after step {len(history.losses)} of {history.steps}, which is kept in "
            f"{folder / CHECKPOINTS}: run the same command with --resume to go on from there"
        )
    return history


def _open_run(folder: Path, record: Mapping[str, Any], *, resume: bool) -> None:
    """Make the run's folder, or see that this is the run that it holds."""
    file = folder / SETTINGS_FILE
    if not resume:
        if file.exists():
            raise TrainingError(f"{folder} holds an earlier run: resume it (--resume), or give another folder")
        folder.mkdir(parents=True, exist_ok=True)
        _write_json(file, record)
        return
    try:
        earlier = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise TrainingError(f"{folder} holds no run to resume: start it without --resume") from error
    except ValueError as error:
        raise TrainingError(f"{file} is damaged ({error}): start the run again in another folder") from error
    if differences := list_differences(record, earlier):
        raise TrainingError(
            f"{folder} cannot be resumed with other settings: {'; '.join(differences)}: "
            "give those it had, or start again in another folder"
        )


def _write_json(file: Path, content: object) -> None:
    partial = file.with_name(f".{file.name}")
    partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    partial.replace(file)
