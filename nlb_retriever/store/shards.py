"""The shards of a library's folder, open in one process at a time.

Shards stay open between sessions for speed, and are closed as soon as another process waits for
them (lock.py).
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import qdrant_edge as qe

from nlb_retriever.errors import NlbError, StoreError
from nlb_retriever.records import Level
from nlb_retriever.store import ledger
from nlb_retriever.store.lock import LOCK_FILES, ShardLock

FOLDERS: dict[Level, str] = {"book": "books", "section": "sections", "passage": "passages"}
WAIT = 60.0
"""Seconds to wait for another process to close the shards."""
RESERVE = 200_000_000
"""Bytes that must stay free: the engine maps files that it grows in steps, and dies where one cannot grow."""
COPY_LIMIT = 4_000_000_000
"""Bytes up to which a library that must not be written to is copied for reading."""
_LOOK = 0.05
"""Seconds between two looks whether somebody waits."""

_log = logging.getLogger(__name__)


class Shards:
    """The open shards, and the right to have them open. For several threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = ShardLock(folder)
        self._open: dict[Level, qe.EdgeShard] = {}
        self._places: dict[Level, tuple[Path, int]] = {}
        self._suspect: set[Level] = set()
        """Shards that have failed: their files are no model for later."""
        self._mutex = threading.RLock()
        self._depth = 0
        self._held = False
        self._watcher: threading.Thread | None = None
        self._pid = os.getpid()
        _ALL.add(self)
        self._copy: tempfile.TemporaryDirectory[str] | None = None

    @contextlib.contextmanager
    def session(self) -> Iterator[None]:
        """Nobody else has the shards open while it lasts; sessions nest."""
        if os.getpid() != self._pid:
            self._forget()
        with self._mutex:
            if self._held and self._depth == 0 and not all(map(self._is_current, self._open)):
                self._let_go()
            if not self._held:
                self._lock.acquire(WAIT)
                self._held = True
            self._depth += 1
            try:
                yield
            except BaseException:
                # after an error nothing that is open can be trusted: the next session opens anew
                if self._depth == 1:
                    self.shut(quiet=True)
                raise
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._rest()

    def get(self, level: Level) -> qe.EdgeShard:
        """A level's shard, within a session."""
        if level not in self._open:
            path = self._readable() / FOLDERS[level]
            if not (path / "segments").is_dir():
                raise StoreError(
                    f"library {self._folder}: its {path.name} index is missing: "
                    "run `nlb doctor`, or `nlb index --rebuild` on your books"
                )
            if wrong := ledger.compare(path):
                raise StoreError(
                    f"library {self._folder}: its {path.name} index is damaged ({wrong}): "
                    "restore it from a backup, or run `nlb index --rebuild` on your books"
                )
            with self.errors(level):
                ledger.take_away(path)
                self._places[level] = path, path.stat().st_ino
                self._open[level] = qe.EdgeShard.load(str(path))
        return self._open[level]

    def shut(self, *, quiet: bool = False) -> None:
        """Close the shards and keep the right to them."""
        while self._open:
            level, shard = self._open.popitem()
            try:
                with self.errors(level):
                    shard.close()
                if level not in self._suspect and self._is_current(level):
                    ledger.note(self._places[level][0])
            except StoreError as error:
                if not quiet:
                    raise
                _log.warning("%s", error)

    def _is_current(self, level: Level) -> bool:
        """Whether the shard that we opened still lies there: a rebuilt library may have taken its place."""
        try:
            path, inode = self._places[level]
            return path.stat().st_ino == inode
        except FileNotFoundError:
            return False

    def close(self) -> None:
        """Let go of everything; what was written and not flushed is safe in the log."""
        if os.getpid() != self._pid:
            self._forget()
        with self._mutex:
            try:
                self.shut()
            finally:
                self._lock.release()
                self._held = False
                if self._copy is not None:
                    self._copy.cleanup()
                    self._copy = None

    @contextlib.contextmanager
    def errors(self, level: Level, doing: str = "") -> Iterator[None]:
        """Turn what the engine raises, its panics included, into a StoreError."""
        try:
            yield
        except (NlbError, KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            self._suspect.add(level)
            reason = " ".join(str(error).split())[:200]
            advice = "run `nlb doctor`, or `nlb index --rebuild` on your books"
            if "No space left" in reason:
                advice = "free some disk space"
            raise StoreError(
                f"library {self._folder}: its {FOLDERS[level]} index fails{doing} ({reason}): {advice}"
            ) from error

    def _rest(self) -> None:
        """Between sessions: let go if somebody waits, else look now and then whether somebody does."""
        if self._lock.wanted():
            self._let_go()
        elif self._watcher is None:
            self._watcher = threading.Thread(target=self._watch, name="nlb-shards", daemon=True)
            self._watcher.start()

    def _watch(self) -> None:
        while True:
            time.sleep(_LOOK)
            with self._mutex:
                if self._held and self._lock.wanted():
                    self._let_go()
                if not self._held:
                    self._watcher = None
                    return

    def yield_if_idle(self) -> None:
        """Let go, unless a session is under way."""
        if self._held and self._mutex.acquire(blocking=False):
            try:
                if self._depth == 0:
                    self._let_go()
            finally:
                self._mutex.release()

    def _let_go(self) -> None:
        self.shut(quiet=True)
        self._lock.release()
        self._held = False

    def _forget(self) -> None:
        """In a forked child: the open shards and the lock are the parent's."""
        _LEFT_TO_PARENT.append(self._open)
        self._open = {}
        self._lock.forget()
        self._mutex = threading.RLock()
        self._depth, self._held, self._watcher, self._pid = 0, False, None, os.getpid()

    def _readable(self) -> Path:
        """Where the shards lie that we may open: the engine opens no file that it may not write to."""
        if self._copy is not None:
            return Path(self._copy.name)
        _finish_swap(self._folder)
        books = self._folder / FOLDERS["book"]
        if not books.exists() or all(os.access(each, os.W_OK) for each in (self._folder, books, books / "wal")):
            return self._folder
        size = size_of(self._folder)
        if size > min(COPY_LIMIT, shutil.disk_usage(tempfile.gettempdir()).free - RESERVE):
            raise StoreError(
                f"library {self._folder} is read-only and with {size / 1e9:.1f} GB too large to copy for reading: "
                "copy it to a place where you may write"
            )
        self._copy = tempfile.TemporaryDirectory(prefix="nlb-library-", ignore_cleanup_errors=True)
        for name in FOLDERS.values():
            copy_shard(self._folder / name, Path(self._copy.name) / name)
        return Path(self._copy.name)


_ALL: weakref.WeakSet[Shards] = weakref.WeakSet()
_LEFT_TO_PARENT: list[Any] = []
"""Open shards that a fork copied: closing them here would write to the parent's files."""


def _before_fork() -> None:
    """A child inherits the engine's own locks with its open files: have none open."""
    for shards in list(_ALL):
        shards.yield_if_idle()


os.register_at_fork(before=_before_fork)


def copy_shard(source: Path, target: Path) -> None:
    """Copy a closed shard, to be written to by us."""
    for folder, _, files in os.walk(source):
        inner = target / Path(folder).relative_to(source)
        inner.mkdir()
        for name in files:
            copy_sparse(Path(folder) / name, inner / name)


def copy_sparse(source: Path, target: Path) -> None:
    """Copy a file without filling its holes: the engine's files are mostly holes."""
    with source.open("rb") as reading, target.open("wb") as writing:
        end = os.fstat(reading.fileno()).st_size
        at = 0
        while at < end:
            try:
                at = os.lseek(reading.fileno(), at, os.SEEK_DATA)
            except OSError as error:
                if error.errno != errno.ENXIO:
                    raise
                break
            hole = os.lseek(reading.fileno(), at, os.SEEK_HOLE)
            while at < hole:
                data = os.pread(reading.fileno(), min(hole - at, 1 << 20), at)
                at += os.pwrite(writing.fileno(), data, at)
        os.ftruncate(writing.fileno(), end)


def size_of(folder: Path) -> int:
    """Bytes on disk; files may be sparse."""
    return sum(512 * path.stat().st_blocks for path in folder.rglob("*") if path.is_file())


def _finish_swap(folder: Path) -> None:
    """Put back a shard whose replacement was cut short between its two renames."""
    for name in FOLDERS.values():
        old = folder / f".{name}.old"
        if not (folder / name).exists() and old.exists():
            old.rename(folder / name)


def foreign_files(folder: Path) -> list[str]:
    """What lies in a folder that no library would have there."""
    own = {*LOCK_FILES, *FOLDERS.values()}
    own |= {f".{name}{suffix}" for name in FOLDERS.values() for suffix in (".new", ".old")}
    return sorted(path.name for path in folder.iterdir() if path.name not in own)
