"""Repairing a damaged library: what can still be read of it is kept, the rest is made again from texts and files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nlb_retriever.encoding import ChunkEncoder, load_encoder
from nlb_retriever.errors import LibraryDamaged, ReadingError
from nlb_retriever.indexing.pipeline import carry_out
from nlb_retriever.indexing.plan import FileSource, Plan, Task, TextSource, hash_source
from nlb_retriever.records import BookRecord, path_of
from nlb_retriever.store import LibraryStore, RescuedLibrary, open_store


@dataclass(frozen=True, kw_only=True)
class Repair:
    """What came of a repair, one line each; nothing where all was well."""

    done: Sequence[str] = ()
    """What was wrong, and what was done about it."""
    lost: Sequence[str] = ()
    """What could not be saved."""


def repair_library(location: str | Path, *, load: Callable[[str], ChunkEncoder] = load_encoder) -> Repair:
    """Make a library whole again; until it is, it stays as it was, and the same call goes on where one was stopped.

    A book whose text and vectors are whole is copied; one whose text is whole is encoded again; one whose text is
    damaged is read again from its file, or kept with a warning where there is none.

    Args:
        location: its folder, or its URL on a server.
        load: loads a chunk encoder by its name or folder, for callers that keep theirs.

    Raises:
        LibraryNotFound: there is none.
        LibraryBusy: another process writes to it.
        LibraryDamaged: nothing can be read of it.
        StoreError: it cannot be written.
        EncoderError: an encoder is missing or damaged.
    """
    try:
        with open_store(location, writer=True) as store:
            return Repair(done=store.repair())
    except LibraryDamaged:
        if not isinstance(location, Path):
            raise
    with RescuedLibrary(location) as old:
        lines, lost = [*old.notes], [*old.lost]
        if old.restore_head():
            return Repair(done=[*lines, "restored library.json from its copy"])
        with old.start_rebuild(old.manifest) as new:
            present = {book.id for book in new.books()}
            missing = [record for record in old.books() if record.id not in present]
            tasks = [task for record in missing if (task := _copy(record, old, new, lines))]
            outcome = carry_out(Plan(tasks=tuple(tasks)), new, new.manifest, load=load)
            lines += [f"made again: {book.title} ({book.source})" for book in outcome.indexed]
            lost += [f"lost: {failed.reason}" for failed in outcome.failed]
            new.take_over()
    return Repair(done=lines, lost=lost)


def _copy(record: BookRecord, old: RescuedLibrary, new: LibraryStore, lines: list[str]) -> Task | None:
    """Copy a book if it is whole; else how to make it again."""
    book = old.read_book(record, is_strict=True)
    vectors = old.read_vectors(record)
    if book is not None and vectors is not None:
        new.publish(book, *vectors)
        return None
    stored = TextSource.of_record(record, old.read_book)
    source: FileSource | TextSource = stored
    if book is None and record.from_file:
        try:
            file = hash_source(path_of(record.source))
        except ReadingError as error:
            lines.append(f"the stored text of {record.title} is damaged, and its file cannot be read ({error})")
        else:
            source = replace(file, source=record.source, book_id=record.id, fallback=stored)
    return Task(input=source, book_id=record.id, replaces=None)
