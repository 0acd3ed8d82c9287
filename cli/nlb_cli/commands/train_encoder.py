"""`nlb train-encoder`: train the chunk encoder itself, end to end."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from nlb_cli.output.progress import duration
from nlb_cli.output.terminal import exact, line, note, write_lines
from nlb_retriever.errors import TrainingInterrupted, extra

_EVERY = 10
"""Steps between two lines of progress."""

Start = Annotated[
    str, typer.Option("--from", metavar="MODEL", help="A sentence-transformers model of MiniLM's kind: name or folder.")
]
ReaderFolder = Annotated[
    Path | None,
    typer.Option("--reader", metavar="FOLDER", help="The reader that judges passages. [default: the package's]"),
]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a setting: learning_rate=3e-5; may be given again."),
]


def train_encoder(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="Folder with corpus/ and eval/ (docs/encoder.md).")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the run's state and its model go.")] = Path(
        "encoder"
    ),
    start: Start = "all-MiniLM-L6-v2",
    reader: ReaderFolder = None,
    device: Annotated[str, typer.Option(metavar="auto|cpu|cuda", help="Where to train.")] = "auto",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    changes: Changes = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only print failures.")] = False,
) -> None:
    """Train the chunk encoder itself on books. --resume continues a stopped run."""
    with extra("train"):
        from nlb_training.encoder.run import EncoderRequest, read_changes
        from nlb_training.encoder.run import train_encoder as run

    settings, mix = read_changes(changes or ())
    started = time.monotonic()
    first: list[float] = []

    def show(record: dict[str, float]) -> None:
        step = int(record["step"])
        if not first:
            first.append(step)
        if step % _EVERY == 0:
            left = (time.monotonic() - started) / (step - first[0] + 1) * (settings.steps - step)
            done = f"{step:>{len(str(settings.steps))}}/{settings.steps}"
            note(f"[{done}] loss {record['loss']:.3g}, {duration(left)} left")

    request = EncoderRequest(data=data, out=out, start=start, reader=reader, device=device, settings=settings, mix=mix)
    try:
        model = run(request, resume=resume, observe=None if quiet else show)
    except TrainingInterrupted as error:
        note(exact(f"nlb: interrupted: {error}"))
        raise typer.Exit(130) from error
    if not quiet:
        write_lines([line(f"Chunk encoder: {exact(str(model))}")])
