"""Carrying out a plan: each book is read, cut into passages, encoded and published, one after the other."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from nlb_retriever.config import Manifest
from nlb_retriever.encoding import ChunkEncoder
from nlb_retriever.errors import EncoderError, ReadingError
from nlb_retriever.indexing.plan import FileSource, Plan, Task
from nlb_retriever.indexing.report import BookRef, Observer, Progress
from nlb_retriever.model.vectorizer import Vectorizer
from nlb_retriever.reading import ReaderPool
from nlb_retriever.records import Book, FailedFile
from nlb_retriever.store import LibraryStore
from nlb_retriever.text.chunking import Chunker

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of a plan's tasks."""

    indexed: tuple[BookRef, ...] = ()
    failed: tuple[FailedFile, ...] = ()
    warnings: tuple[tuple[str, str], ...] = ()
    """Sources, each with what was lost or repaired in reading it."""
    tokens: int = 0
    """Encoded."""


def carry_out(
    plan: Plan,
    store: LibraryStore,
    manifest: Manifest,
    *,
    load: Callable[[str], ChunkEncoder],
    observer: Observer | None = None,
) -> Outcome:
    """Bring a store to what a plan says. What is wrong with a book stops only that book.

    Args:
        plan: made for this store.
        store: open for writing.
        manifest: what to encode with.
        load: loads a chunk encoder by its name or folder; not called where there is nothing to encode.
        observer: called at every step.

    Raises:
        MismatchError: the encoder that was loaded is not the manifest's.
        StoreError: the library cannot be written; what was published stays.
    """
    progress = Progress([task.input.size for task in plan.tasks], observer)
    for record, source in plan.renamed:
        store.rename(record.id, source)
    indexed: list[BookRef] = []
    failed: list[FailedFile] = []
    warnings: list[tuple[str, str]] = []
    for task, book, failures in _publish_all(plan.tasks, store, manifest, load, progress):
        failed += failures
        if book is not None:
            changed = task.replaces is not None
            indexed.append(BookRef(book_id=book.id, title=book.title, source=book.source, changed=changed))
            warnings += [(book.source, warning) for warning in book.warnings]
    for record in plan.removed:
        store.remove(record.id)
    if indexed:
        store.optimize()
    return Outcome(indexed=tuple(indexed), failed=tuple(failed), warnings=tuple(warnings), tokens=progress.tokens)


def _publish_all(
    tasks: Sequence[Task],
    store: LibraryStore,
    manifest: Manifest,
    load: Callable[[str], ChunkEncoder],
    progress: Progress,
) -> Iterator[tuple[Task, Book | None, list[FailedFile]]]:
    """Publish each task's book, in order; gives it, None where it is left out, and what failed."""
    if not tasks:
        return
    with ReaderPool() as pool:
        files = pool.read(task.input.path for task in tasks if isinstance(task.input, FileSource))
        publisher = _Publisher(store, manifest, load, progress)
        for task in tasks:
            progress.start(task.input.source)
            failures: list[FailedFile] = []
            if isinstance(task.input, FileSource):
                outcome = publisher.publish(task, next(files)[1])
                if isinstance(outcome, FailedFile) and task.input.fallback:
                    failures.append(outcome)
                    outcome = publisher.publish(task, task.input.fallback.load())
            else:
                outcome = publisher.publish(task, task.input.load())
            if isinstance(outcome, FailedFile):
                failures.append(outcome)
                progress.finish(failed=True)
                yield task, None, failures
            else:
                progress.finish(failed=False)
                yield task, outcome, failures


class _Publisher:
    """Cuts, encodes and writes books."""

    def __init__(
        self, store: LibraryStore, manifest: Manifest, load: Callable[[str], ChunkEncoder], progress: Progress
    ) -> None:
        self._store = store
        self._vectorizer = Vectorizer.of_library(store.location, manifest, lambda: load(manifest.chunk_encoder))
        encoder = self._vectorizer.encoder
        self._chunker = Chunker(encoder.tokenizer, tokens=manifest.chunk_tokens)
        self._progress = progress
        _log.info("encoding with %s", encoder.backend)

    def publish(self, task: Task, read: Book | ReadingError) -> Book | FailedFile:
        source = task.input.source
        if isinstance(read, ReadingError):
            return FailedFile(source=source, reason=str(read))
        book = replace(read, id=task.book_id, source=source)
        passages = self._chunker.passages(book.text, book.sections)
        lengths = [passage.tokens for passage in passages]
        first = 0

        def count(passages_done: int) -> None:
            nonlocal first
            first, begin = first + passages_done, first
            self._progress.encoded(sum(lengths[begin:first]))

        self._progress.encoding(book.title, sum(lengths))
        try:
            vectors = self._vectorizer.vectorize(book, passages, progress=count)
        except EncoderError as error:
            return FailedFile(source=source, reason=str(error))
        self._progress.publishing()
        self._store.publish(book, passages, vectors)
        return book
