"""`nlb train-encoder`: train the chunk encoder itself, end to end."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nlb_cli.output.terminal import exact, line, write_lines
from nlb_cli.output.training_progress import watch_training
from nlb_retriever.errors import extra

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
    with watch_training(quiet=quiet, plain=False) as progress, extra("train"):
        from nlb_training.encoder.run import EncoderRequest, read_changes
        from nlb_training.encoder.run import train_encoder as run

        settings, mix = read_changes(changes or ())
        request = EncoderRequest(
            data=data, out=out, start=start, reader=reader, device=device, settings=settings, mix=mix
        )
        model = run(request, resume=resume, observer=progress)
    if not quiet:
        write_lines([line(f"Chunk encoder: {exact(str(model))}")])
