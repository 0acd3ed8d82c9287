"""Putting a library that was made anew in the place of the old one."""

from __future__ import annotations

import ctypes
import os
import shutil
from pathlib import Path

from nlb_retriever.errors import StoreError

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def replace_library(folder: Path, fresh: Path) -> None:
    """Let `fresh` be the library at `folder`, and delete what was there.

    The two change names at once where the system can (Linux); else there is a moment between two
    renames. Readers that have the old one open answer from it until they open again.

    Raises:
        StoreError: it cannot be done; the old library is still in place.
    """
    try:
        if _exchange(folder, fresh):
            shutil.rmtree(fresh, ignore_errors=True)
            return
        old = folder.with_name(f".{folder.name}.old")
        shutil.rmtree(old, ignore_errors=True)
        folder.rename(old)
        fresh.rename(folder)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise StoreError(f"cannot put {fresh} in the place of {folder}: {error.strerror or error}") from error


def _exchange(one: Path, other: Path) -> bool:
    """Let two folders change names in one step; False where the system has no such call."""
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    names = (os.fsencode(one), os.fsencode(other))
    return int(renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE)) == 0
