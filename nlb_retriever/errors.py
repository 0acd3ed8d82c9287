"""Every error that the library raises on purpose.

    NlbError
    ├── ReadingError          a file cannot be read as a book
    │   ├── NotABook          it is no book at all (wrong type, empty, binary): skipped in folders
    │   └── ReadingLimit      it would take too much time, memory or disk (zip bomb, endless PDF)
    ├── EncoderError          a chunk encoder or checkpoint is missing, damaged or unusable
    │   └── MismatchError     library and encoder do not belong together
    ├── StoreError            the library's storage fails (full disk, damaged or read-only files)
    │   ├── LibraryNotFound   there is no library at that path
    │   ├── LibraryBusy       another process holds the library
    │   ├── LibraryRebuilt    the library now has other settings than when it was opened
    │   └── LibraryDamaged    a file of the library is not what was written
    ├── TrainingError         a training run, its corpus or its settings: it cannot go on like this
    │   └── TrainingInterrupted   it was interrupted; resumed, it continues from its last checkpoint
    ├── LanguageModelError    a language model cannot be had, is down, too slow or writes nothing
    ├── MissingExtra          an optional part is not installed (also an ImportError)
    └── QueryError            a question, filter or name that cannot be answered as asked

Messages are one line that says what, where and what to do. The library raises; only the command
line turns an NlbError into a line on stderr and an exit code. Any other exception is a bug.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

_LINE = 60
"""Characters of a wrong value in a message."""


class NlbError(Exception):
    """Base of all errors that the library raises on purpose."""


class ReadingError(NlbError):
    """A file cannot be read as a book."""


class NotABook(ReadingError):
    """The file is of no known book format, is empty or holds no text."""


class ReadingLimit(ReadingError):
    """Reading the file would exceed a limit on time, memory or inflated size."""


class EncoderError(NlbError):
    """A chunk encoder or a checkpoint is missing, damaged or unusable."""


class MismatchError(EncoderError):
    """A library and an encoder (or a checkpoint and a chunk encoder) do not belong together."""


class StoreError(NlbError):
    """The library's storage fails."""


class LibraryNotFound(StoreError):
    """There is no library at that path."""


class LibraryBusy(StoreError):
    """Another process holds the library."""


class LibraryRebuilt(StoreError):
    """The library was rebuilt with other encoders or settings since it was opened."""


class LibraryDamaged(StoreError):
    """A file of the library is not what was written."""


class TrainingError(NlbError):
    """A training run cannot start or go on: its settings, its corpus, its disk or its loss."""


class TrainingInterrupted(TrainingError):
    """A training run was interrupted; resumed, it continues from its last checkpoint."""


class LanguageModelError(NlbError):
    """A language model cannot be opened or reached, is too slow, fails or writes nothing."""


class MissingExtra(NlbError, ImportError):
    """An optional part of the package, or of what it needs, is not installed."""


class QueryError(NlbError):
    """A question, filter or name cannot be answered as asked."""


def brief(value: object) -> str:
    """A wrong value as a message names it: in one line, and not all of a long one."""
    try:
        line = " ".join(repr(value).split())
    except ValueError:  # a number of thousands of digits
        line = type(value).__name__
    return line if len(line) <= _LINE else f"{line[:_LINE]}…"


def counted(count: int, noun: str) -> str:
    """A number of things: "1 book", "3,000 books"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def several(given: Any, kind: Any, wanted: str, error: type[NlbError] = QueryError) -> tuple[Any, ...]:
    """What may be given as one or as several of a kind, as a tuple.

    Args:
        given: one, or an iterable of them.
        kind: as `isinstance` takes it.
        wanted: what it must be, for the message.
        error: raised for what it is not.
    """
    one = isinstance(given, (kind, str, bytes)) or not isinstance(given, Iterable)
    items = (given,) if one else tuple(given)
    for item in items:
        if not isinstance(item, kind):
            raise error(f"{wanted}, not {brief(item)}")
    return items


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Wrap what needs the packages of an extra, so that a missing one is reported with the command that installs it.

    Raises:
        MissingExtra: a package cannot be imported.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package, _, module = (error.name or "").partition(".")
        if package.startswith("nlb_"):
            raise
        missing = f"{package}.{module}" if package == "llama_index" else package  # its core is always installed
        raise MissingExtra(f"{missing} is not installed: run `pip install 'nlb-retriever[{name}]'`") from error
