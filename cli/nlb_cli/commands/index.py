"""`nlb index`: bring a library up to date with files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from nlb_cli.options import ChunkEncoder, Json, Library
from nlb_cli.output.progress import duration, watch
from nlb_cli.output.terminal import Line, exact, line, note, write_json, write_lines
from nlb_cli.output.warnings import print_warnings
from nlb_retriever.errors import counted

if TYPE_CHECKING:
    from nlb_retriever.indexing.report import IndexReport

Checkpoint = Annotated[str | None, typer.Option(metavar="FOLDER", help="A checkpoint of `nlb train`.")]
ChunkTokens = Annotated[
    int | None,
    typer.Option(min=0, metavar="N", help="Tokens of a chunk at most; 0 for one sentence a chunk. [default: 256]"),
]

_SUFFIXES = 5
"""Of files that are no books, as many are named."""
_REFS = 20
"""Of books that were renamed or removed, as many are named."""
_LEAST_TOKENS = 10_000
"""Below this a rate says more about the start than about the encoder."""


def index(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH", help="Books, folders of books, glob patterns.")
    ] = None,
    library: Library = None,
    prune: Annotated[bool, typer.Option("--prune", help="Remove books whose files left these folders.")] = False,
    prune_empty: Annotated[
        bool,
        typer.Option("--prune-empty", help="With --prune: also where a folder cannot be read or holds no book now."),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")] = False,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Encode every book anew.")] = False,
    checkpoint: Checkpoint = None,
    chunk_encoder: ChunkEncoder = None,
    chunk_tokens: ChunkTokens = None,
    device: Annotated[str, typer.Option(metavar="auto|cpu|cuda", help="Where the encoder runs.")] = "auto",
    as_json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only print failures and what was left out.")] = False,
) -> None:
    """Index books. Unchanged books cost nothing; after an interruption the same command continues."""
    from nlb_retriever.indexing.indexer import index_files

    if not paths and not rebuild:
        raise typer.BadParameter("name files or folders of books", param_hint="PATH")
    if prune_empty and not prune:
        raise typer.BadParameter("give --prune, too", param_hint="--prune-empty")
    with watch(quiet=quiet, plain=as_json) as observer:
        report = index_files(
            paths or [],
            library,
            chunk_encoder=chunk_encoder,
            checkpoint=checkpoint,
            chunk_tokens=chunk_tokens,
            device=device,
            prune=prune,
            prune_empty=prune_empty,
            dry_run=dry_run,
            rebuild=rebuild,
            observer=observer,
        )
    if as_json:
        write_json(report.to_json())
    elif not quiet:
        write_lines((_plan_lines if dry_run else _report_lines)(report, prune=prune))
    print_warnings(report.warnings, quiet=quiet)
    _print_unread(report)
    _print_failures(report)
    folders = any(os.path.isdir(os.path.expanduser(path)) for path in paths or [])  # noqa: PTH111, PTH112
    if prune and not (folders or report.kept or report.removed):
        note("nlb: --prune had no effect: it looks for lost files in the folders that are named, and none is")
    raise typer.Exit(_exit_code(report))


def _exit_code(report: IndexReport) -> int:
    """0 if nothing failed, 1 if something did, 2 if nothing else was done."""
    if not report.failed:
        return 0
    return 1 if report.indexed or report.unchanged or report.renamed or report.removed or report.duplicates else 2


def _print_unread(report: IndexReport) -> None:
    """Documents in folders that are of no format that is read."""
    from nlb_retriever.reading.discovery import ADVICE, DOCUMENTS

    if unread := [f"{count:,} {suffix}" for suffix, count in report.suffixes.items() if suffix in DOCUMENTS]:
        note(f"nlb: warning: not read: {', '.join(unread)} ({ADVICE})")


def _print_failures(report: IndexReport) -> None:
    from nlb_retriever.reading.limits import shown

    for file in report.failed:
        source = shown(file.source)
        note(exact(f"nlb: failed: {file.reason if source in file.reason else f'{source}: {file.reason}'}"))


def _report_lines(report: IndexReport, *, prune: bool) -> Iterator[Line]:
    if report.indexed:
        changed = sum(ref.changed for ref in report.indexed)
        which = f" ({changed} of them changed)" if changed else ""
        rate = f", {report.tokens / report.seconds:,.0f} a second" if report.tokens >= _LEAST_TOKENS else ""
        took = f" in {duration(report.seconds)}: {report.tokens:,} tokens{rate}"
        yield line((f"Indexed {counted(len(report.indexed), 'book')}", "bold"), f"{which}{took}.")
    elif report.removed or report.renamed:
        yield line(("Nothing to index.", "bold"))
    elif report.unchanged:
        yield line(("Nothing to do.", "bold"))
    else:
        yield line(("Nothing is indexed.", "bold"))
    counts = {"unchanged": report.unchanged, "renamed": report.renamed, "removed": report.removed}
    if parts := [f"{counted(len(refs), 'book')} {what}" for what, refs in counts.items() if refs]:
        yield line(f"{', '.join(parts)}.")
    for what, refs in (("Renamed", report.renamed), ("Removed", report.removed)):
        yield from (line(f"{what}: {exact(ref.source)}") for ref in refs[:_REFS])
        if refs[_REFS:]:
            yield line(f"{what}: {len(refs) - _REFS:,} more")
    yield from _left_out(report, prune=prune)
    yield line(f"Library: {exact(report.library)}")


def _plan_lines(report: IndexReport, *, prune: bool) -> Iterator[Line]:
    yield line(("Nothing is done yet; without --dry-run this would be:", "bold"))
    new = [ref for ref in report.indexed if not ref.changed]
    changed = [ref for ref in report.indexed if ref.changed]
    for verb, refs in (("index", new), ("update", changed), ("rename", report.renamed), ("remove", report.removed)):
        yield from (line(exact(ref.source), lead=f"  {verb:<8}") for ref in refs)
    yield line(f"{counted(len(report.unchanged), 'book')} unchanged", lead="  keep    ")
    yield from _left_out(report, prune=prune)
    yield line(f"Library: {exact(report.library)}")


def _left_out(report: IndexReport, *, prune: bool) -> Iterator[Line]:
    if report.kept:
        first = exact(report.kept[0].source)
        others = f" and {counted(len(report.kept) - 1, 'book')} more" if len(report.kept) > 1 else ""
        why = ", but the folder cannot be read or holds no book, or the file is in a cloud" if prune else ""
        how = "--prune --prune-empty" if prune else "--prune"
        yield line(f"Kept: {first}{others} cannot be found{why}: give {how} to remove.")
    for source, same_as in report.duplicates:
        yield line(f"Left out: {exact(source)} is the same as {exact(same_as)}.")
    if report.skipped:
        suffixes = [*map(exact, report.suffixes)]
        named = ", ".join([*suffixes[:_SUFFIXES], *(["..."] if suffixes[_SUFFIXES:] else [])])
        reasons = [
            f"{count:,} {reason}{f' ({named})' if 'suffix' in reason else ''}"
            for reason, count in sorted(report.skipped.items())
        ]
        yield line(f"Skipped in folders: {', '.join(reasons)}.")
