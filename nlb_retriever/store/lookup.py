"""Which book a person means by a name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from nlb_retriever.errors import QueryError
from nlb_retriever.store.points import BookRecord

_ID_START = 4


def find_entry(name: str, entries: Sequence[BookRecord], place: str) -> BookRecord:
    """The one entry that a name fits, by id, start of an id, file, title, then part of a title.

    Raises:
        QueryError: none or several fit.
    """
    wanted = name.strip()
    title = wanted.casefold()
    path = Path(wanted)
    paths = {
        wanted,
        *(str(each) for each in (path.absolute(), Path(os.path.normpath(path.absolute())), path.resolve())),
    }
    steps = (
        [entry for entry in entries if entry.id == wanted],
        [entry for entry in entries if len(wanted) >= _ID_START and entry.id.startswith(wanted.lower())],
        [entry for entry in entries if entry.source in paths],
        [entry for entry in entries if entry.title.casefold() == title],
        [entry for entry in entries if title and title in entry.title.casefold()],
    )
    for fitting in steps:
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            names = "; ".join(f"{entry.title} ({entry.id})" for entry in fitting[:5])
            raise QueryError(f"{name!r} fits {len(fitting)} books: {names}: use an id")
    titles = {entry.title.casefold(): entry for entry in entries}
    near = [titles[match] for match in get_close_matches(title, titles, n=3, cutoff=0.4)]
    hint = "; ".join(f"{entry.title} ({entry.id})" for entry in near)
    raise QueryError(f"no book {name!r} in library {place}" + (f"; near: {hint}" if hint else ": see `nlb books`"))
