"""Atomic writes of files and folders: after an interruption there is the old content or the new one, and no half."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

TEMPORARY = ".part"
"""End of the names of unfinished files and folders; one that is found was left by a process that was killed."""
_NO_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}
"""What a file system answers that does not sync folders."""


def part_of(file: Path) -> Path:
    """A name for what a file is written to before it is whole; another thread has another, and so has a container."""
    return file.with_name(f".{file.name}.{secrets.randbits(32)}{TEMPORARY}")


def write_file(file: Path, content: bytes | Callable[[IO[bytes]], object]) -> None:
    """Write a file atomically: after a crash or a power cut there is its old content or the new one.

    Args:
        file: to write; its folder exists.
        content: bytes, or a function that writes them to a stream.

    Raises:
        OSError: it cannot be written; what was there is kept.
    """
    with write_whole(file) as part, part.open("wb") as stream:
        if isinstance(content, bytes):
            stream.write(content)
        else:
            content(stream)


@contextmanager
def write_whole(file: Path) -> Iterator[Path]:
    """Write a file atomically by its path: the block writes another one, which replaces `file` after the block.

    Raises:
        OSError: it cannot be written; what was there is kept, as after an error in the block.
    """
    part = part_of(file)
    try:
        yield part
        _sync_file(part)
        part.replace(file)
        sync_folder(file.parent)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def write_folder(folder: Path) -> Iterator[Path]:
    """Write a folder atomically: the block fills a new one, which replaces `folder` after the block.

    A kill in the moment between the two renames leaves both in the part, and no `folder`.

    Args:
        folder: to write; its parents are made, and what was there is replaced.

    Raises:
        OSError: it cannot be written; what was there is kept, as after an error in the block.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", suffix=TEMPORARY, dir=folder.parent))
    new, old = part / "new", part / "old"
    try:
        new.mkdir()
        yield new
        _sync_tree(new)
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
        sync_folder(folder.parent)
    finally:
        if old.exists() and not folder.exists():
            old.rename(folder)
        shutil.rmtree(part, ignore_errors=True)


def sync_folder(folder: Path) -> None:
    """Return when the names of a folder's files are on the disk; not every file system can say so."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
    finally:
        os.close(handle)


def _sync_tree(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            _sync_tree(path)
        elif path.is_file():
            _sync_file(path)
    sync_folder(folder)


def _sync_file(file: Path) -> None:
    with file.open("rb") as stream:
        os.fsync(stream.fileno())
