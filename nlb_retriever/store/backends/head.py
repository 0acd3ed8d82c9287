"""`library.json`: the one small file that says what a folder library consists of.

It is replaced in one step, so a library is always as the last finished change left it. A copy, written after
it, takes its place where it was damaged (`nlb doctor --repair`).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from nlb_retriever.atomic import write_file
from nlb_retriever.config import OTHER_VERSION, Manifest
from nlb_retriever.errors import LibraryDamaged, StoreError
from nlb_retriever.store.backends import disk
from nlb_retriever.store.backends.array_file import Seal

HEAD = "library.json"
COPY = "library.copy.json"
REBUILD = "rebuild.json"
"""Head of a library that is being rebuilt: it becomes `library.json` when it is complete."""
FORMAT = 1
"""Of the folder's layout; raised when older ones can no longer be read."""
_FILE_NAME = re.compile(r"\w[\w.-]*")

Mark = tuple[int, int, int]
UNREAD: Mark = (0, 0, 0)
"""Of no head."""


@dataclass(frozen=True, kw_only=True)
class SegmentRef:
    """A segment of a library."""

    name: str
    seal: Seal
    books: int
    rows: int
    """Passages."""
    hidden: tuple[int, ...] = ()
    """Indexes of the books in it that were removed or replaced."""


@dataclass(frozen=True, kw_only=True)
class Head:
    """All that a library is."""

    library: str
    """Its own id, which a rebuilt one does not share."""
    serial: int
    """Grows by one with every change."""
    manifest: Manifest
    segments: tuple[SegmentRef, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    """Books' ids with sources that differ from those in the segments."""
    replaces: tuple[str, int] | None = None
    """Of a rebuild: the id and serial of the library that it is to replace."""

    @cached_property
    def encoded(self) -> bytes:
        """What is written, to the head and to its copy."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        segments = [asdict(ref) for ref in self.segments]
        content = {"format": FORMAT, **own, "manifest": self.manifest.to_dict(), "segments": segments}
        return (json.dumps({**content, "checksum": _checksum(content)}, indent=1) + "\n").encode()


def read_head(path: Path) -> tuple[Head, Mark]:
    """Read a head, with a mark that changes when it does.

    Raises:
        FileNotFoundError: there is none.
        OSError: it cannot be read.
        LibraryDamaged: it is not what was written.
        StoreError: it has another format.
        MismatchError: its manifest has.
    """
    with path.open("rb") as file:
        mark, text = mark_of(os.fstat(file.fileno())), file.read()
    try:
        content = json.loads(text)
        checksum = content.pop("checksum")
        is_whole = checksum == _checksum(content)
        layout = content.pop("format")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        is_whole = False
    if not is_whole:
        raise LibraryDamaged(f"{path.name} is damaged")
    if layout != FORMAT:
        raise StoreError(
            f"library {path.parent} has format {layout!r}, this version of nlb reads {FORMAT}: {OTHER_VERSION}"
        )
    if later := sorted(set(content) - {each.name for each in fields(Head)}):
        raise StoreError(
            f"library {path.parent} was made by a later version of nlb ({path.name} has {', '.join(later)}): "
            f"{OTHER_VERSION}"
        )
    try:
        names = [content["library"], *(one["name"] for one in content["segments"])]
        if not all(map(_FILE_NAME.fullmatch, names)):  # a stranger's library leads to no other folder
            raise ValueError("a name is a path")
        segments = tuple(
            SegmentRef(**{**one, "seal": Seal(**one["seal"]), "hidden": tuple(one["hidden"])})
            for one in content["segments"]
        )
        replaces = content["replaces"]
        known = {**content, "segments": segments, "replaces": (replaces[0], replaces[1]) if replaces else None}
        return Head(**{**known, "manifest": Manifest.from_dict(content["manifest"])}), mark
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise LibraryDamaged(f"{path.name} makes no sense ({error})") from error


def mark_of(status: os.stat_result) -> Mark:
    return status.st_ino, status.st_mtime_ns, status.st_size


def write_head(folder: Path, head: Head, *, name: str = HEAD) -> None:
    """Let this be what the library is; it is so on the disk when this returns.

    Raises:
        OSError: it cannot be written; the library is as it was, unless only the last step failed.
    """
    write_file(folder / name, head.encoded)


def write_copy(folder: Path, head: Head) -> None:
    """Keep a second copy of a head; one that cannot be written is no error."""
    disk.put(folder / COPY, head.encoded)


def _checksum(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
