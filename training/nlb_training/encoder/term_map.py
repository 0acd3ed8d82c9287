"""The map of terms, trained with the encoder: what nlb_retriever.encoding.terms.TermProjection is read from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from nlb_retriever.atomic import write_file
from nlb_retriever.encoding.openvino import TERMS_FILE
from nlb_training.encoder.bert import Bert, Places
from nlb_training.encoder.books import NO_TERM, TermIds
from nlb_training.encoder.rounds import Batch
from nlb_training.encoder.terms import find_components

WEIGHT, BIAS = "terms.weight", "terms.bias"
RATE = 10.0
"""Its learning rate, in the encoder's."""
_FITTED = 10
"""Steps whose passages it begins with."""


def group_terms(terms: TermIds) -> Places:
    """The tokens of each distinct term of a text."""
    places = np.flatnonzero(terms != NO_TERM)
    order = places[np.argsort(terms[places], kind="stable")]
    borders = np.flatnonzero(np.diff(terms[order].astype(np.int64))) + 1
    return [own.tolist() for own in np.split(order, borders)] if len(order) else []


def fit_map(model: Bert, batches: Sequence[Batch]) -> dict[str, Tensor]:
    """A map to begin with: the principal components of the terms of the first steps' passages."""
    states: list[Tensor] = []
    with torch.no_grad():
        for batch in islice(batches, _FITTED):
            groups = [group_terms(own) for own in batch.terms[len(batch.queries) :]]
            states += [part.states for part in model.encode_with_grad(batch.passages, groups=groups)]
    rows = torch.from_numpy(find_components(torch.cat(states).cpu().numpy())).to(model.device)
    return {WEIGHT: rows[:, :-1].contiguous(), BIAS: rows[:, -1].contiguous()}


def apply_map(weights: Mapping[str, Tensor], states: Tensor) -> Tensor:
    """Unit vectors (t, d) of mean states (t, D)."""
    return functional.normalize(functional.linear(states, weights[WEIGHT], weights[BIAS]), dim=-1)


def write_map(weights: Mapping[str, Tensor], folder: Path) -> None:
    """Write the file that `nlb_training.quantize` takes along."""
    rows = torch.cat([weights[WEIGHT], weights[BIAS][:, None]], dim=1).detach().cpu().numpy()
    write_file(folder / TERMS_FILE, lambda stream: np.save(stream, rows))
