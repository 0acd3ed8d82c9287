"""Jobs of building a corpus: books chunked ahead of the encoder, in batches over several books."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from nlb_retriever.records import Book, Passage
from nlb_training.corpus.cutting import Chunking
from nlb_training.corpus.storage import ChunkVectors


@dataclass(kw_only=True)
class Job:
    """One book in one chunking."""

    number: int
    """Of all jobs, from 1."""
    path: Path
    size: int
    """Its share of the file's bytes, for progress."""
    key: str
    book: Book | None
    """None if it cannot be read."""
    chunking: Chunking
    passages: list[Passage]
    vectors: ChunkVectors
    done: int = 0
    """Chunks encoded."""
    wrong: str = ""
    """Why it cannot be used."""

    def texts(self, first: int, last: int) -> list[str]:
        """Texts of chunks `[first, last)`."""
        text = self.book.text if self.book else ""
        return [text[passage.start : passage.end] for passage in self.passages[first:last]]


def cut_batches(jobs: Iterable[Job], tokens: int) -> Iterator[list[tuple[Job, int, int]]]:
    """Batches of chunk runs `(job, first, last)`; all but the last have at least `tokens` tokens."""
    batch: list[tuple[Job, int, int]] = []
    size = 0
    for job in jobs:
        first = 0
        for index, passage in enumerate(job.passages, start=1):
            size += passage.tokens
            if size >= tokens and index < len(job.passages):
                yield [*batch, (job, first, index)]
                batch, size, first = [], 0, index
        batch.append((job, first, len(job.passages)))
        if size >= tokens:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def run_ahead(jobs: Iterator[Job]) -> Iterator[Job]:
    """The same jobs; the next one is made in a thread meanwhile."""
    thread = ThreadPoolExecutor(1, thread_name_prefix="cutter")
    try:
        pending = thread.submit(next, jobs, None)
        while (job := pending.result()) is not None:
            pending = thread.submit(next, jobs, None)
            yield job
    finally:
        thread.shutdown(wait=False, cancel_futures=True)
