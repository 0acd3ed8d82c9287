"""EPUB books as folders: Apple Books keeps them so, each with the files of its archive below `NAME.epub`."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

from nlb_retriever.errors import ReadingLimit
from nlb_retriever.reading.limits import shown

_CONTAINER = Path("META-INF", "container.xml")
_NOT_READ = frozenset(
    ".jpg .jpeg .png .gif .webp .bmp .tif .tiff .mp3 .mp4 .m4a .m4v .ogg .otf .ttf .woff .woff2 .plist".split()
)
"""Suffixes of pictures, sound, fonts and a program's notes on the book: they are in the archive without content."""


def is_unpacked(path: Path) -> bool:
    """Whether a path is a folder that is an EPUB book."""
    return path.suffix.lower() == ".epub" and os.path.isfile(path / _CONTAINER)  # noqa: PTH113 - never raises


def is_book_file(path: Path) -> bool:
    """Whether there is a file, or a folder that is read as one."""
    return os.path.isfile(path) or is_unpacked(path)  # noqa: PTH113 - never raises


def pack(folder: Path, most: int) -> bytes:
    """An archive of a folder's files, the same for the same files.

    Args:
        most: bytes of its files.

    Raises:
        OSError: a file cannot be read.
        ReadingLimit: they hold more.
    """
    archive = io.BytesIO()
    size = 0
    with zipfile.ZipFile(archive, "w") as packed:
        for file in sorted(_files(folder)):
            data = b"" if file.suffix.lower() in _NOT_READ else file.read_bytes()
            size += len(data)
            if size > most:
                raise ReadingLimit(f"{shown(folder)}: is larger than {most >> 20} MiB")
            name = os.fsencode(file.relative_to(folder)).decode("utf-8", "replace")
            packed.writestr(zipfile.ZipInfo(name), data)
    return archive.getvalue()


def _files(folder: Path) -> list[Path]:
    found = []
    for current, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        files = (Path(current, name) for name in names if not name.startswith("."))
        found += [file for file in files if file.is_file()]
    return found


def _refuse(error: OSError) -> None:
    raise error
