"""Who may write a library: one process at a time; readers need no lock.

Only the kernel's advisory lock (flock) on `writer.lock` counts, and it vanishes with its process; the file itself
stays, and means nothing.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
from datetime import datetime
from pathlib import Path

from nlb_retriever.errors import LibraryBusy, StoreError

LOCK = "writer.lock"


class WriterLock:
    """The right to change a library."""

    def __init__(self, folder: Path) -> None:
        """Take it.

        Raises:
            LibraryBusy: another process has it.
            StoreError: the folder cannot be written or locked.
        """
        self._pid = os.getpid()
        self._folder = folder
        self.library: str | None = None
        """Id of the library that its holder writes."""
        try:
            self._fd: int | None = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise StoreError(f"library {folder} cannot be written here ({error.strerror})") from error
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = _read_holder(self._fd)
            os.close(self._fd)
            if isinstance(error, BlockingIOError):
                raise LibraryBusy(f"library {folder} is being written by {holder}: wait for it or stop it") from None
            raise StoreError(
                f"library {folder} cannot be locked on its file system ({error.strerror}): use a folder on another disk"
            ) from error
        note = {
            "pid": os.getpid(),
            "since": datetime.now().astimezone().isoformat(timespec="seconds"),
            "host": socket.gethostname(),
        }
        # a full or read-only disk is no reason to refuse: the note is only for messages
        with contextlib.suppress(OSError):
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, json.dumps(note).encode(), 0)

    @property
    def is_held(self) -> bool:
        """Whether this process may change the library; a forked child may not."""
        return self._fd is not None and self._pid == os.getpid()

    def check_place(self) -> None:
        """Refuse to go on where the folder was removed or moved, and maybe made anew: others may write there.

        Raises:
            StoreError: its lock is not the one that this process holds.
        """
        with contextlib.suppress(OSError):
            if self._fd is not None and os.path.samestat(os.fstat(self._fd), (self._folder / LOCK).stat()):
                return
        raise replaced(self._folder)

    def release(self) -> None:
        """Give it back; a forked child only forgets it."""
        if self._fd is not None:
            if self._pid == os.getpid():
                fcntl.flock(self._fd, fcntl.LOCK_UN)  # children that were forked meanwhile have it open too
            os.close(self._fd)
            self._fd = None


def replaced(folder: Path) -> StoreError:
    return StoreError(f"library {folder} was replaced meanwhile: run the same command again")


def _read_holder(fd: int) -> str:
    try:
        note = json.loads(os.pread(fd, 1000, 0))
        return f"process {note['pid']} on {note['host']} (since {note['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
