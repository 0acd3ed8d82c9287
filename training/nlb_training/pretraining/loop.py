"""Training runs: transformers' Trainer with atomic checkpoints, the loss of every step, and a clean stop.

A run's folder holds

    checkpoints/       checkpoint-N after N steps: weights, optimizer, schedule, random states, losses.json
    loss.json loss.png the loss of every step so far, and the validation figures

A checkpoint is written beside its final path and renamed when it is complete, so that a full disk or a killed
process costs the steps since the last one and nothing else. On the CPU a resumed run gives the same bits as an
unbroken one.
"""

from __future__ import annotations

import json
import math
import shutil
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from transformers.trainer_callback import PrinterCallback

from nlb_retriever.config import expand
from nlb_retriever.errors import TrainingError, TrainingInterrupted
from nlb_training.events import StepObserver, TrainingEvent
from nlb_training.plots import draw_losses
from nlb_training.pretraining.history import LOSS_FILE, PLOT_FILE, History
from nlb_training.pretraining.settings import LoopSettings
from nlb_training.run_control import catch_stop_signals, check_torch_file, why
from nlb_training.settings import write_json

Validate = Callable[[nn.Module], Mapping[str, float]]
"""Gives figures of a model that is in eval mode."""
CHECKPOINTS = "checkpoints"
_PARTIAL = ".partial"
_WEIGHTS, _STATE, _LOSSES = "model.safetensors", "trainer_state.json", "losses.json"


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
    folder = expand(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        history = _train(model, dataset, collator, settings, folder / CHECKPOINTS, observer, validate)
        write_json(folder / LOSS_FILE, asdict(history))
        draw_losses(history.losses, history.validation, folder / PLOT_FILE)
    except OSError as error:
        raise TrainingError(f"cannot write {folder} ({error.strerror}): its checkpoints are intact") from error
    if len(history.losses) < history.steps:
        raise TrainingInterrupted(
            f"training was stopped after step {len(history.losses)} of {history.steps}, which is kept in "
            f"{folder / CHECKPOINTS}: run the same command with --resume to continue from there"
        )
    return history


def _train(
    model: nn.Module,
    dataset: Dataset[Any],
    collator: Callable[[list[Any]], Mapping[str, Tensor]],
    settings: LoopSettings,
    folder: Path,
    observer: StepObserver | None,
    validate: Validate | None,
) -> History:
    """Train to the end or to the first SIGINT or SIGTERM, with checkpoints in a folder."""
    cuda = settings.device == "auto" and torch.cuda.is_available()
    arguments = TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=settings.epochs,
        max_steps=settings.steps or -1,
        per_device_train_batch_size=settings.batch_size,
        gradient_accumulation_steps=settings.accumulate,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=settings.warmup,
        weight_decay=settings.weight_decay,
        max_grad_norm=settings.clip,
        optim="adamw_torch",
        seed=settings.seed,
        data_seed=settings.seed,
        bf16=cuda and torch.cuda.is_bf16_supported(),
        use_cpu=not cuda,
        dataloader_pin_memory=cuda,
        save_strategy="no",
        logging_strategy="no",
        logging_nan_inf_filter=False,
        report_to="none",
        disable_tqdm=True,
        remove_unused_columns=False,
    )
    trainer = _StepTrainer(model, arguments, dataset, collator, keep=settings.keep)
    trainer.remove_callback(PrinterCallback)
    last = find_last(folder)
    if last:
        trainer.history = _read_history(last)
    history = trainer.history
    watch = _Watch(trainer, settings, observer, validate)
    trainer.add_callback(watch)
    if last and len(history.losses) == history.steps:
        model.load_state_dict(load_file(last / _WEIGHTS))
    else:
        try:
            with catch_stop_signals() as watch.stopped:
                trainer.train(resume_from_checkpoint=str(last) if last else None)
        except KeyboardInterrupt as error:
            step = f"step {_step_of(kept)}" if (kept := find_last(folder)) else "the start"
            raise TrainingInterrupted(
                f"training was stopped within a step: run the same command with --resume to continue from {step}"
            ) from error
    trainer.accelerator.unwrap_model(trainer.model_wrapped, keep_fp32_wrapper=False)
    model.eval().to("cpu")
    watch.report("done")
    return history


def find_last(folder: Path) -> Path | None:
    """The checkpoint with the most steps in a run's folder of checkpoints."""
    checkpoints = [path for path in folder.glob("checkpoint-*") if path.name.rpartition("-")[2].isdigit()]
    return max(checkpoints, key=_step_of, default=None)


def _step_of(checkpoint: Path) -> int:
    return int(checkpoint.name.rpartition("-")[2])


def _read_history(checkpoint: Path) -> History:
    try:
        with safe_open(checkpoint / _WEIGHTS, framework="pt") as weights:
            weights.keys()
        for file in (checkpoint / "optimizer.pt", checkpoint / "scheduler.pt", *checkpoint.glob("rng_state*.pth")):
            check_torch_file(file)
        json.loads((checkpoint / _STATE).read_text(encoding="utf-8"))
        return History(**json.loads((checkpoint / _LOSSES).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, SafetensorError) as error:
        raise TrainingError(
            f"checkpoint {checkpoint} is damaged ({error}): delete it to resume from the one before"
        ) from error


class _StepTrainer(Trainer):
    """Keeps the loss of each step, and renames a checkpoint to its final path when it is complete."""

    def __init__(
        self,
        model: nn.Module,
        arguments: TrainingArguments,
        dataset: Dataset[Any],
        collator: Callable[[list[Any]], Mapping[str, Tensor]],
        *,
        keep: int,
    ) -> None:
        super().__init__(model, args=arguments, train_dataset=dataset, data_collator=collator)  # type: ignore[arg-type]
        self.history = History()
        self.keep = keep
        self.step_loss = 0.0
        self.folder = Path(str(arguments.output_dir))
        self._output_dir = self.folder

    def training_step(self, *arguments: Any, **keywords: Any) -> Tensor:
        loss = super().training_step(*arguments, **keywords)
        value = float(loss)
        if not math.isfinite(value):
            self._fail("the loss is NaN or infinite")
        self.step_loss += value
        return loss

    def _fail(self, what: str) -> None:
        kept = find_last(self.folder)
        raise TrainingError(
            f"{what} at step {self.state.global_step + 1} of {self.state.max_steps}: train with a learning rate "
            f"below {self.args.learning_rate:g}, or look for broken vectors in the corpus "
            f"({f'{kept} is intact' if kept else 'there is no checkpoint yet'})"
        )

    def _get_output_dir(self, trial: Any) -> str:
        return str(self._output_dir)

    def _save_checkpoint(self, model: nn.Module, trial: Any) -> None:
        if not all(bool(tensor.isfinite().all()) for tensor in model.parameters()):
            self._fail("the weights are NaN or infinite")
        folder = self.folder
        partial, name = folder / _PARTIAL, f"checkpoint-{self.state.global_step}"
        shutil.rmtree(partial, ignore_errors=True)
        self._output_dir = partial
        try:
            super()._save_checkpoint(model, trial)
            (partial / name / _LOSSES).write_text(json.dumps(asdict(self.history)), encoding="utf-8")
        except (OSError, RuntimeError, SafetensorError) as error:  # torch.save raises RuntimeError
            shutil.rmtree(partial, ignore_errors=True)
            kept = find_last(folder)
            raise TrainingError(
                f"cannot write checkpoint {folder / name} ({why(error)}): free some space, then run the same command "
                f"with --resume to continue from {f'step {_step_of(kept)}' if kept else 'the start'}"
            ) from error
        finally:
            self._output_dir = folder
        shutil.rmtree(folder / name, ignore_errors=True)
        (partial / name).rename(folder / name)
        shutil.rmtree(partial, ignore_errors=True)
        for old in sorted(folder.glob("checkpoint-*"), key=_step_of)[: -self.keep]:
            shutil.rmtree(old, ignore_errors=True)


class _Watch(TrainerCallback):
    """Reports each step, validates, and decides when to write a checkpoint and when to stop."""

    def __init__(
        self, trainer: _StepTrainer, settings: LoopSettings, observer: StepObserver | None, validate: Validate | None
    ) -> None:
        self.trainer = trainer
        self.settings = settings
        self.observer = observer
        self.validate = validate
        self.stopped = threading.Event()
        """Set by a signal to stop."""

    def report(self, kind: Any, **values: Any) -> None:
        """Send an event to the observer."""
        if self.observer:
            history = self.trainer.history
            self.observer(TrainingEvent(kind=kind, step=len(history.losses), steps=history.steps, **values))

    def on_train_begin(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        self.trainer.history.steps = state.max_steps
        self.report("start")
        if not self.trainer.history.validation:
            self._validate()

    def on_step_end(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        trainer, step = self.trainer, state.global_step
        rate = trainer.lr_scheduler.get_last_lr()[0]  # type: ignore[union-attr]
        loss, trainer.step_loss = trainer.step_loss, 0.0
        trainer.history.losses.append(loss)
        self.report("step", loss=loss, learning_rate=rate)
        at_end = step >= state.max_steps
        stopping = self.stopped.is_set()
        if at_end or step % self.settings.validate_every == 0:
            self._validate()
        control.should_save = at_end or stopping or step % self.settings.checkpoint_every == 0
        control.should_training_stop = at_end or stopping

    def on_save(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        control.should_save = False
        self.report("checkpoint", folder=self.trainer.folder / f"checkpoint-{state.global_step}")

    def _validate(self) -> None:
        if self.validate is None:
            return
        model = self.trainer.model
        assert model is not None
        with torch.no_grad(), torch.random.fork_rng():
            figures = dict(self.validate(model.eval()))
        model.train()
        self.trainer.history.validation.append({"step": len(self.trainer.history.losses), **figures})
        self.report("validation", figures=figures)
