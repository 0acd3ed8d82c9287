"""Carrying out a plan: each book is read, cut into passages, encoded and published, in order."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace

from nlb_retriever.config import Manifest
from nlb_retriever.encoding import ChunkEncoder, Vectors
from nlb_retriever.errors import EncoderError, ReadingError
from nlb_retriever.indexing.plan import FileSource, Plan, Task
from nlb_retriever.indexing.report import BookRef, Observer, Progress
from nlb_retriever.model.vectorizer import Vectorizer
from nlb_retriever.model.vectors import PackedParts, PassageBatch
from nlb_retriever.reading import ReaderPool
from nlb_retriever.records import Book, FailedFile, Passage
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
    store.rename({record.id: source for record, source in plan.renamed})
    indexed: list[BookRef] = []
    failed: list[FailedFile] = []
    warnings: list[tuple[str, str]] = []
    with closing(_publish_all(plan.tasks, store, manifest, load, progress)) as jobs:
        for job in jobs:
            failed += job.failures
            if book := job.book:
                changed = job.task.replaces is not None
                indexed.append(BookRef(book_id=book.id, title=book.title, source=book.source, changed=changed))
                warnings += [(book.source, warning) for warning in book.warnings]
    store.remove(*(record.id for record in plan.removed))
    if indexed:
        store.optimize()
    return Outcome(indexed=tuple(indexed), failed=tuple(failed), warnings=tuple(warnings), tokens=progress.tokens)


def _publish_all(
    tasks: Sequence[Task],
    store: LibraryStore,
    manifest: Manifest,
    load: Callable[[str], ChunkEncoder],
    progress: Progress,
) -> Generator[_Job, None, None]:
    """Publish each task's book, in order.

    This thread encodes, with all cores. What needs one core is done beside it: one thread reads and cuts what comes
    next, another one packs and writes what is encoded.
    """
    if not tasks:
        return
    with ThreadPoolExecutor(1) as ahead, ThreadPoolExecutor(1) as behind, ReaderPool() as pool:
        publisher = _Publisher(store, manifest, load, progress, behind)
        steps = publisher.prepare(tasks, pool)
        coming = ahead.submit(next, steps, None)
        try:
            while True:
                if not coming.done():  # there is nothing to encode beside the writing
                    yield from publisher.finish()
                if (step := coming.result()) is None:
                    break
                coming = ahead.submit(next, steps, None)
                job, batch = step
                writing = publisher.is_writing
                if not writing and job.left == len(job.passages):
                    publisher.announce(job)
                publisher.encode(job, batch)
                if writing:
                    yield from publisher.finish()
                    publisher.announce(job)
                if batch and job.book:
                    progress.encoded(batch.tokens)
                if not job.left:
                    publisher.write(job)
            yield from publisher.finish()
        finally:  # interrupted: what is being written is published
            behind.shutdown()  # also what was handed over as the interruption came
            for _ in publisher.finish():
                pass


@dataclass(kw_only=True)
class _Job:
    """A task on its way through a run."""

    task: Task
    book: Book | None = None
    """None where it is left out."""
    passages: Sequence[Passage] = ()
    batches: Iterable[PassageBatch] = ()
    left: int = 0
    """Passages that are not encoded yet."""
    packed: list[Future[PackedParts]] = field(default_factory=list)
    written: Future[None] | None = None
    is_published: bool = False
    failures: list[FailedFile] = field(default_factory=list)

    def fail(self, error: ReadingError | EncoderError) -> None:
        self.book = None
        former = " (its former text stays in the library)" if self.task.replaces else ""
        self.failures.append(FailedFile(source=self.task.input.source, reason=f"{error}{former}"))


class _Publisher:
    """Cuts, encodes and writes books."""

    def __init__(
        self,
        store: LibraryStore,
        manifest: Manifest,
        load: Callable[[str], ChunkEncoder],
        progress: Progress,
        behind: Executor,
    ) -> None:
        self._store = store
        self._vectorizer = Vectorizer.of_library(store.location, manifest, lambda: load(manifest.chunk_encoder))
        encoder = self._vectorizer.encoder
        self._chunker = Chunker(encoder.tokenizer, tokens=manifest.chunk_tokens)
        self._progress = progress
        self._behind = behind
        self._last: _Job | None = None
        _log.info("encoding with %s", encoder.backend)

    def prepare(self, tasks: Sequence[Task], pool: ReaderPool) -> Iterator[tuple[_Job, PassageBatch | None]]:
        """Read and cut books; gives each with its batches, with None where there are none."""
        files = pool.read(task.input.path for task in tasks if isinstance(task.input, FileSource))
        for task in tasks:
            job = _Job(task=task)
            if isinstance(task.input, FileSource):
                self._cut(job, next(files)[1])
                if job.book is None and task.input.fallback:
                    self._cut(job, task.input.fallback.load())
            else:
                self._cut(job, task.input.load())
            if job.book is None:
                yield job, None
            for batch in job.batches:
                yield job, batch

    def _cut(self, job: _Job, read: Book | ReadingError) -> None:
        if isinstance(read, ReadingError):
            job.fail(read)
            return
        book = replace(read, id=job.task.book_id, source=job.task.input.source)
        passages = self._chunker.passages(book.text, book.sections)
        try:
            job.batches = self._vectorizer.batches(book, passages)
        except EncoderError as error:
            job.fail(error)
        else:
            job.book, job.passages, job.left = book, passages, len(passages)

    @property
    def is_writing(self) -> bool:
        """Whether `finish` has a book to give."""
        return self._last is not None

    def encode(self, job: _Job, batch: PassageBatch | None) -> None:
        """Encode a batch, unless the book is left out."""
        if batch:
            job.left -= len(batch.texts)
        if batch is None or job.book is None:
            return
        for packed in job.packed[-2:-1]:  # no more than two wait
            packed.result()
        try:
            parts = self._vectorizer.encode(batch)
        except EncoderError as error:
            job.fail(error)
        else:
            job.packed.append(self._behind.submit(self._vectorizer.pack, batch, parts))

    def announce(self, job: _Job) -> None:
        """Report that a book is being encoded."""
        self._progress.start(job.task.input.source)
        if job.book:
            self._progress.encoding(job.book.title, sum(passage.tokens for passage in job.passages))

    def write(self, job: _Job) -> None:
        """Begin to write a book that is encoded, unless it is left out; `finish` gives it."""
        self._last = job
        if job.book:
            try:
                titles = self._vectorizer.encode_titles(job.book, job.passages)
            except EncoderError as error:
                job.fail(error)
            else:
                self._progress.publishing()
                job.written = self._behind.submit(self._write, job, job.book, titles)

    def _write(self, job: _Job, book: Book, titles: Mapping[int, Vectors]) -> None:
        vectors = self._vectorizer.join(book, job.passages, [own.result() for own in job.packed], titles)
        self._store.publish(book, job.passages, vectors)
        job.is_published = True

    def finish(self) -> Iterator[_Job]:
        """Wait for the book that is being written, if there is one, and give it."""
        job = self._last
        if job is None:
            return
        if job.written:
            job.written.result()  # interrupted here, the book is still to be given
        self._last = None
        if job.book and not job.is_published:  # interrupted before it was to be written
            return
        self._progress.finish(failed=job.book is None)
        yield job
