"""Systems that score documents for queries: checkpoints and baselines.

A `System` is a name and one or more parts, functions from a `RankingSet` to scores (Q, N). The scores of
several parts are standardised for each query and added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nlb_retriever.encoding import Vectors
from nlb_retriever.errors import EncoderError, QueryError
from nlb_retriever.model import checkpoint as checkpoints
from nlb_retriever.model.checkpoint import Checkpoint
from nlb_retriever.model.vectorizer import Vectorizer
from nlb_retriever.records import Level
from nlb_training.evaluation.books import BookCollection
from nlb_training.evaluation.lexical import WordIndex
from nlb_training.evaluation.metrics import Matrix, standardize
from nlb_training.evaluation.pairs import Item, RankingSet
from nlb_training.evaluation.vectors import ChunkedBook, ChunkVectors

Part = Callable[[RankingSet], Matrix]
BASELINES = ("mean", "first", "max", "bm25", "bm25-plain")
"""Parts that need no training; those joined by "+" are added up. "bm25" has the library's own weights."""
DEFAULT_BASELINES = ("mean", "bm25", "mean+bm25")


@dataclass(frozen=True, kw_only=True)
class System:
    """A way to score documents for queries."""

    name: str
    parts: tuple[Part, ...]
    trained: bool = False
    """Whether it is evaluated, not a baseline."""
    both_ways: bool = True
    """Whether it also ranks queries for documents."""
    fused: bool = False
    """Whether it uses BM25 beside vectors; always true of several parts."""

    def score(self, pairs: RankingSet) -> Matrix:
        """(Q, N) scores, higher is better."""
        if len(self.parts) == 1:
            return self.parts[0](pairs)
        return np.asarray(np.sum([standardize(part(pairs)) for part in self.parts], axis=0))


class Space:
    """The chunk vectors of a collection; each span of its rows is a run of whole chunks."""

    def __init__(self, chunks: ChunkVectors, books: BookCollection, borders: Mapping[str, Sequence[int]]) -> None:
        self.chunks = chunks
        self.collection = books
        self._borders = borders
        self._books: dict[str, ChunkedBook] = {}

    def book(self, file: str) -> ChunkedBook:
        if file not in self._books:
            self._books[file] = self.chunks.book(file, self.collection.text(file), self._borders.get(file, ()))
        return self._books[file]

    def runs(self, items: Sequence[Item]) -> list[tuple[ChunkedBook, tuple[int, int]]]:
        """For each span its book and its run of chunks.

        Raises:
            EncoderError: a span has no text.
        """
        runs = []
        for item in items:
            assert item.span is not None
            try:
                runs.append((self.book(item.file), self.book(item.file).find(item.span)))
            except EncoderError as error:
                raise EncoderError(f"{item.file}: {error}") from error
        return runs

    def vectors(self, items: Sequence[Item], vectorizer: Vectorizer, level: Level) -> Vectors:
        """One row for each item: of a span its section or book vector, of a text its query vector.

        With as many numbers as the level's vectors.
        """
        dim = vectorizer.section_dim if level == "section" else self.chunks.encoder.identity.dim
        result = np.empty((len(items), dim), dtype=np.float32)
        texts = [index for index, item in enumerate(items) if item.span is None]
        for index, raw in zip(texts, self.chunks.questions([items[index].text for index in texts]), strict=True):
            result[index] = vectorizer.project_query(raw).at(level)
        by_file: dict[str, list[int]] = {}
        for index, item in enumerate(items):
            if item.span is not None:
                by_file.setdefault(item.file, []).append(index)
        for file, indexes in by_file.items():
            book = self.book(file)
            runs = [run for _, run in self.runs([items[index] for index in indexes])]
            pooled = vectorizer.pool(book.vectors, runs)
            result[indexes] = pooled.book if level == "book" else pooled.sections[:, :dim]
        return result


def encoder_part(space: Space, checkpoint: Checkpoint) -> Part:
    """Dot product of a checkpoint's query and span vectors.

    Raises:
        MismatchError: the checkpoint is not for this chunk encoder.
    """
    vectorizer = Vectorizer(space.chunks.encoder, checkpoint)
    known: dict[
        tuple[int, Level], tuple[Sequence[Item], Vectors]
    ] = {}  # holds the items, so that their id stays unique

    def vectors(items: Sequence[Item], level: Level) -> Vectors:
        if (id(items), level) not in known:
            known[id(items), level] = (items, space.vectors(items, vectorizer, level))
        return known[id(items), level][1]

    return lambda pairs: vectors(pairs.queries, pairs.level) @ vectors(pairs.documents, pairs.level).T


def _first(space: Space) -> Part:
    """Cosine of a query with a span's first chunk."""
    return _by_chunks(space, lambda cosines, run: cosines[:, run[0]])


def _max(space: Space) -> Part:
    """Cosine of a query with the nearest chunk of a span."""
    return _by_chunks(space, lambda cosines, run: cosines[:, run[0] : run[1]].max(axis=1))


def _by_chunks(space: Space, choose: Callable[[Vectors, tuple[int, int]], Vectors]) -> Part:
    """Scores from the cosines of texts with all chunks of a book (texts, C) and a span's run of chunks."""

    def score(pairs: RankingSet) -> Matrix:
        if pairs.documents[0].span is None:
            return score(pairs.reverse()).T
        texts = np.stack([raw.whole for raw in space.chunks.questions([item.text for item in pairs.queries])])
        result = np.empty((len(texts), len(pairs.documents)), dtype=np.float32)
        cosines: dict[str, Vectors] = {}
        for column, (item, (book, run)) in enumerate(zip(pairs.documents, space.runs(pairs.documents), strict=True)):
            if item.file not in cosines:
                cosines = {item.file: texts @ book.vectors.T}  # only one book's: a set is sorted by book
            result[:, column] = choose(cosines[item.file], run)
        return result

    return score


def check_baselines(names: Sequence[str]) -> None:
    """See that all baselines are known.

    Raises:
        QueryError: one is not.
    """
    for part in (part for name in names for part in name.split("+")):
        if part not in BASELINES:
            raise QueryError(f"no baseline {part!r}: choose from {', '.join(BASELINES)}, or join some with +")


def make_baselines(names: Sequence[str], space: Space) -> list[System]:
    """The baselines of these names, such as "mean", "bm25" and "mean+bm25".

    Raises:
        QueryError: one is not known.
    """
    check_baselines(names)
    return [System(name=name, parts=tuple(_baseline(part, space) for part in name.split("+"))) for name in names]


def make_trained(checkpoint: Checkpoint, name: str, space: Space) -> list[System]:
    """A checkpoint's vectors alone, and with BM25."""
    alone = System(name=name, parts=(encoder_part(space, checkpoint),), trained=True)
    words = _baseline("bm25", space)
    return [alone, replace(alone, name=f"{name}+bm25", parts=(*alone.parts, words))]


def _baseline(name: str, space: Space) -> Part:
    if name == "bm25":
        return lambda pairs: _words(pairs, tuned=True)
    if name == "bm25-plain":
        return lambda pairs: _words(pairs, tuned=False)
    if name == "mean":
        return encoder_part(space, checkpoints.load(checkpoints.UNTRAINED))
    if name == "first":
        return _first(space)
    return _max(space)


def _words(pairs: RankingSet, *, tuned: bool) -> Matrix:
    if pairs.documents[0].span is None:
        # A chapter is too long for a BM25 query, so the scores of the reverse direction are used, standardised for
        # each summary: a long one scores high with all chapters.
        return standardize(_words(pairs.reverse(), tuned=tuned)).T
    queries, documents = ([item.text for item in items] for items in (pairs.queries, pairs.documents))
    return WordIndex(documents, pairs.level if tuned else None).score(queries)
