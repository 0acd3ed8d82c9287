"""From what a user names (files, folders, glob patterns) to the files to read, in a stable order."""

from __future__ import annotations

import glob
import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from nlb_retriever.reading.book import FORMATS, suffix_of
from nlb_retriever.reading.containers.unpacked import is_book_file, is_unpacked
from nlb_retriever.reading.limits import shown
from nlb_retriever.reading.sidecar import HIDDEN
from nlb_retriever.reading.sites import LONGEST_REDIRECT, is_redirect, made_beside_pages, only_includes
from nlb_retriever.records import FailedFile, path_of, source_of

_BOOKS = re.compile(
    rb"<(?:[\w.-]+:)?(?:(?:TEI|teiCorpus)(?:\.2)?|mediawiki|alto)[\s>]|<document\s[^>]*abbyy", re.IGNORECASE
)
"""Outermost elements of XML files that are read."""
_BEGINNING = 16_384
"""Bytes of a file that are looked at: in them an XML file's outermost element begins."""
_SUFFIXES = ", ".join(sorted(FORMATS))
_PACKAGES = "node_modules"
"""Of other people's programs, each with its README; it is not entered unless it is named."""
_BINS = frozenset({"$recycle.bin", "recycler", "#recycle", "@recycle"})
"""Folders of deleted files, of Windows and of network drives; others are hidden ones."""
_BLANK = 16
"""Bytes of a file without a word, at most."""
_NAMED = 20
"""Suffixes of other files that are named, at most."""
DOCUMENTS = frozenset(
    ".ppt .pps .pptx .ppsx .pptm .odp .key .dotx .docm .ott .fodt .sxw .wps .wpd .wri .pages .abw .xps .djvu .djv"
    " .lit .lrf .kfx .azw4 .pdb .chm .cbz .cbr .snb .ps .tex".split()
)
"""Suffixes of what people read, and this program does not."""
ADVICE = "LibreOffice or Calibre saves most of such files as PDF, DOCX or EPUB, which are read"


@dataclass(frozen=True, kw_only=True)
class Discovery:
    """The files found, and what was left out."""

    files: tuple[Path, ...] = ()
    """Absolute paths, each file once, in the order of the inputs and sorted inside folders."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Reason -> number of files in folders that were left out."""
    suffixes: Mapping[str, int] = field(default_factory=dict)
    """No book's suffix -> number of such files in folders; documents first, then the most frequent ones."""
    failed: tuple[FailedFile, ...] = ()
    """What was named, or is a folder below it, and cannot be read: one entry each."""
    folders: tuple[Path, ...] = ()
    """Folders that were named, and names that lead to nothing."""
    unreadable: tuple[Path, ...] = ()
    """Folders that could not be read whole: what else is in them is unknown."""
    blank: tuple[Path, ...] = ()
    """Files in folders that hold nothing, or white space alone, as a note has that is not written yet."""

    def has_lost(self, source: str) -> bool:
        """Whether a file was in one of the named folders and is not found there now."""
        if not self.folders:
            return False
        path = path_of(source)
        return any(path.is_relative_to(folder) for folder in self.folders) and not is_book_file(path)

    def is_certain(self, source: str) -> bool:
        """Whether a lost file was removed, and is not just out of sight.

        It may be out of sight where the nearest folder that exists could not be read whole, or holds no book at all,
        as a drive that is not mounted, behind a link to nothing, as one to a file or folder of such a drive, and where
        iCloud keeps a note in its place.
        """
        lost = path_of(source)
        if os.path.lexists(lost.with_name(f".{lost.name}.icloud")):
            return False
        if any(lost.is_relative_to(folder) for folder in self.unreadable):
            return False
        if any(os.path.lexists(path) and not os.path.exists(path) for path in (lost, *lost.parents)):  # noqa: PTH110 - never raises
            return False
        return next((path for path in lost.parents if os.path.isdir(path)), None) in self._with_books  # noqa: PTH112 - never raises

    @cached_property
    def _with_books(self) -> set[Path]:
        """Folders with a book in them or in a folder below."""
        return {folder for file in self.files for folder in file.parents}


@dataclass
class _Search:
    files: dict[Path, None] = field(default_factory=dict)
    real: set[str] = field(default_factory=set)
    seen: dict[tuple[int, int], Path] = field(default_factory=dict)
    """Device and inode of each folder that was entered, and the folder from which."""
    skipped: Counter[str] = field(default_factory=Counter)
    suffixes: Counter[str] = field(default_factory=Counter)
    failed: list[FailedFile] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    unreadable: list[Path] = field(default_factory=list)
    blank: list[Path] = field(default_factory=list)

    def fail(self, path: str | Path, reason: str) -> None:
        self.failed.append(FailedFile(source=source_of(path), reason=f"{shown(path)}: {reason}"))

    def fail_folder(self, folder: Path, error: OSError) -> None:
        if folder not in self.unreadable:
            self.unreadable.append(folder)
            self.fail(folder, f"cannot be read whole ({error.strerror or error})")

    def add(self, path: Path) -> None:
        real = os.path.realpath(path)
        if real in self.real:
            self.skipped["named twice"] += path not in self.files
            return
        self.real.add(real)
        self.files[path] = None


def discover(inputs: Iterable[str | Path]) -> Discovery:
    """Find book files; names may hold any bytes (surrogateescape).

    Hidden files, empty ones, files without a book's suffix, XML files without a book's outermost element (no other is
    opened), loops of links and what is not a regular file are counted where they are in folders, and failed entries
    where they were named themselves.
    """
    search = _Search()
    for name in inputs:
        text = os.path.expanduser(name)  # noqa: PTH111 - Path.expanduser raises for an unknown user
        path = Path(os.path.abspath(text))  # noqa: PTH100 - resolve() would follow links
        if name == "":
            search.failed.append(FailedFile(source="", reason="'' is not a path: name a file or folder"))
        elif os.path.lexists(path) or not isinstance(name, str) or not glob.has_magic(name):
            _add_named(path, search)
        else:
            _add_matches(text, search)
    return Discovery(
        files=tuple(search.files),
        skipped=dict(search.skipped),
        suffixes=dict(sorted(search.suffixes.most_common(), key=lambda each: each[0] not in DOCUMENTS)[:_NAMED]),
        failed=tuple(search.failed),
        folders=tuple(search.folders),
        unreadable=tuple(search.unreadable),
        blank=tuple(search.blank),
    )


def _add_named(path: Path, search: _Search) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        search.folders.append(path)
        search.fail(path, "is a link to nothing" if path.is_symlink() else "there is no such file or folder")
    except (OSError, ValueError) as error:
        search.fail(path, f"cannot be read ({getattr(error, 'strerror', None) or error})")
    else:
        if stat.S_ISDIR(mode):
            search.folders.append(path)
            before = len(search.files), len(search.failed), search.skipped["named twice"]
            _walk(path, search)
            if before == (len(search.files), len(search.failed), search.skipped["named twice"]):
                search.fail(path, f"holds no book ({_SUFFIXES})")
        elif not stat.S_ISREG(mode):
            search.fail(path, "is no regular file")
        elif suffix_of(path) in DOCUMENTS:
            search.fail(path, f"{suffix_of(path)} files are not read: {ADVICE}")
        elif suffix_of(path) not in FORMATS:
            search.fail(path, f"has no suffix of a book ({_SUFFIXES})")
        else:
            search.add(path)


def _add_matches(pattern: str, search: _Search) -> None:
    """What a pattern matches is treated like what is in a folder."""
    matches = sorted(glob.glob(pattern, recursive=True), key=os.fsencode)  # noqa: PTH207 - Path.glob takes no absolute one
    if not matches:
        search.fail(os.path.abspath(pattern), "no file matches this pattern")  # noqa: PTH100
    for match in matches:
        path = Path(os.path.abspath(match))  # noqa: PTH100
        if path.name.startswith(HIDDEN):
            search.skipped["hidden"] += 1
        elif os.path.isdir(path):  # noqa: PTH112 - never raises
            _walk(path, search)
        else:
            _add_found(path, search)


def _walk(folder: Path, search: _Search) -> None:
    stack = [folder]
    while stack:
        current = stack.pop()
        if is_unpacked(current):
            search.add(current)
            continue
        try:
            info = current.stat()
            with os.scandir(current) as entries:
                names = sorted((entry.name for entry in entries), key=os.fsencode)
        except OSError as error:
            search.fail_folder(current, error)
            continue
        first = search.seen.get((info.st_dev, info.st_ino))
        if first is not None:
            search.skipped["folder seen before (a link's loop)" if first is folder else "named twice"] += 1
            continue
        search.seen[info.st_dev, info.st_ino] = folder
        below = []
        made = made_beside_pages(names)
        for name in names:
            path = current / name
            if name.startswith(HIDDEN):
                search.skipped["hidden"] += 1
            elif name == _PACKAGES:
                search.skipped["folder of packages"] += 1
            elif name.lower() in _BINS:
                search.skipped["folder of deleted files"] += 1
            elif name in made:
                search.skipped["made beside a site's pages"] += 1
            elif os.path.isdir(path):  # noqa: PTH112 - never raises
                below.append(path)
            else:
                _add_found(path, search)
        stack += reversed(below)


def _add_found(path: Path, search: _Search) -> None:
    """A file in a folder."""
    try:
        status = path.stat()
    except OSError as error:
        if os.path.islink(path):  # noqa: PTH114 - never raises
            search.skipped["broken link"] += 1
            return
        search.skipped["unreadable"] += 1
        if not isinstance(error, FileNotFoundError):  # else it was removed meanwhile
            search.fail_folder(path.parent, error)
        return
    if not stat.S_ISREG(status.st_mode):
        search.skipped["no regular file"] += 1
    elif suffix_of(path) not in FORMATS:
        search.skipped["no book's suffix"] += 1
        search.suffixes[shown(suffix_of(path)) or "none"] += 1
    elif status.st_size <= _BLANK and not _beginning(path).removeprefix(b"\xef\xbb\xbf").strip():
        search.skipped["empty"] += 1
        search.blank.append(path)
    elif status.st_size <= LONGEST_REDIRECT and FORMATS[suffix_of(path)] == "html" and is_redirect(_beginning(path)):
        search.skipped["redirect to another page"] += 1
    elif (
        status.st_size <= LONGEST_REDIRECT
        and FORMATS[suffix_of(path)] in {"rst", "markdown", "adoc"}
        and only_includes(_beginning(path))
    ):
        search.skipped["page that only includes another file"] += 1
    elif path.suffix.lower() == ".xml" and not _BOOKS.search(_beginning(path).replace(b"\0", b"")):  # UTF-16 has them
        search.skipped["XML that is no book"] += 1
    else:
        search.add(path)


def _beginning(path: Path) -> bytes:
    """The first bytes of a file; of one that cannot be read, which is for its reader to name, those of a book."""
    try:
        with path.open("rb") as stream:
            return stream.read(_BEGINNING)
    except OSError:
        return b"<TEI>"
