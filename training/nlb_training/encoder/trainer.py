"""Steps, states and a clean stop: what was trained is never lost, and a stopped run goes on to the bit."""

from __future__ import annotations

import json
import logging
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor

from nlb_retriever.atomic import write_file, write_folder
from nlb_retriever.errors import TrainingError, TrainingInterrupted
from nlb_training.encoder.bert import Bert
from nlb_training.encoder.loss import add_terms, compare, compare_terms, contrast, follow
from nlb_training.encoder.planner import Planner
from nlb_training.encoder.queries import SOURCES
from nlb_training.encoder.rounds import Batch, read_round, write_round
from nlb_training.encoder.term_map import BIAS, RATE, WEIGHT, apply_map, fit_map, group_terms, write_map
from nlb_training.events import StepObserver, TrainingEvent
from nlb_training.run_control import catch_stop_signals, check_torch_file, writing
from nlb_training.settings import check_numbers, refuse_differences

STATE, LOG = "state.pt", "log.jsonl"
_MAY_CHANGE = {"steps", "cooldown", "save_every"}
_BOOK_WEIGHT = 0.5
"""Of the same loss among passages of other books alone: it tells which book is meant."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Of a run; all but `steps`, `cooldown` and `save_every` must stay the same when it is resumed."""

    steps: int = 1000
    """May grow when a run is resumed before its cooldown."""
    cooldown: int = 200
    """Last steps, over which the learning rate falls to nothing."""
    warmup: int = 40
    """First steps, over which the learning rate rises."""
    learning_rate: float = 5e-5
    """AdamW's between warm-up and cooldown."""
    weight_decay: float = 0.01
    """Of all weights but biases and norms."""
    clip: float = 1.0
    """Maximum norm of the gradient over all parameters."""
    scale: float = 20.0
    """Inverse temperature of the loss."""
    reader_weight: float = 1.0
    """Of what the reader says about a query's candidates; 0: only its choice of the right one counts."""
    average: float = 0.99
    """Decay of the moving average of the weights."""
    start_share: float = 0.3
    """Share of the start's weights in the result: it keeps what the start knew (model soups, arXiv 2203.05482)."""
    save_every: int = 25
    """Steps between two states."""
    seed: int = 0
    """Of the rounds."""

    def __post_init__(self) -> None:
        positive = ("learning_rate", "clip", "scale")
        check_numbers(self, counts=("steps", "save_every"), positive=positive, shares=("average",))
        if self.start_share > 1:
            raise TrainingError(f"start_share={self.start_share} is above 1: give a share from 0 to 1")


class Run:
    """A training run in a folder.

    Args:
        model: the start.
        planner: makes its rounds.
        settings: of the run.
        folder: of its state, log and rounds.
        steps_a_round: how many steps each planned round has.
        plan: what else the rounds depend on, by the names that people know it by; must stay the same, too.
    """

    def __init__(
        self,
        model: Bert,
        planner: Planner,
        settings: Settings,
        folder: Path,
        *,
        steps_a_round: int,
        plan: Mapping[str, str | int],
    ) -> None:
        self.model = model
        self.settings = settings
        self._planner = planner
        self._folder = folder
        self._steps_a_round = steps_a_round
        self._plan = dict(plan)
        self._step = 0
        self._batches: list[Batch] = []
        self._trained: dict[str, Tensor] = {}

    def _begin(self, term_map: Mapping[str, Tensor]) -> None:
        """Make ready to train the model and a map of terms."""
        own, settings = self.model.masters.values(), self.settings
        self._trained = {**self.model.masters, **{name: tensor.clone() for name, tensor in term_map.items()}}
        for tensor in self._trained.values():
            tensor.requires_grad_()
        self._optimizer = torch.optim.AdamW(
            [
                {"params": [t for t in own if t.ndim > 1], "weight_decay": settings.weight_decay, "factor": 1.0},
                {"params": [t for t in own if t.ndim == 1], "weight_decay": 0.0, "factor": 1.0},
                {"params": [self._trained[name] for name in term_map], "weight_decay": 0.0, "factor": RATE},
            ],
            lr=settings.learning_rate,
            fused=True,
        )
        self._start = {name: tensor.detach().clone() for name, tensor in self._trained.items()}
        self._average = {name: tensor.clone() for name, tensor in self._start.items()}

    def resume(self) -> int:
        """Go back to the last state.

        Raises:
            TrainingError: the state is damaged, or of other settings.
        """
        file = self._folder / STATE
        try:
            check_torch_file(file)
            state = torch.load(file, map_location=self.model.device, weights_only=True)
            stored, term_map = {**state["settings"], **state["plan"]}, state["term_map"]
        except (OSError, RuntimeError, KeyError, EOFError, ValueError, TypeError, UnpicklingError) as error:
            why = str(error).strip().partition("\n")[0]
            raise TrainingError(f"{file} is damaged ({why}): start anew in another folder") from error
        mine = {key: each for key, each in {**asdict(self.settings), **self._plan}.items() if key not in _MAY_CHANGE}
        refuse_differences(mine, {key: stored.get(key) for key in mine}, self._folder)
        self._begin(term_map)
        with torch.no_grad():
            for name, tensor in self._trained.items():
                tensor.copy_(state["weights"][name])
        self._average = state["average"]
        self._optimizer.load_state_dict(state["optimizer"])
        self._step = int(state["step"])
        self.model.refresh()
        return self._step

    def train(self, observer: StepObserver | None = None) -> None:
        """Train to the last step.

        Raises:
            TrainingInterrupted: a signal to stop came; the state is written.
            TrainingError: the loss is no number, or the disk is full.
        """
        with catch_stop_signals() as stopped:
            while self._step < self.settings.steps:
                batch = self._next_batch()
                if not self._trained:
                    self._begin(fit_map(self.model, self._batches))
                started = time.perf_counter()
                record = self._train_step(batch)
                record["seconds"] = time.perf_counter() - started
                self._step += 1
                self._write_log({"step": self._step, **record})
                steps = self.settings.steps
                if observer:
                    loss, rate = record["loss"], record["rate"]
                    observer(TrainingEvent(kind="step", step=self._step, steps=steps, loss=loss, learning_rate=rate))
                last = self._step == steps
                if stopped.is_set() or last or self._step % self.settings.save_every == 0:
                    self.save()
                if stopped.is_set() and not last:
                    raise TrainingInterrupted(f"stopped after step {self._step}: go on with --resume")

    def averaged(self) -> dict[str, Tensor]:
        """All weights, the map of terms among them: the moving average, averaged with the start's."""
        share = self.settings.start_share
        mixed = {name: tensor.lerp(self._start[name], share) for name, tensor in self._average.items()}
        return {**self.model.weights(), **mixed}

    def save(self) -> None:
        """Write the state.

        Raises:
            TrainingError: it cannot be written; the former one is kept.
        """
        state = {
            "step": self._step,
            "settings": asdict(self.settings),
            "plan": self._plan,
            "weights": {name: tensor.detach() for name, tensor in self._trained.items()},
            "term_map": {name: self._start[name] for name in (WEIGHT, BIAS)},
            "average": self._average,
            "optimizer": self._optimizer.state_dict(),
        }
        with writing(self._folder / STATE):
            write_file(self._folder / STATE, lambda stream: torch.save(state, stream))
            for file in self._folder.glob("round-*.npz"):
                if file.name < self._round_of(self._step).name:
                    file.unlink()

    def _next_batch(self) -> Batch:
        number, inside = divmod(self._step, self._steps_a_round)
        if inside == 0 or not self._batches:
            file = self._round_of(self._step)
            if not file.is_file():
                if inside:
                    raise TrainingError(f"{file} is missing: a run cannot go on in the middle of a round without it")
                started = time.perf_counter()
                batches = self._planner.plan(self.model, self.settings.seed, number)
                with writing(file):
                    write_round(file, batches)
                _log.info("round %d planned in %.0f s", number, time.perf_counter() - started)
            self._batches = read_round(file, "start anew in another folder" if inside else "delete it and go on")
        return self._batches[inside]

    def _round_of(self, step: int) -> Path:
        return self._folder / f"round-{step // self._steps_a_round:04}.npz"

    def _train_step(self, batch: Batch) -> dict[str, float]:
        rate = self._learning_rate()
        for group in self._optimizer.param_groups:
            group["lr"] = rate * group["factor"]
        texts = [*batch.queries, *batch.passages]
        starts: list[Sequence[int]] = [*[()] * len(batch.queries), *(own.tolist() for own in batch.starts)]
        groups = [group_terms(own) for own in batch.terms]
        parts = self.model.encode_with_grad(texts, starts, groups)
        dim = parts[0].vectors.shape[1]
        vectors = torch.empty(len(texts) + sum(map(len, starts)), dim, device=self.model.device)
        states = torch.empty(sum(map(len, groups)), dim, device=self.model.device)
        for part in parts:
            vectors[part.numbers], states[part.groups] = part.vectors.detach(), part.states.detach()
        vectors.requires_grad_()
        states.requires_grad_()
        owners = torch.from_numpy(np.repeat(np.arange(len(groups)), [len(own) for own in groups]))
        losses = self._losses(batch, vectors, states, owners.to(vectors.device))
        loss = losses.mean()
        if not torch.isfinite(loss):
            raise TrainingError(f"the loss is {loss.item()} at step {self._step + 1}: use a lower learning rate")
        loss.backward()  # type: ignore[no-untyped-call]
        assert vectors.grad is not None and states.grad is not None
        while parts:  # each one's graph is freed
            part = parts.pop()
            grads = vectors.grad[part.numbers], states.grad[part.groups]
            torch.autograd.backward([part.vectors, part.states], grads)
            self.model.collect_grads()
        norm = torch.nn.utils.clip_grad_norm_(list(self._trained.values()), self.settings.clip)
        self._optimizer.step()
        self._optimizer.zero_grad()
        self.model.refresh()
        with torch.no_grad():
            for name, tensor in self._trained.items():
                self._average[name].lerp_(tensor, 1 - self.settings.average)
        tokens = sum(len(text) + 2 for text in (*batch.queries, *batch.passages))
        record = {"loss": float(loss.detach()), "norm": float(norm), "rate": rate, "tokens": float(tokens)}
        for number, name in enumerate(SOURCES):
            own = losses.detach().cpu()[torch.from_numpy(batch.sources == number)]
            if len(own):
                record[name] = float(own.mean())
        return record

    def _losses(self, batch: Batch, vectors: Tensor, states: Tensor, texts: Tensor) -> Tensor:
        """(Q,) losses of a step's queries: of whole passages, of spans, of terms and of both together.

        Args:
            batch: of the step.
            vectors: of its texts and spans.
            states: (t, D) mean ones of terms.
            texts: (t,) the text of each term.
        """
        first = len(batch.queries)
        last = first + len(batch.passages)
        sizes = [len(own) for own in batch.starts]
        owners, labels, candidates, relevance = (
            torch.from_numpy(array).to(vectors.device)
            for array in (
                np.repeat(np.arange(len(sizes)), sizes),
                batch.labels,
                batch.candidates.astype(np.int64),
                batch.relevance,
            )
        )
        mapped, asking = apply_map(self._trained, states), texts < first
        shape = first, len(batch.passages)
        terms = compare_terms(mapped[asking], texts[asking], mapped[~asking], texts[~asking] - first, shape)
        wholes, spans = compare(vectors[:first], vectors[first:last], vectors[last:], owners)
        has_terms = torch.bincount(texts[asking], minlength=first) > 0
        losses = torch.zeros(first, device=vectors.device)
        for scores, counts, weight in (
            (wholes, None, _BOOK_WEIGHT),
            (spans, None, _BOOK_WEIGHT),
            (terms, has_terms, 0.0),
            (add_terms(spans, terms), has_terms, _BOOK_WEIGHT),
        ):
            own = contrast(scores, labels, scale=self.settings.scale)
            if weight:
                own = own + weight * contrast(scores, labels, scale=self.settings.scale, other_books=True)
            if self.settings.reader_weight:
                read = follow(scores, candidates, relevance, scale=self.settings.scale)
                own = own + self.settings.reader_weight * read
            losses = losses + (own if counts is None else own * counts) / 4
        return losses

    def _learning_rate(self) -> float:
        settings = self.settings
        left = (settings.steps - self._step) / max(1, settings.cooldown)
        return settings.learning_rate * min(1.0, (self._step + 1) / max(1, settings.warmup), left)

    def _write_log(self, record: dict[str, Any]) -> None:
        with writing(self._folder / LOG), (self._folder / LOG).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(record) + "\n")


def save_model(weights: dict[str, Tensor], start: Path, out: Path) -> None:
    """Write a sentence-transformers folder: new weights beside the start's other files, and the map of terms.

    Raises:
        TrainingError: it cannot be written.
    """
    ignored = shutil.ignore_patterns("*.safetensors", "README.md", "data_config.json")
    with writing(out), write_folder(out) as new:
        shutil.copytree(start, new, ignore=ignored, dirs_exist_ok=True)
        write_map(weights, new)
        save_file(
            {name: t.detach().cpu().contiguous() for name, t in weights.items() if name not in (WEIGHT, BIAS)},
            new / "model.safetensors",
            {"format": "pt"},
        )
