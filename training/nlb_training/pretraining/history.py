"""The losses of a run, and the files that show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

LOSS_FILE, PLOT_FILE = "loss.json", "loss.png"


@dataclass(kw_only=True)
class History:
    """The losses of a run, including those before a resume."""

    steps: int = 0
    """Of the whole run, done or not."""
    losses: list[float] = field(default_factory=list)
    """One for each step done."""
    validation: list[Mapping[str, float]] = field(default_factory=list)
    """Results of `validate` with their "step"; the first is the untrained model's at step 0."""
