"""The folder of training data: rows in eval/NAME.jsonl.bz2, books in corpus/NAME.tar.bz2."""

from __future__ import annotations

import bz2
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nlb_retriever.errors import TrainingError

TRAIN_ARCHIVES = ("train-00", "train-01", "train-02")
"""The archives of the train books."""
HELD_ARTICLES = frozenset(
    {
        "1973_oil_crisis",
        "French_and_Indian_War",
        "Jacksonville,_Florida",
        "Newcastle_upon_Tyne",
        "Prime_number",
        "Private_school",
    }
)
"""Of SQuAD's development articles, never trained on: the six with the smallest SHA-256 of their title, of 48."""


def read_rows(data: Path, name: str) -> list[dict[str, Any]]:
    """The rows of eval/NAME.jsonl.bz2.

    Raises:
        TrainingError: the file is missing or damaged.
    """
    return read_jsonl(data / "eval" / f"{name}.jsonl.bz2")


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """The rows of a .jsonl.bz2 file.

    Raises:
        TrainingError: the file is missing or damaged.
    """
    try:
        with bz2.open(path, "rt", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]
    except (OSError, EOFError, ValueError) as error:
        raise unreadable(path, error) from error


def read_archive(data: Path, name: str) -> Iterator[tuple[str, str]]:
    """File name and text of each book in corpus/NAME.tar.bz2.

    Raises:
        TrainingError: the archive is missing or damaged.
    """
    path = data / "corpus" / f"{name}.tar.bz2"
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                if stream := archive.extractfile(member):
                    yield Path(member.name).name, stream.read().decode("utf-8")
    except (OSError, EOFError, ValueError, tarfile.TarError) as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: Exception) -> TrainingError:
    """The error for a file of the data that cannot be read."""
    reason = getattr(error, "strerror", None) or error
    return TrainingError(f"{path} cannot be read ({reason}): give the folder of the training data")
