"""Questions on train books that were written for this project, beside what the retriever found for them in the book.

A large language model read runs of some 560 words of the books and wrote on each what a reader may ask months later,
in other words than the book's (docs/reader.md). `book_questions.jsonl.bz2`, beside this module, has for each question
its "answers" as a person gives them, the "evidence_spans" of the sentences that say so, the "answer_spans" of the
words in them that answer (none where no words do), and its "part": "train", "held" (novels to measure with), or
"other" (books that are no novels; the reader is not trained on them).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from nlb_training.reader.candidates import Candidates, Found
from nlb_training.reader.cloze import content_words
from nlb_training.reader.examples import Example, Span
from nlb_training.reader.ranking import is_right, rank_passages
from nlb_training.training_data import read_jsonl

FILE = Path(__file__).with_name("book_questions.jsonl.bz2")
_NEAR = 1500
"""Characters between the middles of a passage and of the evidence: one so near may tell of the same."""
_RARE = 15
"""Times that a book has one word which answers, from which on a passage that has it too does not answer by that."""


def read_book_questions(part: Literal["train", "held", "other"]) -> list[dict[str, Any]]:
    """The rows of one part, with "id", "question" and "book_file" (a file of corpus/train-*.tar.bz2), see above."""
    rows = [{"id": f"books-{number}", **row} for number, row in enumerate(read_jsonl(FILE))]
    return [row for row in rows if row["part"] == part]


def book_examples(
    rows: Sequence[Mapping[str, Any]],
    texts: Mapping[str, str],
    candidates: Mapping[str, Candidates],
    draw: random.Random,
    *,
    negatives: int,
    lengths: Sequence[int],
) -> Iterator[Example]:
    """The questions, each with a passage that answers and some of the best of its book that do not.

    Args:
        rows: of `read_book_questions`.
        texts: of their books, by file.
        candidates: what the retriever found in the question's book, by the rows' ids.
        draw: of everything random.
        negatives: passages without an answer, a question.
        lengths: tokens of a passage, one of them at random; longer passages are cut around what matters in them.
    """
    for row in rows:
        text = texts[row["book_file"]]
        found = candidates[row["id"]].found
        answers = [(start, end) for start, end in row["answer_spans"]]
        wrong = [each for each in found if not (is_right(each, row) or _may_be_right(each, row, text, answers))]
        made = rank_passages("books", row, text, answers, found, wrong, draw, negatives=negatives, lengths=lengths)
        if made:
            yield made


def _may_be_right(found: Found, row: Mapping[str, Any], text: str, answers: Sequence[Span]) -> bool:
    """Whether a passage may answer although nobody marked it: it is near the evidence, or has the words that answer."""
    middle = (found.start + found.end) / 2
    if any(abs(middle - (start + end) / 2) < _NEAR for start, end in row["evidence_spans"]):
        return True
    own = content_words(found.text)
    for start, end in answers:
        words = content_words(text[start:end])
        if words and words <= own and (len(words) > 1 or text.count(text[start:end]) < _RARE):
            return True
    return False
