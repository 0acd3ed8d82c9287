"""What an index run shows on stderr while it works."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nlb_cli.terminal import console, inline, is_styled, note

if TYPE_CHECKING:
    from rich.progress import Progress

    from nlb_retriever.report import IndexEvent

_STAGES = {"reading": "reading", "encoding": "encoding", "publishing": "saving"}


@dataclass
class Watch:
    """Counts what is published, and shows it."""

    display: Callable[[IndexEvent], None] | None
    published: int = 0
    total: int = 0

    def __call__(self, event: IndexEvent) -> None:
        self.total = max(self.total, event.total)
        self.published += event.kind == "done"
        if self.display:
            self.display(event)


@contextmanager
def watch(*, quiet: bool, plain: bool) -> Iterator[Watch]:
    """Watch a run: with bars on a terminal, else with a line for every finished book.

    Args:
        quiet: show nothing.
        plain: show lines, even on a terminal.
    """
    if quiet:
        yield Watch(None)
    elif plain or not is_styled(sys.stderr):
        yield Watch(_lines)
    else:
        with _Bars() as bars:
            yield Watch(bars)


def duration(seconds: float) -> str:
    """Seconds for people: "0.8 s", "42 s", "3 min 20 s", "2 h 05 min"."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def _lines(event: IndexEvent) -> None:
    if event.kind in {"done", "failed"}:
        place = f"[{event.index:>{len(str(event.total))}}/{event.total}]"
        note(f"{place} {_name(event)}{' failed' if event.kind == 'failed' else ''}")


def _name(event: IndexEvent) -> str:
    """The book's title; its file's name where it has none yet, or failed."""
    return inline(event.title if event.title and event.kind != "failed" else event.source.name if event.source else "")


class _Bars:
    """Two bars: the book at hand with its stage, and the run with its rate and the time left."""

    def __init__(self) -> None:
        self._progress = _progress()
        self._book = self._progress.add_task("", total=1.0, visible=False)
        self._run = self._progress.add_task("looking for books", total=None)
        self._started: float | None = None
        self._finished = 0

    def __enter__(self) -> _Bars:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        for task in (self._book, self._run):
            self._progress.update(task, visible=False)
        self._progress.stop()

    def __call__(self, event: IndexEvent) -> None:
        if event.total == 0:
            return
        if event.kind in {"done", "failed"}:
            self._finished += 1
        if event.kind == "failed":
            self._progress.console.print(f"{_name(event)} failed")
        if stage := _STAGES.get(event.kind):
            self._started = self._started or time.monotonic()
            self._progress.update(
                self._book, description=f"{stage} {_name(event)}", completed=event.fraction, visible=True
            )
        share = event.done_bytes / event.total_bytes if event.total_bytes else 0.0
        self._progress.update(self._run, description=self._describe(event, share), completed=share * 100, total=100.0)

    def _describe(self, event: IndexEvent, share: float) -> str:
        parts = [f"{self._finished} of {event.total} books"]
        elapsed = time.monotonic() - self._started if self._started else 0.0
        if elapsed > 1 and event.tokens:
            parts.append(f"{event.tokens / elapsed:,.0f} tokens/s")
        if elapsed > 2 and share > 0.002:
            parts.append(f"{duration(elapsed * (1 - share) / share)} left")
        return ", ".join(parts)


def _progress() -> Progress:
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.table import Column

    return Progress(
        TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")),
        BarColumn(bar_width=20),
        TextColumn("{task.percentage:>3.0f}%", markup=False),
        console=console(sys.stderr, styled=True),
        expand=True,
    )
