"""The way into indexing: from files and texts to published books, incrementally and safely.

A run finds its files (`reading.discover`), compares them with the library by content (plan.py), and reads, encodes
and publishes the new books one by one (pipeline.py). Every published book is whole; whatever stops a run, the same
command goes on with the first book that is missing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePath

from nlb_retriever.config import locate_library
from nlb_retriever.encoding import ChunkEncoder, load_encoder
from nlb_retriever.errors import LibraryDamaged, LibraryNotFound, ReadingError, StoreError, several
from nlb_retriever.indexing.pipeline import Outcome, carry_out
from nlb_retriever.indexing.plan import (
    FileSource,
    Inputs,
    Plan,
    TextSource,
    collect_inputs,
    hash_source,
    make_plan,
)
from nlb_retriever.indexing.report import BookRef, IndexReport, Observer
from nlb_retriever.indexing.request import IndexRequest, choose_manifest, keep_settings
from nlb_retriever.reading import discover, is_book_file
from nlb_retriever.records import Book, BookRecord, FailedFile, path_of
from nlb_retriever.store import LibraryStore, RescuedLibrary, open_store

__all__ = ["index_books", "index_files"]


def index_files(
    paths: str | Path | Sequence[str | Path],
    library: str | Path | None = None,
    *,
    chunk_encoder: str | Path | None = None,
    checkpoint: str | Path | None = None,
    chunk_tokens: int | None = None,
    device: str = "auto",
    prune: bool = False,
    prune_empty: bool = False,
    dry_run: bool = False,
    rebuild: bool = False,
    observer: Observer | None = None,
) -> IndexReport:
    """Bring a library up to date with files.

    Args:
        paths: files, folders and glob patterns, or one of them.
        library: its folder, name or server URL; None for the default one. Made if absent.
        chunk_encoder: a sentence-transformers model's name or folder; None for the library's own.
        checkpoint: folder of a next-level encoder; None for the library's own.
        chunk_tokens: tokens a chunk, 0 for one sentence a chunk; None for the library's own.
        device: where the chunk encoder runs: "auto", "cpu", "cuda", ...
        prune: also remove the books of the named folders whose files are gone; those whose folder cannot be read or
            holds no book at all are kept, for they may only be unavailable (a drive that is not mounted).
        prune_empty: with `prune`: remove those, too.
        dry_run: only report what would be done.
        rebuild: encode every book anew, with the given encoders and chunk length, else with the library's own (the
            released ones as they are now); the old library answers until the new one is complete.
        observer: called at every step.

    Returns:
        What was done. Files that could not be read are in `failed`; they stop nothing, and their older versions
        stay in the library.

    Raises:
        ReadingError: `paths` are none.
        MismatchError: the library was made with other encoders.
        LibraryBusy: another process writes to the library.
        StoreError: the library cannot be written, or a rebuilt one would have lost a book.
        EncoderError: an encoder is missing or damaged.
    """
    return _run(
        IndexRequest(
            location=locate_library(library),
            load=partial(load_encoder, device=device),
            paths=several(paths, (str, os.PathLike), "paths must be files, folders or glob patterns", ReadingError),
            chunk_encoder=chunk_encoder,
            checkpoint=checkpoint,
            chunk_tokens=chunk_tokens,
            prune=("all" if prune_empty else "certain") if prune else "no",
            dry_run=dry_run,
            rebuild=rebuild,
            observer=observer,
        )
    )


def index_books(
    books: Book | Iterable[Book],
    library: str | Path | None = None,
    *,
    chunk_encoder: str | Path | None = None,
    checkpoint: str | Path | None = None,
    chunk_tokens: int | None = None,
    device: str = "auto",
    load: Callable[[str], ChunkEncoder] | None = None,
    observer: Observer | None = None,
) -> IndexReport:
    """Bring a library up to date with books that are not files, such as `book_from_text` makes.

    A book's `source` identifies it: unchanged content costs nothing, changed content is a new version under the
    same lasting id, a new source is a new book. Only the library holds their texts: pruning leaves them alone
    (unless their source is a path in the pruned folders), rebuilding takes them from the library.

    Args:
        books: one or several with `from_file=False`; they get their lasting ids here.
        library, chunk_encoder, checkpoint, chunk_tokens, device, observer: as in `index_files`.
        load: loads a chunk encoder by its name, for callers that keep theirs; `device` is then ignored.

    Returns:
        What was done. Books without text are in `failed`; they stop nothing.

    Raises:
        ReadingError: `books` are none.
        MismatchError, LibraryBusy, StoreError, EncoderError: as in `index_files`.
    """
    return _run(
        IndexRequest(
            location=locate_library(library),
            load=load or partial(load_encoder, device=device),
            books=several(books, Book, "books must be Book records, as book_from_text makes", ReadingError),
            chunk_encoder=chunk_encoder,
            checkpoint=checkpoint,
            chunk_tokens=chunk_tokens,
            observer=observer,
        )
    )


def _run(request: IndexRequest) -> IndexReport:
    started = time.monotonic()
    report = _rebuild(request) if request.rebuild else _update(request)
    return replace(report, seconds=time.monotonic() - started)


def _update(request: IndexRequest) -> IndexReport:
    """Bring a library up to date."""
    discovery = discover(request.paths)
    with ExitStack() as stack:
        store = _open_existing(request.location, writer=not request.dry_run)
        if store is not None:
            stack.enter_context(store)
        manifest = choose_manifest(request, store.manifest if store else None)
        if store is not None:
            store.manifest.check(manifest, str(request.location))
        inputs = collect_inputs(discovery, request.books)
        plan = make_plan(inputs, store.books() if store else [], request.prune)
        if request.dry_run:
            return _report(request, inputs, plan, _expected(plan))
        if store is None:
            if not plan.tasks:  # no library is made for no book
                return _report(request, inputs, plan, Outcome())
            encoder = request.load(manifest.chunk_encoder)  # no library is made for an encoder that cannot be loaded
            request = replace(request, load=lambda _: encoder)
            store = stack.enter_context(open_store(request.location, create=manifest, writer=True))
            plan = make_plan(inputs, store.books(), request.prune)
        outcome = carry_out(plan, store, manifest, load=request.load, observer=request.observer)
    return _report(request, inputs, plan, outcome)


def _rebuild(request: IndexRequest) -> IndexReport:
    """Make a library anew beside the old one, then put it in its place."""
    folder = request.location
    if not isinstance(folder, Path):
        raise StoreError(f"{folder} is on a server: index under another name there, then drop this one")
    discovery = discover(request.paths)
    with _open_to_rebuild(folder, writer=not request.dry_run) as old:
        manifest = choose_manifest(keep_settings(request, old.manifest), None)
        inputs = collect_inputs(discovery)
        changes = make_plan(inputs, old.books(), request.prune)
        ids = {record.id for record in changes.removed}
        records = [record for record in old.books() if record.id not in ids]
        inputs = _with_library(inputs, old, records)
        replaced = make_plan(inputs, records).removed  # whose files were not named
        ids = {record.id for record in replaced}
        records = [record for record in records if record.id not in ids]
        inputs = replace(inputs, files=tuple(file for file in inputs.files if file.book_id not in ids))
        removals = Plan(removed=(*changes.removed, *replaced), kept=changes.kept)
        if request.dry_run:
            plan = make_plan(inputs, [])
            return _report(request, inputs, plan + removals, _expected(plan))
        with old.start_rebuild(manifest) as new:
            _drop_unwanted(new, inputs)
            plan = make_plan(inputs, new.books())
            outcome = carry_out(plan, new, manifest, load=request.load, observer=request.observer)
            if isinstance(old, LibraryStore):  # of a damaged one, what is lost is lost
                _require_all(old, records, new, outcome)
            new.take_over()
    return _report(request, inputs, plan + removals, outcome)


def _open_to_rebuild(folder: Path, *, writer: bool) -> LibraryStore | RescuedLibrary:
    try:
        return open_store(folder, writer=writer)
    except LibraryDamaged:
        return RescuedLibrary(folder)
    except LibraryNotFound as error:
        raise LibraryNotFound(f"no library at {folder} to rebuild: run `nlb index` without --rebuild") from error


def _drop_unwanted(store: LibraryStore, inputs: Inputs) -> None:
    """Remove the books of an interrupted rebuild that are no longer wanted."""
    wanted = {file.source for file in inputs.files} | {text.source for text in inputs.texts}
    store.remove(*(record.id for record in store.books() if record.source not in wanted))


def _open_existing(location: str | Path, *, writer: bool) -> LibraryStore | None:
    try:
        return open_store(location, writer=writer)
    except LibraryNotFound:
        return None


def _with_library(inputs: Inputs, store: LibraryStore | RescuedLibrary, records: Sequence[BookRecord]) -> Inputs:
    """Inputs and books of a library: their files, wherever they are, else their texts as the library has them."""
    named = {file.source: file for file in inputs.files}
    by_hash = {file.content_hash: file for file in inputs.files}
    own: dict[str, FileSource] = {}
    texts: list[TextSource] = []
    failed: list[FailedFile] = []
    for record in records:
        text = TextSource.of_record(record, store.read_book)
        file = named.get(record.source)
        if file is None and record.from_file:
            try:
                if is_book_file(path := path_of(record.source)):
                    file = hash_source(path)
                else:
                    file = by_hash.get(record.content_hash)
            except ReadingError as error:
                failed.append(FailedFile(source=record.source, reason=str(error)))
        if file is None:
            texts.append(text)
        elif file.source not in own or record.content_hash == file.content_hash:
            own[file.source] = replace(file, book_id=record.id, fallback=text)
    for line in store.lost if isinstance(store, RescuedLibrary) else ():
        reason = f"{store.location}: {line}, but for those whose files are indexed now"
        failed.append(FailedFile(source=store.location, reason=reason))
    return replace(
        inputs,
        files=(*own.values(), *(file for file in inputs.files if file.source not in own)),
        texts=tuple(texts),
        failed=(*inputs.failed, *(each for each in failed if each not in inputs.failed)),
    )


def _require_all(old: LibraryStore, records: Sequence[BookRecord], new: LibraryStore, outcome: Outcome) -> None:
    """Refuse a rebuilt library that lacks one of these books of the old one.

    Raises:
        StoreError: naming the book and why it is missing.
    """
    books = new.books()
    present = {book.source for book in books} | {book.content_hash for book in books}
    for record in records:
        if not {record.source, record.content_hash} & present:
            reasons = [failed.reason for failed in outcome.failed if failed.source == record.source]
            raise StoreError(
                f"library {old.location} is as it was: {reasons[-1] if reasons else record.source}, and this book "
                "would be lost: `nlb remove` it, or rebuild with other encoders"
            )


def _expected(plan: Plan) -> Outcome:
    """What carrying out a plan would come to, as far as it is known before files are read."""
    return Outcome(
        indexed=tuple(
            BookRef(
                book_id=task.book_id,
                title=task.replaces.title if task.replaces else PurePath(task.input.source).stem,
                source=task.input.source,
                changed=task.replaces is not None,
            )
            for task in plan.tasks
        )
    )


def _report(request: IndexRequest, inputs: Inputs, plan: Plan, outcome: Outcome) -> IndexReport:
    return IndexReport(
        library=str(request.location),
        indexed=outcome.indexed,
        unchanged=tuple(map(_ref, plan.unchanged)),
        renamed=tuple(replace(_ref(record), source=source) for record, source in plan.renamed),
        duplicates=plan.duplicates,
        removed=tuple(map(_ref, plan.removed)),
        kept=tuple(map(_ref, plan.kept)),
        failed=(*inputs.failed, *plan.failed, *outcome.failed),
        skipped=inputs.discovery.skipped,
        suffixes=inputs.discovery.suffixes,
        warnings=outcome.warnings,
        tokens=outcome.tokens,
        dry_run=request.dry_run,
    )


def _ref(record: BookRecord) -> BookRef:
    return BookRef(book_id=record.id, title=record.title, source=record.source)
