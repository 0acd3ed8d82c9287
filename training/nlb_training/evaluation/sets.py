"""The sets of the data folder: their files, collections, and what is right for their queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Literal

from nlb_retriever.records import Level
from nlb_training.evaluation.books import NOVELS
from nlb_training.evaluation.rows import Row
from nlb_training.training_data import TRAIN_ARCHIVES

SPAN_METRICS = ("mrr", "recall@1", "recall@5", "recall@10", "ndcg@10")
BOOK_METRICS = ("recall@1", "mrr", "recall@5", "ndcg@10")
PASSAGE_METRICS = ("mrr", "recall@1", "recall@5", "recall@20", "recall@50")
ANSWER_METRICS = ("recall@5", "recall@1", "recall@20", "recall@50")


@dataclass(frozen=True)
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
    _: KW_ONLY
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
    KnownSet("booksum-chapters", "summary -> chapter", "booksum_chapters_val", "dev", "section"),
    KnownSet("booksum-books", "summary -> book", "booksum_books_val", "dev", "book"),
)
_TALE_PASSAGES = KnownSet(
    "fairytaleqa-passage", "question -> passage", "fairytaleqa_val", "fairytaleqa", "passage", metrics=PASSAGE_METRICS
)
RETRIEVAL = (
    KnownSet("literaryqa-book", "question -> book", "literaryqa_val_questions", "dev", "book", metrics=BOOK_METRICS),
    KnownSet(
        "novels-355-book",
        "question -> book",
        "literaryqa_val_questions",
        NOVELS,
        "book",
        metrics=("ndcg@10", "recall@1", "mrr", "recall@5"),
    ),
    KnownSet(
        "literaryqa-answer",
        "question -> passage with an answer",
        "literaryqa_val_questions",
        "dev",
        "passage",
        right="answer",
        metrics=ANSWER_METRICS,
    ),
    KnownSet(
        "literaryqa-answer-in-book",
        "question -> passage with an answer, book given",
        "literaryqa_val_questions",
        "dev",
        "passage",
        right="answer",
        in_book=True,
        metrics=ANSWER_METRICS,
    ),
    KnownSet("booksum-section", "summary -> section", "booksum_chapters_val", "dev", "section"),
    KnownSet(
        "booksum-statement-section",
        "sentence of a summary -> section",
        "booksum_chapters_val",
        "dev",
        "section",
        queries="statements",
    ),
    KnownSet(
        "booksum-quote-passage",
        "sentences about a quotation -> the quoted passage",
        "booksum_chapters_val",
        "dev",
        "passage",
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
    KnownSet("openstax-question-section", "question -> section", "openstax_questions_dev", "openstax", "section"),
    KnownSet("openstax-summary-section", "summary -> section", "openstax_summaries_dev", "openstax", "section"),
)
ANSWERS = (
    KnownSet("fairytaleqa", "question -> answer", "fairytaleqa_val", "fairytaleqa", "passage"),
    KnownSet("literaryqa", "question -> answer", "literaryqa_val_questions", "dev", "passage", leave_out=True),
)
TEXTBOOK_QUESTIONS = KnownSet("openstax", "question", "openstax_questions_dev", "openstax", "passage")

CENTURY_ARCHIVES = ("dev", "val", *TRAIN_ARCHIVES)
"""Archives of the books whose years are in corpus/books.tsv."""
ORIGINS = tuple(
    KnownSet(f"origin-{split}", "tale -> collection", f"fairytaleqa_{split}", "fairytaleqa", "book")
    for split in ("train", "val")
)
CHOICES = (KnownSet("openstax", "question -> option", "openstax_questions_dev", "openstax", "section"),)
LABEL = "label"
"""Key of the label in the user's rows."""


def own_sets(rows: Sequence[Row]) -> list[tuple[KnownSet, list[Row]]]:
    """Sets of the user's rows to retrieve: one for each level, and one of those with human answers.

    Rows without spans are not in those of sections and passages.
    """
    sets = own_levels(rows, ("book", "section", "passage"))
    known = KnownSet(
        "answer", "query -> passage with an answer", "", "", "passage", right="answer", metrics=ANSWER_METRICS
    )
    answered = _with_answers(rows)
    return [*sets, (known, answered)] if answered else sets


def own_levels(rows: Sequence[Row], levels: Sequence[Level]) -> list[tuple[KnownSet, list[Row]]]:
    """Sets of the user's rows, one for each level; rows without spans are only in that of books."""
    sets = []
    for level in levels:
        fitting = [row for row in rows if level == "book" or row.spans]
        if fitting:
            known = KnownSet(level, f"query -> {level}", "", "", level)
            sets.append((known, fitting))
    return sets


def own_answers(rows: Sequence[Row]) -> list[tuple[KnownSet, list[Row]]]:
    """The set of the user's rows with human answers, if there are any."""
    known = KnownSet("own", "question -> answer", "", "", "passage")
    answered = _with_answers(rows)
    return [(known, answered)] if answered else []


def _with_answers(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.values.get("answers")]
