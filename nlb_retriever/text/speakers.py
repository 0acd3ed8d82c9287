"""Who speaks in a play: the names that stand before what is said, in capitals or italics or cut short."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

LEAST_SPEECHES = 5
"""Of somebody who counts as a speaker."""
LEAST_SPEAKERS, MOST_SPEAKERS = 3, 100
CYCLE = 0.75
"""Most of the labels of a play that are followed by the one that most often follows them."""
LONGEST = 1_500
"""Characters of the text for each speech, on average: a text with fewer speeches is no play."""
LEAST_NAMED, SMALL = 3, 0.1
"""Least number of places of a full name, and most in small letters beside each: "Nor." is not Nor but Norfolk."""
_CAPITALS = r"[^\W\d_a-z](?:[^\W\d_a-z]|[’'-])*"
_NAME = rf"{_CAPITALS}(?:\.? {_CAPITALS}){{0,3}}"
_LABEL = re.compile(
    rf"^[^\S\n]*(?:(?P<capitals>{_NAME})(?:[.:]?[^\S\n]*$|[.:][^\S\n]+(?=\S)|[^\S\n]*[\[(])"
    r"|_(?P<italics>[A-Z][\w’'. ]{1,30}?)[.:]?_[.:]?[^\S\n]+(?=\S))",
    re.MULTILINE,
)
_SHORT_LABEL = re.compile(
    r"^[^\S\n]*(?P<label>(?:(?:Mrs?\.?|Dr\.?|Miss|Lady|Lord|Sir|King|Queen|Captain) )?[A-Z][a-z]{1,11})"
    r"\.[^\S\n]+(?=\S)",
    re.MULTILINE,
)
"""Of plays that have no capitals there, and often cut names short: "Rom. Is the day so young?"."""
_WORD = re.compile(r"[^\W\d_]+")
_NOBODY = re.compile(
    r"[ivxlcdm]+|.|(?:(?:re-?)?enter|exit|exeunt)\b.*|act|scene|argument|note|end|no|vol|fig|mrs?|dr|st"
    r"|theorem|proof|corollary|lemma|remark|definition|example|male|female",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Speech:
    """Where somebody begins to speak."""

    text: int
    """Number of the text, from 0."""
    start: int
    """Character of the text behind the name."""
    speaker: str
    """As one writes a name: "Lady Macbeth" of "LADY MACBETH."."""


def find_speeches(texts: Sequence[str]) -> list[Speech]:
    """The speeches of a play, in order; none where the texts are not a play's.

    Args:
        texts: of all of a book, in order.
    """
    found = [
        Speech(text=number, start=match.end(), speaker=_written(match["capitals"] or match["italics"]))
        for number, text in enumerate(texts)
        for match in _LABEL.finditer(text)
    ]
    return _of_play(found, texts) or _of_play(_find_short(texts), texts)


def _find_short(texts: Sequence[str]) -> list[Speech]:
    """The speeches behind names that may be cut short, under the names that begin so."""
    found = [(number, match) for number, text in enumerate(texts) for match in _SHORT_LABEL.finditer(text)]
    counts = Counter(match["label"] for _, match in found)
    labels = [label for label, count in counts.items() if count >= LEAST_SPEECHES]
    if not LEAST_SPEAKERS <= len(labels) <= MOST_SPEAKERS or _is_cycle([match["label"] for _, match in found]):
        return []
    words = Counter(word for text in texts for word in _WORD.findall(text))
    words.subtract({label: counts[label] for label in labels})
    names: dict[str, str] = {}
    for label in sorted(labels, key=lambda label: (-len(label), label)):  # "Corn." is Cornwall, and so "Cor." Cordelia
        names[label] = _full_name(label, words, {name for short, name in names.items() if name != short})
    return [
        Speech(text=number, start=match.end(), speaker=names[match["label"]])
        for number, match in found
        if match["label"] in names
    ]


def _is_cycle(labels: Sequence[str]) -> bool:
    """Whether labels follow each other in one order ("Male.", "Female.", "Nest."), as no speakers do."""
    after: dict[str, Counter[str]] = {}
    for label, following in pairwise(labels):
        after.setdefault(label, Counter())[following] += 1
    return sum(max(counts.values()) for counts in after.values()) > CYCLE * len(labels)


def _full_name(label: str, words: Mapping[str, int], taken: Set[str]) -> str:
    """The word with a capital that most often stands for a label: of those not taken yet, if there is one."""
    full = {
        word: count
        for word, count in words.items()
        if word.startswith(label) and count >= LEAST_NAMED and words.get(word.lower(), 0) <= SMALL * count
    }
    free = {word: count for word, count in full.items() if not word.startswith(tuple(taken))}
    return max(free or full, key=lambda word: (full[word], word), default=label)


def _of_play(found: Sequence[Speech], texts: Sequence[str]) -> list[Speech]:
    """Those of the people who speak often; none where the texts have too few to be a play's."""
    counts = Counter(speech.speaker for speech in found)
    speeches = [
        speech for speech in found if counts[speech.speaker] >= LEAST_SPEECHES and not _NOBODY.fullmatch(speech.speaker)
    ]
    speakers = {speech.speaker for speech in speeches}
    is_play = len(speakers) >= LEAST_SPEAKERS and len(speeches) * LONGEST >= sum(map(len, texts))
    return speeches if is_play else []


def _written(label: str) -> str:
    return " ".join(word.capitalize() if word.isupper() else word for word in label.strip(" .").split())
