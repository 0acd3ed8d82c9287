"""The context of an evaluation: books, rows, checkpoints and vectors, each opened once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, get_args

from nlb_retriever.config import DEFAULT_CHUNK_TOKENS
from nlb_retriever.encoding import DEFAULT_ENCODER, ChunkEncoder
from nlb_retriever.errors import QueryError
from nlb_retriever.model import checkpoint as checkpoints
from nlb_retriever.model.checkpoint import Checkpoint
from nlb_retriever.reader import Reader, find_reader, load_reader
from nlb_training.evaluation.books import (
    BookCollection,
    archive_path,
    archives_of,
    cache_folder,
    data_folder,
    open_collection,
    open_folder,
)
from nlb_training.evaluation.libraries import IndexWatch, build_library
from nlb_training.evaluation.queries import choose_queries
from nlb_training.evaluation.results import Results
from nlb_training.evaluation.rows import Row, keep_within, read_rows
from nlb_training.evaluation.sets import KnownSet
from nlb_training.evaluation.systems import DEFAULT_BASELINES, Space
from nlb_training.evaluation.vectors import ChunkVectors, LazyEncoder, Notice

Task = Literal["similarity", "classification", "multiple-choice", "retrieval", "answers", "reading"]
TASKS: tuple[Task, ...] = get_args(Task)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What to evaluate."""

    tasks: Sequence[str] = TASKS
    data: Path | None = None
    """Folder of the evaluation data; None for $NLB_DATA."""
    questions: Path | None = None
    """The user's rows (JSONL), in place of the data folder's."""
    books: Path | None = None
    """Folder of these rows' books; None for the folder of the file."""
    checkpoints: Sequence[Path | None] = (None,)
    """Folders of the checkpoints to evaluate; None for the released one."""
    baselines: Sequence[str] = DEFAULT_BASELINES
    every: int = 1
    """Use only every n-th query."""
    seeds: Sequence[int] = (0, 1, 2)
    """Of classifiers that are trained for a task."""
    cache: Path | None = None
    """Folder of vectors and libraries; None for `evaluation` under $NLB_HOME."""
    device: str = "auto"
    encoder: ChunkEncoder | None = None
    """Chunk encoder to use; None for the checkpoints' own."""
    reader: Path | None = None
    """Folder of the reader of retrieval, answers and reading; None for the released one."""
    sets: Sequence[str] = ()
    """Of retrieval and answers only sets whose names begin with one of these; all if empty."""


class EvaluationContext:
    """The books, rows, checkpoints and vectors of one evaluation."""

    def __init__(self, settings: Settings, notice: Notice, watch: IndexWatch) -> None:
        self.settings = settings
        self.notice = notice
        self.watch = watch
        self.cache = cache_folder(settings.cache)
        self.data = None if settings.questions else data_folder(settings.data)
        self.evaluated = _with_unique_names([checkpoints.load(folder) for folder in settings.checkpoints])
        self.results = Results()
        self._collections: dict[str, BookCollection] = {}
        self._chunks: dict[tuple[str, int], ChunkVectors] = {}
        self._libraries: dict[tuple[str, str], Path] = {}

    @cached_property
    def reader(self) -> Reader | None:
        """The reader; None if there is none.

        Raises:
            EncoderError: its folder has no whole reader.
        """
        folder = self.settings.reader or find_reader()
        return load_reader(folder, device=self.settings.device) if folder else None

    def collection(self, name: str) -> BookCollection:
        """A collection of the data folder by name; the user's books if there are user's rows."""
        if name not in self._collections:
            if self.data is None:
                assert self.settings.questions is not None
                self._collections[name] = open_folder(self.settings.books or self.settings.questions.parent)
            else:
                self._collections[name] = open_collection(self.data, name, self.cache)
        return self._collections[name]

    def sets(
        self, known: Sequence[KnownSet], own: Callable[[Sequence[Row]], Sequence[tuple[KnownSet, Sequence[Row]]]]
    ) -> Iterator[tuple[KnownSet, BookCollection, Sequence[Row]]]:
        """The available sets with their books and usable rows; problems are added to the results.

        Args:
            known: sets of the data folder.
            own: makes those of the user's rows, if there are any.

        Raises:
            QueryError: there are user's rows, and none is usable.
        """
        if self.settings.questions:
            rows, books = self.rows(self.settings.questions, "")
            yield from ((each, books, fitting) for each, fitting in own(rows))
            return
        assert self.data is not None
        for each in known:
            if self.settings.sets and not each.name.startswith(tuple(self.settings.sets)):
                continue
            file = self.data / "eval" / f"{each.file}.jsonl.bz2"
            archives = (archive_path(self.data, archive) for archive in archives_of(each.collection))
            if missing := [path for path in (file, *archives) if not path.is_file()]:
                self.add_problems([f"{missing[0]} does not exist: {each.name} is skipped"])
                continue
            try:
                rows, books = self.rows(file, each.collection)
            except QueryError as error:
                self.add_problems([f"{each.name} is skipped: {error}"])
                continue
            yield each, books, choose_queries(each, rows, books)

    def rows(self, file: Path, collection: str, query: str | None = None) -> tuple[tuple[Row, ...], BookCollection]:
        """The usable rows of a file, and their books.

        Raises:
            QueryError: none is usable.
        """
        read = read_rows(file, query)
        books = self.collection(collection)
        texts = books.texts({row.file for row in read.rows})
        kept = keep_within(read.rows, texts, str(books.folder), books.unusable)
        self.add_problems((*read.problems, *kept.problems))
        return kept.rows, books

    def library(self, books: BookCollection, checkpoint: Checkpoint) -> Path:
        """A checkpoint's library of a collection, indexed when it is first used."""
        key = books.name, checkpoint.sha256
        if key not in self._libraries:
            self.notice(f"the library of {books.folder} with {checkpoint.name}")
            self._libraries[key] = build_library(books, checkpoint, self.encoder(checkpoint), self.cache, self.watch)
        return self._libraries[key]

    def add_problems(self, problems: Sequence[str]) -> None:
        """Add problems to the results, each once."""
        known = {*self.results.problems}
        self.results.problems += [each for each in dict.fromkeys(problems) if each not in known]

    def space(self, checkpoint: Checkpoint, books: BookCollection, rows: Sequence[Row]) -> Space:
        """Chunk vectors for a checkpoint, with the borders of the rows' spans as chunk borders."""
        borders: dict[str, set[int]] = {}
        for row in rows:
            borders.setdefault(row.file, set()).update(offset for span in row.spans for offset in span)
        return Space(self.chunks(checkpoint), books, {file: sorted(cuts) for file, cuts in borders.items()})

    def chunks(self, checkpoint: Checkpoint) -> ChunkVectors:
        """The chunk vectors for a checkpoint."""
        key = name, tokens = self.encoder(checkpoint)
        if key not in self._chunks:
            encoder = self.settings.encoder or LazyEncoder(name, self.settings.device)
            self._chunks[key] = ChunkVectors(self.cache, encoder, tokens=tokens, notice=self.notice)
        return self._chunks[key]

    def encoder(self, checkpoint: Checkpoint) -> tuple[str, int]:
        """Chunk encoder and chunk length of a checkpoint; of the evaluated ones for the untrained mean."""
        for config in (checkpoint.config, *(each.config for each in self.evaluated)):
            if config.chunk_encoder:
                return (
                    config.chunk_encoder,
                    DEFAULT_CHUNK_TOKENS if config.chunk_tokens is None else config.chunk_tokens,
                )
        return DEFAULT_ENCODER, DEFAULT_CHUNK_TOKENS


def is_mean(checkpoint: Checkpoint) -> bool:
    """Whether a checkpoint is the untrained mean, under any name."""
    return checkpoint.config.weights_sha256 == checkpoints.load(checkpoints.UNTRAINED).config.weights_sha256


def _with_unique_names(checkpoints_: Sequence[Checkpoint]) -> list[Checkpoint]:
    """The checkpoints, renamed so that all names differ."""
    named: list[Checkpoint] = []
    for checkpoint in checkpoints_:
        names = [each.name for each in named]
        name = checkpoint.name
        if name in names:
            name = f"{name} ({checkpoint.folder.name})"
        while name in names:
            name += "'"
        named.append(replace(checkpoint, config=replace(checkpoint.config, name=name)))
    return named
