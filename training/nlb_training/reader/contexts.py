"""Passages cut around answers: runs of whole sentences, as short or as long as a batch can afford."""

from __future__ import annotations

import random
from collections.abc import Sequence

from nlb_retriever.text.sentences import sentence_spans
from nlb_training.reader.examples import Candidate, Span

TOKEN_CHARACTERS = 4.4
"""Of English prose in WordPiece, spaces included."""


def sentence_window(text: str, span: Span, characters: int, draw: random.Random) -> Span:
    """A run of sentences of about so many characters that holds a span, which lies anywhere in it."""
    sentences = sentence_spans(text)
    first = max((index for index, (start, _) in enumerate(sentences) if start <= span[0]), default=0)
    last = min((index for index, (_, end) in enumerate(sentences) if end >= span[1]), default=len(sentences) - 1)
    while True:
        sides = [side for side in (-1, 1) if 0 <= (first - 1 if side < 0 else last + 1) < len(sentences)]
        if not sides:
            break
        side = draw.choice(sides)
        low, high = (first - 1, last) if side < 0 else (first, last + 1)
        if sentences[high][1] - sentences[low][0] > characters:
            break
        first, last = low, high
    return sentences[first][0], sentences[last][1]


def cut_candidate(text: str, window: Span, spans: Sequence[Span], *, relevant: bool) -> Candidate:
    """A window of a text as a candidate, with those spans that lie in it."""
    start, end = window
    inside = tuple((a - start, b - start) for a, b in spans if start <= a and b <= end)
    return Candidate(text=text[start:end], relevant=relevant, spans=inside)


def other_windows(text: str, avoid: Sequence[Span], characters: int) -> list[Span]:
    """Runs of sentences of at most so many characters (or one long sentence) that touch none of some spans."""
    windows: list[Span] = []
    for start, end in sentence_spans(text):
        if any(start < b and a < end for a, b in avoid):
            windows.append((end, end))  # what follows is not joined to what came before
        elif windows and windows[-1][0] < windows[-1][1] and end - windows[-1][0] <= characters:
            windows[-1] = (windows[-1][0], end)
        else:
            windows.append((start, end))
    return [window for window in windows if window[1] - window[0] > 40]
