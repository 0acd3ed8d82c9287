"""Zip files from strangers: counted while inflating, never written to disk, never read outside."""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections import Counter
from typing import Protocol
from urllib.parse import unquote, urlsplit

from nlb_retriever.errors import NotABook, ReadingError, ReadingLimit
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.omissions import Omissions

_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)
_PIECE = 1 << 16
_FREE = 8 << 20
"""An entry may inflate to this whatever its ratio."""


class Files(Protocol):
    """Files by name."""

    def names(self) -> list[str]: ...

    def find(self, name: str) -> str | None:
        """The file of that name, however its letters are written."""

    def read(self, name: str) -> bytes: ...


class Archive:
    """Read-only view of a zip's entries by name. Messages are without the path."""

    def __init__(self, data: bytes, limits: Limits) -> None:
        """
        Raises:
            NotABook: no zip file, or a damaged one.
            ReadingLimit: too many entries.
        """
        self.limits = limits
        self.inflated = 0
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except _DAMAGE as error:
            raise NotABook(f"is a damaged or truncated zip file ({error})") from error
        infos = self._zip.infolist()
        if len(infos) > limits.entries:
            raise ReadingLimit(f"holds {len(infos)} files; the limit is {limits.entries}")
        self._infos = {info.filename: info for info in infos}
        self._folded = {_fold(name): name for name in self._infos}
        self.doubled = [name for name, count in Counter(info.filename for info in infos).items() if count > 1]
        """Names of several entries; the last of each is read."""

    def note_doubled(self, omissions: Omissions) -> None:
        """Name the entries that another of the same name hides."""
        for name in self.doubled:
            omissions.lose(shown_name(name), "the archive holds several files of this name: the last was read")

    def names(self) -> list[str]:
        return list(self._infos)

    def find(self, name: str) -> str | None:
        """The entry of that name; upper and lower case count only where both exist."""
        return name if name in self._infos else self._folded.get(_fold(name))

    def read(self, name: str) -> bytes:
        """Inflate one entry.

        Raises:
            KeyError: there is no such entry.
            ReadingError: it is encrypted or damaged.
            ReadingLimit: it, or all entries read so far, inflate to too much.
        """
        info = self._infos[name]
        if info.flag_bits & 1:
            raise ReadingError("is encrypted with a password: unpack it first")
        pieces: list[bytes] = []
        size = 0
        try:
            with self._zip.open(info) as stream:
                while piece := stream.read(_PIECE):
                    size += len(piece)
                    self.inflated += len(piece)
                    if self.inflated > self.limits.inflated:
                        raise ReadingLimit(f"inflates to more than {self.limits.inflated >> 20} MiB")
                    if size > _FREE and size > self.limits.ratio * max(1, info.compress_size):
                        raise ReadingLimit(f"{shown_name(name)} inflates more than {self.limits.ratio}-fold")
                    pieces.append(piece)
        except _DAMAGE as error:
            raise ReadingError(f"{shown_name(name)} in it is damaged ({error})") from error
        return b"".join(pieces)


def shown_name(name: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in name)[:120]


def _fold(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").casefold()


def resolve(base: str, href: str) -> tuple[str, str] | None:
    """Name and fragment that an href in entry `base` points to; None where it leaves the archive."""
    try:
        parts = urlsplit(href.strip().replace("\\", "/"))
    except ValueError:
        return None
    if parts.scheme or parts.netloc:
        return None
    path = unquote(parts.path).replace("\\", "/")
    if not path:
        return base, unquote(parts.fragment)
    joined = path.lstrip("/") if path.startswith("/") else posixpath.join(posixpath.dirname(base), path)
    name = posixpath.normpath(joined)
    if name == ".." or name.startswith("../"):
        return None
    return name, unquote(parts.fragment)
