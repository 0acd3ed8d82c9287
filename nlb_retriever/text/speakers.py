"""Who speaks in a play: the names in capitals or italics that stand before what is said."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

LEAST_SPEECHES = 5
"""Of somebody who counts as a speaker."""
LEAST_SPEAKERS = 3
LONGEST = 1_500
"""Characters of the text for each speech, on average: a text with fewer speeches is no play."""
_CAPITALS = r"[^\W\d_a-z](?:[^\W\d_a-z]|[’'-])*"
_NAME = rf"{_CAPITALS}(?:\.? {_CAPITALS}){{0,3}}"
_LABEL = re.compile(
    rf"^[^\S\n]*(?:(?P<capitals>{_NAME})(?:[.:]?[^\S\n]*$|[.:][^\S\n]+(?=\S)|[^\S\n]*[\[(])"
    r"|_(?P<italics>[A-Z][\w’'. ]{1,30}?)[.:]?_[.:]?[^\S\n]+(?=\S))",
    re.MULTILINE,
)
_NOBODY = re.compile(r"[ivxlcdm]+|.|(?:(?:re-?)?enter|exit|exeunt)\b.*|act|scene|argument|note|end", re.IGNORECASE)


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
    counts = Counter(speech.speaker for speech in found)
    speeches = [
        speech for speech in found if counts[speech.speaker] >= LEAST_SPEECHES and not _NOBODY.fullmatch(speech.speaker)
    ]
    speakers = {speech.speaker for speech in speeches}
    is_play = len(speakers) >= LEAST_SPEAKERS and len(speeches) * LONGEST >= sum(map(len, texts))
    return speeches if is_play else []


def _written(label: str) -> str:
    return " ".join(word.capitalize() if word.isupper() else word for word in label.strip(" .").split())
