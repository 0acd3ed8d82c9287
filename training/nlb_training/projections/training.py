"""Retrieval training: projections that bring queries close to the sections, passages and books that answer them.

Softmax cross entropy among the candidates of a step (InfoNCE, van den Oord et al. 2018, arXiv 1807.03748): long
queries and runs of their sentences against all sections of some books, then against those of their own book;
titles likewise; questions against passages; long queries and their sentences against books. One query vector
serves all levels. Sections and books are pooled from random subsets of their chunks, a kind of dropout.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from nlb_retriever.encoding import Vectors
from nlb_retriever.errors import TrainingError
from nlb_retriever.model.projections import Projections
from nlb_training.data.dataset import QuerySet, RetrievalDataset
from nlb_training.projections.settings import RetrievalSettings
from nlb_training.projections.trainable import TrainableProjections, whiten

_VIEWS = 6
"""Number of random chunk subsets, drawn once."""
_SECTION_SHARE, _BOOK_SHARE = 0.5, 0.3
"""Share of the chunks in the subset that a section, or a book, is pooled from."""
_DROPPED_WEIGHT = 1e-3
"""Weight of the other chunks, so that a section without chunks in the subset still has a vector."""
_SHORT_BATCH = 128
"""Short queries for sections of a step, and queries for books."""
_MAX_RUN = 3
"""Maximum number of sentences of a run from a long query."""
_OWN_BOOK = 0.5
"""Weight of the choice among the sections of a query's own book."""
_SENTENCES, _SHORT, _BOOKS = 0.5, 0.25, 0.25
"""Weights of these terms; long queries for sections and questions for passages weigh 1."""
_MASKED = -1e4
_ROWS = 512
"""Questions of a batch in the search for hard negatives."""

Progress = Callable[[int, float], None]


def train_projections(
    dataset: RetrievalDataset,
    books: Tensor,
    settings: RetrievalSettings,
    *,
    seed: int,
    start: Projections | None = None,
    progress: Progress | None = None,
) -> tuple[Projections, list[float]]:
    """Train projections on some of the books; the same arguments give the same bits.

    Args:
        dataset: to train on.
        books: indexes of the books to train on; the others are not used.
        settings: of the training.
        seed: of all random choices; different for every run of every seed.
        start: initial projections, which a penalty keeps the result close to; None for whitened ones.
        progress: called with each step's number, of those of all runs, and the loss.

    Returns:
        The projections, and the loss of each step (mean over the runs). Without examples there are no losses, and
        the projections are those of the start.

    Raises:
        TrainingError: the loss is NaN or infinite.
    """
    start = start or whiten(dataset, books)
    tensors: list[dict[str, Vectors]] = []
    losses: list[list[float]] = []
    for number in range(settings.runs):
        random = torch.Generator().manual_seed(seed * settings.runs + number)
        run = _Run(dataset, books, settings, TrainableProjections(start), random)
        if not run.has_examples or not settings.steps:
            return start, []
        own: list[float] = []
        for loss in _descend(run):
            own.append(loss)
            if progress:
                progress(number * settings.steps + len(own), loss)
        losses.append(own)
        tensors.append(run.model.to_projections().tensors())
    means = {name: np.stack([each[name] for each in tensors]).mean(axis=0) for name in tensors[0]}
    return Projections.from_tensors(means, dataset.chunks.shape[1]), np.mean(losses, axis=0).tolist()


def _descend(run: _Run) -> Iterator[float]:
    """Train a run's model; yields the loss of each step."""
    steps = run.settings.steps
    optimizer = torch.optim.Adam(run.model.parameters(), lr=run.settings.learning_rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / 10) * 0.5 * (1 + math.cos(math.pi * step / steps))
    )
    for step in range(steps):
        loss = run.loss() + run.model.penalty()
        if not torch.isfinite(loss):
            raise TrainingError(
                f"the loss of retrieval training is {loss.item()} at step {step + 1}: "
                "lower the learning rate (--set retrieval.learning_rate=1e-3)"
            )
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        yield loss.item()


class _Run:
    """One training: its batches and its loss."""

    def __init__(
        self,
        dataset: RetrievalDataset,
        books: Tensor,
        settings: RetrievalSettings,
        model: TrainableProjections,
        random: torch.Generator,
    ) -> None:
        self.dataset, self.settings, self.model, self.random = dataset, settings, model, random
        self.books = books
        self.long, self.short = dataset.long_queries.among(books), dataset.short_queries.among(books)
        self.whole_books = dataset.book_queries.among(books)
        known = set(books.tolist())
        self.passages = [row for row in dataset.passage_queries if row[1] in known]
        self.passage_rows = dataset.rows(torch.tensor(sorted({book for _, book, _ in self.passages}), dtype=torch.long))
        self.hard = self._find_hard()
        count = len(dataset.chunks)
        self.section_views = [
            dataset.pool_sections(self._draw_weights(_SECTION_SHARE, count)).half()
            for _ in range(_VIEWS if len(self.long) or len(self.short) else 0)
        ]
        self.book_views = [dataset.pool_books(self._draw_weights(_BOOK_SHARE, count))[books] for _ in range(_VIEWS)]

    @property
    def has_examples(self) -> bool:
        return bool(len(self.long) or len(self.short) or len(self.whole_books) or self.passages)

    def loss(self) -> Tensor:
        """The loss of one step, without the penalty."""
        dataset, scales = self.dataset, torch.exp(self.model.temperatures)
        loss = torch.zeros(())
        if len(self.long):
            rows, ranked = self._section_batch(dataset.long_queries, self.long, self.settings.batch_size)
            query = dataset.long_queries.query[rows]
            whole = self._query(query)
            parts = self._draw_runs(query)
            loss = loss + self._section_loss(whole, dataset.long_queries, rows, ranked, scales[0])
            loss = loss + _SENTENCES * self._section_loss(parts, dataset.long_queries, rows, ranked, scales[1])
            for vectors in (whole, parts):
                loss = loss + _BOOKS * self._book_loss(vectors, dataset.long_queries.book[rows], scales[3])
        if len(self.short):
            rows, ranked = self._section_batch(dataset.short_queries, self.short, _SHORT_BATCH)
            titles = self._query(dataset.short_queries.query[rows])
            loss = loss + _SHORT * self._section_loss(titles, dataset.short_queries, rows, ranked, scales[1])
            if not len(self.long):
                loss = loss + _BOOKS * self._book_loss(titles, dataset.short_queries.book[rows], scales[3])
        if len(self.whole_books):
            count = min(_SHORT_BATCH, len(self.whole_books))
            rows = self.whole_books[self._draw(len(self.whole_books), count)]
            queries = self._query(dataset.book_queries.query[rows])
            loss = loss + _BOOKS * self._book_loss(queries, dataset.book_queries.book[rows], scales[3])
        if self.passages:
            loss = loss + self._passage_loss(scales[2])
        return loss

    def _section_batch(self, queries: QuerySet, usable: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """Queries for sections of a few books, and these books in order."""
        books = torch.unique(queries.book[usable])
        order = torch.randperm(len(books), generator=self.random)[: self.settings.books]
        chosen = books[order].sort().values
        rows = usable[torch.isin(queries.book[usable], chosen)]
        return rows[self._draw(len(rows), count)], chosen

    def _section_loss(self, query: Tensor, queries: QuerySet, rows: Tensor, books: Tensor, scale: Tensor) -> Tensor:
        """Cross entropy of the right section (q, D queries) among all of some books, and of each one's own."""
        columns = self.dataset.section_numbers(books)
        view = self.section_views[int(self._draw(_VIEWS, 1))]
        scores = scale * (query @ self.model.project("section", view[columns].float()).T)  # (q, columns)
        answers, own = queries.answer[rows], queries.book[rows]
        right, ignored, other = mask_sections(self.dataset, columns, books, answers, own)
        loss = cross_entropy(scores.masked_fill(ignored, _MASKED), right)
        return loss + _OWN_BOOK * cross_entropy(scores.masked_fill(ignored | other, _MASKED), right)

    def _book_loss(self, query: Tensor, books: Tensor, scale: Tensor) -> Tensor:
        view = self.book_views[int(self._draw(_VIEWS, 1))]
        right = torch.searchsorted(self.books, books)
        return cross_entropy(scale * (query @ self.model.project("book", view).T), right)

    def _passage_loss(self, scale: Tensor) -> Tensor:
        """-ln of the probability of all chunks that answer a question together."""
        drawn = self._draw(len(self.passages), self.settings.batch_size)
        chosen = [self.passages[row] for row in drawn.tolist()]
        query = self._query(torch.tensor([query for query, _, _ in chosen]))
        pool = self.passage_rows[self._draw(len(self.passage_rows), self.settings.pool)]
        answers = torch.from_numpy(np.concatenate([rows for _, _, rows in chosen]))
        columns = torch.unique(torch.cat([answers, pool, self.hard[drawn].flatten()]))
        right = torch.zeros(len(chosen), len(columns), dtype=torch.bool)
        owners = torch.repeat_interleave(torch.arange(len(chosen)), torch.tensor([len(rows) for _, _, rows in chosen]))
        right[owners, torch.searchsorted(columns, answers)] = True
        scores = scale * (query @ self.model.project("passage", self.dataset.chunks[columns]).T)
        return (torch.logsumexp(scores, 1) - torch.logsumexp(scores.masked_fill(~right, _MASKED), 1)).mean()

    @torch.no_grad()
    def _find_hard(self) -> Tensor:
        """(p, hard), for each question the most similar chunks that do not answer it."""
        count = min(
            self.settings.hard,
            max(0, len(self.passage_rows) - max((len(rows) for _, _, rows in self.passages), default=0)),
        )
        hard = torch.zeros(len(self.passages), count, dtype=torch.long)
        if not count:
            return hard
        chunks = self.model.project("passage", self.dataset.chunks[self.passage_rows])
        for start in range(0, len(self.passages), _ROWS):
            batch = self.passages[start : start + _ROWS]
            scores = self._query(torch.tensor([query for query, _, _ in batch])) @ chunks.T
            for row, (_, _, answers) in zip(scores, batch, strict=True):
                row[torch.searchsorted(self.passage_rows, torch.from_numpy(answers))] = _MASKED
            hard[start : start + _ROWS] = self.passage_rows[scores.topk(count, dim=1).indices]
        return hard

    def _draw_runs(self, query: Tensor) -> Tensor:
        """One to three consecutive sentences of each long query, as query vectors (q, D)."""
        means, counts = [], []
        for one in query.tolist():
            own = self.dataset.queries.of(one)
            count = min(len(own), 1 + int(self._draw(_MAX_RUN, 1)))
            first = int(self._draw(len(own) - count + 1, 1))
            means.append(own[first : first + count].mean(axis=0))
            counts.append(count)
        vectors = normalize(torch.from_numpy(np.stack(means)), dim=-1)
        return self.model.query(vectors, vectors, torch.tensor(counts, dtype=torch.float32))

    def _query(self, query: Tensor) -> Tensor:
        dataset = self.dataset
        return self.model.query(dataset.whole[query], dataset.sentence_means[query], dataset.sentence_counts[query])

    def _draw(self, below: int, count: int) -> Tensor:
        return torch.randint(0, below, (count,), generator=self.random)

    def _draw_weights(self, share: float, count: int) -> Vectors:
        kept = (torch.rand(count, generator=self.random) < share).float().numpy()
        weights: Vectors = kept + np.float32(_DROPPED_WEIGHT)
        return weights


def mask_sections(
    dataset: RetrievalDataset, columns: Tensor, books: Tensor, answers: Tensor, own: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Which columns are right, which are ignored, and which belong to another book.

    Args:
        dataset: that the indexes refer to.
        columns: (c,) indexes of all sections of `books`, in order.
        books: indexes of books, in order.
        answers: (q,) indexes of the right sections, each one of the columns.
        own: (q,) their books.

    Returns:
        right: (q,) column of each answer.
        ignored: (q, c) bool, True for other sections that share text or group with the answer.
        other: (q, c) bool, True for sections of another book than the answer's.
    """
    right = torch.searchsorted(columns, answers)
    ignored = torch.zeros(len(answers), len(columns), dtype=torch.bool)
    other = torch.ones_like(ignored)
    begin = 0
    for book in books.tolist():
        first, last = int(dataset.section_rows[book]), int(dataset.section_rows[book + 1])
        rows = torch.where(own == book)[0]
        end = begin + last - first
        ignored[rows, begin:end] = dataset.overlapping[book][answers[rows] - first]
        other[rows, begin:end] = False
        begin = end
    ignored[torch.arange(len(answers)), right] = False
    return right, ignored, other
