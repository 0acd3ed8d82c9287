"""Which of many books examples ask for: the others need not be read or encoded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath

from nlb_retriever.errors import TrainingError
from nlb_retriever.reading import discover
from nlb_training.data.examples import Example


def name_books(books: Iterable[str | Path], examples: Sequence[Example]) -> list[str | Path]:
    """The files among books that an example names, and entries that cannot be read, for their errors to be told.

    Args:
        books: files, folders and glob patterns.
        examples: with names of files, or the ends of their paths.

    Raises:
        TrainingError: no book is named.
    """
    found = discover(books)
    wanted = {PurePath(example.file).parts for example in examples}
    lengths = sorted({len(parts) for parts in wanted})
    named = [file for file in found.files if any(file.parts[-length:] in wanted for length in lengths)]
    if not named:
        raise TrainingError(
            f"this preset reads only books that examples name, and the {len(examples):,} examples name none of the "
            f"{len(found.files):,} books: give rows on them (--examples), or set corpus.examples_only=false"
        )
    return [*named, *(failure.source for failure in found.failed)]
