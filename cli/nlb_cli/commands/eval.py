"""`nlb eval`: quality of search and answers, beside baselines in the same run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Annotated

import typer

from nlb_cli.options import Json
from nlb_cli.output.progress import watch
from nlb_cli.output.terminal import Line, exact, is_terminal, line, note, write_json, write_lines, write_rich
from nlb_retriever.errors import QueryError, extra

if TYPE_CHECKING:
    from nlb_training.evaluation import Results, Table

_SHOWN = 5
"""Number of problems that are shown."""

Rows = Annotated[
    Path | None,
    typer.Argument(metavar="QUESTIONS", help="Your own questions: JSONL lines of query, file, start, end, answers."),
]
Books = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Their books. [default: the folder of QUESTIONS]")]
Data = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="The evaluation data: corpus/ and eval/. [default: $NLB_DATA]")
]
Tasks = Annotated[
    str | None,
    typer.Option(
        metavar="TASK,...",
        help="Some of similarity, classification, multiple-choice, retrieval, answers, reading. "
        "[default: all; retrieval and answers for QUESTIONS]",
    ),
]
Checkpoints = Annotated[
    list[str] | None,
    typer.Option(
        "--checkpoint", metavar="FOLDER", help="What to evaluate; may be given again. [default: the released one]"
    ),
]
Baselines = Annotated[
    str,
    typer.Option(metavar="NAME,...", help="Some of mean, first, max, bm25, bm25-plain; NAME+NAME adds their scores."),
]
AtLeast = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE",
        help="Exit with 1 if a figure is lower: retrieval.section.mrr=0.8 (TASK.SET.METRIC, or ...@SYSTEM).",
    ),
]


def evaluate(
    questions: Rows = None,
    books: Books = None,
    data: Data = None,
    tasks: Tasks = None,
    checkpoint: Checkpoints = None,
    baselines: Baselines = "mean,bm25,mean+bm25",
    sets: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="Only sets of the data whose names begin with one of these.")
    ] = None,
    reader: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="A reader to evaluate. [default: the released one]")
    ] = None,
    every: Annotated[int, typer.Option(min=1, metavar="N", help="Use only every n-th query.")] = 1,
    seeds: Annotated[int, typer.Option(min=1, metavar="N", help="How often classifiers are trained.")] = 3,
    at_least: AtLeast = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also write table.md, results.json and plot.png there.")
    ] = None,
    cache: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Cache of books, vectors and libraries.")] = None,
    device: Annotated[str, typer.Option(metavar="auto|cpu|cuda", help="Where the encoder runs.")] = "auto",
    as_json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.")] = False,
) -> None:
    """Measure checkpoints and baselines. If interrupted, run the same command again to continue."""
    with extra("eval"):
        from nlb_training.evaluation import TASKS, Settings, Threshold
        from nlb_training.evaluation import evaluate as run
        from nlb_training.evaluation.multiple_choice import is_quality

    thresholds = [Threshold.parse(text) for text in at_least or ()]
    if tasks:
        chosen = _names(tasks)
    elif questions:
        chosen = ["multiple-choice"] if is_quality(questions) else ["retrieval", "answers"]
    else:
        chosen = [*TASKS]
    settings = Settings(
        tasks=chosen,
        data=data,
        questions=questions,
        books=books,
        checkpoints=[Path(folder) for folder in checkpoint] if checkpoint else [None],
        baselines=_names(baselines),
        every=every,
        seeds=range(seeds),
        cache=cache,
        device=device,
        sets=_names(sets) if sets else (),
        reader=reader,
    )
    if out:
        _make(out)
    with extra("eval"):
        results = run(
            settings,
            notice=(lambda text: None) if quiet else _show_notice,
            watch=lambda: watch(quiet=quiet, plain=as_json),
        )
    if as_json:
        write_json(results.to_json())
    else:
        _show(results)
    if out:
        with extra("eval"):
            _write(results, out)
    _show_problems(results)
    missed = [line for each in thresholds if (line := each.missed(results))]
    for each in missed:
        note(exact(f"nlb: missed: {each}"))
    raise typer.Exit(1 if missed else 0)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _show_notice(text: str) -> None:
    note(exact(f"nlb: {text}"))


def _show(results: Results) -> None:
    for number, table in enumerate(results.tables()):
        if number:
            write_lines([line()])
        if is_terminal():
            write_lines([line((table.title, "bold"))])
            _show_rich(table)
        else:
            write_lines(_plain_lines(table))
        write_lines(line(note) for note in table.notes)


def _show_rich(table: Table) -> None:
    from rich import box
    from rich.table import Table as RichTable

    shown = RichTable(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for index, column in enumerate(table.columns):
        shown.add_column(column, justify="right" if index else "left", no_wrap=index > 0)
    for row in table.rows:
        shown.add_row(*row)
    write_rich(shown)


def _plain_lines(table: Table) -> Iterator[Line]:
    rows = [table.columns, *table.rows]
    widths = [max(len(row[index]) for row in rows) for index in range(len(table.columns))]
    yield line(table.title)
    for row in rows:
        cells = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        yield line("  ".join((row[0].ljust(widths[0]), *cells)))


def _show_problems(results: Results) -> None:
    for problem in results.problems[:_SHOWN]:
        note(exact(f"nlb: warning: {problem}"))
    if (more := len(results.problems) - _SHOWN) > 0:
        note(f"nlb: warning: and {more:,} more problems")


def _make(folder: Path) -> None:
    """Make the folder of the results before hours of work, not after them.

    Raises:
        QueryError: it cannot be made, or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise _unwritable(folder, error) from error


def _unwritable(folder: Path, error: OSError) -> QueryError:
    return QueryError(f"{folder} cannot be written ({error.strerror}): name another folder with --out")


def _write(results: Results, folder: Path) -> None:
    """Write table.md, results.json and plot.png.

    Raises:
        QueryError: they cannot be written.
    """
    from nlb_training.evaluation.plot import draw

    try:
        (folder / "table.md").write_text(results.markdown(), encoding="utf-8")
        (folder / "results.json").write_text(json.dumps(results.to_json(), indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise _unwritable(folder, error) from error
    draw(results, folder / "plot.png")
