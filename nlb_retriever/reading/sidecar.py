"""What Calibre says of a book in the file beside it: people correct it there. In its library this is `metadata.opf`,
where it saves books to a folder the book's name with .opf."""

from __future__ import annotations

import json
import os
import re
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
_COPY = re.compile(r"(?: -)? copy$| ?\([^()]*\)$|\.sync-conflict-[^.]*$", re.IGNORECASE)
"""How the names of copies end that file managers and synchronizers make."""
HIDDEN = (".", "~$")
"""How the names of hidden files begin, and those by which Word locks a document that is open."""


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
        file = next((file for file in (path.with_suffix(".opf"), path.parent / NAME) if _is_readable(file)), None)
        if file is None or (file.name == NAME and not _is_alone(path, suffixes)):
            return None
        root = parse_xml(file.read_bytes())
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


def _is_readable(file: Path) -> bool:
    try:
        status = file.stat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size <= _LONGEST


def _is_alone(path: Path, suffixes: frozenset[str]) -> bool:
    """Whether the books in a file's folder have its name, but for what makers of copies add to it."""
    own = _COPY.sub("", path.stem)
    with os.scandir(path.parent) as entries:  # up to the first other book: the folder may hold thousands
        return not any(
            suffix.lower() in suffixes and _COPY.sub("", stem) != own and not stem.startswith(HIDDEN)
            for stem, suffix in (os.path.splitext(entry.name) for entry in entries)  # noqa: PTH122 - no path of each
        )
