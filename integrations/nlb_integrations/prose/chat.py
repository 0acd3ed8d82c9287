"""A conversation: what was said before belongs to the next question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from nlb_integrations.prose.records import Prose
from nlb_integrations.prose.writer import Writer, Written
from nlb_retriever.records import Answer
from nlb_retriever.text.words import word_ids

_BACKWARDS = re.compile(
    r"\b(?:he|him|his|she|her|hers|it|its|they|them|their|theirs|this|that|these|those|there|then|one|ones)\b",
    re.IGNORECASE,
)
_GOING_ON = re.compile(r"(?:and|but|so|or|then)\b", re.IGNORECASE)
_FEW_WORDS = 2


def search_text(question: str, history: Sequence[Answer]) -> str:
    """What to look for: a question that only makes sense with an earlier one follows the last that stood alone."""
    if not history or not _leans(question):
        return question
    alone = next((turn.question for turn in reversed(history) if not _leans(turn.question)), history[0].question)
    return f"{alone} {question}"


def _leans(question: str) -> bool:
    """Whether a question is about what another one was about.

    A word such as "he" stands for something before it. That is in the question itself where a word that counts came
    first ("What did the man do with his sparrow?"), unless none follows ("What did the butler tell him?").
    """
    if len(word_ids(question)) < _FEW_WORDS or _GOING_ON.match(question):
        return True
    found = list(_BACKWARDS.finditer(question))
    return bool(found) and (not word_ids(question[: found[0].start()]) or not word_ids(question[found[-1].end() :]))


class Chat:
    """Asks a `Writer` with what was said before.

    Args:
        writer: answers.
        options: where to look, as in `Writer.stream`: book, section, where, before.
    """

    def __init__(self, writer: Writer, **options: Any) -> None:
        self._writer = writer
        self._options = options
        self.history: list[Prose] = []
        """The turns so far, the oldest first. A turn that failed or was broken off is not among them."""

    def stream(self, question: str) -> Iterator[Written]:
        """Answer while the model writes: yields and raises what `Writer.stream` does."""
        search = search_text(question, self.history)
        for written in self._writer.stream(question, history=self.history, search=search, **self._options):
            if isinstance(written, Prose):
                self.history.append(written)
            yield written

    def answer(self, question: str) -> Prose:
        """The whole answer at once."""
        return [written for written in self.stream(question) if isinstance(written, Prose)][-1]
