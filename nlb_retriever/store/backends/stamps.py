"""Which files were found to be whole, so that they need not be read again before every use.

A stamp holds for a file's device, inode, size and time of change: whoever writes to the file breaks it. What
changes on the disk by itself does not; for that there is `nlb doctor`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from nlb_retriever.config import home
from nlb_retriever.store.backends import disk
from nlb_retriever.store.backends.array_file import ArrayFile


class Stamps:
    """The stamps of one library's files, in the user's cache."""

    def __init__(self, library: str) -> None:
        self.library = library
        self._path = home() / "cache" / "verified" / f"{library}.json"
        self._known = self._read()
        self._saved = set(self._known)

    def _read(self) -> set[str]:
        try:
            content = json.loads(self._path.read_bytes())
            return set(content)
        except (OSError, ValueError, TypeError):
            return set()

    def __contains__(self, file: ArrayFile) -> bool:
        return _stamp(file) in self._known

    def add(self, file: ArrayFile) -> None:
        self._known.add(_stamp(file))

    def save(self, files: Iterable[ArrayFile]) -> None:
        """Keep the stamps of these files; where nothing can be kept, files are read again the next time."""
        kept = {stamp for file in files if (stamp := _stamp(file)) in self._known}
        if kept != self._saved:
            self._saved = kept
            disk.put(self._path, json.dumps(sorted(kept)).encode())


def _stamp(file: ArrayFile) -> str:
    return " ".join(map(str, (*file.stamp, file.seal.digest)))
