"""What a chunk encoder is, and what all of them do with texts of any length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Vectors: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class EncoderIdentity:
    """Which model made a vector. Equal identities give interchangeable vectors."""

    name: str
    sha256: str
    """Hash of the model's original weights, whatever back end runs them."""
    dim: int
    max_tokens: int
    """Longest input in tokens, with the special ones."""


class ChunkEncoder(Protocol):
    """A frozen sentence encoder."""

    @property
    def identity(self) -> EncoderIdentity: ...

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's own tokenizer, without padding or truncation."""
        ...

    @property
    def backend(self) -> str:
        """What runs it, for people: "openvino int8", "torch cpu", "torch cuda"."""
        ...

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Encode texts to unit vectors (n, D) in their order.

        A text longer than the model's input is cut into windows of equal length whose vectors are
        averaged: nothing is dropped. `query=True` puts the model's query prompt before each text
        where the model has one.
        """
        ...


def encode_windows(
    texts: Sequence[str],
    tokenizer: Tokenizer,
    *,
    identity: EncoderIdentity,
    prompt: str,
    batch_tokens: int,
    forward: Callable[[list[list[list[int]]]], list[Vectors]],
) -> Vectors:
    """Tokenize, cut long texts into windows, batch by length, run and average back.

    Args:
        texts: n texts.
        tokenizer: without padding or truncation.
        identity: of the model: its longest row (with special tokens) and its dimension.
        prompt: put before every text (and every window of a long one).
        batch_tokens: bound on rows x longest row of a batch.
        forward: runs batches (each a list of rows of token ids, of similar lengths) and gives one
            (rows, D) array a batch, in order.

    Returns:
        (n, D) float32 unit rows.
    """
    specials = tokenizer.num_special_tokens_to_add(False)
    lead = tokenizer.encode(prompt, add_special_tokens=False).ids if prompt else []
    before, after = special_ids(tokenizer)
    room = identity.max_tokens - specials - len(lead)
    rows: list[list[int]] = []
    owners: list[int] = []
    for owner, encoding in enumerate(tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)):
        ids = encoding.ids
        pieces = max(1, -(-len(ids) // room))
        for piece in range(pieces):
            window = ids[piece * len(ids) // pieces : (piece + 1) * len(ids) // pieces]
            rows.append([*before, *lead, *window, *after])
            owners.append(owner)
    order = sorted(range(len(rows)), key=lambda row: (-len(rows[row]), row))
    batches: list[list[int]] = []
    for row in order:
        # The first row of a batch is its longest.
        if not batches or (len(batches[-1]) + 1) * len(rows[batches[-1][0]]) > batch_tokens:
            batches.append([])
        batches[-1].append(row)
    results = forward([[rows[row] for row in batch] for batch in batches])
    vectors = np.zeros((len(texts), identity.dim), dtype=np.float32)
    for batch, result in zip(batches, results, strict=True):
        for row, vector in zip(batch, result, strict=True):
            vectors[owners[row]] += vector * len(rows[row])
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    np.divide(vectors, norms, out=vectors, where=norms > 0)
    return vectors


def special_ids(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """Ids that the tokenizer puts before and after a text ([CLS] and [SEP])."""
    with_specials = tokenizer.encode("a", add_special_tokens=True).ids
    bare = tokenizer.encode("a", add_special_tokens=False).ids
    for start in range(len(with_specials) - len(bare) + 1):
        if with_specials[start : start + len(bare)] == bare:
            return with_specials[:start], with_specials[start + len(bare) :]
    return [], []


def pad(
    rows: list[list[int]], padding: int, *, width_of: Callable[[int], int] = int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of ids as two arrays (rows, width_of(longest)): ids, and the mask of what is not padding."""
    width = width_of(max(len(row) for row in rows))
    ids = np.full((len(rows), width), padding, dtype=np.int64)
    mask = np.zeros((len(rows), width), dtype=np.int64)
    for index, row in enumerate(rows):
        ids[index, : len(row)] = row
        mask[index, : len(row)] = 1
    return ids, mask
