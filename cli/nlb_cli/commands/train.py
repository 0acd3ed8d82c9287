"""`nlb train`: make a next-level encoder from books."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlb_cli.options import ChunkEncoder, Json
from nlb_cli.output.progress import duration
from nlb_cli.output.terminal import Line, exact, line, note, write_json, write_lines
from nlb_cli.output.training_progress import watch_training
from nlb_cli.output.warnings import print_warnings
from nlb_retriever.errors import counted, extra

if TYPE_CHECKING:
    from nlb_training.report import TrainingReport

_SHOWN = 5
"""Number of problems that are shown."""

Preset = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="domain, reranker, small, released, paper, tiny, or a .toml file like those of the package.",
    ),
]
Examples = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="JSONL rows of query, file, start, end; may be given again."),
]
Out = Annotated[Path, typer.Option(metavar="FOLDER", help="Where the checkpoint goes, and the run's state with it.")]
Start = Annotated[
    str | None,
    typer.Option("--from", metavar="FOLDER|released|scratch", help="Where to start. [default: the preset's]"),
]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change the preset: loop.steps=100; may be given again."),
]
Licences = Annotated[
    list[str] | None,
    typer.Option(
        "--licence", metavar="WHAT=TEXT", help="For the model card; WHAT is books, or an example file's name."
    ),
]
CorpusFolder = Annotated[
    Path | None,
    typer.Option("--corpus", metavar="FOLDER", help="Folder of encoded books, which several runs may share."),
]


def train(
    books: Annotated[list[str], typer.Argument(metavar="BOOKS", help="Books, folders of books, glob patterns.")],
    preset: Preset = "domain",
    examples: Examples = None,
    out: Out = Path("checkpoint"),
    start: Start = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in --out.")] = False,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Seed of all random choices. [default: 0]")] = None,
    changes: Changes = None,
    licence: Licences = None,
    chunk_encoder: ChunkEncoder = None,
    corpus: CorpusFolder = None,
    device: Annotated[str, typer.Option(metavar="auto|cpu|cuda", help="Where to encode and train.")] = "auto",
    as_json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only report failures and what was left out.")] = False,
) -> None:
    """Train a next-level encoder on books. `nlb index --checkpoint` uses it; --resume continues a stopped run."""
    licences = dict(text.partition("=")[::2] for text in licence or ())
    if not all(licences.values()):
        raise typer.BadParameter("write WHAT=TEXT, as in books='public domain'", param_hint="--licence")
    with watch_training(quiet=quiet, plain=as_json) as progress, extra("train"):
        from nlb_training.presets import read_preset
        from nlb_training.report import Request
        from nlb_training.run import train as run

        more = [f"loop.device={'cpu' if device == 'cpu' else 'auto'}"]
        more += [f"loop.seed={seed}"] if seed is not None else []
        report = run(
            Request(
                books=tuple(books),
                out=out,
                preset=read_preset(preset, [*(changes or ()), *more]),
                start=start,
                examples=tuple(examples or ()),
                chunk_encoder=chunk_encoder,
                corpus=corpus,
                device=device,
                licences=licences,
                command=shlex.join(["nlb", *sys.argv[1:]]),
            ),
            resume=resume,
            observer=progress,
        )
    if as_json:
        write_json(report.to_json())
    elif not quiet:
        write_lines(_report_lines(report, chunk_encoder))
    print_warnings(report.corpus.warnings, quiet=quiet)
    _report_problems(report)
    raise typer.Exit(1 if report.corpus.failed or report.problems else 0)


def _report_lines(report: TrainingReport, chunk_encoder: str | None) -> Iterator[Line]:
    result = report.to_json()
    yield line(
        (f"Trained on {counted(result['books'], 'book')}", "bold"),
        f" in {duration(report.seconds)}: {result['chunks']:,} chunks.",
    )
    if figures := result["pretraining"]:
        yield line(
            f"Pretraining: {figures['steps']:,} steps, loss {figures['first_loss']:.4g} -> {figures['last_loss']:.4g}."
        )
    if retrieval := result["retrieval"]:
        yield from _retrieval_lines(retrieval)
    folder = exact(result["checkpoint"])
    yield line(f"Checkpoint: {folder}")
    own = f" --chunk-encoder {shlex.quote(chunk_encoder)}" if chunk_encoder else ""
    yield line(f"Use it: nlb index --checkpoint {shlex.quote(folder)}{own} --rebuild")


def _retrieval_lines(retrieval: Mapping[str, Any]) -> Iterator[Line]:
    held_out, count = retrieval.get("held_out"), retrieval["examples"]
    examples = counted(count, "example")
    reranked = retrieval.get("reranker", {})
    if retrieval["trained"]:
        yield line(f"Retrieval training: {examples}, {retrieval['steps']:,} steps.")
    elif not held_out and reranked:
        yield line(f"Reranker: trained on {reranked['queries']:,} summaries; the projections are those of the start.")
    elif not held_out:
        yield line("Retrieval: no examples to train on; the projections are those of the start.")
        return
    if held_out:
        yield line(f"MRR on {counted(held_out['books'], 'book')} held out, chunk encoder alone -> start -> trained:")
        for name, raw in held_out["raw"].items():
            yield line(f"  {name}: {raw:.1f} -> {held_out['start'][name]:.1f} -> {held_out['trained'][name]:.1f}")
    if held_out and not retrieval["trained"]:
        yield line(f"Training on {examples} did not improve these: the projections are those of the start.")
        yield line("Try questions of your own (--examples), or more books.")
    if "after reranking" in reranked:
        yield line(f"  reranking: {reranked['before reranking']:.1f} -> {reranked['after reranking']:.1f}")


def _report_problems(report: TrainingReport) -> None:
    for file in report.corpus.failed:
        note(exact(f"nlb: failed: {file.reason}"))
    for problem in report.problems[:_SHOWN]:
        note(exact(f"nlb: left out: {problem}"))
    if (more := len(report.problems) - _SHOWN) > 0:
        note(f"nlb: left out: {more:,} more rows, all in --json")
