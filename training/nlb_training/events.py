"""What a training run reports while it works."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nlb_retriever.indexing.report import IndexEvent

Stage = Literal[
    "corpus", "examples", "pretraining", "retrieval", "encoder",
    "short", "passages", "novels", "teacher", "scores", "distilled", "altered", "books", "plots", "saving",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class StageEvent:
    """A stage begins, or was done by an earlier run."""

    stage: Stage
    done: bool = False
    """Whether an earlier run did it."""


@dataclass(frozen=True, kw_only=True)
class QueryEvent:
    """More queries are encoded."""

    done: int
    total: int


@dataclass(frozen=True, kw_only=True)
class TrainingEvent:
    """Progress of a training loop."""

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


StepObserver = Callable[[TrainingEvent], None]
Observer = Callable[[IndexEvent | TrainingEvent | StageEvent | QueryEvent], None]
