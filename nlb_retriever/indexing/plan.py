"""What an index run has to do: files and texts, compared with a library's books. Making a plan changes nothing."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nlb_retriever.errors import NotABook, ReadingError
from nlb_retriever.reading import Discovery, hash_file, hash_of_bytes, is_book_file, is_read_alike
from nlb_retriever.reading.limits import shown
from nlb_retriever.records import Book, BookRecord, FailedFile, path_of, source_of

_RANDOM_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE)

_EMPTY = hashlib.sha256().hexdigest()
_EMPTIED = "is empty now; its former text stays in the library (`nlb remove` takes it out)"

Prune = Literal["no", "certain", "all"]
"""Which books to remove whose files are gone (`plan_removals`)."""


@dataclass(frozen=True, kw_only=True)
class TextSource:
    """A book whose text a program or a library holds."""

    source: str
    content_hash: str
    size: int
    """Bytes, or about as many."""
    load: Callable[[], Book | ReadingError]
    book_id: str | None = None
    """The lasting id that it has already, if any."""

    @classmethod
    def of_book(cls, book: Book) -> TextSource:
        """A book as a program gives it."""
        return cls(source=book.source, content_hash=book.content_hash, size=len(book.text), load=lambda: book)

    @classmethod
    def of_record(cls, record: BookRecord, read: Callable[[BookRecord], Book | None]) -> TextSource:
        """A book whose text a library holds, which `read` gives; None where it is gone or damaged."""

        def load() -> Book | ReadingError:
            return read(record) or ReadingError(f"{shown(record.source)}: its stored text is gone or damaged")

        return cls(
            source=record.source, content_hash=record.content_hash, size=record.chars, load=load, book_id=record.id
        )


@dataclass(frozen=True, kw_only=True)
class FileSource:
    """A file that is to be read as a book."""

    source: str
    path: Path
    content_hash: str
    size: int
    """Bytes."""
    book_id: str | None = None
    """The lasting id that it has already, if any."""
    fallback: TextSource | None = None
    """What is indexed instead where the file cannot be read: the book as an older library holds it."""


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """All that a run compares with the library."""

    discovery: Discovery
    """Where the files were found."""
    files: tuple[FileSource, ...] = ()
    texts: tuple[TextSource, ...] = ()
    failed: tuple[FailedFile, ...] = ()
    """What was named and cannot be read."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A book to read, encode and publish."""

    input: FileSource | TextSource
    book_id: str
    replaces: BookRecord | None
    """The version in the library, where this is a newer one."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All that a run will do, in order."""

    tasks: tuple[Task, ...] = ()
    unchanged: tuple[BookRecord, ...] = ()
    renamed: tuple[tuple[BookRecord, str], ...] = ()
    """Books whose content now has another source, and that source."""
    duplicates: tuple[tuple[str, str], ...] = ()
    """Files left out, each with the file or book that has the same bytes."""
    removed: tuple[BookRecord, ...] = ()
    """Books whose files are gone, or hold what another book of the library has."""
    kept: tuple[BookRecord, ...] = ()
    """Books whose files are gone, but they are not to be removed, or it is not certain."""
    failed: tuple[FailedFile, ...] = ()

    def __add__(self, other: Plan) -> Plan:
        return Plan(
            tasks=self.tasks + other.tasks,
            unchanged=self.unchanged + other.unchanged,
            renamed=self.renamed + other.renamed,
            duplicates=self.duplicates + other.duplicates,
            removed=self.removed + other.removed,
            kept=self.kept + other.kept,
            failed=self.failed + other.failed,
        )


def collect_inputs(discovery: Discovery, books: Iterable[Book] = ()) -> Inputs:
    """Hash the files that were found; a file that cannot be read fails alone."""
    files: list[FileSource] = []
    failed: list[FailedFile] = []
    for path in discovery.files:
        try:
            file = hash_source(path)
            if hash_of_bytes(file.content_hash) == _EMPTY:  # or all of them would be copies of one
                raise NotABook(f"{shown(path)}: is empty (0 bytes)")
            files.append(file)
        except ReadingError as error:
            failed.append(FailedFile(source=source_of(path), reason=str(error)))
    return Inputs(
        discovery=discovery,
        files=tuple(files),
        texts=tuple(map(TextSource.of_book, books)),
        failed=(*discovery.failed, *failed),
    )


def hash_source(path: Path) -> FileSource:
    """A file with its content's hash.

    Raises:
        ReadingError: it cannot be read.
    """
    digest = hash_file(path)
    try:
        return FileSource(source=source_of(path), path=path, content_hash=digest, size=path.stat().st_size)
    except OSError as error:
        raise ReadingError(f"{shown(path)}: cannot be read ({error.strerror or error})") from error


def make_plan(inputs: Inputs, records: Sequence[BookRecord], prune: Prune = "no") -> Plan:
    """Compare inputs with a library's books.

    A book whose file was found, and now is another book's, or a copy of it, is removed: no file has its text. One
    whose file is empty now is named, and stays: the file may have been cut short.

    Args:
        inputs: files first, then texts, each in order.
        records: the library's books.
        prune: which books to remove whose files left the named folders.
    """
    plan = _plan_files(inputs.files, records)
    plan += _plan_texts(inputs.texts, records, taken={task.book_id for task in plan.tasks})
    present = {record.id for record in plan.unchanged} | {record.id for record, _ in plan.renamed}
    present |= {task.book_id for task in plan.tasks}
    others = [record for record in records if record.id not in present]
    sources = {file.source for file in inputs.files}
    replaced = tuple(record for record in others if record.from_file and record.source in sources)
    blank = {source_of(path) for path in inputs.discovery.blank}
    emptied = tuple(
        FailedFile(source=record.source, reason=f"{shown(path_of(record.source))}: {_EMPTIED}")
        for record in others
        if record.source in blank
    )
    return plan + Plan(removed=replaced, failed=emptied) + plan_removals(others, inputs.discovery, prune)


def plan_removals(records: Sequence[BookRecord], discovery: Discovery, prune: Prune) -> Plan:
    """Which of these books to remove because their files left the named folders.

    Args:
        records: books that are not among the inputs.
        discovery: which folders were named and what was found in them.
        prune: "no" keeps all, "certain" what may only be unavailable (`Discovery.is_certain`: a drive that is not
            mounted), "all" nothing.
    """
    lost = [record for record in records if discovery.has_lost(record.source)]
    kept = [] if prune == "all" else [r for r in lost if prune == "no" or not discovery.is_certain(r.source)]
    keep = {record.id for record in kept}
    return Plan(removed=tuple(record for record in lost if record.id not in keep), kept=tuple(kept))


def _plan_files(files: Sequence[FileSource], records: Sequence[BookRecord]) -> Plan:
    """Compare files by content.

    A file whose content the library holds is unchanged, or renamed where the book's own file is gone; a known path
    with new content is a new version of its book, and so are known bytes whose file is gone where the file beside
    them says something else, as when Calibre renames a book to its corrected title, or where their new name gives
    another title or format; everything else is a new book.
    """
    by_hash = {record.content_hash: record for record in records}
    present = {(file.source, file.content_hash) for file in files}
    known = {record.source for record in records}
    called = _find_other_names(files, records)
    unchanged: list[BookRecord] = []
    renamed: list[tuple[BookRecord, str]] = []
    duplicates: list[tuple[str, str]] = []
    new: dict[str, FileSource] = {}
    retitled: dict[str, BookRecord] = {}
    claimed: set[str] = set()
    for file in sorted(files, key=lambda file: file.source not in known):  # of copies a book's own file is the book
        record = by_hash.get(file.content_hash)
        if file.content_hash in new:
            duplicates.append((file.source, new[file.content_hash].source))
        elif record is None:
            new[file.content_hash] = file
        elif record.source == file.source:
            unchanged.append(record)
            claimed.add(record.id)
        elif (
            record.id in claimed
            or (record.source, file.content_hash) in present
            or (called.get(record.source) != file.source and _is_current(record))
        ):
            duplicates.append((file.source, record.source))
        elif is_read_alike(path_of(record.source), file.path, record.title):
            renamed.append((record, file.source))
            claimed.add(record.id)
        else:
            new[file.content_hash] = file
            retitled[file.source] = record
            claimed.add(record.id)
    left = [record for record in records if record.id not in claimed]
    by_source = {called.get(record.source, record.source): record for record in left} | retitled
    by_bytes: dict[str, list[BookRecord]] = defaultdict(list)
    for record in sorted(left, key=lambda record: record.source, reverse=True):
        by_bytes[hash_of_bytes(record.content_hash)].append(record)
    taken = {record.id for record in records}
    tasks: list[Task] = []
    for file in new.values():
        old = by_source.get(file.source)
        same = by_bytes[hash_of_bytes(file.content_hash)]
        while not old and same:
            old = None if _has_file(same[-1]) else same[-1]
            same.pop()
        book_id = _choose_id(file, old, taken)
        taken.add(book_id)
        tasks.append(Task(input=file, book_id=book_id, replaces=old))
    return Plan(tasks=tuple(tasks), unchanged=tuple(unchanged), renamed=tuple(renamed), duplicates=tuple(duplicates))


def _find_other_names(files: Sequence[FileSource], records: Sequence[BookRecord]) -> dict[str, str]:
    """Sources of books, each with another name by which its file was found: through a link, or in other letters on a
    disk for which both are one name.
    """
    found = {file.source for file in files}
    others = [record.source for record in records if record.source not in found] if files else []
    by_place: dict[tuple[int, int] | None, list[FileSource]] = defaultdict(list)
    for file in files if others else ():
        by_place[_find_place(file.path)].append(file)
    by_place.pop(None, None)
    pairs = ((source, file) for source in others for file in by_place.get(_find_place(path_of(source)), ()))
    return {source: file.source for source, file in pairs if _fold(file.path) == _fold(path_of(source))}


def _find_place(path: Path) -> tuple[int, int] | None:
    """Device and inode of a file; None where it is gone."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def _fold(path: Path) -> str:
    return unicodedata.normalize("NFC", os.path.realpath(path)).casefold()


def _plan_texts(texts: Sequence[TextSource], records: Sequence[BookRecord], *, taken: Set[str]) -> Plan:
    """Compare texts by source.

    The same content under the same source is unchanged, other content is a new version. Two texts of the same
    content are two books. One exception: a source that is a random UUID names nothing, as after a program's
    restart, so its book passes to the source that now has the same content.

    Args:
        texts: in order.
        records: the library's books.
        taken: ids of other books of this run.
    """
    by_source = {record.source: record for record in records}
    once: dict[str, TextSource] = {}
    failed: list[FailedFile] = []
    for text in texts:
        if text.source in once:
            failed.append(FailedFile(source=text.source, reason=f"{text.source}: is given twice in one run"))
        once.setdefault(text.source, text)
    nameless: dict[str, list[BookRecord]] = defaultdict(list)
    for record in records:
        if is_random_name(record.source) and record.source not in once:
            nameless[record.content_hash].append(record)
    unchanged: list[BookRecord] = []
    renamed: list[tuple[BookRecord, str]] = []
    tasks: list[Task] = []
    ids = {*taken, *(record.id for record in records)}
    for text in once.values():
        old = by_source.get(text.source)
        if old and old.content_hash == text.content_hash:
            unchanged.append(old)
        elif not old and nameless[text.content_hash]:
            renamed.append((nameless[text.content_hash].pop(), text.source))
        else:
            book_id = _choose_id(text, old, ids)
            ids.add(book_id)
            tasks.append(Task(input=text, book_id=book_id, replaces=old))
    return Plan(tasks=tuple(tasks), unchanged=tuple(unchanged), renamed=tuple(renamed), failed=tuple(failed))


def is_random_name(source: str) -> bool:
    """Whether a source is a random UUID, which frameworks use where the user gave no name."""
    return _RANDOM_UUID.fullmatch(source) is not None


def _is_current(record: BookRecord) -> bool:
    """Whether a book's own file, outside of this run, still has the content that the library holds."""
    try:
        return _has_file(record) and hash_file(path_of(record.source)) == record.content_hash
    except ReadingError:
        return False


def _has_file(record: BookRecord) -> bool:
    return is_book_file(path_of(record.source))


def _choose_id(item: FileSource | TextSource, old: BookRecord | None, taken: Set[str]) -> str:
    """A lasting id: the old version's, else the item's own, else the start of its content's hash; never a taken one."""
    if old:
        return old.id
    if item.book_id and item.book_id not in taken:
        return item.book_id
    book_id = item.content_hash[:16]
    while book_id in taken:
        book_id = hashlib.sha256(f"{book_id}\0{item.source}".encode(errors="surrogateescape")).hexdigest()[:16]
    return book_id
