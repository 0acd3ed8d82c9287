"""The writing side: from files and texts to published books, incrementally and safely.

A run compares what it was given with the library by content, then takes the new books one by one: read
(in a worker process), cut, encode, publish. Every published book is whole; whatever stops a run, the same
command goes on with the first book that isn't.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

from nlb_retriever.config import RELEASED, UNTRAINED, Manifest, locate_library
from nlb_retriever.encoding import DEFAULT_ENCODER, ChunkEncoder, EncoderIdentity, identify_encoder, load_encoder
from nlb_retriever.errors import LibraryNotFound, MismatchError, ReadingError, StoreError
from nlb_retriever.indexing.pipeline import Observer, Publisher
from nlb_retriever.indexing.plan import Plan, Text, has_left, plan_files, plan_texts
from nlb_retriever.indexing.report import BookRef, IndexEvent, IndexReport
from nlb_retriever.model import checkpoint as checkpoints
from nlb_retriever.model.checkpoint import Checkpoint
from nlb_retriever.reading import Discovery, discover
from nlb_retriever.records import Book, FailedFile, source_of
from nlb_retriever.store import BookRecord, LibraryStore, open_store
from nlb_retriever.store.replacing import replace_library

__all__ = ["DEFAULT_CHUNK_TOKENS", "Observer", "index_books", "index_files"]

DEFAULT_CHUNK_TOKENS = 256
"""The paper's chunk (arXiv 2402.17682, section 3)."""


def index_files(
    inputs: Sequence[str | Path],
    library: str | Path | None = None,
    *,
    chunk_encoder: str | Path | None = None,
    checkpoint: str | Path | None = None,
    chunk_tokens: int | None = None,
    device: str = "auto",
    prune: bool = False,
    dry_run: bool = False,
    rebuild: bool = False,
    observer: Observer | None = None,
) -> IndexReport:
    """Bring a library up to date with files.

    Args:
        inputs: files, folders and glob patterns.
        library: its folder, name or server URL; None for the default one. Made if absent.
        chunk_encoder: a sentence-transformers model's name or folder; None for the library's own.
        checkpoint: folder of a next-level encoder; None for the library's own.
        chunk_tokens: tokens a chunk, 0 for one sentence a chunk; None for the library's own.
        device: where the encoder runs: "auto", "cpu", "cuda", ...
        prune: also remove the books of the given folders whose files are gone.
        dry_run: only report what would be done.
        rebuild: encode every book anew, under the given encoders; the old library answers until the
            new one is complete.
        observer: called at every step.

    Returns:
        What was done. Files that could not be read are in `failed`; they stop nothing, and what the library has
        of them stays in it.

    Raises:
        MismatchError: the library was made with other encoders.
        LibraryBusy: another process writes to the library.
        StoreError: the library cannot be written, or a rebuilt one would have lost a book.
        EncoderError: an encoder is missing or damaged.
    """
    run = _Run(chunk_encoder, checkpoint, chunk_tokens, partial(load_encoder, device=device), observer)
    run.add_files(inputs, prune=prune)
    location = locate_library(library)
    if rebuild and not dry_run:
        return _rebuild(location, run)
    return _bring_up_to_date(location, run, dry_run=dry_run, redo=rebuild)


def index_books(
    books: Iterable[Book],
    library: str | Path | None = None,
    *,
    chunk_encoder: str | Path | None = None,
    checkpoint: str | Path | None = None,
    chunk_tokens: int | None = None,
    device: str = "auto",
    load: Callable[[str], ChunkEncoder] | None = None,
    observer: Observer | None = None,
) -> IndexReport:
    """Bring a library up to date with books that are no files, such as `reading.text.book_from_text` makes.

    A book is who its `source` says: unchanged content is no work, changed content a new version under the
    same lasting id, a new source a new book. Their texts live in the library alone: pruning does not touch
    them (unless their source is a path in the pruned folders), rebuilding takes them from the library.

    Args:
        books: made with `from_file=False`; their ids are given here.
        library, chunk_encoder, checkpoint, chunk_tokens, device, observer: as for `index_files`.
        load: gives a chunk encoder by its name, for callers that keep theirs; then `device` says nothing.

    Returns:
        What was done. Books without text are in `failed`; they stop nothing.

    Raises:
        MismatchError, LibraryBusy, StoreError, EncoderError: as for `index_files`.
    """
    run = _Run(chunk_encoder, checkpoint, chunk_tokens, load or partial(load_encoder, device=device), observer)
    run.texts = [
        Text(source=book.source, content_hash=book.content_hash, size=len(book.text), load=partial(_given, book))
        for book in books
    ]
    return _bring_up_to_date(locate_library(library), run)


def _given(book: Book) -> Book:
    return book


def _bring_up_to_date(location: str | Path, run: _Run, *, dry_run: bool = False, redo: bool = False) -> IndexReport:
    store = _open_existing(location, writer=not dry_run)
    if dry_run:
        with closing(store) if store else nullcontext():
            return run.report(str(location), run.plan(store, redo=redo), dry_run=True)
    if store is None:
        plan = run.plan(None)
        if not plan.tasks:  # nothing to make a library of
            return run.report(str(location), plan)
        store = open_store(location, create=run.manifest(None), writer=True)
    with closing(store):
        return run.carry_out(store, str(location))


def _open_existing(location: str | Path, *, writer: bool) -> LibraryStore | None:
    try:
        return open_store(location, writer=writer)
    except LibraryNotFound:
        return None


def _rebuild(location: str | Path, run: _Run) -> IndexReport:
    """Make the library anew beside the old one, then put it in its place."""
    if not isinstance(location, Path):
        raise StoreError(f"{location} is on a server: index under another name there, then drop this one")
    fresh = location.with_name(f".{location.name}.rebuild")
    old = _open_existing(location, writer=True)
    if old is None:
        raise LibraryNotFound(f"no library at {location} to rebuild: run `nlb index` without --rebuild")
    with closing(old):
        run.add_library(old)
        started = _open_existing(fresh, writer=True)
        manifest = run.manifest(None)
        if started and started.manifest.fingerprint() != manifest.fingerprint():
            started.close()
            started = None
            shutil.rmtree(fresh)
        with closing(started or open_store(fresh, create=manifest, writer=True)) as store:
            report = run.carry_out(store, str(location))
            if kept := run.keep_failed(old, report):
                again = run.carry_out(store, str(location))
                report = replace(report, indexed=report.indexed + again.indexed, tokens=again.tokens)
                if again.failed:
                    raise StoreError(
                        f"library {location} is as it was: {again.failed[0].reason}, and of its {len(kept)} books that "
                        "cannot be read again this one would be lost: `nlb remove` it, or rebuild with other encoders"
                    )
    replace_library(location, fresh)
    return report


class _Run:
    """One run: what was asked for, and carrying it out on a store."""

    def __init__(
        self,
        chunk_encoder: str | Path | None,
        checkpoint: str | Path | None,
        chunk_tokens: int | None,
        load: Callable[[str], ChunkEncoder],
        observer: Observer | None,
    ) -> None:
        self._started = time.monotonic()
        self._found = Discovery(files=(), skipped={}, failed=())
        self._folders: list[Path] = []
        self._prune = False
        self.texts: list[Text] = []
        self._chunk_encoder = chunk_encoder
        self._checkpoint = checkpoint
        self._chunk_tokens = chunk_tokens
        self._load = load
        self._observe = observer or (lambda event: None)
        self._tokens = 0

    def add_files(self, inputs: Sequence[str | Path], *, prune: bool) -> None:
        self._found = discover(inputs)
        self._folders = [Path(given).expanduser().absolute() for given in inputs if Path(given).expanduser().is_dir()]
        self._prune = prune

    def add_library(self, store: LibraryStore) -> None:
        """Take a library's own books along: their files, wherever they lie, else their texts as it has them."""
        known = {source_of(path) for path in self._found.files}
        files: list[Path] = []
        for entry in store.books():
            if entry.source in known or (self._prune and has_left(entry, self._folders)):
                continue
            if entry.from_file and Path(entry.source).is_file():
                files.append(Path(entry.source))
            else:
                self.texts.append(_held(store, entry))
        self._found = replace(self._found, files=(*self._found.files, *files))

    def keep_failed(self, store: LibraryStore, report: IndexReport) -> list[Text]:
        """Take on, instead of all else, the books of a library that could not be read again, as it has them."""
        failed = {each.source for each in report.failed}
        self._found, self._prune = Discovery(files=(), skipped={}, failed=()), False
        self.texts = [_held(store, entry) for entry in store.books() if entry.source in failed]
        return self.texts

    def manifest(self, pinned: Manifest | None) -> Manifest:
        """What the run wants a library to pin; what was not asked for is as the library has it.

        Raises:
            EncoderError: an encoder is not to be found.
            MismatchError: the checkpoint does not fit the chunk encoder.
        """
        name = self._chunk_encoder or (pinned.encoder if pinned else DEFAULT_ENCODER)
        identity = identify_encoder(name)
        checkpoint, folder = self._choose(pinned, identity)
        tokens = self._chunk_tokens
        if tokens is None:
            tokens = pinned.chunk_tokens if pinned else checkpoint.config.chunk_tokens or DEFAULT_CHUNK_TOKENS
        checkpoint.check(identity, tokens)
        return Manifest(
            encoder=str(Path(name).absolute()) if Path(name).is_dir() else str(name),
            encoder_sha256=identity.sha256,
            dim=identity.dim,
            chunk_tokens=tokens,
            checkpoint=folder,
            checkpoint_sha256=checkpoint.sha256,
            order_dim=checkpoint.heads.section_dim - identity.dim if checkpoint.heads else 0,
        )

    def _choose(self, pinned: Manifest | None, identity: EncoderIdentity) -> tuple[Checkpoint, str]:
        """The checkpoint and what a manifest calls it: the one asked for, else the library's, else the released.

        A chunk encoder that the released one was not trained on gets the untrained one. (One that is not the
        library's gets here what a new library would have: that they differ is found, and told, later.)
        """
        if self._checkpoint:
            return checkpoints.load(self._checkpoint), str(Path(self._checkpoint).expanduser().absolute())
        if pinned and pinned.encoder_sha256 == identity.sha256:
            return checkpoints.pinned(pinned.checkpoint, pinned.checkpoint_sha256), pinned.checkpoint
        released = checkpoints.load()
        try:
            released.check(identity)
        except MismatchError:
            return checkpoints.load(checkpoints.UNTRAINED), UNTRAINED
        return released, RELEASED

    def plan(self, store: LibraryStore | None, *, redo: bool = False) -> Plan:
        if store and redo:
            self.add_library(store)
        entries = store.books() if store and not redo else []
        files = plan_files(self._found.files, entries, prune=self._prune, folders=self._folders)
        return files + plan_texts(self.texts, entries, taken={task.book_id for task in files.tasks})

    def carry_out(self, store: LibraryStore, library: str) -> IndexReport:
        """Bring the store up to date.

        Raises:
            MismatchError: the store pins other encoders.
        """
        manifest = self.manifest(store.manifest)
        store.manifest.check(manifest, library)
        plan = self.plan(store)
        self._observe(IndexEvent(kind="plan", total=len(plan.tasks), total_bytes=sum(task.size for task in plan.tasks)))
        for entry, source in plan.renamed:
            store.rename(entry.id, source)
        indexed: list[BookRef] = []
        failed: list[FailedFile] = []
        warnings: list[tuple[str, str]] = []
        publisher = Publisher(store, manifest, self._observe, self._load)
        for task, outcome in publisher.publish_all(plan.tasks):
            self._tokens = publisher.tokens
            if isinstance(outcome, Book):
                changed = task.replaces is not None
                indexed.append(BookRef(book_id=outcome.id, title=outcome.title, source=outcome.source, changed=changed))
                warnings += [(outcome.source, warning) for warning in outcome.warnings]
            else:
                failed.append(outcome)
        for entry in plan.removed:
            store.remove(entry.id)
        if indexed:
            store.optimize()
        return self.report(library, plan, indexed=indexed, failed=failed, warnings=warnings)

    def report(
        self,
        library: str,
        plan: Plan,
        *,
        indexed: Sequence[BookRef] = (),
        failed: Sequence[FailedFile] = (),
        warnings: Sequence[tuple[str, str]] = (),
        dry_run: bool = False,
    ) -> IndexReport:
        if dry_run:
            indexed = [
                BookRef(
                    book_id=task.book_id,
                    title=task.replaces.title if task.replaces else task.path.stem,
                    source=task.source,
                    changed=task.replaces is not None,
                )
                for task in plan.tasks
            ]
        return IndexReport(
            library=library,
            indexed=tuple(indexed),
            unchanged=tuple(map(_ref, plan.unchanged)),
            renamed=tuple(replace(_ref(entry), source=source) for entry, source in plan.renamed),
            duplicates=tuple((source_of(path), other) for path, other in plan.duplicates),
            removed=tuple(map(_ref, plan.removed)),
            failed=(*self._found.failed, *plan.failed, *failed),
            skipped=self._found.skipped,
            warnings=tuple(warnings),
            seconds=time.monotonic() - self._started,
            tokens=self._tokens,
            dry_run=dry_run,
        )


def _ref(entry: BookRecord) -> BookRef:
    return BookRef(book_id=entry.id, title=entry.title, source=entry.source)


def _held(store: LibraryStore, entry: BookRecord) -> Text:
    return Text(
        source=entry.source,
        content_hash=entry.content_hash,
        size=entry.chars,
        load=partial(_stored, store, entry),
        book_id=entry.id,
    )


def _stored(store: LibraryStore, entry: BookRecord) -> Book | ReadingError:
    return store.read_book(entry) or ReadingError(f"{entry.source}: is no longer in the library")
