"""Files that outlast a power cut: every durable step of a folder library goes through here."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from nlb_retriever.errors import NlbError, StoreError


@contextlib.contextmanager
def create(path: Path) -> Iterator[BinaryIO]:
    """Write a new file; when the block ends its bytes are on the disk, after an error it is gone.

    Its name is on the disk only after `sync_folder`.
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


def replace(path: Path, content: bytes) -> None:
    """Give a file new content in one step: whatever happens, it has the old or the new one whole."""
    making = path.with_name(f".{path.name}.new")
    with contextlib.suppress(FileNotFoundError):
        making.unlink()
    with create(making) as file:
        file.write(content)
    move(making, path)


def put(path: Path, content: bytes) -> None:
    """Give a file that could be missed new content: in one step, but not safe from a power cut or a full disk."""
    making = path.with_name(f".{path.name}.{os.getpid()}.new")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        making.write_bytes(content)
        making.replace(path)
        return
    remove(making)


def move(source: Path, target: Path) -> None:
    """Rename a file in its folder, over another if there is one."""
    source.replace(target)
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Return when the names of a folder's files are on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


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
