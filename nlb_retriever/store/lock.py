"""Who may write a library, and who has its index files open.

Only advisory locks of the kernel (flock) count, and they vanish with their process; the files
themselves stay and mean nothing. One writer holds `writer.lock` for its whole run. The index files
can be open in one process at a time: its holder has `shards.lock`, and whoever waits for it stands
in front with `queue.lock` in hand, by which the holder sees that it is time to let go.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import time
from datetime import datetime
from pathlib import Path

from nlb_retriever.errors import LibraryBusy, StoreError

LOCK_FILES = ("writer.lock", "shards.lock", "queue.lock")


class WriterLock:
    """The right to change a library."""

    def __init__(self, folder: Path) -> None:
        """Take it.

        Raises:
            LibraryBusy: another process has it.
        """
        try:
            self._fd: int | None = os.open(folder / "writer.lock", os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise StoreError(f"library {folder} cannot be written, it is read-only here ({error.strerror})") from error
        if not _try_lock(self._fd):
            holder = _read_holder(self._fd)
            self.release()
            raise LibraryBusy(f"library {folder} is being written by {holder}: wait for it or stop it")
        note = {
            "pid": os.getpid(),
            "since": datetime.now().astimezone().isoformat(timespec="seconds"),
            "host": socket.gethostname(),
        }
        # a full or read-only disk is no reason to refuse: the note is only for messages
        with contextlib.suppress(OSError):
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, json.dumps(note).encode(), 0)

    def release(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


class ShardLock:
    """The right to open a library's index files. Not for several threads at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shards: int | None = None
        self._queue: int | None = None

    def acquire(self, timeout: float) -> None:
        """Take it, waiting in line.

        Raises:
            LibraryBusy: nobody let go for `timeout` seconds.
        """
        deadline = time.monotonic() + timeout
        queue = _open(self._folder / "queue.lock")
        try:
            shards = _open(self._folder / "shards.lock")
        except BaseException:
            os.close(queue)
            raise
        if _lock_until(queue, deadline) and _lock_until(shards, deadline):
            self._queue, self._shards = queue, shards
            fcntl.flock(queue, fcntl.LOCK_UN)
            return
        os.close(shards)
        os.close(queue)
        raise LibraryBusy(
            f"library {self._folder} has been in use by other processes for {timeout:.0f} s: try again, or stop them"
        )

    def wanted(self) -> bool:
        """Whether somebody waits for us to let go."""
        if self._queue is None or not _try_lock(self._queue):
            return self._queue is not None
        fcntl.flock(self._queue, fcntl.LOCK_UN)
        return False

    def release(self) -> None:
        for fd in (self._shards, self._queue):
            if fd is not None:
                fcntl.flock(fd, fcntl.LOCK_UN)
                os.close(fd)
        self._shards = self._queue = None

    def forget(self) -> None:
        """In a forked child: leave the lock to the parent."""
        for fd in (self._shards, self._queue):
            if fd is not None:
                os.close(fd)
        self._shards = self._queue = None


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        with contextlib.suppress(OSError):
            return os.open(path, os.O_RDONLY)
        raise StoreError(f"library {path.parent} cannot be opened ({path.name}: {error.strerror})") from error


def _try_lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lock_until(fd: int, deadline: float) -> bool:
    pause = 0.002
    while not _try_lock(fd):
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
        pause = min(pause * 1.5, 0.02)
    return True


def _read_holder(fd: int) -> str:
    try:
        note = json.loads(os.pread(fd, 1000, 0))
        return f"process {note['pid']} on {note['host']} (since {note['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
