"""Bar chart of all sets: one bar for each system, with its 95% interval or its spread over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nlb_retriever.errors import QueryError
from nlb_training.evaluation.results import TITLES, Measurement, Results

_EVALUATED, _BASELINE = "#5fa8bf", "#c9d1d5"
_COLUMNS = 2


def draw(results: Results, file: Path) -> None:
    """Write a PNG with the first metric of every set.

    Raises:
        QueryError: it cannot be written.
    """
    from matplotlib.figure import Figure

    panels = _panels(results)
    rows = -(-len(panels) // _COLUMNS)
    longest = max((len(panel) for panel in panels), default=1)
    figure = Figure(figsize=(5.5 * min(_COLUMNS, max(1, len(panels))), (0.9 + 0.3 * longest) * max(1, rows)), dpi=150)
    for number, panel in enumerate(panels, 1):
        axes = figure.add_subplot(rows, _COLUMNS if len(panels) > 1 else 1, number)
        first = panel[0]
        axes.set_title(f"{TITLES.get(first.task, first.task)}\n{first.set}", fontsize=9, loc="left")
        for place, each in enumerate(reversed(panel)):
            value, low, high = (100 * bound for bound in _bounds(each))
            axes.barh(place, value, color=_EVALUATED if each.trained else _BASELINE, height=0.7)
            axes.plot([low, high], [place, place], color="#333333", linewidth=1.2, solid_capstyle="butt")
            axes.text(max(high, value) + 1, place, f"{value:.1f}", va="center", fontsize=8)
        axes.set_yticks(range(len(panel)), [each.system for each in reversed(panel)], fontsize=8)
        axes.set_xlim(0, 112)
        axes.set_xticks(range(0, 101, 20))
        axes.tick_params(axis="x", labelsize=7)
        axes.set_xlabel(f"{first.metric} x 100", fontsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    try:
        figure.savefig(file, format="png")
    except OSError as error:
        raise QueryError(f"{file} cannot be written ({error.strerror}): name another folder with --out") from error


def _panels(results: Results) -> list[list[Measurement]]:
    """For each set the first metric of every system."""
    panels: dict[tuple[str, str], list[Measurement]] = {}
    for each in results.measurements:
        panel = panels.setdefault((each.task, each.set), [])
        if not panel or each.metric == panel[0].metric:
            panel.append(each)
    return list(panels.values())


def _bounds(each: Measurement) -> Sequence[float]:
    if each.spread is not None:
        return each.value, each.value - each.spread, each.value + each.spread
    return each.value, each.value if each.low is None else each.low, each.value if each.high is None else each.high
