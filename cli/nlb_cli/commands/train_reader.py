"""`nlb train-reader`: train the reader of `nlb ask`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nlb_cli.options import Json
from nlb_cli.output.progress import duration
from nlb_cli.output.terminal import Line, exact, line, write_json, write_lines
from nlb_cli.output.training_progress import watch_training
from nlb_retriever.errors import extra

if TYPE_CHECKING:
    from nlb_training.reader.run import ReaderReport

Start = Annotated[
    str, typer.Option("--from", metavar="MODEL", help="A BERT encoder of sentence-transformers: name or folder.")
]
Teacher = Annotated[
    str | None, typer.Option("--teacher", metavar="MODEL", help="An MPNet encoder to learn from: name or folder.")
]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="STAGE.KEY=VALUE", help="Change a setting: short.steps=700; may be given again."),
]


def train_reader(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="Folder with corpus/ and eval/ (docs/reader.md).")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the run's state and its reader go.")] = Path(
        "reader"
    ),
    start: Start = "all-MiniLM-L6-v2",
    teacher: Teacher = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    changes: Changes = None,
    device: Annotated[str, typer.Option(metavar="auto|cpu|cuda", help="Where to train.")] = "auto",
    as_json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only print failures.")] = False,
) -> None:
    """Train the reader of `nlb ask`. --resume continues a stopped run."""
    with watch_training(quiet=quiet, plain=as_json) as progress, extra("train"):
        from nlb_training.reader.run import ReaderRequest, read_stages
        from nlb_training.reader.run import train_reader as run

        stages = read_stages(changes or (), taught=teacher is not None)
        request = ReaderRequest(data=data, out=out, start=start, teacher=teacher, device=device, stages=stages)
        report = run(request, resume=resume, observer=progress)
    if as_json:
        write_json(report.to_json())
    elif not quiet:
        write_lines(_report_lines(report))


def _report_lines(report: ReaderReport) -> Iterator[Line]:
    for stage in report.stages:
        yield line(f"{stage.name}: {stage.steps:,} steps, loss {stage.first_loss:.4g} -> {stage.last_loss:.4g}.")
    folder = exact(str(report.reader))
    yield line(f"Reader: {folder} ({duration(report.seconds)})")
    yield line(f"Use it: nlb ask --reader {shlex.quote(folder)}")
