"""What a language model wrote, after it was checked against the passages that it was given."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from nlb_retriever.records import Answer, Hit


@dataclass(frozen=True, kw_only=True)
class ProseSentence:
    """One sentence of an answer."""

    text: str
    """As the model wrote it, without numbers of citations."""
    citations: tuple[int, ...]
    """Numbers of the citations that bear it out, from 1; empty where none does."""
    supported: bool
    """Whether a passage bears it out. The sentence by which the model declines to answer needs none."""

    def to_json(self) -> dict[str, Any]:
        return {"text": self.text, "citations": list(self.citations), "supported": self.supported}


@dataclass(frozen=True, kw_only=True)
class Prose(Answer):
    """An answer in a language model's words; `citations[n - 1]` is what `[n]` in it stands for.

    `found` is False where nothing in the library is near the question (then the model was not asked), or where the
    model said that the passages do not answer it.
    """

    sentences: tuple[ProseSentence, ...] = ()
    model: str | None = None
    """The model's name; None where it was not asked."""
    searched: str = ""
    """What was looked for in the library: the question, in a chat with what it follows up."""
    passages: tuple[Hit, ...] = field(default=(), repr=False)
    """What the model was given, in that order."""
    forged: tuple[int, ...] = ()
    """Numbers that the model cited and no passage has; they are not in the answer."""

    @property
    def supported(self) -> bool:
        """Whether any sentence is supported."""
        return any(sentence.supported for sentence in self.sentences)

    def to_json(self) -> dict[str, Any]:
        """The keys of `nlb ask --json`, `sentences` and `model`."""
        sentences = [sentence.to_json() for sentence in self.sentences]
        return {**super().to_json(), "sentences": sentences, "model": self.model}


def quoted(answer: Answer) -> Prose:
    """An answer in the books' own words as the same record, for where the model fails."""
    sentences = tuple(
        ProseSentence(text=" ".join(citation.quote.split()), citations=(number,), supported=True)
        for number, citation in enumerate(answer.citations, 1)
    )
    numbered = " ".join(f"{sentence.text} [{sentence.citations[0]}]" for sentence in sentences)
    return Prose(
        question=answer.question,
        found=answer.found,
        text=numbered or answer.text,
        citations=answer.citations,
        sentences=sentences,
        searched=answer.question,
    )
