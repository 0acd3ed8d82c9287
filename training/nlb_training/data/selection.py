"""Selects the books that examples are about, so that the others need not be read or encoded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath

from nlb_retriever.errors import TrainingError
from nlb_retriever.reading import discover
from nlb_training.data.examples import Example


def select_books(books: Iterable[str | Path], examples: Sequence[Example]) -> list[str | Path]:
    """Files that examples are about; also paths that cannot be read, so that they are reported.

    Args:
        books: files, folders and glob patterns.
        examples: with file names, or the ends of paths.

    Raises:
        TrainingError: no example is about any of the books.
    """
    discovered = discover(books)
    names = {PurePath(example.file).parts for example in examples}
    lengths = sorted({len(parts) for parts in names})
    selected = [file for file in discovered.files if any(file.parts[-length:] in names for length in lengths)]
    if not selected:
        raise TrainingError(
            f"this preset uses only books with examples, and none of the {len(examples):,} examples is about one of "
            f"the {len(discovered.files):,} books: give examples for them (--examples), or set "
            "corpus.examples_only=false"
        )
    return [*selected, *(failure.source for failure in discovered.failed)]
