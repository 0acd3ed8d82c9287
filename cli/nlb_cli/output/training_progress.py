"""What a training run shows on stderr while it works: books as `nlb index` does, then the loss."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from nlb_cli.output.progress import Bars, duration, make_bars, show_line
from nlb_cli.output.terminal import exact, is_styled, note
from nlb_retriever.errors import TrainingInterrupted
from nlb_retriever.indexing.report import IndexEvent

if TYPE_CHECKING:
    from nlb_training.pretraining.loop import TrainingEvent
    from nlb_training.report import QueryEvent, StageEvent

_TITLES = {
    "corpus": "encoding books",
    "examples": "making examples",
    "pretraining": "pretraining",
    "retrieval": "retrieval training",
    "saving": "saving",
}
_LINES = 10
"""Lines of losses that a run shows where there is no terminal."""
_EVERY = 1024
"""Queries that a line tells of."""


@dataclass
class Stages:
    """Shows a run's events, and knows how far it came."""

    books: Callable[[IndexEvent], None] | None = None
    steps: Callable[[TrainingEvent], None] | None = None
    queries: Callable[[QueryEvent], None] | None = None
    stage: str = ""
    """The one at hand; "" before the first."""

    def __call__(self, event: IndexEvent | TrainingEvent | StageEvent | QueryEvent) -> None:
        if isinstance(event, IndexEvent):
            if self.books:
                self.books(event)
        elif hasattr(event, "total"):
            if self.queries:
                self.queries(event)  # type: ignore[arg-type]
        elif (stage := getattr(event, "stage", None)) is not None:
            self.stage = stage
            if self.steps:
                there = getattr(event, "there", False)
                note(f"{_TITLES.get(stage, stage)}{': there already' if there else ''}")
        elif self.steps:
            self.steps(event)  # type: ignore[arg-type]


@contextmanager
def watch_training(*, quiet: bool, plain: bool) -> Iterator[Stages]:
    """Watch a run: with bars on a terminal, else with lines.

    Ctrl-C becomes a line that says how to go on, and exit code 130.

    Args:
        quiet: show nothing.
        plain: show lines, even on a terminal.
    """
    seen = Stages()
    try:
        with ExitStack() as stack:
            if not quiet and is_styled(sys.stderr) and not plain:
                bars = stack.enter_context(_TwoBars())
                seen.books, seen.steps, seen.queries = bars.show_book, bars.show_step, bars.show_queries
            elif not quiet:
                seen.books, seen.steps, seen.queries = show_line, _show_losses, _show_queries
            yield seen
    except TrainingInterrupted as error:
        note(exact(f"nlb: interrupted: {error}"))
        raise typer.Exit(130) from error
    except KeyboardInterrupt as error:
        where = f"while {_TITLES.get(seen.stage, seen.stage)}: the same command with --resume goes on from there"
        note(f"nlb: interrupted {where if seen.stage else 'before anything was written: run the same command again'}")
        raise typer.Exit(130) from error


def _show_losses(event: TrainingEvent) -> None:
    if event.kind == "step" and event.step % max(1, event.steps // _LINES) == 0:
        note(f"[{event.step:>{len(str(event.steps))}}/{event.steps}] loss {event.loss:.4g}")
    elif event.kind == "validation" and event.figures:
        note(f"after step {event.step}, books not trained on: {_figures(event)}")


def _show_queries(event: QueryEvent) -> None:
    if event.done == event.total or event.done // _EVERY > (event.done - 1) // _EVERY:
        note(f"[{event.done:>{len(str(event.total))}}/{event.total}] queries encoded")


def _figures(event: TrainingEvent) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in (event.figures or {}).items())


class _TwoBars:
    """The bars of `nlb index`, then one of queries, or of steps with the loss, and the time left."""

    def __init__(self) -> None:
        self._books: Bars | None = None
        self._steps: Any = None
        self._task: Any = None
        self._what = ""
        self._started = 0.0
        self._first = self._done = self._total = 0

    def __enter__(self) -> _TwoBars:
        return self

    def __exit__(self, *_: object) -> None:
        self._close_books()
        if self._steps:
            self._steps.update(self._task, visible=False)
            self._steps.stop()

    def show_book(self, event: IndexEvent) -> None:
        if self._books is None:
            self._books = Bars()
            self._books.__enter__()
        self._books(event)

    def show_step(self, event: TrainingEvent) -> None:
        self._open("steps", event.step, event.steps)
        if event.kind == "validation":
            self._steps.console.print(f"after step {event.step}, books not trained on: {_figures(event)}")
        elif event.kind == "step":
            told = f"step {event.step:,} of {event.steps:,}, loss {event.loss:.4g}"
            self._tell(told, event.step, event.steps)

    def show_queries(self, event: QueryEvent) -> None:
        self._open("queries", event.done, event.total)
        self._tell(f"{event.done:,} of {event.total:,} queries encoded", event.done, event.total)

    def _open(self, what: str, done: int, total: int) -> None:
        """The bar for what is counted now; a new one where something else was, or it begins anew."""
        self._close_books()
        if self._steps is None:
            self._steps = make_bars()
            self._task = self._steps.add_task("starting", total=total)
            self._steps.start()
        if (what, total) != (self._what, self._total) or done < self._done:
            self._steps.update(self._task, total=total, completed=done)
            self._what, self._total, self._first, self._started = what, total, done, time.monotonic()
        self._done = done

    def _tell(self, told: str, done: int, total: int) -> None:
        each = (time.monotonic() - self._started) / max(1, done - self._first)
        description = f"{told}, {duration(each * (total - done))} left"
        self._steps.update(self._task, description=description, completed=done)

    def _close_books(self) -> None:
        if self._books is not None:
            self._books.__exit__(None, None, None)
            self._books = None
