"""What a chunk encoder is, and what all of them do with texts of any length."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Vectors: TypeAlias = NDArray[np.float32]
R = TypeVar("R")
Take: TypeAlias = Callable[[int, Vectors, Sequence[Vectors]], None]
"""Called with a batch's index, its rows' vectors (rows, D), and the states of each row's tokens (width, D)."""


@dataclass(frozen=True, kw_only=True)
class EncoderIdentity:
    """Which model made a vector. Equal identities give interchangeable vectors."""

    name: str
    sha256: str
    """Hash of the model's original weights, whatever back end runs them."""
    dim: int
    max_tokens: int
    """Longest input in tokens, with the special ones."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Vectors of n texts and of parts of them, float32."""

    whole: Vectors
    """(n, D) unit rows, as `ChunkEncoder.encode` gives them."""
    spans: list[Vectors]
    """For each text its spans' (s, D) unit rows, at most one a start: none for a span without a token."""
    states: list[Vectors]
    """For each text the states (w, D) of its words' first tokens, one an offset; not of unit length."""


class ChunkEncoder(Protocol):
    """A frozen sentence encoder."""

    @property
    def identity(self) -> EncoderIdentity:
        """Which model it is."""

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's own tokenizer, without padding or truncation."""
        ...

    @property
    def backend(self) -> str:
        """What runs it, for people: "openvino int8", "openvino fp32", "torch cpu", "torch cuda"."""
        ...

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Encode texts to unit vectors (n, D) in their order.

        A text longer than the model's input is cut into windows of equal length whose vectors are
        averaged: nothing is dropped. `query=True` puts the model's query prompt before each text
        where the model has one.
        """
        ...

    def encode_parts(
        self,
        texts: Sequence[str],
        starts: Sequence[Sequence[int]],
        offsets: Sequence[Sequence[int]] = (),
        *,
        query: bool = False,
    ) -> Parts:
        """Encode texts, and parts of each of them from the same pass over the whole ("late chunking").

        A span's vector is the mean of its tokens' states, which know the text around it (Günther et al. 2024, arXiv
        2409.04701). It can be compared with queries' vectors where the model makes those by a mean, too.

        Args:
            texts: n texts.
            starts: of each text the offsets at which its spans begin, ascending, the first 0.
            offsets: of each text the offsets at which words begin, ascending; empty for none.
            query: as for `encode`.

        Returns:
            Vectors of the texts and their parts; those of parts are missing where the model makes its vectors in
            another way.
        """
        ...


def open_tokenizer(file: Path) -> Tokenizer:
    """A tokenizer from its tokenizer.json; it neither pads nor cuts."""
    from tokenizers import Tokenizer

    tokenizer: Tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


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
    ids = [encoding.ids for encoding in tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]
    windows = _cut(ids, tokenizer, identity, prompt, batch_tokens)
    vectors = np.zeros((len(texts), identity.dim), dtype=np.float32)
    for batch, result in zip(windows.batches, forward(windows.rows), strict=True):
        for window, vector in zip(batch, result, strict=True):
            vectors[window.owner] += vector * len(window.row)
    return _unit(vectors)


def encode_parts(
    texts: Sequence[str],
    starts: Sequence[Sequence[int]],
    offsets: Sequence[Sequence[int]],
    tokenizer: Tokenizer,
    *,
    identity: EncoderIdentity,
    prompt: str,
    batch_tokens: int,
    forward: Callable[[list[list[list[int]]], Take], None],
) -> Parts:
    """Like `encode_windows`, with the mean of the token states of each span of a text, and states of words.

    Args:
        texts: n texts.
        starts, offsets: as for `ChunkEncoder.encode_parts`.
        tokenizer, identity, prompt, batch_tokens: as for `encode_windows`.
        forward: runs batches and calls its second argument with the results of each, in any order.
    """
    encodings = tokenizer.encode_batch(list(texts), add_special_tokens=False)
    windows = _cut([encoding.ids for encoding in encodings], tokenizer, identity, prompt, batch_tokens)
    vectors = np.zeros((len(texts), identity.dim), dtype=np.float32)
    firsts: list[NDArray[np.int64]] = []
    words: list[NDArray[np.int64]] = []
    for encoding, own, places in zip(encodings, starts, offsets or [()] * len(texts), strict=True):
        begins = np.array([begin for begin, _ in encoding.offsets], dtype=np.int64)
        borders = np.searchsorted(begins, own)  # not np.unique, which would import numpy.ma for the first question
        firsts.append(borders[(borders < len(begins)) & (np.diff(borders, prepend=-1) > 0)])
        words.append(np.maximum(np.searchsorted(begins, places, side="right") - 1, 0))
    states = [np.zeros((len(own), identity.dim), dtype=np.float32) for own in words]
    sums = [np.zeros((len(own), identity.dim), dtype=np.float32) for own in firsts]

    def take(batch: int, whole: Vectors, found: Sequence[Vectors]) -> None:
        for window, vector, own in zip(windows.batches[batch], whole, found, strict=True):
            vectors[window.owner] += vector * len(window.row)
            if window.first == window.last:
                continue
            places = words[window.owner]
            held = slice(*np.searchsorted(places, [window.first, window.last]))
            states[window.owner][held] = own[places[held] + (windows.lead - window.first)]
            borders = firsts[window.owner]
            touched = slice(*np.searchsorted(borders, [window.first + 1, window.last]) - [1, 0])
            within = np.maximum(borders[touched], window.first) - window.first
            tokens = own[windows.lead : windows.lead + window.last - window.first]
            for total, begin, end in zip(sums[window.owner][touched], within, [*within[1:], None], strict=True):
                np.add(total, tokens[begin:end].sum(axis=0), out=total)  # four times as fast as np.add.reduceat

    forward(windows.rows, take)
    return Parts(whole=_unit(vectors), spans=[_unit(own) for own in sums], states=states)


@dataclass(frozen=True)
class _Window:
    """A text, or a part of a long one, as a row of the model's input."""

    owner: int
    """Index of the text."""
    first: int
    last: int
    """Range of its tokens."""
    row: list[int]
    """With special tokens and prompt."""


@dataclass(frozen=True)
class _Windows:
    """Windows of texts, in batches of similar lengths."""

    batches: list[list[_Window]]
    lead: int
    """Tokens of each row before the text's own."""

    @property
    def rows(self) -> list[list[list[int]]]:
        return [[window.row for window in batch] for batch in self.batches]


def _cut(
    texts: Sequence[list[int]], tokenizer: Tokenizer, identity: EncoderIdentity, prompt: str, batch_tokens: int
) -> _Windows:
    """Cut texts that are longer than the model's input, and batch by length."""
    specials = tokenizer.num_special_tokens_to_add(False)
    lead = tokenizer.encode(prompt, add_special_tokens=False).ids if prompt else []
    before, after = special_ids(tokenizer)
    room = identity.max_tokens - specials - len(lead)
    windows: list[_Window] = []
    for owner, ids in enumerate(texts):
        pieces = max(1, -(-len(ids) // room))
        for piece in range(pieces):
            first, last = piece * len(ids) // pieces, (piece + 1) * len(ids) // pieces
            windows.append(_Window(owner, first, last, [*before, *lead, *ids[first:last], *after]))
    batches = make_batches(windows, lambda window: len(window.row), batch_tokens)
    return _Windows(batches, len(before) + len(lead))


def make_batches(rows: Iterable[R], length: Callable[[R], int], most: int) -> list[list[R]]:
    """Rows in batches of similar lengths, the longest first.

    Args:
        rows: of tokens.
        length: gives a row's.
        most: bound on rows x longest row of a batch; a longer row is a batch alone.
    """
    batches: list[list[R]] = []
    for row in sorted(rows, key=lambda row: -length(row)):
        if not batches or (len(batches[-1]) + 1) * length(batches[-1][0]) > most:
            batches.append([])
        batches[-1].append(row)
    return batches


def _unit(vectors: Vectors) -> Vectors:
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
    rows: Sequence[Sequence[int]], padding: int, *, width_of: Callable[[int], int] = int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of ids as two arrays (rows, width_of(longest)): ids, and the mask of what is not padding."""
    width = width_of(max(len(row) for row in rows))
    ids = np.full((len(rows), width), padding, dtype=np.int64)
    mask = np.zeros((len(rows), width), dtype=np.int64)
    for index, row in enumerate(rows):
        ids[index, : len(row)] = row
        mask[index, : len(row)] = 1
    return ids, mask
