"""Results of an evaluation: measurements with intervals, as tables, JSON and thresholds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from nlb_retriever.errors import QueryError
from nlb_training.evaluation.metrics import Estimate, Values, bootstrap

TITLES = {
    "similarity": "Semantic similarity, zero-shot",
    "classification": "Classification of long documents",
    "multiple-choice": "Multiple choice over long documents",
    "retrieval": "Retrieval from a library",
    "answers": "Answers and refusals",
    "reading": "Reading of given paragraphs",
}
NOTED = 1
"""Of the metrics of a set, so many have their differences noted below its table."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One figure of one system on one set, mostly 0 to 1."""

    task: str
    set: str
    system: str
    metric: str
    value: float
    low: float | None = None
    """Of the 95% bootstrap interval over groups; None if there is none."""
    high: float | None = None
    spread: float | None = None
    """Standard deviation over seeds, of systems that are trained."""
    queries: int
    groups: int
    """Number of groups of the bootstrap: books, tales or sections."""
    trained: bool = False
    """Whether the system is evaluated, not a baseline."""
    scale: float = 100.0
    """Factor of the value in tables."""

    @classmethod
    def of(
        cls,
        task: str,
        set: str,
        system: str,
        metric: str,
        values: Values,
        groups: Sequence[str],
        *,
        spread: float | None = None,
        trained: bool = False,
        scale: float = 100.0,
    ) -> Measurement:
        """The mean of one value for each query, with its bootstrap interval."""
        estimate = bootstrap(values, groups)
        return cls(
            task=task,
            set=set,
            system=system,
            metric=metric,
            **asdict(estimate),
            spread=spread,
            queries=len(values),
            groups=len({*groups}),
            trained=trained,
            scale=scale,
        )


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Difference of two systems on the same queries."""

    task: str
    set: str
    system: str
    baseline: str
    metric: str
    value: float
    low: float | None
    """As of a `Measurement`."""
    high: float | None

    @classmethod
    def of(cls, task: str, set: str, system: str, baseline: str, metric: str, estimate: Estimate) -> Difference:
        return cls(task=task, set=set, system=system, baseline=baseline, metric=metric, **asdict(estimate))


@dataclass(frozen=True, kw_only=True)
class Table:
    """The figures of one set, x 100, as text: one row for each system, one column for each metric."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(kw_only=True)
class Results:
    """All measurements, in order."""

    measurements: list[Measurement] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """Rows and sets that were skipped, one line each."""
    about: dict[str, Any] = field(default_factory=dict)
    """Checkpoints, chunk encoder and settings."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def tables(self) -> Iterator[Table]:
        """One table for each set."""
        for task, set in dict.fromkeys((each.task, each.set) for each in self.measurements):
            own = [each for each in self.measurements if (each.task, each.set) == (task, set)]
            names = list(dict.fromkeys(each.metric for each in own))
            cells = {(each.system, each.metric): each for each in own}
            first = own[0]
            with_interval = any(each.low is not None for each in own if each.metric == names[0])
            yield Table(
                title=f"{TITLES.get(task, task)}: {set} "
                f"({_count(first.queries, 'query', 'queries')}, {_count(first.groups, 'group', 'groups')})",
                columns=("system", names[0], *(["95 %"] if with_interval else []), *names[1:]),
                rows=tuple(
                    (
                        system,
                        _cell(cells.get((system, names[0]))),
                        *([_interval(cells.get((system, names[0])))] if with_interval else []),
                        *(_cell(cells.get((system, name))) for name in names[1:]),
                    )
                    for system in dict.fromkeys(each.system for each in own)
                ),
                notes=tuple(
                    f"{each.system} less {each.baseline}, {each.metric}: {100 * each.value:+.1f}{_bounds(each)}"
                    for each in self.differences
                    if (each.task, each.set) == (task, set) and each.metric in names[:NOTED]
                ),
            )

    def markdown(self) -> str:
        """All tables, figures x 100 with 95 % intervals."""
        parts = [
            "# Evaluation",
            "Figures x 100, with 95 % bootstrap intervals over groups, and ± the standard deviation over seeds.",
        ]
        parts += [f"- {key}: {value}" for key, value in self.about.items()]
        for table in self.tables():
            rows = [table.columns, ("---", *["---:"] * (len(table.columns) - 1)), *table.rows]
            parts += [f"## {table.title}", "\n".join(f"| {' | '.join(row)} |" for row in rows)]
            parts += ["\n".join(f"- {note}" for note in table.notes)] if table.notes else []
        return "\n\n".join(parts) + "\n"

    def find(self, key: str) -> Measurement:
        """The measurement of "task.set.metric", or of "task.set.metric@system".

        Without a system it is the evaluated one: the last of the trained ones, or the last of all.

        Raises:
            QueryError: there is no such measurement.
        """
        names, system = _split(key)
        found = [
            each
            for each in self.measurements
            if f"{each.task}.{each.set}.{each.metric}" == names and system in {"", each.system}
        ]
        if not found:
            known = sorted({f"{each.task}.{each.set}.{each.metric}" for each in self.measurements})
            raise QueryError(f"there is no measurement {key!r}; known: {', '.join(known)}")
        return next((each for each in reversed(found) if each.trained), found[-1])


def _split(key: str) -> tuple[str, str]:
    """ "task.set.hit@1@system" as the figure's name and the system; a cut such as "@1" belongs to the metric."""
    match = re.fullmatch(r"(?P<names>[^@]*(?:@\d+)?)(?:@(?P<system>.*))?", key)
    return (match["names"], match["system"] or "") if match else (key, "")


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """Minimum of a figure."""

    key: str
    """As `Results.find` takes it."""
    value: float

    @classmethod
    def parse(cls, text: str) -> Threshold:
        """Read "task.set.metric=0.8" or "task.set.metric@system=0.8".

        Raises:
            QueryError: it is neither.
        """
        match = re.fullmatch(r"(?P<key>[\w-]+\.[\w-]+\.[^=]+)=(?P<value>[^=]+)", text.strip())
        try:
            value = float(match["value"]) if match else math.nan
        except ValueError:
            value = math.nan
        if match is None or not 0 <= value <= 1:
            raise QueryError(
                f"--at-least {text!r} is not a condition: write TASK.SET.METRIC=VALUE (0 to 1), "
                "such as retrieval.section.mrr=0.8"
            )
        return cls(key=match["key"].strip(), value=value)

    def missed(self, results: Results) -> str | None:
        """One line if the threshold is missed; None if it is met."""
        measurement = results.find(self.key)
        if measurement.value >= self.value:
            return None
        return f"{self.key} is {measurement.value:.4f} ({measurement.system}), should be {self.value:g} or more"


def _count(number: int, one: str, more: str) -> str:
    return f"{number:,} {one if number == 1 else more}"


def _bounds(difference: Difference) -> str:
    """The 95% interval as text, with a space before it; empty if there is none."""
    if difference.low is None or difference.high is None:
        return ""
    return f" [{100 * difference.low:+.1f}, {100 * difference.high:+.1f}]"


def _cell(measurement: Measurement | None) -> str:
    if measurement is None:
        return ""
    spread = "" if measurement.spread is None else f" ± {measurement.scale * measurement.spread:.1f}"
    return f"{measurement.scale * measurement.value:.1f}{spread}"


def _interval(measurement: Measurement | None) -> str:
    """The 95% interval as text; empty if there is none."""
    if measurement is None or measurement.low is None or measurement.high is None:
        return ""
    return f"{measurement.scale * measurement.low:.1f}–{measurement.scale * measurement.high:.1f}"
