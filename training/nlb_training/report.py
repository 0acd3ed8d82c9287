"""The request for a training run, and the report of its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nlb_retriever.model.checkpoint import Checkpoint
from nlb_retriever.records import source_of
from nlb_training.corpus import Corpus
from nlb_training.data.examples import Problem
from nlb_training.presets import Preset
from nlb_training.pretraining.history import History


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a run is to do."""

    books: tuple[str, ...]
    """Files, folders and glob patterns."""
    out: Path
    """The folder of the run and of its checkpoint."""
    preset: Preset
    start: str | None = None
    """Checkpoint to start from: a folder, "released" or "scratch"; None: the preset's."""
    examples: tuple[Path, ...] = ()
    """Files of rows, see `nlb_training.data.examples`."""
    chunk_encoder: str | None = None
    """Name or folder; None: that of the checkpoint to start from, else the default."""
    corpus: Path | None = None
    """Folder of chunk vectors, which several runs may share; None: in the run's folder."""
    device: str = "auto"
    licences: Mapping[str, str] = field(default_factory=dict)
    """For the model card: "books" or an example file's name -> its licence."""
    command: str = ""
    """The command line, for the model card."""


@dataclass(frozen=True, kw_only=True)
class TrainingReport:
    """The result of a run."""

    checkpoint: Checkpoint
    corpus: Corpus
    examples: Mapping[str, int]
    """Kind of example -> count."""
    problems: tuple[Problem, ...]
    """Rows that could not be used."""
    pretraining: History | None
    retrieval: Mapping[str, Any] | None
    """Figures of retrieval training, see `nlb_training.projections.stage.RetrievalResult`; None if it was skipped."""
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
    """Steps, first and last losses and validation figures of a stage."""
    share = max(1, len(history.losses) // 20)
    return {
        "steps": history.steps,
        "first_loss": float(np.mean(history.losses[:share])),
        "last_loss": float(np.mean(history.losses[-share:])),
        "held_out": [*history.validation[:1], *history.validation[-1:]],
    }
