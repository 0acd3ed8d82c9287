"""Retrieval training: heads that bring queries near to the sections, passages and books that answer them.

Softmax cross entropy among the candidates of a step (InfoNCE, van den Oord et al. 2018, arXiv 1807.03748): long
queries and runs of their sentences against all sections of some books, then against those of their own book;
titles likewise; questions against passages; long queries and their sentences against books. One question vector
serves all levels. Sections and books are pooled from random shares of their chunks, so that no chunk decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from nlb_retriever.encoding import Vectors
from nlb_retriever.errors import TrainingError
from nlb_retriever.model.projections import Heads
from nlb_training.data.dataset import Asked, Material
from nlb_training.projections.trainable import TrainedHeads, whiten

_VIEWS = 6
"""Prepared ways in which chunks are left out."""
_HALF, _THIRD = 0.5, 0.3
"""Share of the chunks that a section, or a book, is pooled from."""
_REST = 1e-3
"""Weight of the other chunks: something is left of a section all of whose chunks are left out."""
_TITLES = 128
"""Short queries for sections of a step."""
_RUN = 3
"""Most sentences of a run out of a long query."""
_OWN_BOOK = 0.5
"""Weight of the choice among the sections of a query's own book."""
_SENTENCES, _SHORT, _BOOKS = 0.5, 0.25, 0.25
"""Weights of these terms; long queries for sections and questions for passages weigh 1."""
_NEVER = -1e4
_ROWS = 512
"""Questions whose hard negatives are looked for at once."""

Progress = Callable[[int, int, float], None]


@dataclass(frozen=True, kw_only=True)
class RetrievalSettings:
    """How the heads are trained.

    Raises:
        TrainingError: a number cannot be.
    """

    steps: int = 150
    """Of the optimizer; 0: heads are whitened, not trained."""
    learning_rate: float = 2e-3
    """Adam's at its peak; 10 steps of warm-up, then a cosine to zero."""
    books: int = 24
    """Whose sections are ranked in a step."""
    batch_size: int = 192
    """Long queries of a step, and questions."""
    pool: int = 800
    """Chunks that the questions of a step are kept from, beside those that answer them."""
    hard: int = 10
    """Chunks beside those of the pool that each question is kept from: the nearest to it, by the start's vectors,
    that do not answer it (hard negatives)."""
    runs: int = 1
    """Trainings from the same start, each with its own seed, whose heads are averaged (model soups, arXiv
    2203.05482), so that no seed decides."""
    held_out: float = 0.33
    """Share of the books with examples that a first training leaves out: figures are measured on them and the
    reranker is trained on them. The heads are then trained once more, on all."""
    reranker: bool = True
    """Whether the reranker is trained too."""

    def __post_init__(self) -> None:
        if min(self.steps, self.pool, self.hard) < 0 or min(self.books, self.batch_size, self.runs) < 1:
            raise TrainingError(
                f"steps ({self.steps}), pool ({self.pool}) and hard ({self.hard}) must be 0 or more, "
                f"books ({self.books}), batch_size ({self.batch_size}) and runs ({self.runs}) 1 or more"
            )
        if not 0 < self.learning_rate < math.inf or not 0 <= self.held_out < 1:
            raise TrainingError(
                f"learning_rate ({self.learning_rate}) must be above 0, held_out ({self.held_out}) a share below 1"
            )


def train_heads(
    material: Material,
    books: Tensor,
    settings: RetrievalSettings,
    *,
    seed: int,
    start: Heads | None = None,
    progress: Progress | None = None,
) -> tuple[Heads, list[float]]:
    """Train heads on some of the books; the same arguments give the same bits.

    Args:
        material: to learn from.
        books: numbers of the books to train on; nothing is learnt of others.
        settings: of the training.
        seed: of all that is drawn; no two runs of any two seeds draw the same.
        start: heads to go on from, and to stay near to; None for whitened ones.
        progress: called with each step's number, the number of all, and the loss.

    Returns:
        The heads, and the loss of each step (mean over the runs): none where nothing is asked for, and heads
        are those of the start.

    Raises:
        TrainingError: the loss is no number any more.
    """
    start = start or whiten(material, books)
    total = settings.runs * settings.steps
    tensors: list[dict[str, Vectors]] = []
    losses: list[list[float]] = []
    for number in range(settings.runs):
        random = torch.Generator().manual_seed(seed * settings.runs + number)
        run = _Run(material, books, settings, TrainedHeads(start), random)
        if not run.has_examples or not settings.steps:
            return start, []
        own: list[float] = []
        for loss in _descend(run):
            own.append(loss)
            if progress:
                progress(number * settings.steps + len(own), total, loss)
        losses.append(own)
        tensors.append(run.model.to_heads().tensors())
    means = {name: np.stack([each[name] for each in tensors]).mean(axis=0) for name in tensors[0]}
    return Heads.from_tensors(means, material.chunks.shape[1]), np.mean(losses, axis=0).tolist()


def _descend(run: _Run) -> Iterator[float]:
    """Train a run's model; gives the loss of each step."""
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
    """What the steps of a training draw from."""

    def __init__(
        self,
        material: Material,
        books: Tensor,
        settings: RetrievalSettings,
        model: TrainedHeads,
        random: torch.Generator,
    ) -> None:
        self.material, self.settings, self.model, self.random = material, settings, model, random
        self.books = books
        self.long, self.short = material.long.among(books), material.short.among(books)
        self.works = material.works.among(books)
        known = set(books.tolist())
        self.passages = [row for row in material.passages if row[1] in known]
        self.passage_rows = material.rows(
            torch.tensor(sorted({book for _, book, _ in self.passages}), dtype=torch.long)
        )
        self.hard = self._find_hard()
        count = len(material.chunks)
        self.section_views = [
            material.pool_sections(self._weights(_HALF, count)).half()
            for _ in range(_VIEWS if len(self.long) or len(self.short) else 0)
        ]
        self.book_views = [material.pool_books(self._weights(_THIRD, count))[books] for _ in range(_VIEWS)]

    @property
    def has_examples(self) -> bool:
        return bool(len(self.long) or len(self.short) or len(self.works) or self.passages)

    def loss(self) -> Tensor:
        """The loss of one step, without the penalty."""
        material, model = self.material, self.model
        scales = torch.exp(model.temperatures)
        loss = torch.zeros(())
        if len(self.long):
            rows, ranked = self._section_batch(material.long, self.long, self.settings.batch_size)
            query = material.long.query[rows]
            whole = model.question(material.whole[query], material.averaged[query], material.counts[query])
            parts = self._runs(query)
            loss = loss + self._choose_section(whole, material.long, rows, ranked, scales[0])
            loss = loss + _SENTENCES * self._choose_section(parts, material.long, rows, ranked, scales[1])
            for asked in (whole, parts):
                loss = loss + _BOOKS * self._choose_book(asked, material.long.book[rows], scales[3])
        if len(self.short):
            rows, ranked = self._section_batch(material.short, self.short, _TITLES)
            titles = self._question(material.short.query[rows])
            loss = loss + _SHORT * self._choose_section(titles, material.short, rows, ranked, scales[1])
            if not len(self.long):
                loss = loss + _BOOKS * self._choose_book(titles, material.short.book[rows], scales[3])
        if len(self.works):
            rows = self.works[self._draw(len(self.works), min(_TITLES, len(self.works)))]
            works = self._question(material.works.query[rows])
            loss = loss + _BOOKS * self._choose_book(works, material.works.book[rows], scales[3])
        if self.passages:
            loss = loss + self._choose_passage(scales[2])
        return loss

    def _section_batch(self, asked: Asked, usable: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """Queries for sections of a few books, and these books in order."""
        books = torch.unique(asked.book[usable])
        order = torch.randperm(len(books), generator=self.random)[: self.settings.books]
        some = books[order].sort().values
        rows = usable[torch.isin(asked.book[usable], some)]
        return rows[self._draw(len(rows), count)], some

    def _choose_section(self, query: Tensor, asked: Asked, rows: Tensor, books: Tensor, scale: Tensor) -> Tensor:
        """Cross entropy of the right section (q, D queries) among all of some books, and of each one's own."""
        columns = self.material.section_numbers(books)
        view = self.section_views[int(self._draw(_VIEWS, 1))]
        scores = scale * (query @ self.model.map("section", view[columns].float()).T)  # (q, columns)
        answers, own = asked.answer[rows], asked.book[rows]
        right, never, other = mask_sections(self.material, columns, books, answers, own)
        loss = cross_entropy(scores.masked_fill(never, _NEVER), right)
        return loss + _OWN_BOOK * cross_entropy(scores.masked_fill(never | other, _NEVER), right)

    def _choose_book(self, query: Tensor, books: Tensor, scale: Tensor) -> Tensor:
        view = self.book_views[int(self._draw(_VIEWS, 1))]
        right = torch.searchsorted(self.books, books)
        return cross_entropy(scale * (query @ self.model.map("book", view).T), right)

    def _choose_passage(self, scale: Tensor) -> Tensor:
        """-ln of the share that the chunks that answer a question have together."""
        asked = self._draw(len(self.passages), self.settings.batch_size)
        chosen = [self.passages[row] for row in asked.tolist()]
        query = self._question(torch.tensor([query for query, _, _ in chosen]))
        drawn = self.passage_rows[self._draw(len(self.passage_rows), self.settings.pool)]
        answers = torch.from_numpy(np.concatenate([rows for _, _, rows in chosen]))
        columns = torch.unique(torch.cat([answers, drawn, self.hard[asked].flatten()]))
        right = torch.zeros(len(chosen), len(columns), dtype=torch.bool)
        owners = torch.repeat_interleave(torch.arange(len(chosen)), torch.tensor([len(rows) for _, _, rows in chosen]))
        right[owners, torch.searchsorted(columns, answers)] = True
        scores = scale * (query @ self.model.map("passage", self.material.chunks[columns]).T)
        return (torch.logsumexp(scores, 1) - torch.logsumexp(scores.masked_fill(~right, _NEVER), 1)).mean()

    @torch.no_grad()
    def _find_hard(self) -> Tensor:
        """(p, hard) for each question for passages the nearest chunks that do not answer it."""
        count = min(
            self.settings.hard,
            max(0, len(self.passage_rows) - max((len(rows) for _, _, rows in self.passages), default=0)),
        )
        found = torch.zeros(len(self.passages), count, dtype=torch.long)
        if not count:
            return found
        chunks = self.model.map("passage", self.material.chunks[self.passage_rows])
        for start in range(0, len(self.passages), _ROWS):
            some = self.passages[start : start + _ROWS]
            scores = self._question(torch.tensor([query for query, _, _ in some])) @ chunks.T
            for row, (_, _, answers) in zip(scores, some, strict=True):
                row[torch.searchsorted(self.passage_rows, torch.from_numpy(answers))] = _NEVER
            found[start : start + _ROWS] = self.passage_rows[scores.topk(count, dim=1).indices]
        return found

    def _runs(self, query: Tensor) -> Tensor:
        """One to three sentences that follow each other out of each long query, as questions (q, D)."""
        means, counts = [], []
        for one in query.tolist():
            own = self.material.queries.of(one)
            count = min(len(own), 1 + int(self._draw(_RUN, 1)))
            first = int(self._draw(len(own) - count + 1, 1))
            means.append(own[first : first + count].mean(axis=0))
            counts.append(count)
        vectors = normalize(torch.from_numpy(np.stack(means)), dim=-1)
        return self.model.question(vectors, vectors, torch.tensor(counts, dtype=torch.float32))

    def _question(self, query: Tensor) -> Tensor:
        material = self.material
        return self.model.question(material.whole[query], material.averaged[query], material.counts[query])

    def _draw(self, below: int, count: int) -> Tensor:
        return torch.randint(0, below, (count,), generator=self.random)

    def _weights(self, share: float, count: int) -> Vectors:
        drawn: Vectors = (torch.rand(count, generator=self.random) < share).float().numpy() + np.float32(_REST)
        return drawn


def mask_sections(
    material: Material, columns: Tensor, books: Tensor, answers: Tensor, own: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Which columns are right, which can be neither right nor wrong, and which are of another book.

    Args:
        material: what the numbers are of.
        columns: (c,) numbers of all sections of `books`, in order.
        books: numbers of books, in order.
        answers: (q,) the sections that are right, each one of the columns.
        own: (q,) their books.

    Returns:
        right: (q,) index of each answer's column.
        never: (q, c) bool, True where a section shares text or group with the answer, and is not it.
        other: (q, c) bool, True where a section is of another book than the answer.
    """
    right = torch.searchsorted(columns, answers)
    never = torch.zeros(len(answers), len(columns), dtype=torch.bool)
    other = torch.ones_like(never)
    begin = 0
    for book in books.tolist():
        first, last = int(material.section_rows[book]), int(material.section_rows[book + 1])
        rows = torch.where(own == book)[0]
        end = begin + last - first
        never[rows, begin:end] = material.alike[book][answers[rows] - first]
        other[rows, begin:end] = False
        begin = end
    never[torch.arange(len(answers)), right] = False
    return right, never, other
