"""The people of a story: the names that most often stand beside a verb of what people do, above all of speech.

Of a play those who speak most often.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from nlb_retriever.text.persons import TITLES
from nlb_retriever.text.speakers import find_play_speeches

LEAST_DEEDS = 5
"""So often a name must stand beside such a verb."""
FULL_NAME = 0.02
"""Least share of a name's places where the other half of the full name stands beside it, and three at least."""
COMMON = 0.1
"""A word is no name where it is in small letters more often than so many times as with a capital."""
_WORD = re.compile(r"[^\W\d_]+(?:[-’'][^\W\d_]+)*|[,.;:!?—]")
_POSSESSIVE = re.compile(r"[’']s?$")
SPEECH = frozenset("said asked replied answered cried exclaimed whispered murmured returned says asks quoth".split())
_DEEDS = SPEECH | frozenset(
    "thought looked felt knew went came smiled laughed nodded turned stood sat took had did could would was is".split()
)
_NO_NAMES = TITLES | _DEEDS | frozenset("enter exit exeunt god heaven english french german american".split())


@dataclass(frozen=True, kw_only=True)
class Character:
    """Somebody in a story."""

    name: str
    """One word ("Dickson"), or two where they often stand together ("Dickson McCunn")."""
    deeds: int
    """How often the name stands beside a verb of what people do; in a play, the number of speeches."""


def find_characters(texts: Sequence[str], most: int) -> list[Character]:
    """The main characters of a story, the most active one first.

    Names alone are counted: who is "I" to the story, or "the stranger", is not among them.

    Args:
        texts: the story's parts, in order.
        most: so many names at most.
    """
    if speeches := find_play_speeches(texts):
        spoken = Counter(speech.speaker for speech in speeches)
        return [Character(name=name, deeds=count) for name, count in spoken.most_common(most)]
    words = [_POSSESSIVE.sub("", word) for text in texts for word in _WORD.findall(text)]
    words = [word for word in words if word]
    small = Counter(word for word in words if word.islower())
    capital = Counter(word for word in words if word.istitle() or (word[0].isupper() and not word.isupper()))
    names = {
        word
        for word, count in capital.items()
        if len(word) > 2 and small[word.lower()] <= COMMON * count and word.lower() not in _NO_NAMES
    }
    deeds: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for one, two in pairwise(words):
        if one in names:
            deeds[one] += two in _DEEDS
            pairs[one, two] += two in names
        elif two in names:
            deeds[two] += one in SPEECH
    found: list[Character] = []
    known: set[str] = set()
    for name, count in deeds.most_common():
        if count < LEAST_DEEDS or len(found) == most:
            break
        if name not in known:
            full = _full_name(name, capital[name], pairs)
            full = (name,) if known.intersection(full) else full  # "Bennet" beside "Elizabeth"
            known.update(full)
            found.append(Character(name=" ".join(full), deeds=count))
    return found


def _full_name(name: str, places: int, pairs: Counter[tuple[str, str]]) -> tuple[str, ...]:
    """A name with the other one that most often stands beside it, if it does so often enough."""
    both = [(count, pair) for pair, count in pairs.items() if name in pair and pair[0] != pair[1]]
    count, pair = max(both, default=(0, (name, name)))
    return pair if count >= max(3, FULL_NAME * places) else (name,)
