"""What a training run is asked, tells on its way, and has made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nlb_retriever.indexing.report import IndexEvent
from nlb_retriever.model.checkpoint import Checkpoint
from nlb_retriever.records import source_of
from nlb_training.corpus import Corpus
from nlb_training.data.examples import Problem
from nlb_training.presets import Preset
from nlb_training.pretraining.loop import History, TrainingEvent

Stage = Literal["corpus", "examples", "pretraining", "retrieval", "saving"]


@dataclass(frozen=True, kw_only=True)
class StageEvent:
    """A stage begins, or is there from an earlier run."""

    stage: Stage
    there: bool = False


@dataclass(frozen=True, kw_only=True)
class QueryEvent:
    """Some more queries have their vectors."""

    done: int
    total: int


Observer = Callable[[IndexEvent | TrainingEvent | StageEvent | QueryEvent], None]


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked of a run."""

    books: tuple[str, ...]
    """Files, folders and glob patterns."""
    out: Path
    """The folder of the run and of its checkpoint."""
    preset: Preset
    start: str | None = None
    """Checkpoint to go on from: a folder, "released" or "scratch"; None: as the preset says."""
    examples: tuple[Path, ...] = ()
    """Files of rows, see `nlb_training.data.examples`."""
    chunk_encoder: str | None = None
    """Name or folder; None: that of the checkpoint to go on from, else the default."""
    corpus: Path | None = None
    """Where chunk vectors are kept, for several runs to share; None: in the run's folder."""
    device: str = "auto"
    licences: Mapping[str, str] = field(default_factory=dict)
    """What the card says of the data: "books" or an example file's name -> its licence."""
    command: str = ""
    """As it was typed, for the card."""


@dataclass(frozen=True, kw_only=True)
class TrainingReport:
    """What a run made."""

    checkpoint: Checkpoint
    corpus: Corpus
    examples: Mapping[str, int]
    """Kind of example -> how many."""
    problems: tuple[Problem, ...]
    """Rows that cannot be used."""
    pretraining: History | None
    retrieval: Mapping[str, Any] | None
    """What retrieval training made, see `nlb_training.projections.stage.Trained`; None where it was left out."""
    seconds: float
    """Of this call."""

    def to_json(self) -> dict[str, Any]:
        """The report as the keys that programs may rely on."""
        history = self.pretraining
        return {
            "checkpoint": source_of(self.checkpoint.folder),
            "name": self.checkpoint.name,
            "sha256": self.checkpoint.sha256,
            "books": len({book.content_hash for book in self.corpus.books}),
            "chunks": self.corpus.chunks,
            "tokens": sum(book.tokens for book in self.corpus.books),
            "failed": [{"source": file.source, "reason": file.reason} for file in self.corpus.failed],
            "warnings": [{"source": source, "warning": warning} for source, warning in self.corpus.warnings],
            "examples": dict(self.examples),
            "problems": [{"row": problem.origin, "reason": problem.reason} for problem in self.problems],
            "pretraining": describe_history(history) if history else None,
            "retrieval": dict(self.retrieval) if self.retrieval is not None else None,
            "seconds": round(self.seconds, 3),
        }


def describe_history(history: History) -> dict[str, Any]:
    """Steps, first and last losses and figures of a stage."""
    share = max(1, len(history.losses) // 20)
    return {
        "steps": history.steps,
        "first_loss": float(np.mean(history.losses[:share])),
        "last_loss": float(np.mean(history.losses[-share:])),
        "held_out": [dict(row) for row in (history.validation[:1] + history.validation[-1:])],
    }
