"""Sections of a text without headings: text segmentation.

Each border between two paragraphs gets a score by logistic regression: how the paragraphs end and begin, their words
there, and how much the text before shares with the text behind (TextTiling, Hearst 1997, section 5). A dynamic program
finds the borders with the highest sum of scores and of a prior on lengths (Utiyama & Isahara 2001, section 2).
`benchmarks/segmentation.py` learns the weights from the chapter starts of books whose headings were taken out.
"""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Span = tuple[int, int]

WEIGHTS = Path(__file__).parent.parent / "assets" / "segmentation.json"
SHORTEST, LONGEST = 2_900, 52_000
"""Characters of a section, about 500 and 9,000 English words; a paragraph may be longer."""
USUAL, SPREAD = math.log(16_000), 0.7
"""Mean and standard deviation of the prior on the logarithm of a section's characters."""
THRESHOLD = 2.25
"""A border's least score over the mean of its text, at the usual length: chosen on other books than the weights."""
_BREAK = 4.0
"""Added to the score of a border after a scene break ("* * *", three empty lines)."""
_STEP = 300
"""Of the borders in so many characters only the best can begin a section."""
_WINDOWS = (900, 2_300, 5_800, 14_500)
"""Characters before and behind a border that are compared."""
_DEPTH = 8_600
"""Characters before and behind a border whose borders' similarities its own is compared with."""
_DIRECTIONS = 128
"""Words are added up in so many random directions."""
_EDGE, _EDGE_CHARS = 14, 250
"""Words of a paragraph's begin and of its end, and most characters."""
_NEAR = 6
"""Paragraphs before and behind a border whose kinds are averaged."""
_MARGIN = 1e-6
_WORD = re.compile(r"\w+(?:['’]\w+)?")
_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_SCENE = re.compile(r"[^\w\s]{1,12}|(?:[^\w\s]\s*){2,12}")
_GAP = re.compile(r"\n[ \t]*\n[ \t]*\n[ \t]*\n")
_SPEECH = "\"“”'‘’«»—-"


@dataclass(frozen=True)
class Paragraph:
    """A piece of a text between empty lines."""

    start: int
    end: int
    """Span with the empty lines behind it, and with a scene break that follows."""
    text: str
    breaks: bool
    """Whether a scene break comes before it."""


def segment(text: str, start: int, end: int) -> list[Span]:
    """Cut text[start:end] into sections at borders between paragraphs.

    Takes time and memory in proportion to the length: 2 KB a paragraph.
    """
    paragraphs = find_paragraphs(text, start, end)
    if len(paragraphs) < 2:
        return [(start, end)]
    scores = score_borders(paragraphs) - THRESHOLD
    places = np.array([each.start for each in paragraphs])
    chosen = _thin_out(scores, places)
    firsts = best_borders(scores[chosen], np.diff(places[chosen], append=end))
    starts = [start, *places[chosen][firsts[1:]].tolist()]
    return list(zip(starts, [*starts[1:], end], strict=True))


def _thin_out(scores: Values, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """The border with the highest score of each `_STEP` characters, and the first: verses are many, sections few."""
    order = np.lexsort((scores, (places - places[0]) // _STEP))
    steps = (places - places[0])[order] // _STEP
    best = order[np.append(steps[1:] != steps[:-1], True)]
    return np.unique(np.append(best, 0))


def find_paragraphs(text: str, start: int, end: int) -> list[Paragraph]:
    """The paragraphs of text[start:end], which they cover."""
    ends = [match.end() for match in _PARAGRAPH.finditer(text, start, end)]
    paragraphs: list[Paragraph] = []
    breaks = False
    for low, high in zip([start, *ends], [*ends, end], strict=True):
        own = text[low:high]
        words = own.strip()
        if paragraphs and (not words or _SCENE.fullmatch(words)):
            before = paragraphs[-1]
            paragraphs[-1] = Paragraph(before.start, high, before.text, before.breaks)
            breaks = breaks or bool(words)
        else:
            paragraphs.append(Paragraph(low, high, words, breaks))
            breaks = False
        breaks = breaks or bool(_GAP.search(own))
    return paragraphs


def score_borders(paragraphs: Sequence[Paragraph]) -> Values:
    """(n,) score of a section's start before each paragraph, over the mean of all; 0 for the first."""
    weights = _weights()
    scores = border_features(paragraphs) @ weights.features
    for index, names in enumerate(border_words(paragraphs)):
        scores[index] += sum(weights.words.get(name, 0.0) for name in sorted(names))
    scores[1:] -= scores[1:].mean()
    scores += [_BREAK * each.breaks for each in paragraphs]
    scores[0] = 0.0
    return scores


def border_words(paragraphs: Sequence[Paragraph]) -> list[set[str]]:
    """For the border before each paragraph names of the words around it; none for the first."""
    names: list[set[str]] = [set()]
    for one, other in pairwise(paragraphs):
        before = _WORD.findall(one.text[-_EDGE_CHARS:])
        behind = _WORD.findall(other.text[:_EDGE_CHARS])
        own = {f"end {word.casefold()}" for word in before[-_EDGE:]}
        own |= {f"begin {word.casefold()}" for word in behind[:_EDGE]}
        own |= {f"first {word}" for word in behind[:1]}
        own |= {f"two {' '.join(behind[:2]).casefold()}"} if len(behind) > 1 else set()
        names.append(own)
    return names


def border_features(paragraphs: Sequence[Paragraph]) -> Values:
    """(n, 44) features of the border before each paragraph, and the same in standard deviations of this text."""
    features = np.hstack([_edges(paragraphs), _similarities(paragraphs)])
    inner = features[1:] if len(features) > 1 else features
    standard = (features - inner.mean(0)) / (inner.std(0) + _MARGIN)
    return np.hstack([features, np.clip(standard, -4, 4)])


def _edges(paragraphs: Sequence[Paragraph]) -> Values:
    """(n, 14) how the paragraph before a border ends, how the one behind it begins, and the kinds of those near by."""
    speech = np.array([each.text[:1] in _SPEECH for each in paragraphs], dtype=np.float64)
    length = np.log1p([len(each.text) for each in paragraphs])
    last = [each.text[-1:] for each in paragraphs]
    closing = np.array([[mark in ".!?", mark in "\"”’'»", mark in ",;:—-"] for mark in last], dtype=np.float64)
    opening = np.array([_opening(each.text) for each in paragraphs], dtype=np.float64)
    index = np.arange(len(paragraphs))
    low, high = np.maximum(index - _NEAR, 0), np.minimum(index + _NEAR, len(paragraphs))
    near = [mean for values in (speech, length) for mean in (_mean(values, low, index), _mean(values, index, high))]
    ends = [_previous(column) for column in (speech, *closing.T, length)]
    return np.column_stack([*ends, speech, length, *opening.T, *near])


def _opening(text: str) -> tuple[float, float, float]:
    """Whether a paragraph goes on in small letters or begins with a number; share of its first words in capitals."""
    words = _WORD.findall(text[:200])[:3]
    first = words[0] if words else ""
    number = first.isdigit() or (len(first) <= 2 and first.isupper() and first not in {"I", "A", "O"})
    return float(first[:1].islower()), float(number), sum(len(word) > 1 and word.isupper() for word in words) / 3


def _previous(values: Values) -> Values:
    return np.concatenate([[0.0], values[:-1]])


def _mean(values: Values, low: NDArray[np.int64], high: NDArray[np.int64]) -> Values:
    """Mean of values[low:high] for each pair of these; 0 of none."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    means: Values = (sums[high] - sums[low]) / np.maximum(high - low, 1)
    return means


def _similarities(paragraphs: Sequence[Paragraph]) -> Values:
    """(n, 8) for each window the cosine of the words before and behind a border, and how far it is below those near."""
    count = len(paragraphs)
    vectors = _add_words(paragraphs)
    sums = np.cumsum(vectors, axis=0)
    ends = np.cumsum([0.0, *(each.end - each.start for each in paragraphs)])
    starts, index = ends[:-1], np.arange(count)
    near_low = np.searchsorted(ends, starts - _DEPTH)
    near_high = np.minimum(np.searchsorted(ends, starts + _DEPTH, side="right"), count)
    columns = []
    for window in _WINDOWS:
        low = np.minimum(np.searchsorted(ends, starts - window), np.maximum(index - 1, 0))
        high = np.clip(np.searchsorted(ends, starts + window, side="right") - 1, index + 1, count)
        before, behind = sums[index] - sums[low], sums[high] - sums[index]
        norms = np.sqrt((before**2).sum(1) * (behind**2).sum(1))
        cosine = (before * behind).sum(1) / (norms + _MARGIN)
        cosine[0] = 0.0
        columns += [cosine, _mean(cosine, near_low, near_high) - cosine]
    return np.column_stack(columns)


def _add_words(paragraphs: Sequence[Paragraph]) -> NDArray[np.float32]:
    """(n + 1, directions) sum of the directions of each paragraph's words, rare ones counting more; zeros before all.

    A word's direction comes from its CRC-32 (feature hashing, Weinberger et al. 2009).
    """
    count = len(paragraphs)
    numbers: dict[str, int] = {}
    words = [
        [numbers.setdefault(word, len(numbers)) for word in _WORD.findall(each.text.casefold()) if len(word) > 2]
        for each in paragraphs
    ]
    owners = np.repeat(np.arange(count), [len(own) for own in words])
    ids = np.fromiter((number for own in words for number in own), dtype=np.int64, count=len(owners))
    codes = np.array([zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in numbers], dtype=np.int64)
    pairs = np.unique(owners * len(numbers) + ids)
    having = np.bincount(pairs % max(len(numbers), 1), minlength=len(numbers))
    weights = np.where(codes >> 16 & 1, 1.0, -1.0) * np.log(count / np.maximum(having, 1))
    places = (owners + 1) * _DIRECTIONS + (codes % _DIRECTIONS)[ids]
    sums = np.bincount(places, weights[ids], (count + 1) * _DIRECTIONS)
    return sums.astype(np.float32).reshape(count + 1, _DIRECTIONS)


def best_borders(scores: Values, sizes: Values) -> list[int]:
    """The paragraphs that begin a section, the first included: the best sum of scores and prior.

    Args:
        scores: (n,) of a border before each paragraph.
        sizes: (n,) characters of the paragraphs.
    """
    count = len(scores)
    ends = np.concatenate([[0.0], np.cumsum(sizes)])
    best, came = np.zeros(count + 1), np.zeros(count + 1, dtype=np.int64)
    for stop in range(1, count + 1):
        low = min(int(np.searchsorted(ends, ends[stop] - LONGEST)), stop - 1)
        lengths = np.maximum(ends[stop] - ends[low:stop], 1.0)
        prior = -0.5 * ((np.log(lengths) - USUAL) / SPREAD) ** 2 - 50.0 * (lengths < SHORTEST)
        values = best[low:stop] + prior
        choice = int(values.argmax())
        came[stop] = low + choice
        best[stop] = values[choice] + (scores[stop] if stop < count else 0.0)
    firsts, place = [], count
    while place > 0:
        place = int(came[place])
        firsts.append(place)
    return firsts[::-1]


@dataclass(frozen=True)
class _Weights:
    features: Values
    words: dict[str, float]


@cache
def _weights() -> _Weights:
    stored: dict[str, Any] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return _Weights(np.array(stored["features"]), stored["words"])
