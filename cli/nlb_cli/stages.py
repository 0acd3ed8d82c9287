"""What a training run shows on stderr while it works: books as `nlb index` does, then the loss."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from nlb_cli.progress import Bars, duration, make_bars, show_line
from nlb_cli.terminal import exact, is_styled, note
from nlb_retriever.errors import TrainingInterrupted
from nlb_retriever.report import IndexEvent

if TYPE_CHECKING:
    from nlb_training.loop import TrainingEvent
    from nlb_training.report import StageEvent

_TITLES = {
    "corpus": "encoding books",
    "examples": "making examples",
    "pretraining": "pretraining",
    "saving": "saving",
}
_LINES = 10
"""Lines of losses that a run shows where there is no terminal."""


@dataclass
class Stages:
    """Shows a run's events, and knows how far it came."""

    books: Callable[[IndexEvent], None] | None = None
    steps: Callable[[TrainingEvent], None] | None = None
    stage: str = ""
    """The one at hand; "" before the first."""

    def __call__(self, event: IndexEvent | TrainingEvent | StageEvent) -> None:
        if isinstance(event, IndexEvent):
            if self.books:
                self.books(event)
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
                seen.books, seen.steps = bars.show_book, bars.show_step
            elif not quiet:
                seen.books, seen.steps = show_line, _show_losses
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


def _figures(event: TrainingEvent) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in (event.figures or {}).items())


class _TwoBars:
    """The bars of `nlb index`, then one of steps with the loss and the time left."""

    def __init__(self) -> None:
        self._books: Bars | None = None
        self._steps: Any = None
        self._task: Any = None
        self._started = 0.0
        self._first = 0

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
        self._close_books()
        if self._steps is None:
            self._steps = make_bars()
            self._task = self._steps.add_task("starting", total=event.steps)
            self._steps.start()
            self._started, self._first = time.monotonic(), event.step
        if event.kind == "validation":
            self._steps.console.print(f"after step {event.step}, books not trained on: {_figures(event)}")
        elif event.kind == "step":
            each = (time.monotonic() - self._started) / max(1, event.step - self._first)
            left = duration(each * (event.steps - event.step))
            told = f"step {event.step:,} of {event.steps:,}, loss {event.loss:.4g}, {left} left"
            self._steps.update(self._task, description=told, completed=event.step)

    def _close_books(self) -> None:
        if self._books is not None:
            self._books.__exit__(None, None, None)
            self._books = None
