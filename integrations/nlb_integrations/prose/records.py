"""A language model's answer, checked against the passages in its prompt."""

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
    """Numbers of the citations that support it, from 1; empty where none does."""
    supported: bool
    """Whether a passage supports it. The sentence by which the model declines to answer needs none."""

    def to_json(self) -> dict[str, Any]:
        return {"text": self.text, "citations": list(self.citations), "supported": self.supported}


@dataclass(frozen=True, kw_only=True)
class Prose(Answer):
    """An answer in a language model's words; `[n]` in it refers to `citations[n - 1]`.

    `found` is False where the library is not likely to hold an answer (then the model was not called), or where the
    model wrote that the passages do not answer the question.
    """

    sentences: tuple[ProseSentence, ...] = ()
    model: str | None = None
    """The model's name; None where it was not called."""
    query: str = ""
    """What the library was searched for: the question, in a chat with the one that it follows up."""
    passages: tuple[Hit, ...] = field(default=(), repr=False)
    """The passages in the prompt, in that order."""
    forged: tuple[int, ...] = ()
    """Numbers that the model cited and no passage has; they are not in the text."""

    @property
    def supported(self) -> bool:
        """Whether any sentence is supported."""
        return any(sentence.supported for sentence in self.sentences)

    def to_json(self) -> dict[str, Any]:
        """The keys of `nlb ask --json`, `sentences` and `model`."""
        sentences = [sentence.to_json() for sentence in self.sentences]
        return {**super().to_json(), "sentences": sentences, "model": self.model}


def quoted(answer: Answer) -> Prose:
    """An answer in the books' own words as a `Prose`, for where the model fails."""
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
        shorts=answer.shorts,
        confidence=answer.confidence,
        searched=answer.searched,
        query=answer.question,
    )


def recorded(answer: Answer, query: str) -> Prose:
    """What the library knows of its books as a `Prose`: its short answers, for which no model is called."""
    sentences = tuple(
        ProseSentence(text=short.text, citations=(short.citation + 1,), supported=True) for short in answer.shorts
    )
    text = "; ".join(f"{each.text} [{each.citations[0]}]" for each in sentences)
    return Prose(**{**vars(answer), "text": text}, sentences=sentences, query=query)
