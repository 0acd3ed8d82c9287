"""What an index run shows on stderr while it goes on."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

import typer

from nlb_cli.output.terminal import console, inline, is_styled, note
from nlb_retriever.errors import counted

if TYPE_CHECKING:
    from rich.progress import Progress

    from nlb_retriever.indexing.report import IndexEvent

_STAGES = {"encoding": "encoding", "publishing": "saving"}


@dataclass
class Watch:
    """Counts the books that are published, and shows events."""

    display: Callable[[IndexEvent], None] | None = None
    published: int = 0
    total: int = 0

    def __call__(self, event: IndexEvent) -> None:
        self.total = max(self.total, event.total)
        self.published += event.kind == "done"
        if self.display:
            self.display(event)

    def count(self) -> str:
        """How many books this run has published, with its verb: "1 of 3 books is"."""
        if not self.total:
            return "no book is"
        return f"{self.published} of {counted(self.total, 'book')} {'is' if self.published == 1 else 'are'}"


@contextmanager
def watch(*, quiet: bool, plain: bool) -> Iterator[Watch]:
    """Show a run: bars on a terminal, else a line for every finished book.

    Ctrl-C becomes a line that says how far the run has come, and exit code 130.

    Args:
        quiet: show nothing.
        plain: show lines, even on a terminal.
    """
    shown = Watch()
    try:
        with ExitStack() as stack:
            if not quiet:
                bars = is_styled(sys.stderr) and not plain
                shown.display = stack.enter_context(Bars()) if bars else show_line
            yield shown
    except KeyboardInterrupt as error:
        note(f"nlb: interrupted: {shown.count()} published; the same command goes on from there")
        raise typer.Exit(130) from error


def duration(seconds: float) -> str:
    """Seconds as people write them: "0.8 s", "42 s", "3 min 20 s", "2 h 05 min"."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def show_line(event: IndexEvent) -> None:
    if event.kind in {"done", "failed"}:
        number = f"[{event.index:>{len(str(event.total))}}/{event.total}]"
        note(f"{number} {_name(event)}{' failed' if event.kind == 'failed' else ''}")


def _name(event: IndexEvent) -> str:
    """The book's title; the name of its file where it has failed or has not been read yet."""
    return inline(event.title if event.title and event.kind != "failed" else PurePath(event.source).name)


class Bars:
    """Two bars: the current book and its stage; the run, its rate and the time left."""

    def __init__(self) -> None:
        self._progress = make_bars()
        self._book = self._progress.add_task("", total=1.0, visible=False)
        self._run = self._progress.add_task("looking for books", total=None)
        self._started: float | None = None
        self._finished = 0

    def __enter__(self) -> Bars:
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
        parts = [f"{self._finished} of {counted(event.total, 'book')}"]
        elapsed = time.monotonic() - self._started if self._started else 0.0
        if elapsed > 1 and event.tokens:
            parts.append(f"{event.tokens / elapsed:,.0f} tokens/s")
        if elapsed > 2 and share > 0.002:
            parts.append(f"{duration(elapsed * (1 - share) / share)} left")
        return ", ".join(parts)


def make_bars() -> Progress:
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.table import Column

    return Progress(
        TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")),
        BarColumn(bar_width=20),
        TextColumn("{task.percentage:>3.0f}%", markup=False),
        console=console(sys.stderr, styled=True),
        expand=True,
    )
