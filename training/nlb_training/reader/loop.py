"""The training loop: one pass over a stage's rows, on the CPU in bf16, resumed to the bit after any interrupt.

A stage's folder holds

    rows.npz         the rows in tokens, made once: a resumed run reads these
    settings.json    what the stage was started with; a resume with other settings is refused
    state.safetensors
                     weights, their running mean, AdamW's moments, the step and the losses so far; replaced in one move
    final.safetensors
                     the running mean of the weights at the end: what the next stage starts from

Nothing random outlives a step: batches are planned from the seed, and dropout is seeded anew with each step.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from nlb_retriever.errors import TrainingError, TrainingInterrupted
from nlb_retriever.reader.network import ReaderNetwork
from nlb_training.reader.losses import LossWeights, reader_loss
from nlb_training.reader.rows import Batch, RowSet, make_batch, plan_batches
from nlb_training.run_control import catch_stop_signals

SETTINGS, STATE, FINAL = "settings.json", "state.safetensors", "final.safetensors"

Observer = Callable[[int, int, Mapping[str, float]], None]
"""Called with the steps done, all steps and the means of the last steps' losses."""


@dataclass(frozen=True, kw_only=True)
class LoopSettings:
    """AdamW with a linear warm-up and a linear fall to a tenth."""

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
    """Longest gradient."""
    dropout: float = 0.1
    mean_decay: float = 0.998
    """Of the running mean of the weights, which is what a stage ends with."""
    seed: int = 0
    checkpoint_every: int = 200
    """Steps."""
    report_every: int = 20
    """Steps."""
    relevance: float = 0.3
    """See `LossWeights`."""
    ranking: float = 0.5
    """See `LossWeights`."""


def run_stage(
    network: ReaderNetwork,
    rows: RowSet,
    folder: Path,
    settings: LoopSettings,
    *,
    resume: bool = False,
    observer: Observer | None = None,
) -> None:
    """Train a network in place on all rows, once; it ends as the running mean of its weights.

    Args:
        network: on the CPU.
        rows: of the stage.
        folder: of the stage, see above.
        settings: of the loop.
        resume: go on from the folder's state, if it has one.
        observer: called every `report_every` steps.

    Raises:
        TrainingInterrupted: Ctrl-C or SIGTERM; the state of that step was written.
        TrainingError: other settings than those of the run to resume, a loss that is no number, a full disk.
    """
    batches = plan_batches(rows, tokens=settings.tokens, seed=settings.seed)
    folder.mkdir(parents=True, exist_ok=True)
    record = json.loads(json.dumps({**asdict(settings), "rows": len(rows), "all_tokens": len(rows.ids)}))
    _check_settings(folder, record, resume=resume)
    for module in network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = settings.dropout
    state = _State(network, settings)
    if resume and (folder / STATE).exists():
        state.load(folder / STATE)
    progress = _Progress(observer, steps=len(batches), every=settings.report_every)
    network.train()
    with catch_stop_signals() as stopped:
        while (step := len(state.losses)) < len(batches):
            batch = make_batch(rows, batches[step])
            progress.add(state.step(batch, steps=len(batches)), batch.ids.numel(), done=step + 1)
            at_end = step + 1 == len(batches)
            if stopped.is_set() or at_end or (step + 1) % settings.checkpoint_every == 0:
                state.save(folder / STATE)
            if stopped.is_set() and not at_end:
                raise TrainingInterrupted(
                    f"training was stopped after step {step + 1} of {len(batches)}, which is kept in {folder}: "
                    "run the same command with --resume to go on from there"
                )
    with torch.no_grad():
        for name, parameter in state.trained.items():
            parameter.copy_(state.mean[name])
    network.eval()
    _replace(folder / FINAL, lambda path: save_file(dict(network.state_dict()), path))


class _State:
    """All that a step changes."""

    def __init__(self, network: ReaderNetwork, settings: LoopSettings) -> None:
        self.network = network
        self.settings = settings
        self.trained = {name: each for name, each in network.named_parameters() if each.requires_grad}
        self.mean = {name: each.detach().clone() for name, each in self.trained.items()}
        self.losses: list[float] = []
        groups = [
            {
                "params": [each for each in self.trained.values() if each.ndim > 1],
                "weight_decay": settings.weight_decay,
            },
            {"params": [each for each in self.trained.values() if each.ndim <= 1], "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW(groups, lr=settings.learning_rate, betas=(0.9, 0.98), eps=1e-6, fused=True)

    def step(self, batch: Batch, *, steps: int) -> dict[str, float]:
        """Learn from a batch; gives its losses."""
        settings, step = self.settings, len(self.losses)
        torch.manual_seed(settings.seed * 1_000_003 + step)
        for group in self.optimizer.param_groups:
            group["lr"] = settings.learning_rate * _schedule(step, steps, settings)
        with torch.autocast("cpu", torch.bfloat16):
            spans, relevance = self.network(batch.ids, batch.types, batch.mask)
        weights = LossWeights(relevance=settings.relevance, ranking=settings.ranking)
        parts = reader_loss(spans, relevance, batch, weights)
        values = {name: value.item() for name, value in parts.items()}
        if not math.isfinite(values["loss"]):
            raise TrainingError(f"the loss is no number at step {step + 1}: use a lower learning rate")
        torch.autograd.backward(parts["loss"])
        torch.nn.utils.clip_grad_norm_(self.trained.values(), settings.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        with torch.no_grad():
            share = 1 - min(settings.mean_decay, (1 + step) / (10 + step))
            torch._foreach_lerp_(list(self.mean.values()), [each.detach() for each in self.trained.values()], share)
        self.losses.append(values["loss"])
        return values

    def save(self, path: Path) -> None:
        tensors: dict[str, Tensor] = {}
        for name, tensor in self.trained.items():
            moments = self.optimizer.state[tensor]
            tensors |= {f"weights.{name}": tensor.detach(), f"mean.{name}": self.mean[name]}
            tensors |= {f"first.{name}": moments["exp_avg"], f"second.{name}": moments["exp_avg_sq"]}
        metadata = {"losses": json.dumps(self.losses)}
        _replace(path, lambda partial: save_file(tensors, partial, metadata=metadata))

    def load(self, path: Path) -> None:
        try:
            tensors = load_file(path)
            with safe_open(path, framework="pt") as file:
                self.losses = json.loads(file.metadata()["losses"])
            with torch.no_grad():
                for name, tensor in self.trained.items():
                    tensor.copy_(tensors[f"weights.{name}"])
                    self.mean[name].copy_(tensors[f"mean.{name}"])
                    self.optimizer.state[tensor] = {
                        "step": torch.tensor(float(len(self.losses))),
                        "exp_avg": tensors[f"first.{name}"],
                        "exp_avg_sq": tensors[f"second.{name}"],
                    }
        except (OSError, SafetensorError, KeyError, RuntimeError, ValueError, TypeError) as error:
            raise TrainingError(f"{path} is damaged ({error}): start the stage again in another folder") from error


class _Progress:
    """Means of the last steps' losses for an observer."""

    def __init__(self, observer: Observer | None, *, steps: int, every: int) -> None:
        self.observer = observer
        self.steps = steps
        self.every = every
        self.sums: dict[str, float] = {}
        self.count = 0
        self.since = time.perf_counter()

    def add(self, losses: Mapping[str, float], tokens: int, *, done: int) -> None:
        for name, value in losses.items():
            self.sums[name] = self.sums.get(name, 0.0) + value
        self.sums["tokens"] = self.sums.get("tokens", 0.0) + tokens
        self.count += 1
        if self.observer and (done % self.every == 0 or done == self.steps):
            now = time.perf_counter()
            speed = self.sums.pop("tokens") / (now - self.since)
            means = {name: value / self.count for name, value in self.sums.items()}
            self.observer(done, self.steps, means | {"tokens a second": speed})
            self.sums.clear()
            self.count, self.since = 0, now


def _schedule(step: int, steps: int, settings: LoopSettings) -> float:
    rise = max(1, round(settings.warmup * steps))
    if step < rise:
        return (step + 1) / rise
    return settings.floor + (1 - settings.floor) * (steps - step) / max(1, steps - rise)


def _check_settings(folder: Path, record: Mapping[str, Any], *, resume: bool) -> None:
    path = folder / SETTINGS
    if not path.exists():
        _replace(path, lambda new: new.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8"))
        return
    if not resume:
        raise TrainingError(f"{folder} holds an earlier run: resume it (--resume), or give another folder")
    earlier = json.loads(path.read_text(encoding="utf-8"))
    different = sorted(key for key in {*record, *earlier} if record.get(key) != earlier.get(key))
    if different:
        what = "; ".join(f"{key} is {record.get(key)!r}, was {earlier.get(key)!r}" for key in different)
        raise TrainingError(f"{folder} cannot be resumed with other settings: {what}")


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file beside its place, then move it there."""
    partial = path.with_name(f".{path.name}")
    try:
        write(partial)
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise TrainingError(f"cannot write {path} ({error.strerror}): free some space, then resume") from error
