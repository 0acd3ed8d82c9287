"""Planned books to published ones: read or given, cut, encoded and written, one by one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Literal

from nlb_retriever.config import Manifest
from nlb_retriever.encoding import ChunkEncoder
from nlb_retriever.errors import EncoderError, MismatchError, ReadingError
from nlb_retriever.indexing.plan import Task
from nlb_retriever.indexing.report import IndexEvent
from nlb_retriever.model import checkpoint as checkpoints
from nlb_retriever.model.vectorizer import Vectorizer
from nlb_retriever.reading import ReaderPool
from nlb_retriever.records import Book, FailedFile
from nlb_retriever.store import LibraryStore
from nlb_retriever.text.chunking import Chunker

_log = logging.getLogger(__name__)

Observer = Callable[[IndexEvent], None]


class Publisher:
    """Brings books into a store. What is wrong with a book stops only that book."""

    def __init__(
        self, store: LibraryStore, manifest: Manifest, observe: Observer, load: Callable[[str], ChunkEncoder]
    ) -> None:
        """Prepare; nothing is loaded before the first book.

        Args:
            store: open for writing.
            manifest: what to encode with.
            observe: called at every step.
            load: gives a chunk encoder by its name.
        """
        self._store = store
        self._manifest = manifest
        self._observe = observe
        self._load = load
        self.tokens = 0
        """Encoded so far."""

    def publish_all(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Book | FailedFile]]:
        """Publish each task's book, in order.

        Raises:
            MismatchError: the encoder that is given is not the manifest's.
        """
        if not tasks:
            return
        with ReaderPool() as pool:
            files = pool.read(task.path for task in tasks if task.text is None)
            encoder = self._load(self._manifest.encoder)
            if encoder.identity.sha256 != self._manifest.encoder_sha256:
                raise MismatchError(
                    f"library {self._store.place} was made with {self._manifest.encoder} of SHA-256 "
                    f"{self._manifest.encoder_sha256[:12]}, the one loaded is {encoder.identity.sha256[:12]}"
                )
            checkpoint = checkpoints.pinned(self._manifest.checkpoint, self._manifest.checkpoint_sha256)
            vectorizer = Vectorizer(encoder, checkpoint)
            chunker = Chunker(encoder.tokenizer, tokens=self._manifest.chunk_tokens)
            _log.info("encoding with %s", encoder.backend)
            sizes = list(accumulate((task.size for task in tasks), initial=0))
            for index, task in enumerate(tasks):
                event = IndexEvent(
                    kind="encoding",
                    source=task.source,
                    index=index + 1,
                    total=len(tasks),
                    done_bytes=sizes[index],
                    total_bytes=sizes[-1],
                )
                read = task.text.load() if task.text else next(files)[1]
                outcome = self._publish(task, read, vectorizer, chunker, event)
                kind: Literal["done", "failed"] = "done" if isinstance(outcome, Book) else "failed"
                title = outcome.title if isinstance(outcome, Book) else outcome.reason
                self._observe(
                    replace(
                        event,
                        kind=kind,
                        title=title,
                        done_bytes=sizes[index + 1],
                        tokens=self.tokens,
                        fraction=1.0,
                    )
                )
                yield task, outcome

    def _publish(
        self, task: Task, read: Book | ReadingError, vectorizer: Vectorizer, chunker: Chunker, event: IndexEvent
    ) -> Book | FailedFile:
        if isinstance(read, ReadingError):
            return FailedFile(source=task.source, reason=str(read))
        book = replace(read, id=task.book_id, source=task.source)
        passages = chunker.passages(book.text, book.sections)
        lengths = [passage.tokens for passage in passages]
        total, before, done = sum(lengths), self.tokens, 0

        def progress(count: int) -> None:
            nonlocal done
            self.tokens += sum(lengths[done : done + count])
            done += count
            fraction = (self.tokens - before) / max(1, total)
            self._observe(
                replace(
                    event,
                    title=book.title,
                    tokens=self.tokens,
                    fraction=fraction,
                    done_bytes=event.done_bytes + int(fraction * task.size),
                )
            )

        self._observe(replace(event, title=book.title, tokens=self.tokens))
        try:
            vectors = vectorizer.vectorize(book, passages, progress=progress)
        except EncoderError as error:
            return FailedFile(source=task.source, reason=str(error))
        self._observe(
            replace(
                event,
                kind="publishing",
                title=book.title,
                tokens=self.tokens,
                fraction=1.0,
                done_bytes=event.done_bytes + task.size,
            )
        )
        self._store.publish(book, passages, vectors)
        return book
