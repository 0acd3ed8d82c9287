"""The sets of the data folder: their files, collections, and what is right for their queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from nlb_retriever.records import Level
from nlb_training.evaluation.books import NOVELS
from nlb_training.evaluation.rows import Row
from nlb_training.training_data import TRAIN_ARCHIVES

SPAN_METRICS = ("mrr", "recall@1", "recall@5", "recall@10", "ndcg@10")
BOOK_METRICS = ("recall@1", "mrr", "recall@5", "ndcg@10")
PASSAGE_METRICS = ("mrr", "recall@1", "recall@5", "recall@20", "recall@50")
ANSWER_METRICS = ("recall@5", "recall@1", "recall@20", "recall@50")


@dataclass(frozen=True, kw_only=True)
class KnownSet:
    """A set of the data folder."""

    name: str
    title: str
    file: str
    """In eval/, without ".jsonl.bz2"."""
    collection: str
    """Of the books, see `books.open_collection`."""
    level: Level
    """Of the hits."""
    right: Literal["span", "answer"] = "span"
    """Whether a hit is right by the rows' spans, or if it holds a human answer (`answer_match`)."""
    in_book: bool = False
    """Whether the right book is given, and only searched."""
    queries: Literal["all", "few-words", "quotes", "statements"] = "all"
    """"few-words": only queries with few words of their evidence; "quotes": made of quotations in summaries;
    "statements": one sentence without names of each."""
    metrics: tuple[str, ...] = SPAN_METRICS
    """Shown, the main one first."""
    leave_out: bool = False
    """Whether its questions are also searched with their book left out, and should then be refused."""


SIMILARITY = (
    KnownSet(
        name="booksum-chapters",
        title="summary -> chapter",
        file="booksum_chapters_val",
        collection="dev",
        level="section",
    ),
    KnownSet(name="booksum-books", title="summary -> book", file="booksum_books_val", collection="dev", level="book"),
)
_TALE_PASSAGES = KnownSet(
    name="fairytaleqa-passage",
    title="question -> passage",
    file="fairytaleqa_val",
    collection="fairytaleqa",
    level="passage",
    metrics=PASSAGE_METRICS,
)
RETRIEVAL = (
    KnownSet(
        name="literaryqa-book",
        title="question -> book",
        file="literaryqa_val_questions",
        collection="dev",
        level="book",
        metrics=BOOK_METRICS,
    ),
    KnownSet(
        name="novels-355-book",
        title="question -> book",
        file="literaryqa_val_questions",
        collection=NOVELS,
        level="book",
        metrics=("ndcg@10", "recall@1", "mrr", "recall@5"),
    ),
    KnownSet(
        name="literaryqa-answer",
        title="question -> passage with an answer",
        file="literaryqa_val_questions",
        collection="dev",
        level="passage",
        right="answer",
        metrics=ANSWER_METRICS,
    ),
    KnownSet(
        name="literaryqa-answer-in-book",
        title="question -> passage with an answer, book given",
        file="literaryqa_val_questions",
        collection="dev",
        level="passage",
        right="answer",
        in_book=True,
        metrics=ANSWER_METRICS,
    ),
    KnownSet(
        name="booksum-section",
        title="summary -> section",
        file="booksum_chapters_val",
        collection="dev",
        level="section",
    ),
    KnownSet(
        name="booksum-statement-section",
        title="sentence of a summary -> section",
        file="booksum_chapters_val",
        collection="dev",
        level="section",
        queries="statements",
    ),
    KnownSet(
        name="booksum-quote-passage",
        title="sentences about a quotation -> the quoted passage",
        file="booksum_chapters_val",
        collection="dev",
        level="passage",
        queries="quotes",
        metrics=("recall@5", "mrr", "recall@1", "recall@20", "recall@50"),
    ),
    _TALE_PASSAGES,
    replace(
        _TALE_PASSAGES,
        name="fairytaleqa-passage-few-words",
        title="question with few words of its evidence -> passage",
        queries="few-words",
    ),
    KnownSet(
        name="openstax-question-section",
        title="question -> section",
        file="openstax_questions_dev",
        collection="openstax",
        level="section",
    ),
    KnownSet(
        name="openstax-summary-section",
        title="summary -> section",
        file="openstax_summaries_dev",
        collection="openstax",
        level="section",
    ),
)
ANSWERS = (
    KnownSet(
        name="fairytaleqa",
        title="question -> answer",
        file="fairytaleqa_val",
        collection="fairytaleqa",
        level="passage",
    ),
    KnownSet(
        name="literaryqa",
        title="question -> answer",
        file="literaryqa_val_questions",
        collection="dev",
        level="passage",
        leave_out=True,
    ),
)
TEXTBOOK_QUESTIONS = KnownSet(
    name="openstax", title="question", file="openstax_questions_dev", collection="openstax", level="passage"
)

CENTURY_ARCHIVES = ("dev", "val", *TRAIN_ARCHIVES)
"""Archives of the books whose years are in corpus/books.tsv."""
ORIGINS = tuple(
    KnownSet(
        name=f"origin-{split}", title="tale -> collection", file=f"fairytaleqa_{split}", collection="fairytaleqa",
        level="book",
    )
    for split in ("train", "val")
)  # fmt: skip
CHOICES = (
    KnownSet(
        name="openstax", title="question -> option", file="openstax_questions_dev", collection="openstax",
        level="section",
    ),
)  # fmt: skip
LABEL = "label"
"""Key of the label in the user's rows."""


def own_sets(rows: Sequence[Row]) -> list[tuple[KnownSet, list[Row]]]:
    """Sets of the user's rows to retrieve: one for each level, and one of those with human answers.

    Rows without spans are not in those of sections and passages.
    """
    sets = own_levels(rows, ("book", "section", "passage"))
    known = KnownSet(
        name="answer", title="query -> passage with an answer", file="", collection="", level="passage",
        right="answer", metrics=ANSWER_METRICS,
    )  # fmt: skip
    answered = _with_answers(rows)
    return [*sets, (known, answered)] if answered else sets


def own_levels(rows: Sequence[Row], levels: Sequence[Level]) -> list[tuple[KnownSet, list[Row]]]:
    """Sets of the user's rows, one for each level; rows without spans are only in that of books."""
    sets = []
    for level in levels:
        fitting = [row for row in rows if level == "book" or row.spans]
        if fitting:
            known = KnownSet(name=level, title=f"query -> {level}", file="", collection="", level=level)
            sets.append((known, fitting))
    return sets


def own_answers(rows: Sequence[Row]) -> list[tuple[KnownSet, list[Row]]]:
    """The set of the user's rows with human answers, if there are any."""
    known = KnownSet(name="own", title="question -> answer", file="", collection="", level="passage")
    answered = _with_answers(rows)
    return [(known, answered)] if answered else []


def _with_answers(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.values.get("answers")]
