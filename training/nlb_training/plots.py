"""Plots of a training run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from nlb_retriever.atomic import write_file

_WINDOW_SHARE = 0.02


def draw_losses(losses: Sequence[float], validation: Sequence[Mapping[str, float]], file: Path) -> None:
    """Draw the loss of each step, its running mean, and the validation loss if there is one.

    Args:
        losses: one for each step.
        validation: rows with "step" and perhaps "loss".
        file: the PNG to write.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    steps = np.arange(1, len(losses) + 1)
    width = max(1, round(_WINDOW_SHARE * len(losses)))
    axes.plot(steps, losses, color="tab:blue", alpha=0.25 if width > 1 else 1, linewidth=1, label="each step")
    if width > 1:
        mean = np.convolve(losses, np.ones(width) / width, mode="valid")
        axes.plot(steps[width - 1 :], mean, color="tab:blue", linewidth=1.8, label=f"mean of {width} steps")
    held_out = [(row["step"], row["loss"]) for row in validation if "loss" in row]
    if held_out:
        axes.plot(*zip(*held_out, strict=True), color="tab:orange", marker="o", label="held-out books")
    axes.set_xlabel("step")
    axes.set_ylabel("loss")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    write_file(file, lambda stream: figure.savefig(stream, format="png", dpi=110))
