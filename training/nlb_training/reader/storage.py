"""Rows and examples on disk, a JSON line each: what is slow to make is made once."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, TypeVar

from nlb_retriever.atomic import write_file
from nlb_retriever.errors import TrainingError
from nlb_training.reader.candidates import Candidates, Found
from nlb_training.reader.examples import Candidate, Example

T = TypeVar("T")


def write_rows(path: Path, rows: Iterable[Example | Candidates]) -> None:
    """Write rows to a .jsonl.gz file, atomically."""

    def write(stream: IO[bytes]) -> None:
        with gzip.open(stream, "wt", encoding="utf-8", compresslevel=3) as file:
            file.writelines(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows)

    write_file(path, write)


def _read_rows(path: Path, make: Callable[[dict[str, Any]], T]) -> Iterator[T]:
    """What a function makes of each row that `write_rows` wrote.

    Raises:
        TrainingError: the file is missing or damaged.
    """
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                yield make(json.loads(line))
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise TrainingError(f"{path} is missing or damaged ({error}): delete it, and make it again") from error


def read_examples(path: Path) -> Iterator[Example]:
    """Read the examples of a file.

    Raises:
        TrainingError: the file is missing or damaged.
    """
    return _read_rows(path, _make_example)


def read_candidates(path: Path) -> dict[str, Candidates]:
    """Read the candidates of a file, by the questions' ids.

    Raises:
        TrainingError: the file is missing or damaged.
    """
    return {each.id: each for each in _read_rows(path, _make_candidates)}


def _make_example(row: dict[str, Any]) -> Example:
    candidates = tuple(
        Candidate(**{**each, "spans": tuple((start, end) for start, end in each["spans"])})
        for each in row["candidates"]
    )
    return Example(source=row["source"], question=row["question"], candidates=candidates)


def _make_candidates(row: dict[str, Any]) -> Candidates:
    return Candidates(id=row["id"], found=tuple(Found(**each) for each in row["found"]))
