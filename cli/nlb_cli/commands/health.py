"""`nlb info` and `nlb doctor`: what a library is, and whether anything is wrong."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from nlb_cli.options import Json, Library
from nlb_cli.output.terminal import exact, line, write_json, write_lines
from nlb_retriever.config import locate_library

_STYLES = {"ok": "green", "note": "yellow", "problem": "bold red"}


def info(library: Library = None, as_json: Json = False) -> None:
    """Show where a library is and what it holds."""
    from nlb_retriever import __version__
    from nlb_retriever.store import open_store

    location = locate_library(library)
    with open_store(location) as store:
        books, manifest = store.books(), store.manifest
    facts = {
        "library": str(location),
        "books": len(books),
        "sections": sum(book.sections for book in books),
        "passages": sum(book.passages for book in books),
        "chars": sum(book.chars for book in books),
        "tokens": sum(book.tokens for book in books),
        "bytes": _size(location) if isinstance(location, Path) else None,
        **manifest.to_dict(),
        "version": __version__,
    }
    if as_json:
        write_json(facts)
    else:
        write_lines(line(exact(text), lead=[(f"{name:<15}", "dim")]) for name, text in _rows(facts))


def doctor(
    library: Library = None,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="First make a damaged library whole, from what is left and from files."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Check Python, packages, encoders, the reader and the library.

    The exit code is 1 where something is wrong."""
    from nlb_cli.checks import examine
    from nlb_retriever import __version__

    checks = list(examine(library, repair=repair))
    healthy = all(check.status != "problem" for check in checks)
    if as_json:
        write_json({"healthy": healthy, "version": __version__, "checks": [asdict(check) for check in checks]})
    else:
        width = max(len(check.name) for check in checks)
        write_lines(
            line(
                exact(check.detail),
                lead=[(f"{check.status:<9}", _STYLES[check.status]), (f"{check.name:<{width}}  ", "")],
            )
            for check in checks
        )
    raise typer.Exit(0 if healthy else 1)


def _size(folder: Path) -> int:
    """Bytes on the disk; files that vanish meanwhile are not counted."""
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            total += path.lstat().st_blocks * 512
    return total


def _rows(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "Library", facts["library"]
    yield "Books", f"{facts['books']:,}"
    yield "Sections", f"{facts['sections']:,}"
    yield "Passages", f"{facts['passages']:,} ({facts['tokens']:,} tokens, {facts['chars']:,} characters)"
    if facts["bytes"] is not None:
        yield "On disk", f"{facts['bytes'] / 1e6:,.1f} MB"
    yield "Chunk encoder", f"{facts['chunk_encoder']} ({facts['dim']}-d, SHA-256 {facts['chunk_encoder_sha256'][:12]})"
    chunk = f"{facts['chunk_tokens']} tokens" if facts["chunk_tokens"] else "one sentence"
    yield "Chunk", chunk
    yield "Checkpoint", f"{facts['checkpoint']} (SHA-256 {facts['checkpoint_sha256'][:12]})"
    yield "nlb", facts["version"]
