"""The sets of the data folder: their files and levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nlb_retriever.records import Level
from nlb_training.evaluation.rows import Row


@dataclass(frozen=True, kw_only=True)
class KnownSet:
    """A set of the data folder."""

    name: str
    title: str
    file: str
    """In eval/, without ".jsonl.bz2"."""
    archive: str
    """In corpus/, without ".tar.bz2"."""
    level: Level
    """Of the hits."""


SIMILARITY = (
    KnownSet(
        name="booksum-chapters",
        title="summary -> chapter",
        file="booksum_chapters_val",
        archive="dev",
        level="section",
    ),
    KnownSet(name="booksum-books", title="summary -> book", file="booksum_books_val", archive="dev", level="book"),
)
RETRIEVAL = (
    KnownSet(
        name="literaryqa-book",
        title="question -> book",
        file="literaryqa_val_questions",
        archive="dev",
        level="book",
    ),
    KnownSet(
        name="booksum-section",
        title="summary -> section",
        file="booksum_chapters_val",
        archive="dev",
        level="section",
    ),
    KnownSet(
        name="fairytaleqa-passage",
        title="question -> passage",
        file="fairytaleqa_val",
        archive="fairytaleqa",
        level="passage",
    ),
    KnownSet(
        name="openstax-question-section",
        title="question -> section",
        file="openstax_questions_dev",
        archive="openstax",
        level="section",
    ),
    KnownSet(
        name="openstax-summary-section",
        title="summary -> section",
        file="openstax_summaries_dev",
        archive="openstax",
        level="section",
    ),
)

CENTURY_ARCHIVES = ("dev", "val", "train-00", "train-01", "train-02")
"""Archives of the books whose years are in corpus/books.tsv."""
ORIGINS = tuple(
    KnownSet(
        name=f"origin-{split}", title="tale -> collection", file=f"fairytaleqa_{split}", archive="fairytaleqa",
        level="book",
    )
    for split in ("train", "val")
)  # fmt: skip
CHOICES = (
    KnownSet(
        name="openstax", title="question -> option", file="openstax_questions_dev", archive="openstax", level="section"
    ),
)
LABEL = "label"
"""Key of the label in the user's rows."""


def own_sets(rows: Sequence[Row], *, levels: Sequence[Level]) -> list[tuple[KnownSet, list[Row]]]:
    """Sets of the user's rows, one for each level; rows without spans are only in that of books."""
    sets = []
    for level in levels:
        fitting = [row for row in rows if level == "book" or row.spans]
        if fitting:
            known = KnownSet(name=level, title=f"query -> {level}", file="", archive="", level=level)
            sets.append((known, fitting))
    return sets
