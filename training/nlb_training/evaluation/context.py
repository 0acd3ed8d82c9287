"""What one evaluation has at hand: books, rows, checkpoints and vector spaces, each opened once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from nlb_retriever.config import DEFAULT_CHUNK_TOKENS
from nlb_retriever.encoding import DEFAULT_ENCODER, ChunkEncoder
from nlb_retriever.errors import QueryError
from nlb_retriever.model import checkpoint as checkpoints
from nlb_retriever.model.checkpoint import Checkpoint
from nlb_retriever.records import Level
from nlb_training.evaluation.books import Shelf, archive_of, cache_folder, data_folder, open_archive, open_folder
from nlb_training.evaluation.results import Results
from nlb_training.evaluation.rows import Row, keep_within, read_rows
from nlb_training.evaluation.sets import KnownSet, own_sets
from nlb_training.evaluation.systems import DEFAULT_BASELINES, Space, System
from nlb_training.evaluation.vectors import ChunkVectors, LateEncoder, Notice

Task = Literal["similarity", "classification", "multiple-choice", "retrieval"]
TASKS: tuple[Task, ...] = ("similarity", "classification", "multiple-choice", "retrieval")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What to evaluate."""

    tasks: Sequence[str] = TASKS
    data: Path | None = None
    """Folder of the evaluation data; None for $NLB_DATA."""
    questions: Path | None = None
    """Own rows (JSONL), which are taken instead of the data folder's."""
    books: Path | None = None
    """Folder of the own rows' books; None for the folder that the rows are in."""
    checkpoints: Sequence[Path | None] = (None,)
    """Folders of what is judged; None for the released one."""
    baselines: Sequence[str] = DEFAULT_BASELINES
    systems: Sequence[Callable[[Space], System]] = ()
    """Makers of further systems for similarity."""
    every: int = 1
    """Ask only every n-th query."""
    seeds: Sequence[int] = (0, 1, 2)
    """Of what is trained for a task (classifiers)."""
    cache: Path | None = None
    """Where vectors and libraries are kept; None for `evaluation` under $NLB_HOME."""
    device: str = "auto"
    encoder: ChunkEncoder | None = None
    """Chunk encoder to use; None for the checkpoints' own."""


class Bench:
    """The books, rows and vector spaces of one evaluation, each opened once."""

    def __init__(self, settings: Settings, notice: Notice) -> None:
        self.settings = settings
        self.notice = notice
        self.cache = cache_folder(settings.cache)
        self.data = None if settings.questions else data_folder(settings.data)
        self.judged = _distinct([checkpoints.load(folder) for folder in settings.checkpoints])
        self.results = Results()
        self._shelves: dict[str, Shelf] = {}
        self._chunks: dict[tuple[str, int], ChunkVectors] = {}

    def shelf(self, name: str) -> Shelf:
        """A collection of the data folder by name; the own books, where own rows are given."""
        if name not in self._shelves:
            if self.data is None:
                assert self.settings.questions is not None
                self._shelves[name] = open_folder(self.settings.books or self.settings.questions.parent)
            else:
                self._shelves[name] = open_archive(self.data, name, self.cache)
        return self._shelves[name]

    def sets(
        self, known: Sequence[KnownSet], own_levels: Sequence[Level]
    ) -> Iterator[tuple[KnownSet, Shelf, Sequence[Row]]]:
        """The sets that are there, with their books and usable rows; what cannot be used is named in the results.

        Args:
            known: of the data folder.
            own_levels: at which own rows are asked, where there are any.

        Raises:
            QueryError: own rows are given, and none is usable.
        """
        if self.settings.questions:
            rows, shelf = self.rows(self.settings.questions, "")
            yield from ((each, shelf, fitting) for each, fitting in own_sets(rows, levels=own_levels))
            return
        assert self.data is not None
        for each in known:
            file = self.data / "eval" / f"{each.file}.jsonl.bz2"
            if absent := [place for place in (file, archive_of(self.data, each.archive)) if not place.is_file()]:
                self.blame([f"{absent[0]} is not there: {each.name} is left out"])
                continue
            try:
                rows, shelf = self.rows(file, each.archive)
            except QueryError as error:
                self.blame([f"{each.name} is left out: {error}"])
                continue
            yield each, shelf, rows

    def rows(self, file: Path, archive: str, query: str | None = None) -> tuple[tuple[Row, ...], Shelf]:
        """The usable rows of a file, and their books.

        Raises:
            QueryError: none is usable.
        """
        read = read_rows(file, query)
        shelf = self.shelf(archive)
        kept = keep_within(read.rows, shelf.lengths({row.file for row in read.rows}), str(shelf.folder))
        self.blame((*read.problems, *kept.problems, *shelf.unreadable.values()))
        return kept.rows, shelf

    def blame(self, problems: Sequence[str]) -> None:
        """Remember what could not be used, once."""
        self.results.problems += [each for each in problems if each not in self.results.problems]

    def space(self, checkpoint: Checkpoint, shelf: Shelf, rows: Sequence[Row]) -> Space:
        """Chunk vectors for a checkpoint, cut where the rows' spans begin and end."""
        borders: dict[str, set[int]] = {}
        for row in rows:
            borders.setdefault(row.file, set()).update(offset for span in row.spans for offset in span)
        return Space(self.chunks(checkpoint), shelf, {file: sorted(cuts) for file, cuts in borders.items()})

    def chunks(self, checkpoint: Checkpoint) -> ChunkVectors:
        """The vectors that a checkpoint is fed with."""
        key = name, tokens = self.encoder(checkpoint)
        if key not in self._chunks:
            encoder = self.settings.encoder or LateEncoder(name, self.settings.device)
            self._chunks[key] = ChunkVectors(self.cache, encoder, tokens=tokens, notice=self.notice)
        return self._chunks[key]

    def encoder(self, checkpoint: Checkpoint) -> tuple[str, int]:
        """The chunk encoder and chunk length that a checkpoint wants; the untrained mean takes those of the judged."""
        for config in (checkpoint.config, *(each.config for each in self.judged)):
            if config.chunk_encoder:
                return (
                    config.chunk_encoder,
                    DEFAULT_CHUNK_TOKENS if config.chunk_tokens is None else config.chunk_tokens,
                )
        return DEFAULT_ENCODER, DEFAULT_CHUNK_TOKENS


def is_mean(checkpoint: Checkpoint) -> bool:
    """Whether a checkpoint is the untrained mean, under whatever name."""
    return checkpoint.config.weights_sha256 == checkpoints.load(checkpoints.UNTRAINED).config.weights_sha256


def _distinct(found: Sequence[Checkpoint]) -> list[Checkpoint]:
    """Checkpoints under names that tell them apart."""
    named: list[Checkpoint] = []
    for checkpoint in found:
        names = [each.name for each in named]
        name = checkpoint.name
        if name in names:
            name = f"{name} ({checkpoint.folder.name})"
        while name in names:
            name += "'"
        named.append(replace(checkpoint, config=replace(checkpoint.config, name=name)))
    return named
