"""Arrays on disk: .npz files, written atomically; a damaged one is a ValueError."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.atomic import write_file


def write_arrays(file: Path, **arrays: NDArray[Any]) -> None:
    """Write arrays by name; the folder is made.

    Raises:
        OSError: the file cannot be written; what was there is kept.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    write_file(file, lambda stream: np.savez(stream, **arrays))  # type: ignore[arg-type]


def read_arrays(file: Path) -> dict[str, NDArray[Any]]:
    """Read what `write_arrays` wrote.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is damaged.
    """
    try:
        with file.open("rb") as stream, np.load(stream) as stored:
            return {name: stored[name] for name in stored.files}
    except (KeyError, TypeError, EOFError, RuntimeError, BadZipFile, zlib.error) as error:
        raise ValueError(str(error)) from error
