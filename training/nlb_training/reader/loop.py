"""The training loop: one pass over a stage's rows, on the CPU in bf16, resumed to the bit after any interrupt.

A stage's folder holds

    rows.npz         the rows in tokens, made once: a resumed run reads these
    settings.json    what the stage was started with; a resume with other settings is refused
    state.safetensors
                     weights, their running mean, AdamW's moments, the step and the losses so far; replaced in one move
    final.safetensors
                     the running mean of the weights at the end: what the next stage starts from

Nothing random outlives a step: batches are planned from the seed, and dropout's generator is seeded anew with each step.
"""

from __future__ import annotations

import json
import logging
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from nlb_retriever.errors import TrainingError, TrainingInterrupted
from nlb_retriever.reader.network import ReaderNetwork
from nlb_training.reader.losses import LossWeights, reader_loss
from nlb_training.reader.rows import RowSet, make_batch, plan_batches

SETTINGS, STATE, FINAL = "settings.json", "state.safetensors", "final.safetensors"

Observer = Callable[[int, int, Mapping[str, float]], None]
"""Called with the steps done, all steps and the means of the last steps' losses."""

_log = logging.getLogger(__name__)


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
    record = json.loads(json.dumps({**asdict(settings), "rows": len(rows), "all_tokens": len(rows.ids)}))
    batches = plan_batches(rows, tokens=settings.tokens, seed=settings.seed)
    folder.mkdir(parents=True, exist_ok=True)
    _check_settings(folder, record, resume=resume)
    for module in network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = settings.dropout
    trained = {name: parameter for name, parameter in network.named_parameters() if parameter.requires_grad}
    mean = {name: parameter.detach().clone() for name, parameter in trained.items()}
    optimizer = _make_optimizer(trained, settings)
    losses: list[float] = []
    if resume and (folder / STATE).exists():
        losses = _load_state(folder, trained, mean, optimizer)
    weights = LossWeights(relevance=settings.relevance, ranking=settings.ranking)
    network.train()
    sums: dict[str, float] = {}
    since = time.perf_counter()
    with _listen() as asked:
        while (step := len(losses)) < len(batches):
            batch = make_batch(rows, batches[step])
            torch.manual_seed(settings.seed * 1_000_003 + step)
            for group in optimizer.param_groups:
                group["lr"] = settings.learning_rate * _schedule(step, len(batches), settings)
            with torch.autocast("cpu", torch.bfloat16):
                spans, relevance = network(batch.ids, batch.types, batch.mask)
            parts = reader_loss(spans, relevance, batch, weights)
            parts["loss"].backward()
            torch.nn.utils.clip_grad_norm_(trained.values(), settings.clip)
            optimizer.step()
            optimizer.zero_grad()
            with torch.no_grad():
                share = 1 - min(settings.mean_decay, (1 + step) / (10 + step))
                torch._foreach_lerp_(list(mean.values()), [each.detach() for each in trained.values()], share)
            loss = parts["loss"].item()
            if not math.isfinite(loss):
                raise TrainingError(f"the loss is no number at step {step + 1}: use a lower learning rate")
            losses.append(loss)
            for name, value in parts.items():
                sums[name] = sums.get(name, 0.0) + value.item()
            sums["tokens"] = sums.get("tokens", 0.0) + batch.ids.numel()
            if observer and (len(losses) % settings.report_every == 0 or len(losses) == len(batches)):
                count = (len(losses) - 1) % settings.report_every + 1
                seconds, since = time.perf_counter() - since, time.perf_counter()
                tokens = sums.pop("tokens")
                means = {name: value / count for name, value in sums.items()}
                observer(len(losses), len(batches), means | {"tokens a second": tokens / seconds})
                sums = {}
            if asked or len(losses) % settings.checkpoint_every == 0 or len(losses) == len(batches):
                _save_state(folder, trained, mean, optimizer, losses)
            if asked and len(losses) < len(batches):
                raise TrainingInterrupted(
                    f"training was stopped after step {len(losses)} of {len(batches)}, which is kept in {folder}: "
                    "run the same command with --resume to go on from there"
                )
    with torch.no_grad():
        for name, parameter in trained.items():
            parameter.copy_(mean[name])
    network.eval()
    _replace(folder / FINAL, lambda path: save_file(dict(network.state_dict()), path))


def _schedule(step: int, steps: int, settings: LoopSettings) -> float:
    rise = max(1, round(settings.warmup * steps))
    if step < rise:
        return (step + 1) / rise
    return settings.floor + (1 - settings.floor) * (steps - step) / max(1, steps - rise)


def _make_optimizer(trained: Mapping[str, Tensor], settings: LoopSettings) -> torch.optim.AdamW:
    decayed = [tensor for tensor in trained.values() if tensor.ndim > 1]
    others = [tensor for tensor in trained.values() if tensor.ndim <= 1]
    groups = [
        {"params": decayed, "weight_decay": settings.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=settings.learning_rate, betas=(0.9, 0.98), eps=1e-6, fused=True)


def _save_state(
    folder: Path,
    trained: Mapping[str, Tensor],
    mean: Mapping[str, Tensor],
    optimizer: torch.optim.AdamW,
    losses: list[float],
) -> None:
    tensors: dict[str, Tensor] = {}
    for name, tensor in trained.items():
        state = optimizer.state[tensor]
        tensors[f"weights.{name}"] = tensor.detach()
        tensors[f"mean.{name}"] = mean[name]
        tensors[f"first.{name}"], tensors[f"second.{name}"] = state["exp_avg"], state["exp_avg_sq"]
    metadata = {"losses": json.dumps(losses)}
    _replace(folder / STATE, lambda path: save_file(tensors, path, metadata=metadata))


def _load_state(
    folder: Path, trained: Mapping[str, Tensor], mean: Mapping[str, Tensor], optimizer: torch.optim.AdamW
) -> list[float]:
    from safetensors import SafetensorError, safe_open

    path = folder / STATE
    try:
        tensors = load_file(path)
        with safe_open(path, framework="pt") as file:
            losses: list[float] = json.loads(file.metadata()["losses"])
        with torch.no_grad():
            for name, tensor in trained.items():
                tensor.copy_(tensors[f"weights.{name}"])
                mean[name].copy_(tensors[f"mean.{name}"])
                optimizer.state[tensor] = {
                    "step": torch.tensor(float(len(losses))),
                    "exp_avg": tensors[f"first.{name}"],
                    "exp_avg_sq": tensors[f"second.{name}"],
                }
    except (OSError, SafetensorError, KeyError, RuntimeError, ValueError, TypeError) as error:
        raise TrainingError(f"{path} is damaged ({error}): start the stage again in another folder") from error
    return losses


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


@contextmanager
def _listen() -> Iterator[list[int]]:
    """A list that is filled by Ctrl-C or SIGTERM; a second one stops at once."""
    asked: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def ask(number: int, _frame: FrameType | None) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    heard = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in heard:
        signal.signal(number, ask)
    try:
        yield asked
    finally:
        for number in heard:
            signal.signal(number, before[number])
