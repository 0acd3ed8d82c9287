"""What an index run has to do: files against what the library holds, by content."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nlb_retriever.errors import ReadingError
from nlb_retriever.reading import hash_file
from nlb_retriever.records import FailedFile, source_of
from nlb_retriever.store import BookEntry


@dataclass(frozen=True, kw_only=True)
class Task:
    """A file to read, encode and publish."""

    path: Path
    size: int
    """Bytes."""
    book_id: str
    replaces: BookEntry | None
    """The book's version in the library, where this is a newer one."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All that a run will do, in order; making it changes nothing."""

    tasks: tuple[Task, ...] = ()
    unchanged: tuple[BookEntry, ...] = ()
    renamed: tuple[tuple[BookEntry, Path], ...] = ()
    """Books whose content now lies in another file."""
    duplicates: tuple[tuple[Path, str], ...] = ()
    """Files with the content of another file, and that file or the book it is."""
    removed: tuple[BookEntry, ...] = ()
    failed: tuple[FailedFile, ...] = field(default=())


def make_plan(files: Iterable[Path], entries: Sequence[BookEntry], *, prune: bool, folders: Sequence[Path]) -> Plan:
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
            failed.append(FailedFile(source=path, reason=str(error)))
    present = {(source_of(path), digest) for path, digest in hashes.items()}
    unchanged: list[BookEntry] = []
    renamed: list[tuple[BookEntry, Path]] = []
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
            renamed.append((entry, path))
            claimed.add(entry.id)
        else:
            fresh[digest] = path
    by_source = {entry.source: entry for entry in entries if entry.id not in claimed}
    taken = {entry.id for entry in entries}
    tasks: list[Task] = []
    for digest, path in fresh.items():
        old = by_source.get(source_of(path))
        book_id = old.id if old else _new_id(digest, path, taken)
        taken.add(book_id)
        tasks.append(Task(path=path, size=path.stat().st_size, book_id=book_id, replaces=old))
    kept = claimed | {task.book_id for task in tasks}
    removed = [
        entry
        for entry in entries
        if prune
        and entry.id not in kept
        and not os.path.lexists(entry.source)
        and any(Path(entry.source).is_relative_to(folder) for folder in folders)
    ]
    return Plan(
        tasks=tuple(tasks),
        unchanged=tuple(unchanged),
        renamed=tuple(renamed),
        duplicates=tuple(duplicates),
        removed=tuple(removed),
        failed=tuple(failed),
    )


def _holds(source: str, digest: str) -> bool:
    """Whether a book's file, outside of this run, still is what it was."""
    try:
        return Path(source).is_file() and hash_file(Path(source)) == digest
    except (OSError, ReadingError):
        return False


def _new_id(digest: str, path: Path, taken: set[str]) -> str:
    """A lasting id: the content's hash, unless another book began with the same content."""
    book_id = digest[:16]
    while book_id in taken:
        book_id = hashlib.sha256(f"{book_id}\0{path}".encode(errors="surrogateescape")).hexdigest()[:16]
    return book_id
