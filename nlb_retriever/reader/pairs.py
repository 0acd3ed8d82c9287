"""Questions and passages as the reader's input rows: "[CLS] question [SEP] passage [SEP]"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.encoding.base import pad, special_ids

if TYPE_CHECKING:
    from tokenizers import Tokenizer

QUESTION_TOKENS = 64
"""Of a longer question the first ones are read."""
ROW_TOKENS = 384
"""Longest row; a longer passage is read in windows that overlap by a quarter."""

Ids: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Row:
    """A question with (a window of) a passage, in tokens."""

    passage: int
    """Number of the passage among those given."""
    ids: tuple[int, ...]
    first: int
    """Index of the passage's first token in `ids`; the last one is before the closing [SEP]."""
    offsets: tuple[tuple[int, int], ...]
    """Of each of the passage's tokens the characters in its text."""


def make_rows(tokenizer: Tokenizer, question: str, passages: Sequence[str], *, longest: int = ROW_TOKENS) -> list[Row]:
    """Make the rows of one question with passages, in the passages' order.

    Args:
        tokenizer: BERT's, without padding or truncation.
        question: of any length; see `QUESTION_TOKENS`.
        passages: of any length.
        longest: most tokens of a row.
    """
    (cls,), (sep,) = special_ids(tokenizer)
    head = [cls, *tokenizer.encode(question, add_special_tokens=False).ids[:QUESTION_TOKENS], sep]
    room = longest - len(head) - 1
    rows = []
    for index, encoding in enumerate(tokenizer.encode_batch(list(passages), add_special_tokens=False)):
        for start, end in cut_windows(len(encoding.ids), room):
            ids, offsets = encoding.ids[start:end], encoding.offsets[start:end]
            rows.append(Row(passage=index, ids=(*head, *ids, sep), first=len(head), offsets=tuple(offsets)))
    return rows


def cut_windows(length: int, room: int) -> list[tuple[int, int]]:
    """Windows of at most `room` tokens over `length`; neighbours share a quarter or more."""
    if length <= room:
        return [(0, length)]
    count = 1 + -(-(length - room) // (room - room // 4))
    starts = [round(number * (length - room) / (count - 1)) for number in range(count)]
    return [(start, start + room) for start in starts]


def pad_rows(rows: Sequence[Row], *, width_of: Callable[[int], int] = int) -> tuple[Ids, Ids, Ids]:
    """Token ids, types and mask of rows, each (rows, width); `width_of` gives it from the longest row's."""
    ids, mask = pad([row.ids for row in rows], 0, width_of=width_of)
    types = mask.copy()
    for kinds, row in zip(types, rows, strict=True):
        kinds[: row.first] = 0
    return ids, types, mask
