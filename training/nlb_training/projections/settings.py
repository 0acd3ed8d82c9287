"""Settings of retrieval training; without torch, so that a preset is read quickly."""

from __future__ import annotations

from dataclasses import dataclass

from nlb_training.settings import check_numbers


@dataclass(frozen=True, kw_only=True)
class RetrievalSettings:
    """How the projections are trained.

    Raises:
        TrainingError: a number is out of range.
    """

    steps: int = 150
    """Of the optimizer; 0: projections are whitened, not trained. With 0 and projections to start from only the
    reranker is trained, on all books: they should be new to the start."""
    learning_rate: float = 2e-3
    """Adam's at its peak; 10 steps of warm-up, then a cosine to zero."""
    books: int = 24
    """Number of books whose sections are ranked in a step."""
    batch_size: int = 192
    """Long queries of a step, and questions."""
    pool: int = 800
    """Random chunks that are negatives of the questions of a step."""
    hard: int = 10
    """Hard negatives of each question: the chunks most similar to it, by the initial vectors, that are no answers."""
    runs: int = 1
    """Trainings from the same start, each with its own seed, whose results are averaged (model soups, arXiv
    2203.05482)."""
    held_out: float = 0.33
    """Share of the books with examples that a first training leaves out, to measure on and to train the reranker on.
    The projections are then trained again, on all books."""
    reranker: bool = True
    """Whether the reranker is trained too."""

    def __post_init__(self) -> None:
        check_numbers(
            self,
            counts=("books", "batch_size", "runs"),
            positive=("learning_rate",),
            shares=("held_out",),
            least_zero=("steps", "pool", "hard"),
        )
