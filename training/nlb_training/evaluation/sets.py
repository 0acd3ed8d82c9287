"""The sets that are known by name: files of the data folder, and what is asked of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nlb_retriever.records import Level
from nlb_training.evaluation.rows import Row


@dataclass(frozen=True, kw_only=True)
class KnownSet:
    """A file of the data folder, and what is asked of it."""

    name: str
    title: str
    file: str
    """In eval/, without ".jsonl.bz2"."""
    archive: str
    """In corpus/, without ".tar.bz2"."""
    level: Level
    """Of what is looked for."""


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
"""Where the books are whose years corpus/books.tsv tells."""
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
"""Key of own rows that are classified."""


def own_sets(rows: Sequence[Row], *, levels: Sequence[Level]) -> list[tuple[KnownSet, list[Row]]]:
    """What a user's rows can be asked at these levels: those without spans have only a book that answers."""
    found = []
    for level in levels:
        fitting = [row for row in rows if level == "book" or row.spans]
        if fitting:
            known = KnownSet(name=level, title=f"query -> {level}", file="", archive="", level=level)
            found.append((known, fitting))
    return found
