"""What Calibre's library says of a book in the file beside it, `metadata.opf`: people correct it there."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import asdict, dataclass
from pathlib import Path

from nlb_retriever.reading.containers.package import read_metadata
from nlb_retriever.reading.containers.xmltree import local_name, parse_xml
from nlb_retriever.reading.draft import Draft
from nlb_retriever.reading.formats.html import html_to_text
from nlb_retriever.reading.pages.title_page import is_given

NAME = "metadata.opf"
_LONGEST = 1 << 20
"""Bytes of such a file: covers are not in it."""


@dataclass(frozen=True)
class Sidecar:
    """What such a file says; title and author are None where Calibre guessed them from the file's name."""

    title: str | None
    author: str | None
    year: int | None
    language: str | None
    description: str

    def describe(self, draft: Draft) -> None:
        """Give a book the title, authors, year, language and description that are known here."""
        draft.title, draft.author = self.title or draft.title, self.author or draft.author
        draft.year = self.year or draft.year
        draft.language = draft.language or self.language
        draft.description = html_to_text(self.description).text or draft.description

    def to_bytes(self) -> bytes:
        """All of it, for a hash."""
        return json.dumps(asdict(self)).encode()


def read_sidecar(path: Path, suffixes: frozenset[str]) -> Sidecar | None:
    """What the file beside a book says, or None where there is none or it is not of this book alone.

    Args:
        path: of the book's file.
        suffixes: of books: where files of several names have one, it is not known whose the metadata are.
    """
    try:
        status = (path.parent / NAME).stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LONGEST:
            return None
        names = [Path(name) for name in os.listdir(path.parent)]  # noqa: PTH208 - pathlib's makes paths of it all
        if len({name.stem for name in names if name.suffix.lower() in suffixes}) > 1:
            return None
        root = parse_xml((path.parent / NAME).read_bytes())
    except OSError:
        return None
    if root is None or local_name(root) != "package":
        return None
    package = read_metadata(root)
    known = is_given(package.author or "")
    return Sidecar(
        title=package.title if known else None,
        author=package.author if known else None,
        year=package.year,
        language=package.language,
        description=package.description,
    )
