"""What writers leave in a library's folder that were stopped: an unfinished rebuild, and files that nothing names."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from nlb_retriever.atomic import TEMPORARY
from nlb_retriever.errors import NlbError
from nlb_retriever.store.backends import disk
from nlb_retriever.store.backends.head import COPY, HEAD, REBUILD, Head, read_head
from nlb_retriever.store.backends.reading import SEGMENTS

_NAME = re.compile(r"[0-9a-f]{8}-[0-9a-f]{8}\.seg")
_UNFINISHED = re.compile(rf"\.({'|'.join(map(re.escape, (HEAD, COPY, REBUILD)))})\.\d+{re.escape(TEMPORARY)}")
"""The begin of a head that was never finished."""


def find_rebuild(folder: Path, replaces: tuple[str, int]) -> Head | None:
    """The head of an unfinished rebuild that can go on: the library has not changed since it was begun."""
    with contextlib.suppress(NlbError, OSError):
        head, _ = read_head(folder / REBUILD)
        if head.replaces == replaces:
            return head
    return None


def clean(folder: Path, head: Head) -> None:
    """Delete what neither a library nor a rebuild of it that can go on consists of: only files with our own names.

    Args:
        folder: the library's.
        head: the library's.
    """
    rebuild = find_rebuild(folder, (head.library, head.serial))
    if rebuild is None:
        disk.remove(folder / REBUILD)
    named = {ref.name for own in (head, rebuild) if own for ref in own.segments}
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if _UNFINISHED.fullmatch(path.name):
                disk.remove(path)
        for path in (folder / SEGMENTS).iterdir():
            if _NAME.fullmatch(path.name) and path.name not in named:
                disk.remove(path)
