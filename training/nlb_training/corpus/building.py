"""From files to a corpus: read in worker processes, chunk in a thread, encode, write book by book."""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from nlb_retriever.atomic import TEMPORARY, write_file
from nlb_retriever.config import expand
from nlb_retriever.encoding import ChunkEncoder, EncoderIdentity
from nlb_retriever.encoding.openvino_core import usable_cores
from nlb_retriever.errors import MismatchError, ReadingError, TrainingError
from nlb_retriever.indexing.report import IndexEvent
from nlb_retriever.model.checkpoint import FILES
from nlb_retriever.reading import ReaderPool, discover, hash_file
from nlb_retriever.records import FailedFile, source_of
from nlb_training.corpus.books import (
    BOOKS,
    FORMAT,
    LISTING,
    TEXTS,
    Corpus,
    book_file,
    not_unit,
    read_listing,
    text_file,
    write_listing,
)
from nlb_training.corpus.cutting import Chunking, Cutter
from nlb_training.corpus.jobs import Job, cut_batches, run_ahead
from nlb_training.corpus.storage import CorpusBook, read_book, write_book

BATCH_TOKENS = 32 * 1024
"""Tokens of a batch for the encoder, of one book or several: one or two seconds on a laptop."""
CUDA_BATCH_TOKENS = 512 * 1024
"""The same on a GPU."""
_MODEL_CARD = "README.md"
_CORES_PER_READER = 4
_MAX_READERS = 4

Observer = Callable[[IndexEvent], None]


def build_corpus(
    books: Sequence[str | Path],
    folder: str | Path,
    *,
    encoder: ChunkEncoder,
    chunkings: Sequence[Chunking] = (Chunking(tokens=256),),
    borders: Mapping[str, Sequence[int]] | None = None,
    observer: Observer | None = None,
) -> Corpus:
    """Encode books in every chunking; books that the folder already holds are not encoded again.

    If it is interrupted, the same call continues with the first book that is missing. Books of earlier calls that are
    not among `books` stay on disk, and are not in the result.

    Args:
        books: files, folders and glob patterns.
        folder: of the corpus; made if absent.
        encoder: the chunk encoder.
        chunkings: in each of which every book is encoded.
        borders: name of a book's file -> offsets in its text that no chunk may cross, so that a span between
            two of them is a run of whole chunks.
        observer: called at every step; each book in each chunking counts as one book.

    Returns:
        The corpus; files that could not be used are in `failed`.

    Raises:
        MismatchError: the folder holds vectors of another encoder.
        TrainingError: no book can be used, another process writes there, or the disk is full.
    """
    folder = expand(folder).absolute()
    if len(set(chunkings)) != len(chunkings) or not chunkings:
        raise TrainingError(f"name each chunking once: {', '.join(map(str, chunkings)) or 'there are none'}")
    with _lock_folder(folder):
        run = _Build(folder, encoder, tuple(chunkings), borders or {}, observer)
        corpus = run.execute(books)
        write_listing(folder / LISTING, encoder.identity, corpus)
    return corpus


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; an OSError becomes a TrainingError."""
    try:
        for path in (folder, folder / BOOKS, folder / TEXTS):
            path.mkdir(parents=True, exist_ok=True)
        with (folder / ".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise TrainingError(f"another process is building the corpus at {folder}: wait for it") from error
            for part in folder.rglob(f"*{TEMPORARY}"):  # left by a killed process
                part.unlink(missing_ok=True)
            yield
    except OSError as error:
        raise TrainingError(
            f"cannot write the corpus at {folder} ({error.strerror or error}): the books encoded so far are kept; "
            "make room, then run the same command again to continue"
        ) from error


@dataclass
class _Build:
    folder: Path
    encoder: ChunkEncoder
    chunkings: tuple[Chunking, ...]
    borders: Mapping[str, Sequence[int]]
    observer: Observer | None
    failed: list[FailedFile] = field(default_factory=list)
    warnings: list[tuple[str, str]] = field(default_factory=list)
    tokens: int = 0
    done_bytes: int = 0
    total: int = 0
    total_bytes: int = 0

    def execute(self, inputs: Sequence[str | Path]) -> Corpus:
        listing = read_listing(self.folder / LISTING)
        if listing is None:
            write_listing(self.folder / LISTING, self.encoder.identity, None)
        else:
            _check_encoder(EncoderIdentity(**listing["encoder"]), self.encoder.identity, self.folder)
        files = self._find_files(inputs)
        keys = {
            path: {chunking: self._key(path, digest, chunking) for chunking in self.chunkings}
            for path, digest in files.items()
        }
        missing = {
            path: [chunking for chunking, key in of.items() if not book_file(self.folder, key).exists()]
            for path, of in keys.items()
        }
        todo = {path: of for path, of in missing.items() if of}
        self.total = sum(map(len, todo.values()))
        self.total_bytes = sum(path.stat().st_size for path in todo)
        self._send(IndexEvent(kind="plan"))
        self._encode_all(todo, keys)
        return self._collect(keys)

    def _find_files(self, inputs: Sequence[str | Path]) -> dict[Path, str]:
        """The files to use, with the hash of their bytes."""
        discovered = discover(inputs)
        self.failed += discovered.failed
        files: dict[Path, str] = {}
        first: dict[str, Path] = {}
        for path in discovered.files:
            if path.name == _MODEL_CARD and (path.parent / FILES.weights).exists():
                self.warnings.append((source_of(path), "skipped: the model card of a checkpoint"))
                continue
            try:
                digest = hash_file(path)
            except ReadingError as error:
                self.failed.append(FailedFile(source=source_of(path), reason=str(error)))
                continue
            if digest in first:
                self.warnings.append((source_of(path), f"skipped: the same as {source_of(first[digest])}"))
                continue
            first[digest] = path
            files[path] = digest
        return files

    def _key(self, path: Path, digest: str, chunking: Chunking) -> str:
        identity = self.encoder.identity
        decisive = {
            "format": FORMAT,
            "encoder": [identity.sha256, identity.dim],
            "content": digest,
            "file": path.name.encode(errors="surrogateescape").hex(),
            "chunking": asdict(chunking),
            "borders": sorted(set(self._borders(path))),
        }
        return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:24]

    def _encode_all(self, todo: Mapping[Path, Sequence[Chunking]], keys: Mapping[Path, Mapping[Chunking, str]]) -> None:
        cuda = "cuda" in self.encoder.backend
        readers = min(_MAX_READERS, max(1, usable_cores() // _CORES_PER_READER))
        with ReaderPool(workers=readers) as pool:
            jobs = run_ahead(self._cut(pool, todo, keys))
            for batch in cut_batches(jobs, CUDA_BATCH_TOKENS if cuda else BATCH_TOKENS):
                self._encode(batch)
                for job, _, last in batch:
                    if last == len(job.passages):
                        self._publish(job)

    def _cut(
        self, pool: ReaderPool, todo: Mapping[Path, Sequence[Chunking]], keys: Mapping[Path, Mapping[Chunking, str]]
    ) -> Iterator[Job]:
        """Read and chunk; called in a thread, ahead of the encoder."""
        cutters = {chunking: Cutter(self.encoder.tokenizer, chunking) for chunking in self.chunkings}
        number = 0
        for path, read in pool.read(todo):
            book = None if isinstance(read, ReadingError) else read
            if book:
                text = book.text.encode("utf-8", "surrogatepass")
                write_file(text_file(self.folder, book.content_hash), text)
                self.warnings += [(source_of(path), warning) for warning in book.warnings]
            for chunking in todo[path]:
                number += 1
                passages = cutters[chunking].cut(book.text, book.sections, self._borders(path)) if book else []
                yield Job(
                    number=number,
                    path=path,
                    size=path.stat().st_size // len(todo[path]),
                    key=keys[path][chunking],
                    book=book,
                    chunking=chunking,
                    passages=passages,
                    vectors=np.empty((len(passages), self.encoder.identity.dim), dtype=np.float16),
                    wrong="" if passages else str(read) if book is None else f"{source_of(path)}: holds no text",
                )

    def _borders(self, path: Path) -> Sequence[int]:
        return self.borders.get(path.name, ())

    def _encode(self, batch: Sequence[tuple[Job, int, int]]) -> None:
        """Encode runs of chunks of several books, `(job, first, last)`."""
        texts = [text for job, first, last in batch for text in job.texts(first, last)]
        if not texts:
            return
        vectors = self.encoder.encode(texts)
        begin = 0
        for job, first, last in batch:
            if first == last:
                continue
            own = vectors[begin : begin + last - first]
            begin += last - first
            if not job.wrong and len(bad := not_unit(own)):
                passage = job.passages[first + int(bad[0])]
                job.wrong = (
                    f"{source_of(job.path)}: {self.encoder.identity.name} on {self.encoder.backend} gave no unit "
                    f"vector for characters {passage.start} to {passage.end} ({len(bad)} of {last - first} chunks): "
                    "run `nlb doctor`"
                )
            job.vectors[first:last] = own
            job.done = last
            self.tokens += sum(passage.tokens for passage in job.passages[first:last])
            self._report("encoding", job)

    def _publish(self, job: Job) -> None:
        """Write an encoded book, or record why it failed."""
        if job.wrong or job.book is None:
            self.done_bytes += job.size
            failed = FailedFile(source=source_of(job.path), reason=job.wrong)
            if failed not in self.failed:
                self.failed.append(failed)
            self._send(
                IndexEvent(kind="failed", source=source_of(job.path), title=job.wrong, index=job.number, fraction=1.0)
            )
            return
        spans = np.array([(passage.start, passage.end) for passage in job.passages], dtype=np.int32)
        book = CorpusBook(
            key=job.key,
            file=job.path.name,
            source=source_of(job.path),
            content_hash=job.book.content_hash,
            title=job.book.title,
            author=job.book.author,
            chunking=job.chunking,
            tokens=sum(passage.tokens for passage in job.passages),
            characters=len(job.book.text),
            rows=(0, len(spans)),
        )
        write_book(book_file(self.folder, job.key), book, job.vectors, spans, job.book.sections)
        self._report("done", job)
        self.done_bytes += job.size

    def _collect(self, keys: Mapping[Path, Mapping[Chunking, str]]) -> Corpus:
        """The corpus of these books, in order.

        Raises:
            TrainingError: it is empty.
        """
        books: list[CorpusBook] = []
        row = 0
        for path, of in keys.items():
            for key in of.values():
                if not (file := book_file(self.folder, key)).exists():
                    continue
                book = read_book(file).book
                books.append(replace(book, source=source_of(path), rows=(row, row + len(book))))
                row += len(book)
                if len(book) == 1:
                    warning = f"has only one chunk ({book.chunking})"
                    self.warnings.append((book.source, warning))
        if not books:
            reason = f", the first: {self.failed[0].reason}" if self.failed else ": name files or folders of books"
            raise TrainingError(f"there is no book to train on: {len(self.failed)} cannot be used{reason}")
        return Corpus(
            folder=self.folder,
            encoder=self.encoder.identity,
            books=tuple(books),
            failed=tuple(self.failed),
            warnings=tuple(self.warnings),
        )

    def _report(self, kind: Literal["encoding", "done"], job: Job) -> None:
        fraction = job.done / len(job.passages)
        title = job.book.title if job.book else None
        self._send(
            IndexEvent(
                kind=kind,
                source=source_of(job.path),
                title=title if len(self.chunkings) == 1 else f"{title} ({job.chunking})",
                index=job.number,
                done_bytes=int(fraction * job.size),
                fraction=fraction,
            )
        )

    def _send(self, event: IndexEvent) -> None:
        if self.observer:
            done = min(self.total_bytes, self.done_bytes + event.done_bytes)
            self.observer(
                replace(event, total=self.total, total_bytes=self.total_bytes, done_bytes=done, tokens=self.tokens)
            )


def _check_encoder(mine: EncoderIdentity, other: EncoderIdentity, folder: Path) -> None:
    if (mine.sha256, mine.dim) != (other.sha256, other.dim):
        raise MismatchError(
            f"the corpus at {folder} holds {mine.dim}-d vectors of {mine.name} ({mine.sha256[:12]}), this is "
            f"{other.name} ({other.dim}-d, {other.sha256[:12]}): use the same encoder, or another folder"
        )
