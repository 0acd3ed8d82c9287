"""Making a library anew beside the old one, in the same folder.

The new one has a head of its own, `rebuild.json`, and its segments are among the old one's. When it is complete, its
head takes the place of `library.json` in one step. So the folder stays what it is: a link, a mount point, with
whatever else is in it.
"""

from __future__ import annotations

import uuid
from dataclasses import replace
from pathlib import Path

from nlb_retriever.config import Manifest
from nlb_retriever.store.backends import disk
from nlb_retriever.store.backends.folder import FolderBackend
from nlb_retriever.store.backends.head import REBUILD, Head, write_copy, write_head
from nlb_retriever.store.backends.leftovers import clean, find_rebuild
from nlb_retriever.store.failpoint import failpoint
from nlb_retriever.store.lock import WriterLock


def start(folder: Path, lock: WriterLock, manifest: Manifest, *, replaces: tuple[str, int]) -> FolderBackend:
    """A library that is to replace another: empty, or as far as an interrupted rebuild of the same came.

    Args:
        folder: of the other.
        lock: the right to write to it.
        manifest: of the new library.
        replaces: id and serial of the other.
    """
    begun = find_rebuild(folder, replaces)
    if begun is None or begun.manifest != manifest:
        with disk.errors(str(folder), "writing"):
            head = Head(library=uuid.uuid4().hex, serial=0, manifest=manifest, replaces=replaces)
            write_head(folder, head, name=REBUILD)
    return FolderBackend(folder, lock=lock, head=REBUILD)


def finish(fresh: FolderBackend) -> None:
    """Let a rebuilt library be the one in its folder, in one step; the segments of the other are deleted."""
    with disk.errors(fresh.location, "writing"):
        if fresh.lock is not None:
            fresh.lock.check_place()
        head = replace(fresh.head, replaces=None)
        write_head(fresh.folder, head)
        if fresh.lock is not None:
            fresh.lock.library = head.library
        failpoint("rebuilt")
        disk.remove(fresh.folder / REBUILD)
        write_copy(fresh.folder, head)
        clean(fresh.folder, head)
