"""What readers left out of books or guessed, as lines on stderr."""

from __future__ import annotations

from collections.abc import Iterable

from nlb_cli.output.terminal import exact, note
from nlb_retriever.errors import counted


def print_warnings(warnings: Iterable[tuple[str, str]], *, quiet: bool) -> None:
    """Print what was lost of each file; unless quiet, what was guessed too, and in how many boilerplate was skipped."""
    from nlb_retriever.reading.omissions import BOILERPLATE, LEFT_OUT

    skipped: set[str] = set()
    for source, warning in warnings:
        if warning.startswith(BOILERPLATE):
            skipped.add(source)
        elif warning.startswith(LEFT_OUT) or not quiet:
            note(exact(f"nlb: warning: {source}: {warning}"))
    if skipped and not quiet:
        note(f"nlb: boilerplate was skipped in {counted(len(skipped), 'file')}")
