"""Progress of a training run on stderr: books as in `nlb index`, then the loss."""

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
    from nlb_training.events import QueryEvent, StageEvent, TrainingEvent

_TITLES = {
    "corpus": "encoding books",
    "examples": "making examples",
    "pretraining": "pretraining",
    "retrieval": "retrieval training",
    "encoder": "training the chunk encoder",
    "short": "training on short passages",
    "passages": "training on passages of books",
    "novels": "training on questions on novels",
    "teacher": "training the teacher",
    "scores": "scoring passages with the teacher",
    "distilled": "training on the teacher's scores",
    "altered": "training on altered questions",
    "books": "training on questions on books",
    "plots": "training on questions on plots",
    "saving": "saving",
}
_LINES = 10
"""Number of lines with losses, without a terminal."""
_EVERY = 1024
"""Queries between two lines, without a terminal."""


@dataclass
class TrainingProgress:
    """Shows a run's events, and remembers the stage."""

    books: Callable[[IndexEvent], None] | None = None
    steps: Callable[[TrainingEvent], None] | None = None
    queries: Callable[[QueryEvent], None] | None = None
    stage: str = ""
    """The current one; "" before the first."""

    def __call__(self, event: IndexEvent | TrainingEvent | StageEvent | QueryEvent) -> None:
        from nlb_training.events import QueryEvent, StageEvent

        if isinstance(event, IndexEvent):
            if self.books:
                self.books(event)
        elif isinstance(event, QueryEvent):
            if self.queries:
                self.queries(event)
        elif isinstance(event, StageEvent):
            self.stage = event.stage
            if self.steps:
                note(f"{_TITLES.get(event.stage, event.stage)}{': already done' if event.done else ''}")
        elif self.steps:
            self.steps(event)


@contextmanager
def watch_training(*, quiet: bool, plain: bool) -> Iterator[TrainingProgress]:
    """Show a run: with bars on a terminal, else with lines.

    Ctrl-C becomes a line that says how to continue, and exit code 130.

    Args:
        quiet: show nothing.
        plain: show lines, even on a terminal.
    """
    progress = TrainingProgress()
    try:
        with ExitStack() as stack:
            if not quiet and is_styled(sys.stderr) and not plain:
                bars = stack.enter_context(_TwoBars())
                progress.books, progress.steps, progress.queries = bars.show_book, bars.show_step, bars.show_queries
            elif not quiet:
                progress.books, progress.steps, progress.queries = show_line, _show_losses, _show_queries
            yield progress
    except TrainingInterrupted as error:
        note(exact(f"nlb: interrupted: {error}"))
        raise typer.Exit(130) from error
    except KeyboardInterrupt as error:
        if progress.stage:
            stage = _TITLES.get(progress.stage, progress.stage)
            note(f"nlb: interrupted while {stage}: run the same command with --resume to continue")
        else:
            note("nlb: interrupted before anything was written: run the same command again")
        raise typer.Exit(130) from error


def _show_losses(event: TrainingEvent) -> None:
    if event.kind == "step" and event.step % max(1, event.steps // _LINES) == 0:
        note(f"[{event.step:>{len(str(event.steps))}}/{event.steps}] loss {event.loss:.4g}")
    elif event.kind == "validation" and event.figures:
        note(f"after step {event.step}, held-out books: {_figures(event)}")


def _show_queries(event: QueryEvent) -> None:
    if event.done == event.total or event.done // _EVERY > (event.done - 1) // _EVERY:
        note(f"[{event.done:>{len(str(event.total))}}/{event.total}] queries encoded")


def _figures(event: TrainingEvent) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in (event.figures or {}).items())


class _TwoBars:
    """The bars of `nlb index`, then one bar for queries or steps, with the loss and the time left."""

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
            self._steps.console.print(f"after step {event.step}, held-out books: {_figures(event)}")
        elif event.kind == "step":
            text = f"step {event.step:,} of {event.steps:,}, loss {event.loss:.4g}"
            self._advance(text, event.step, event.steps)

    def show_queries(self, event: QueryEvent) -> None:
        self._open("queries", event.done, event.total)
        self._advance(f"{event.done:,} of {event.total:,} queries encoded", event.done, event.total)

    def _open(self, what: str, done: int, total: int) -> None:
        """Show the bar; restart it if it counts something else or starts again."""
        self._close_books()
        if self._steps is None:
            self._steps = make_bars()
            self._task = self._steps.add_task("starting", total=total)
            self._steps.start()
        if (what, total) != (self._what, self._total) or done < self._done:
            self._steps.update(self._task, total=total, completed=done)
            self._what, self._total, self._first, self._started = what, total, done, time.monotonic()
        self._done = done

    def _advance(self, text: str, done: int, total: int) -> None:
        each = (time.monotonic() - self._started) / max(1, done - self._first)
        description = f"{text}, {duration(each * (total - done))} left"
        self._steps.update(self._task, description=description, completed=done)

    def _close_books(self) -> None:
        if self._books is not None:
            self._books.__exit__(None, None, None)
            self._books = None
