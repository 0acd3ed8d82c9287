"""Scores of different kinds, brought to one scale and added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]


def standardize(scores: Sequence[float] | Scores) -> Scores:
    """Zero mean, unit spread: how far each candidate stands out among its rivals (z-scores).

    All zeros where the candidates do not differ.
    """
    values = np.asarray(scores, dtype=np.float64)
    if len(values) == 0:
        return values
    spread = values.std()
    if spread < 1e-9:
        return np.zeros_like(values)
    standard: Scores = (values - values.mean()) / spread
    return standard


def inherit(keys: Sequence[str], scores: Mapping[str, float]) -> Scores:
    """Each key's score; one that has none gets the lowest there is (0 where there are none)."""
    lowest = min(scores.values(), default=0.0)
    return np.array([scores.get(key, lowest) for key in keys], dtype=np.float64)
