"""The training loop: one pass over a stage's rows in bf16; on the CPU resumed to the bit after any interrupt.

A stage's folder holds

    rows.npz             the rows in tokens, made once: a resumed run reads these
    state.safetensors    weights, their running mean, AdamW's moments and the losses so far; replaced atomically
    final.safetensors    the running mean of the weights at the end (mixed with the start), which the next stage starts
                         from, and the losses

Nothing random outlives a step: batches are planned from the seed, and dropout is seeded anew with each step.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from nlb_retriever.atomic import write_whole
from nlb_retriever.errors import TrainingError, TrainingInterrupted
from nlb_retriever.reader.network import ReaderNetwork
from nlb_training.events import StepObserver, TrainingEvent
from nlb_training.reader.losses import LossWeights, reader_loss
from nlb_training.reader.rows import Batch, RowSet, make_batch, plan_batches
from nlb_training.run_control import catch_stop_signals, writing
from nlb_training.settings import check_numbers

STATE, FINAL = "state.safetensors", "final.safetensors"
_DAMAGED = (OSError, SafetensorError, KeyError, RuntimeError, ValueError, TypeError)


@dataclass(frozen=True, kw_only=True)
class LoopSettings:
    """AdamW with a linear warm-up, then a linear fall.

    Raises:
        TrainingError: a number is out of range.
    """

    steps: int = 0
    """At most; 0: as many as one pass over all rows takes."""

    tokens: int = 4096
    """Of a batch, padding included."""
    learning_rate: float = 1.5e-4
    """At its peak."""
    floor: float = 0.05
    """Share of the learning rate that is left at the end."""
    warmup: float = 0.06
    """Share of the steps over which the learning rate rises."""
    weight_decay: float = 0.01
    """Of all weights but biases and norms."""
    clip: float = 1.0
    """Maximum norm of the gradient over all parameters."""
    dropout: float = 0.1
    """Of what attention and feed-forward layers add."""
    mean_decay: float = 0.998
    """Of the running mean of the weights, which is what a stage ends with."""
    start_share: float = 0.0
    """Share of the weights that the stage began with in those that it ends with (model soups, arXiv 2203.05482)."""
    seed: int = 0
    """Of the examples, their order and dropout."""
    checkpoint_every: int = 200
    """Steps."""
    relevance: float = 0.3
    """See `LossWeights`."""
    ranking: float = 0.5
    """See `LossWeights`."""

    def __post_init__(self) -> None:
        check_numbers(
            self,
            counts=("tokens", "checkpoint_every"),
            positive=("learning_rate", "clip"),
            shares=("floor", "warmup", "dropout", "mean_decay", "start_share"),
            least_zero=("steps", "weight_decay", "seed", "relevance", "ranking"),
        )


def run_stage(
    network: ReaderNetwork,
    rows: RowSet,
    folder: Path,
    settings: LoopSettings,
    *,
    observer: StepObserver | None = None,
) -> list[float]:
    """Train a network in place on all rows, once; it ends as the running mean of its weights.

    A run that was stopped goes on from the folder's state.

    Args:
        network: on the device to train on, with the weights that the stage begins with, also where it goes on.
        rows: of the stage.
        folder: of the stage, see above.
        settings: of the loop.
        observer: called after each step.

    Returns:
        The loss of each step.

    Raises:
        TrainingInterrupted: SIGINT or SIGTERM; the state after the last step was written.
        TrainingError: a loss that is no number, a damaged state, or a full disk.
    """
    batches = plan_batches(rows, tokens=settings.tokens, seed=settings.seed)
    batches = batches[: settings.steps or None]
    folder.mkdir(parents=True, exist_ok=True)
    for module in network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = settings.dropout
    state = _State(network, settings)
    if (folder / STATE).exists():
        state.load(folder / STATE)
    network.train()
    with catch_stop_signals() as stopped:
        while (step := len(state.losses)) < len(batches):
            loss, learning_rate = state.step(make_batch(rows, batches[step]), steps=len(batches))
            if observer:
                event = TrainingEvent(
                    kind="step", step=step + 1, steps=len(batches), loss=loss, learning_rate=learning_rate
                )
                observer(event)
            at_end = step + 1 == len(batches)
            if stopped.is_set() or at_end or (step + 1) % settings.checkpoint_every == 0:
                state.save(folder / STATE)
            if stopped.is_set():
                break
        if len(state.losses) == len(batches):
            state.finish(folder / FINAL)
        if stopped.is_set():
            raise TrainingInterrupted(
                f"training was stopped after step {len(state.losses)} of {len(batches)}, which is kept in {folder}: "
                "run the same command with --resume to go on from there"
            )
    return state.losses


def read_final(network: ReaderNetwork, folder: Path) -> list[float] | None:
    """Load the result of a finished stage into a network.

    Returns:
        The loss of each step; None if the stage is not finished.

    Raises:
        TrainingError: the file is damaged.
    """
    path = folder / FINAL
    if not path.exists():
        return None
    try:
        network.load_state_dict(load_file(path))
        return _read_losses(path)
    except _DAMAGED as error:
        raise _damaged(path, error) from error


class _State:
    """All that a step changes."""

    def __init__(self, network: ReaderNetwork, settings: LoopSettings) -> None:
        self.network = network
        self.device = network.words.weight.device
        self.settings = settings
        self.trained = {name: each for name, each in network.named_parameters() if each.requires_grad}
        self.mean = {name: each.detach().clone() for name, each in self.trained.items()}
        self.start = {name: each.detach().clone() for name, each in self.trained.items()}
        self.losses: list[float] = []
        groups = [
            {
                "params": [each for each in self.trained.values() if each.ndim > 1],
                "weight_decay": settings.weight_decay,
            },
            {"params": [each for each in self.trained.values() if each.ndim <= 1], "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW(groups, lr=settings.learning_rate, betas=(0.9, 0.98), eps=1e-6, fused=True)

    def step(self, batch: Batch, *, steps: int) -> tuple[float, float]:
        """Learn from a batch; gives its loss and the learning rate."""
        settings, step = self.settings, len(self.losses)
        torch.manual_seed(settings.seed * 1_000_003 + step)
        learning_rate = settings.learning_rate * _schedule(step, steps, settings)
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        batch = batch.to(self.device)
        with torch.autocast(self.device.type, torch.bfloat16):
            spans, relevance = self.network(batch.ids, batch.types, batch.mask)
        weights = LossWeights(relevance=settings.relevance, ranking=settings.ranking)
        loss = reader_loss(spans, relevance, batch, weights)
        value = loss.item()
        if not math.isfinite(value):
            raise TrainingError(f"the loss is no number at step {step + 1}: use a lower learning rate")
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self.trained.values(), settings.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        with torch.no_grad():
            share = 1 - min(settings.mean_decay, (1 + step) / (10 + step))
            torch._foreach_lerp_(list(self.mean.values()), [each.detach() for each in self.trained.values()], share)
        self.losses.append(value)
        return value, learning_rate

    def save(self, path: Path) -> None:
        tensors: dict[str, Tensor] = {}
        for name, tensor in self.trained.items():
            moments = self.optimizer.state[tensor]
            tensors |= {f"weights.{name}": tensor.detach(), f"mean.{name}": self.mean[name]}
            tensors |= {f"first.{name}": moments["exp_avg"], f"second.{name}": moments["exp_avg_sq"]}
        metadata = {"losses": json.dumps(self.losses)}
        with writing(path), write_whole(path) as part:
            save_file(tensors, part, metadata=metadata)

    def finish(self, path: Path) -> None:
        """Give the network the mean of its weights, mixed with its start, and write it."""
        with torch.no_grad():
            for name, parameter in self.trained.items():
                parameter.copy_(self.mean[name].lerp(self.start[name], self.settings.start_share))
        self.network.eval()
        metadata = {"losses": json.dumps(self.losses)}
        with writing(path), write_whole(path) as part:
            save_file(dict(self.network.state_dict()), part, metadata=metadata)

    def load(self, path: Path) -> None:
        try:
            tensors = load_file(path)
            self.losses = _read_losses(path)
            with torch.no_grad():
                for name, tensor in self.trained.items():
                    tensor.copy_(tensors[f"weights.{name}"])
                    self.mean[name].copy_(tensors[f"mean.{name}"])
                    self.optimizer.state[tensor] = {
                        "step": torch.tensor(float(len(self.losses)), device=self.device),
                        "exp_avg": tensors[f"first.{name}"].to(self.device),
                        "exp_avg_sq": tensors[f"second.{name}"].to(self.device),
                    }
        except _DAMAGED as error:
            raise _damaged(path, error) from error


def _schedule(step: int, steps: int, settings: LoopSettings) -> float:
    rise = max(1, round(settings.warmup * steps))
    if step < rise:
        return (step + 1) / rise
    return settings.floor + (1 - settings.floor) * (steps - step) / max(1, steps - rise)


def _read_losses(path: Path) -> list[float]:
    with safe_open(path, framework="pt") as file:
        losses: list[float] = json.loads(file.metadata()["losses"])
    return losses


def _damaged(path: Path, error: Exception) -> TrainingError:
    reason = str(error).strip().partition("\n")[0]
    return TrainingError(f"{path} is damaged ({reason}): start the run again in another folder")
