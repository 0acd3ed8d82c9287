"""Examples in tokens, packed into arrays, and cut into batches of rows of similar lengths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nlb_retriever.errors import TrainingError
from nlb_retriever.reader.pairs import Row, make_rows
from nlb_training.array_files import read_arrays, write_arrays
from nlb_training.reader.examples import Example, Span

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Array = NDArray[Any]
_POOL = 4096
"""Examples that are sorted by length together; their batches are shuffled."""


@dataclass(frozen=True, kw_only=True)
class RowSet:
    """Rows of many examples; those of one example follow each other."""

    ids: Array
    """(tokens,) of all rows, one behind the other."""
    ends: Array
    """(rows,) where each row ends in `ids`."""
    firsts: Array
    """(rows,) index in its row of a passage's first token."""
    examples: Array
    """(rows,) number of its example."""
    relevant: Array
    """(rows,) whether the passage answers."""
    spans: Array
    """(spans, 3) row, first and last token of an answer, the tokens counted in the row."""
    taught_spans: Array | None = None
    """(tokens, 2) a teacher's score of each token as first and as last of the answer; see `score_rows`."""
    taught_relevance: Array | None = None
    """(rows,) the teacher's relevance."""

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def lengths(self) -> Array:
        """(rows,) tokens of each row."""
        return np.diff(self.ends, prepend=0)

    def save(self, path: Path) -> None:
        """Write to an .npz file, atomically."""
        write_arrays(path, **{name: array for name, array in vars(self).items() if array is not None})

    @classmethod
    def load(cls, path: Path) -> RowSet:
        """Read what `save` wrote.

        Raises:
            TrainingError: the file is missing or damaged.
        """
        try:
            return cls(**read_arrays(path))
        except (OSError, ValueError, TypeError) as error:
            raise TrainingError(f"{path} is damaged ({error}): delete it, and it is made again") from error


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Rows as tensors, padded to the longest."""

    ids: Tensor
    """(B, L)"""
    types: Tensor
    """(B, L) 0 question, 1 passage."""
    mask: Tensor
    """(B, L) 1 for tokens."""
    examples: Tensor
    """(B,) number of a row's example."""
    relevant: Tensor
    """(B,) 1 where the passage answers."""
    spans: Tensor
    """(S, 3) row of the batch, first and last token."""
    taught_spans: Tensor | None = None
    """(B, L, 2) a teacher's scores, as `ReaderNetwork` gives them."""
    taught_relevance: Tensor | None = None
    """(B,) the teacher's relevance."""

    def to(self, device: torch.device) -> Batch:
        """The same on a device."""
        moved: dict[str, Any] = {name: each if each is None else each.to(device) for name, each in vars(self).items()}
        return Batch(**moved)


def tokenize(examples: Iterable[Example], tokenizer: Tokenizer, *, longest: int) -> RowSet:
    """Turn examples to rows; of a passage too long for one row the window that answers is kept, else the first."""
    ids: list[int] = []
    ends: list[int] = []
    firsts: list[int] = []
    owners: list[int] = []
    relevant: list[bool] = []
    spans: list[tuple[int, int, int]] = []
    for number, example in enumerate(examples):
        windows: dict[int, list[Row]] = {}
        for row in make_rows(tokenizer, example.question, [each.text for each in example.candidates], longest=longest):
            windows.setdefault(row.passage, []).append(row)
        for index, candidate in enumerate(example.candidates):
            row, tokens = max(
                ((row, _token_spans(row, candidate.spans)) for row in windows[index]), key=lambda each: len(each[1])
            )
            spans += [(len(ends), first, last) for first, last in tokens]
            ids += row.ids
            ends.append(len(ids))
            firsts.append(row.first)
            owners.append(number)
            relevant.append(candidate.relevant)
    return RowSet(
        ids=np.array(ids, dtype=np.uint16),
        ends=np.array(ends, dtype=np.int64),
        firsts=np.array(firsts, dtype=np.int16),
        examples=np.array(owners, dtype=np.int32),
        relevant=np.array(relevant, dtype=np.bool_),
        spans=np.array(spans, dtype=np.int32).reshape(-1, 3),
    )


def _token_spans(row: Row, spans: Sequence[Span]) -> list[tuple[int, int]]:
    """The tokens of spans of characters, where all of a span's are in the row."""
    found = set()
    for start, end in spans:
        inside = [index for index, (a, b) in enumerate(row.offsets) if a < end and start < b]
        if inside and row.offsets[inside[0]][0] <= start and row.offsets[inside[-1]][1] >= end:
            found.add((row.first + inside[0], row.first + inside[-1]))
    return sorted(found)


def plan_batches(rows: RowSet, *, tokens: int, seed: int) -> list[Array]:
    """Cut a set into batches: every row once, an example's rows together, the order random but for lengths.

    Args:
        rows: of all examples.
        tokens: most of a batch, padding included (but for an example that is longer alone).
        seed: of the order.

    Returns:
        The rows' numbers, a batch each.
    """
    draw = np.random.default_rng(seed)
    starts = np.flatnonzero(np.diff(rows.examples, prepend=-1))
    members = np.split(np.arange(len(rows)), starts[1:])
    lengths = rows.lengths
    longest = np.maximum.reduceat(lengths, starts) if len(starts) else np.zeros(0, dtype=np.int64)
    order = draw.permutation(len(members))
    batches: list[Array] = []
    for start in range(0, len(order), _POOL):
        own = order[start : start + _POOL]
        own = own[np.argsort(longest[own], kind="stable")]
        made: list[list[int]] = []
        width = count = 0
        for example in own:
            width = max(width, int(longest[example]))
            count += len(members[example])
            if not made or width * count > tokens:
                made.append([])
                width, count = int(longest[example]), len(members[example])
            made[-1].append(int(example))
        made = [made[index] for index in draw.permutation(len(made))]
        batches += [np.concatenate([members[example] for example in batch]) for batch in made]
    return batches


def make_batch(rows: RowSet, numbers: Array) -> Batch:
    """The tensors of some rows."""
    lengths = rows.lengths[numbers]
    shape = len(numbers), int(lengths.max())
    ids, types, mask = (np.zeros(shape, dtype=np.int64) for _ in range(3))
    for index, (number, length) in enumerate(zip(numbers, lengths, strict=True)):
        ids[index, :length] = rows.ids[rows.ends[number] - length : rows.ends[number]]
        types[index, rows.firsts[number] : length] = 1
        mask[index, :length] = 1
    taught = None
    if rows.taught_spans is not None:
        taught = np.zeros((*shape, 2), dtype=np.float32)
        for index, (number, length) in enumerate(zip(numbers, lengths, strict=True)):
            taught[index, :length] = rows.taught_spans[rows.ends[number] - length : rows.ends[number]]
    positions = {int(number): index for index, number in enumerate(numbers)}
    chosen = rows.spans[np.isin(rows.spans[:, 0], numbers)]
    spans = [(positions[int(row)], int(first), int(last)) for row, first, last in chosen]
    return Batch(
        ids=torch.from_numpy(ids),
        types=torch.from_numpy(types),
        mask=torch.from_numpy(mask),
        examples=torch.from_numpy(rows.examples[numbers].astype(np.int64)),
        relevant=torch.from_numpy(rows.relevant[numbers].astype(np.float32)),
        spans=torch.tensor(spans, dtype=torch.long).reshape(-1, 3),
        taught_spans=None if taught is None else torch.from_numpy(taught),
        taught_relevance=None if rows.taught_relevance is None else torch.from_numpy(rows.taught_relevance[numbers]),
    )
