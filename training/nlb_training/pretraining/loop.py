"""Training runs: the folder of a run, its checkpoints, how it stops and resumes.

A run's folder holds

    checkpoints/       checkpoint-N after N steps: weights, optimizer, schedule, random states, losses.json
    loss.json loss.png the loss of every step so far, and the validation figures

A checkpoint is written beside its final path and renamed when it is complete, so that a full disk or a killed
process costs the steps since the last one and nothing else. On the CPU a resumed run gives the same bits as an
unbroken one. For several GPUs, start it with `torchrun` or `accelerate launch`. transformers' Trainer runs the
steps (`nlb_training.pretraining.trainer`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nlb_retriever.config import expand
from nlb_retriever.errors import TrainingError, TrainingInterrupted
from nlb_training.events import StepObserver
from nlb_training.plots import draw_losses
from nlb_training.pretraining.settings import LoopSettings
from nlb_training.settings import write_json

if TYPE_CHECKING:
    from torch import Tensor, nn
    from torch.utils.data import Dataset

    from nlb_training.pretraining.trainer import Validate

LOSS_FILE, PLOT_FILE, CHECKPOINTS = "loss.json", "loss.png", "checkpoints"


@dataclass(frozen=True, kw_only=True)
class History:
    """The losses of a run, including those before a resume."""

    steps: int
    """Of the whole run, done or not."""
    losses: tuple[float, ...]
    """One for each step done."""
    validation: tuple[Mapping[str, float], ...] = ()
    """Results of `validate` with their "step"; the first is the untrained model's at step 0."""
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
    observer: StepObserver | None = None,
    validate: Validate | None = None,
) -> History:
    """Train a model to its end, from the folder's last checkpoint if there is one.

    Args:
        model: its `forward` takes the collator's result as keywords and returns {"loss": ()}. It is trained
            in place, and left in eval mode on the CPU.
        dataset: rows, of a known number.
        collator: rows to a batch; must not draw random numbers (`forward` may, from torch's own generator).
        settings: of the run.
        folder: of the run, see above; what it holds must be of the same model, rows and settings.
        observer: called at every step.
        validate: gives figures of the model, which is in eval mode; must not change torch's generator.

    Raises:
        TrainingInterrupted: Ctrl-C or SIGTERM; a checkpoint of that step was written.
        TrainingError: the last checkpoint is damaged, the loss is NaN or infinite, or the disk is full.
    """
    from nlb_training.pretraining.trainer import train

    folder = expand(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        started = time.perf_counter()
        result = train(model, dataset, collator, settings, folder / CHECKPOINTS, observer=observer, validate=validate)
        history = History(
            steps=result.steps,
            losses=tuple(result.losses),
            validation=tuple(result.validation),
            seconds=time.perf_counter() - started,
        )
        if result.writes:
            write_json(folder / LOSS_FILE, history.to_json())
            draw_losses(history.losses, history.validation, folder / PLOT_FILE)
    except OSError as error:
        raise TrainingError(f"cannot write {folder} ({error.strerror}): its checkpoints are intact") from error
    if len(history.losses) < history.steps:
        raise TrainingInterrupted(
            f"training was stopped after step {len(history.losses)} of {history.steps}, which is kept in "
            f"{folder / CHECKPOINTS}: run the same command with --resume to continue from there"
        )
    return history
