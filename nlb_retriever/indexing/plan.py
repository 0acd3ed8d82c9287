"""What an index run has to do: files and texts against what the library holds, by content."""

from __future__ import annotations

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from nlb_retriever.errors import ReadingError
from nlb_retriever.reading import hash_file
from nlb_retriever.records import Book, FailedFile, source_of
from nlb_retriever.store import BookRecord

_DRAWN = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Text:
    """A book that is given instead of read from a file."""

    source: str
    """Its lasting name."""
    content_hash: str
    size: int
    """Bytes, or about as many."""
    load: Callable[[], Book | ReadingError]
    """Gives the book, when its turn comes."""
    book_id: str | None = None
    """The lasting id that it has already, if any."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A book to read, encode and publish."""

    source: str
    size: int
    """Bytes."""
    book_id: str
    replaces: BookRecord | None
    """The book's version in the library, where this is a newer one."""
    path: Path
    """The file; of a text its name, for messages."""
    text: Text | None = None
    """The book, where it is no file."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All that a run will do, in order; making it changes nothing."""

    tasks: tuple[Task, ...] = ()
    unchanged: tuple[BookRecord, ...] = ()
    renamed: tuple[tuple[BookRecord, str], ...] = ()
    """Books whose content now has another source."""
    duplicates: tuple[tuple[Path, str], ...] = ()
    """Files with the content of another file, and that file or the book it is."""
    removed: tuple[BookRecord, ...] = ()
    failed: tuple[FailedFile, ...] = ()

    def __add__(self, other: Plan) -> Plan:
        return Plan(
            tasks=self.tasks + other.tasks,
            unchanged=self.unchanged + other.unchanged,
            renamed=self.renamed + other.renamed,
            duplicates=self.duplicates + other.duplicates,
            removed=self.removed + other.removed,
            failed=self.failed + other.failed,
        )


def plan_files(files: Iterable[Path], entries: Sequence[BookRecord], *, prune: bool, folders: Sequence[Path]) -> Plan:
    """Compare files with a library's books.

    A file whose bytes the library holds is unchanged, or renamed where the book's own file is gone;
    a known path with new bytes is a new version of its book; everything else is a new book.

    Args:
        files: absolute paths, in order.
        entries: the library's books.
        prune: also plan to remove the books of `folders` whose files are gone.
        folders: that were given, absolute.
    """
    by_hash = {entry.content_hash: entry for entry in entries}
    hashes: dict[Path, str] = {}
    failed: list[FailedFile] = []
    for path in files:
        try:
            hashes[path] = hash_file(path)
        except (OSError, ReadingError) as error:
            failed.append(FailedFile(source=source_of(path), reason=str(error)))
    present = {(source_of(path), digest) for path, digest in hashes.items()}
    unchanged: list[BookRecord] = []
    renamed: list[tuple[BookRecord, str]] = []
    duplicates: list[tuple[Path, str]] = []
    fresh: dict[str, Path] = {}
    claimed: set[str] = set()
    for path, digest in hashes.items():
        entry = by_hash.get(digest)
        if digest in fresh:
            duplicates.append((path, str(fresh[digest])))
        elif entry and entry.source == source_of(path):
            unchanged.append(entry)
            claimed.add(entry.id)
        elif entry and (entry.id in claimed or (entry.source, digest) in present or _holds(entry.source, digest)):
            duplicates.append((path, entry.source))
        elif entry:
            renamed.append((entry, source_of(path)))
            claimed.add(entry.id)
        else:
            fresh[digest] = path
    by_source = {entry.source: entry for entry in entries if entry.id not in claimed}
    taken = {entry.id for entry in entries}
    tasks: list[Task] = []
    for digest, path in fresh.items():
        source = source_of(path)
        old = by_source.get(source)
        book_id = old.id if old else _new_id(digest, source, taken)
        taken.add(book_id)
        tasks.append(Task(source=source, path=path, size=path.stat().st_size, book_id=book_id, replaces=old))
    kept = claimed | {task.book_id for task in tasks}
    removed = [entry for entry in entries if prune and entry.id not in kept and has_left(entry, folders)]
    return Plan(
        tasks=tuple(tasks),
        unchanged=tuple(unchanged),
        renamed=tuple(renamed),
        duplicates=tuple(duplicates),
        removed=tuple(removed),
        failed=tuple(failed),
    )


def plan_texts(texts: Iterable[Text], entries: Sequence[BookRecord], *, taken: Set[str] = frozenset()) -> Plan:
    """Compare texts with a library's books.

    A text is who its source says: the same content under it is unchanged, another one a new version. Two texts
    of the same content are two books, but for one whose name was drawn at random: its book goes over to whom
    the same content is given by another name, as after a restart.

    Args:
        texts: in order.
        entries: the library's books.
        taken: ids that other books of this run will have.
    """
    by_source = {entry.source: entry for entry in entries}
    once: dict[str, Text] = {}
    failed: list[FailedFile] = []
    for text in texts:
        if text.source in once:
            failed.append(FailedFile(source=text.source, reason=f"{text.source}: is given twice in one run"))
        once.setdefault(text.source, text)
    nameless: dict[str, list[BookRecord]] = defaultdict(list)
    for entry in entries:
        if is_drawn(entry.source) and entry.source not in once:
            nameless[entry.content_hash].append(entry)
    unchanged: list[BookRecord] = []
    renamed: list[tuple[BookRecord, str]] = []
    tasks: list[Task] = []
    ids = {*taken, *(entry.id for entry in entries)}
    for text in once.values():
        old = by_source.get(text.source)
        if old and old.content_hash == text.content_hash:
            unchanged.append(old)
            continue
        if not old and nameless[text.content_hash]:
            renamed.append((nameless[text.content_hash].pop(), text.source))
            continue
        book_id = old.id if old else text.book_id or ""
        if not book_id or (not old and book_id in ids):
            book_id = _new_id(text.content_hash, text.source, ids)
        ids.add(book_id)
        path = Path(text.source)
        tasks.append(Task(source=text.source, size=text.size, book_id=book_id, replaces=old, path=path, text=text))
    return Plan(tasks=tuple(tasks), unchanged=tuple(unchanged), renamed=tuple(renamed), failed=tuple(failed))


def is_drawn(name: str) -> bool:
    """Whether a name says nothing of what it names: a random UUID, as frameworks give where nobody gave one."""
    return _DRAWN.fullmatch(name) is not None


def has_left(entry: BookRecord, folders: Sequence[Path]) -> bool:
    """Whether a book belongs to one of these folders, and its file is no longer there."""
    return not os.path.lexists(entry.source) and any(Path(entry.source).is_relative_to(folder) for folder in folders)


def _holds(source: str, digest: str) -> bool:
    """Whether a book's file, outside of this run, still is what it was."""
    try:
        return Path(source).is_file() and hash_file(Path(source)) == digest
    except (OSError, ReadingError):
        return False


def _new_id(digest: str, source: str, taken: set[str]) -> str:
    """A lasting id: the content's hash, unless another book began with the same content."""
    book_id = digest[:16]
    while book_id in taken:
        book_id = hashlib.sha256(f"{book_id}\0{source}".encode(errors="surrogateescape")).hexdigest()[:16]
    return book_id
