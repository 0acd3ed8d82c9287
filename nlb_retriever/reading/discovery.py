"""From what a user names (files, folders, globs) to the files to read, in a stable order."""

from __future__ import annotations

import glob
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nlb_retriever.reading.book import FORMATS
from nlb_retriever.reading.limits import shown
from nlb_retriever.records import FailedFile, source_of


@dataclass(frozen=True)
class Discovery:
    """The books found, and what was passed over."""

    files: tuple[Path, ...]
    """Absolute paths, each file once, in the order of the inputs and sorted inside folders."""
    skipped: Mapping[str, int]
    """How many files in folders were passed over, by reason."""
    failed: tuple[FailedFile, ...]
    """What was named but cannot be read: one entry each."""
    folders: tuple[Path, ...] = ()
    """Absolute paths of the folders that were named, in the order of the inputs."""


@dataclass
class _Search:
    files: dict[Path, None] = field(default_factory=dict)
    real: set[str] = field(default_factory=set)
    folders: set[tuple[int, int]] = field(default_factory=set)
    skipped: Counter[str] = field(default_factory=Counter)
    failed: list[FailedFile] = field(default_factory=list)
    named: list[Path] = field(default_factory=list)

    def fail(self, path: Path, reason: str) -> None:
        self.failed.append(FailedFile(source=source_of(path), reason=f"{shown(path)}: {reason}"))

    def add(self, path: Path) -> None:
        real = os.path.realpath(path)
        if real in self.real:
            self.skipped["named twice"] += path not in self.files
            return
        self.real.add(real)
        self.files[path] = None


def discover(inputs: Iterable[str | Path]) -> Discovery:
    """Find book files. Nothing is opened; names may hold any bytes (surrogateescape).

    Hidden files, files without a book's suffix, links that form loops and what is no regular
    file are counted in folders, and failed entries where they were named themselves.
    """
    search = _Search()
    for given in inputs:
        path = Path(os.path.abspath(Path(given).expanduser()))  # noqa: PTH100 - keep links
        if os.path.lexists(path) or not isinstance(given, str) or not glob.has_magic(given):
            _named(path, search)
            continue
        matches = sorted(glob.glob(os.path.expanduser(given), recursive=True), key=os.fsencode)  # noqa: PTH111, PTH207
        if not matches:
            search.fail(path, "no file matches this pattern")
        for match in matches:
            _matched(Path(os.path.abspath(match)), search)  # noqa: PTH100
    return Discovery(tuple(search.files), dict(search.skipped), tuple(search.failed), tuple(search.named))


def _named(path: Path, search: _Search) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        search.fail(path, "is a link to nothing" if path.is_symlink() else "there is no such file or folder")
    except (OSError, ValueError) as error:
        search.fail(path, f"cannot be read ({getattr(error, 'strerror', None) or error})")
    else:
        if stat.S_ISDIR(mode):
            search.named.append(path)
            before = len(search.files), len(search.failed), search.skipped["named twice"]
            _walk(path, search)
            if before == (len(search.files), len(search.failed), search.skipped["named twice"]):
                search.fail(path, f"holds no book ({', '.join(sorted(FORMATS))})")
        elif not stat.S_ISREG(mode):
            search.fail(path, "is no regular file")
        elif path.suffix.lower() not in FORMATS:
            search.fail(path, f"has no suffix of a book ({', '.join(sorted(FORMATS))})")
        else:
            search.add(path)


def _matched(path: Path, search: _Search) -> None:
    """What a pattern matched is treated as what lies in a folder, except that folders are entered."""
    if path.is_dir():
        _walk(path, search)
    else:
        _file(path, search)


def _walk(folder: Path, search: _Search) -> None:
    stack = [folder]
    while stack:
        here = stack.pop()
        try:
            info = here.stat()
            entries = sorted(_entries(here), key=lambda e: os.fsencode(e.name))
        except OSError as error:
            search.fail(here, f"cannot be read ({error.strerror or error})")
            continue
        if (info.st_dev, info.st_ino) in search.folders:
            search.skipped["folder seen before (a link's loop)"] += 1
            continue
        search.folders.add((info.st_dev, info.st_ino))
        below: list[Path] = []
        for entry in entries:
            path = here / entry.name
            if entry.name.startswith("."):
                search.skipped["hidden"] += 1
            elif path.is_dir():
                below.append(path)
            else:
                _file(path, search)
        stack += reversed(below)


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        yield from entries


def _file(path: Path, search: _Search) -> None:
    try:
        mode = path.stat().st_mode
    except OSError:
        search.skipped["broken link" if path.is_symlink() else "unreadable"] += 1
        return
    if path.name.startswith("."):
        search.skipped["hidden"] += 1
    elif not stat.S_ISREG(mode):
        search.skipped["no regular file"] += 1
    elif path.suffix.lower() not in FORMATS:
        search.skipped["no book's suffix"] += 1
    else:
        search.add(path)
