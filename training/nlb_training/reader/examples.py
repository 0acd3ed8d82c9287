"""What the reader is trained on: questions, each with passages that answer it or do not."""

from __future__ import annotations

from dataclasses import dataclass

Span = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A passage beside a question."""

    text: str
    relevant: bool
    """Whether it answers the question."""
    spans: tuple[Span, ...] = ()
    """Characters of the passage that answer, each span enough by itself. Empty for a relevant passage: it answers in
    other words than any of its own, and only its relevance is trained."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """A question with the passages that are scored beside each other."""

    source: str
    """The data set."""
    question: str
    candidates: tuple[Candidate, ...]
