"""A larger network's scores of the rows that the reader learns from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from nlb_retriever.errors import TrainingError
from nlb_retriever.reader.network import ReaderNetwork
from nlb_training.array_files import read_arrays, write_arrays
from nlb_training.reader.rows import Array, RowSet, make_batch

_PIECE = 1000
"""Rows of a file: what is lost by an interrupt."""


def score_rows(
    teacher: ReaderNetwork,
    rows: RowSet,
    folder: Path,
    *,
    tokens: int = 8192,
    observer: Callable[[int, int], None] | None = None,
) -> RowSet:
    """Add a teacher's scores to rows; what an earlier call has written is not scored again.

    Args:
        teacher: on the device to score on.
        rows: to be scored.
        folder: where the scores are kept, a file for 1,000 rows (scores-0.npz, scores-1.npz, ...).
        tokens: most of a batch, padding included.
        observer: called after each file, with the rows done and all.

    Returns:
        The rows with `taught_spans` and `taught_relevance`.

    Raises:
        TrainingError: a file is damaged, or cannot be written.
    """
    spans = np.zeros((len(rows.ids), 2), dtype=np.float16)
    relevance = np.zeros(len(rows), dtype=np.float32)
    begins = rows.ends - rows.lengths
    for start in range(0, len(rows), _PIECE):
        stop = min(start + _PIECE, len(rows))
        low, high = int(begins[start]), int(rows.ends[stop - 1])
        path = folder / f"scores-{start // _PIECE}.npz"
        if not path.exists():
            _score_piece(teacher, rows, np.arange(start, stop), spans, relevance, tokens=tokens)
            write_arrays(path, ids=rows.ids[low:high], spans=spans[low:high], relevance=relevance[start:stop])
        spans[low:high], relevance[start:stop] = _read_piece(path, rows.ids[low:high])
        if observer:
            observer(stop, len(rows))
    return replace(rows, taught_spans=spans, taught_relevance=relevance)


def _score_piece(
    teacher: ReaderNetwork, rows: RowSet, numbers: Array, spans: Array, relevance: Array, *, tokens: int
) -> None:
    teacher.eval()
    device = teacher.words.weight.device
    lengths = rows.lengths
    numbers = numbers[np.argsort(-lengths[numbers], kind="stable")]
    while len(numbers):
        count = max(1, tokens // int(lengths[numbers[0]]))
        own, numbers = numbers[:count], numbers[count:]
        batch = make_batch(rows, own).to(device)
        with torch.inference_mode(), torch.autocast(device.type, torch.bfloat16):
            scores, relevant = teacher(batch.ids, batch.types, batch.mask)
        relevance[own] = relevant.float().cpu().numpy()
        for number, each in zip(own, scores.float().cpu().numpy(), strict=True):
            end, length = rows.ends[number], lengths[number]
            spans[end - length : end] = each[:length]


def _read_piece(path: Path, ids: Array) -> tuple[Array, Array]:
    try:
        arrays = read_arrays(path)
        if not np.array_equal(arrays["ids"], ids):
            raise ValueError("it is of other rows")
        return arrays["spans"], arrays["relevance"]
    except (OSError, ValueError, KeyError) as error:
        raise TrainingError(f"{path} is damaged ({error}): delete it, and it is made again") from error
