"""Files of a folder library: large ones that outlast a power cut, small ones that could be missed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from nlb_retriever.atomic import part_of
from nlb_retriever.errors import NlbError, StoreError


@contextlib.contextmanager
def create(path: Path) -> Iterator[BinaryIO]:
    """Write a new file; when the block ends its bytes are on the disk, after an error it is gone.

    Its name is on the disk only after `atomic.sync_folder`.
    """
    try:
        with path.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink()
        raise


def put(path: Path, content: bytes) -> None:
    """Give a file that could be missed new content: in one step, but not safe from a power cut or a full disk."""
    making = part_of(path)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        making.write_bytes(content)
        making.replace(path)
        return
    remove(making)


def remove(path: Path) -> None:
    """Delete a file; one that is gone, or cannot be deleted, is no error: nothing refers to it."""
    with contextlib.suppress(OSError):
        path.unlink()


@contextlib.contextmanager
def errors(location: str, doing: str) -> Iterator[None]:
    """Turn the system's errors into a StoreError of one line."""
    try:
        yield
    except NlbError:
        raise
    except OSError as error:
        name = f" ({Path(error.filename).name})" if isinstance(error.filename, str) else ""
        advice = {"No space left on device": ": free some space, then run the same command again"}
        reason = error.strerror or str(error)
        raise StoreError(f"library {location}: {doing} failed{name}: {reason}{advice.get(reason, '')}") from error
