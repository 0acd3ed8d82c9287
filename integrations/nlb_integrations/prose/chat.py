"""A conversation: a question may follow up earlier ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from nlb_integrations.prose.records import Prose
from nlb_integrations.prose.writer import StreamItem, Writer
from nlb_retriever.records import Answer
from nlb_retriever.text.words import word_ids

_PRONOUNS = re.compile(
    r"\b(?:he|him|his|she|her|hers|it|its|they|them|their|theirs|this|that|these|those|there|then|one|ones)\b",
    re.IGNORECASE,
)
_CONJUNCTIONS = re.compile(r"(?:and|but|so|or|then)\b", re.IGNORECASE)
_FEW_WORDS = 2


def make_query(question: str, history: Sequence[Answer]) -> str:
    """What to search for: before a follow-up question goes the last one that is complete without another."""
    if not history or not _is_follow_up(question):
        return question
    questions = [turn.question for turn in history]
    complete = next((each for each in reversed(questions) if not _is_follow_up(each)), questions[0])
    return f"{complete} {question}"


def _is_follow_up(question: str) -> bool:
    """Whether a question only makes sense with an earlier one.

    A word such as "he" refers to something before it. That is in the question itself where a word that counts comes
    first ("What did the man do with his sparrow?"), unless none follows ("What did the butler tell him?").
    """
    if len(word_ids(question)) < _FEW_WORDS or _CONJUNCTIONS.match(question):
        return True
    pronouns = list(_PRONOUNS.finditer(question))
    if not pronouns:
        return False
    return not word_ids(question[: pronouns[0].start()]) or not word_ids(question[pronouns[-1].end() :])


class Chat:
    """Asks a `Writer` questions, with the turns before.

    Args:
        writer: answers.
        options: of `Writer.stream`: book, section, where, before.
    """

    def __init__(self, writer: Writer, **options: Any) -> None:
        self._writer = writer
        self._options = options
        self.history: list[Prose] = []
        """The turns so far, the oldest first. A turn that failed or was cancelled is not among them."""

    def stream(self, question: str) -> Iterator[StreamItem]:
        """Answer while the model writes: yields and raises what `Writer.stream` does."""
        query = make_query(question, self.history)
        for item in self._writer.stream(question, history=self.history, query=query, **self._options):
            if isinstance(item, Prose):
                self.history.append(item)
            yield item

    def answer(self, question: str) -> Prose:
        """The whole answer at once."""
        return [item for item in self.stream(question) if isinstance(item, Prose)][-1]
