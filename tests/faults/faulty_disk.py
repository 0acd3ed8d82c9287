"""A disk that fails at the n-th call, for a process that is about to end there.

A kill leaves the folder as it is. After a power cut, what was not synced may be lost: of each file that was written
since, any of its pages may be old or zero, and of each folder, the last renames, new and deleted names may be undone.
"""

from __future__ import annotations

import os
import random
import signal
import stat
import sys
from pathlib import Path

_PAGE = 4096
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
CUT = 70
"""Exit code of a process after a power cut."""


class FaultyDisk:
    """Watches what this process does to a folder; only for a forked child, as it cannot be taken away again."""

    def __init__(self, folder: Path, fail_at: int, survivors: Path | None, dice: random.Random) -> None:
        """Watch from now on.

        Args:
            folder: the library's.
            fail_at: the number of the call that is not done any more.
            survivors: where the folder is to be written as it is after a power cut; None: be killed.
            dice: decide what survives.
        """
        self._folder = folder.resolve()
        self._calls = 0
        self._fail_at = fail_at
        self._survivors = survivors
        self._dice = dice
        self._is_busy = False
        self._names: dict[Path, list[dict[str, int]]] = {}
        """Of each folder, its names with their inodes after every call."""
        self._synced_names: dict[Path, int] = {}
        self._synced: dict[int, bytes] = {}
        self._handles: dict[int, int] = {}
        self._look()
        for folder_, names in self._names.items():
            self._synced_names[folder_] = len(names) - 1
        for inode in self._handles:
            self._synced[inode] = self._read(inode)
        self._sync, os.fsync = os.fsync, self._fsync
        sys.addaudithook(self._audit)

    def _audit(self, event: str, arguments: tuple[object, ...]) -> None:
        if self._is_busy:
            return
        match event:
            case "open":
                path, _, flags = arguments
                if isinstance(flags, int) and flags & _WRITING and self._is_inside(path):
                    self._call()
            case "os.rename" | "os.remove" | "os.mkdir" | "os.truncate":
                if self._is_inside(arguments[0]):
                    self._call()

    def _is_inside(self, path: object) -> bool:
        return isinstance(path, str | Path) and Path(path).absolute().is_relative_to(self._folder)

    def _call(self) -> None:
        self._is_busy = True
        self._look()
        self._calls += 1
        if self._calls >= self._fail_at:
            self._fail()
        self._is_busy = False

    def _fsync(self, handle: int) -> None:
        self._call()
        status = os.fstat(handle)
        self._is_busy = True
        self._look()
        if stat.S_ISDIR(status.st_mode):
            for folder, names in self._names.items():
                if folder.is_dir() and folder.stat().st_ino == status.st_ino:
                    self._synced_names[folder] = len(names) - 1
        elif status.st_ino in self._handles:
            self._synced[status.st_ino] = self._read(status.st_ino)
        self._is_busy = False

    def _look(self) -> None:
        """Note the names in the folder and in those in it, and keep all files open."""
        folders = [self._folder]
        for folder in folders:
            names = {}
            for entry in os.scandir(folder):
                names[entry.name] = inode = entry.inode()
                if entry.is_dir():
                    folders.append(Path(entry.path))
                elif inode not in self._handles:
                    self._handles[inode] = os.open(entry.path, os.O_RDONLY)
            self._names.setdefault(folder, [{}] if folder != self._folder else []).append(names)

    def _read(self, inode: int) -> bytes:
        handle = self._handles[inode]
        return os.pread(handle, os.fstat(handle).st_size, 0)

    def _fail(self) -> None:
        if self._survivors is None:
            os.kill(os.getpid(), signal.SIGKILL)
        else:
            self._write(self._folder, self._survivors)
            os._exit(CUT)

    def _write(self, folder: Path, target: Path) -> None:
        target.mkdir()
        history = self._names.get(folder, [{}])
        kept = self._dice.randint(self._synced_names.get(folder, 0), len(history) - 1)
        for name, inode in history[kept].items():
            if inode in self._handles:
                (target / name).write_bytes(self._survivor(inode))
            else:
                self._write(folder / name, target / name)

    def _survivor(self, inode: int) -> bytes:
        old, new = self._synced.get(inode, b""), self._read(inode)
        if old == new:
            return new
        size = self._dice.choice((len(old), len(new)))
        pages = []
        for at in range(0, size, _PAGE):
            source = self._dice.choice((old, new))
            pages.append(source[at : at + _PAGE].ljust(min(_PAGE, size - at), b"\0")[: size - at])
        return b"".join(pages)
