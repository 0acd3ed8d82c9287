"""The best answers among a row's spans, from the scores of its tokens."""

from __future__ import annotations

import numpy as np

from nlb_retriever.encoding.base import Vectors

ANSWER_TOKENS = 24
"""Longest answer."""


def best_spans(scores: Vectors, *, count: int = 1, shortest: int = 1) -> list[tuple[int, int, float]]:
    """The spans of at most `ANSWER_TOKENS` with the highest scores, the best first; of two that overlap the better one.

    Args:
        scores: (n, 2) of a passage's tokens as first and as last of the answer.
        count: at most so many spans.
        shortest: least tokens of a span; of a shorter passage all.

    Returns:
        First token, last token (inclusive) and score of each; none where there is no token.
    """
    length = len(scores)
    if not length:
        return []
    widths = min(ANSWER_TOKENS, length)
    table = np.full((length, widths), -np.inf, dtype=np.float32)
    for width in range(min(shortest, length) - 1, widths):
        table[: length - width, width] = scores[: length - width, 0] + scores[width:, 1]
    found: list[tuple[int, int, float]] = []
    while len(found) < count:
        start, width = divmod(int(table.argmax()), widths)
        score = float(table[start, width])
        if score == -np.inf:
            break
        end = start + width
        found.append((start, end, score))
        table[start : end + 1] = -np.inf
        for before in range(max(0, start - widths + 1), start):
            table[before, start - before :] = -np.inf
    return found


def widen(text: str, start: int, end: int) -> tuple[int, int]:
    """A span of characters, stretched to whole words."""
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return start, end
