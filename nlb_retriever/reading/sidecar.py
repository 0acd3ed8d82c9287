"""What Calibre's library says of a book in the file beside it, `metadata.opf`: people correct it there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from nlb_retriever.reading.draft import Draft
from nlb_retriever.reading.html import html_to_text
from nlb_retriever.reading.package import read_metadata
from nlb_retriever.reading.title_page import is_given
from nlb_retriever.reading.xmltree import local_name, parse_xml

NAME = "metadata.opf"
_LONGEST = 1 << 20
"""Bytes of such a file: covers are not in it."""


def describe_by_sidecar(path: Path, draft: Draft, suffixes: frozenset[str]) -> None:
    """Give a book the title, authors, year and description of the file beside it, where that is of this book alone.

    Args:
        path: of the book's file.
        draft: of the book.
        suffixes: of books: where files of several names have one, it is not known whose the metadata are.
    """
    try:
        status = (path.parent / NAME).stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LONGEST:
            return
        names = [Path(name) for name in os.listdir(path.parent)]  # noqa: PTH208 - pathlib's makes paths of it all
        if len({name.stem for name in names if name.suffix.lower() in suffixes}) > 1:
            return
        root = parse_xml((path.parent / NAME).read_bytes())
    except OSError:
        return
    if root is None or local_name(root) != "package":
        return
    package = read_metadata(root)
    if is_given(package.author or ""):  # else they are Calibre's guess by the file's name
        draft.title, draft.author = package.title or draft.title, package.author
    draft.year = package.year or draft.year
    draft.language = draft.language or package.language
    draft.description = html_to_text(package.description).text or draft.description
