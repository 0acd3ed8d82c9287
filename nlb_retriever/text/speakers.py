"""Who speaks in a play or transcript: the names before what is said; a play's in capitals or italics or cut short."""

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
"""Characters of the text for each speech, on average: a text with fewer speeches is no play and no transcript."""
LEAST_LABELS, LEAST_TALKERS = 3, 2
"""Labels of a transcript, and speakers who have more than one."""
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
_TIME = r"[\[(]?\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d{1,3})?[\])]?"
_TALKER = r"(?:[A-Z][\w.’'-]{0,20}[^\S\n]){0,4}"
_UNNAMED = r"(?:(?:Speaker|Participant)[^\S\n]\d{1,2}|(?:Audience|Unknown|Male|Female)[^\S\n](?:member|speaker|voice))"
_ROLE = r"(?:[^\S\n]*\([^()\n]{1,40}\))?"
_TALK_LABEL = re.compile(
    rf"^[^\S\n]*(?:{_TIME}[^\S\n]*(?:[-–—][^\S\n]*)?)?(?:Q\.?\s?\d{{1,3}}\.?[^\S\n]+)?"
    rf"(?:(?P<timed>{_TALKER}[A-Z][\w’'-]{{1,20}}|{_UNNAMED}){_ROLE}[^\S\n]*{_TIME}:?[^\S\n]*$"
    rf"|(?P<colon>(?:{_TALKER}[A-Z][\w’'-]{{1,20}}|{_UNNAMED})){_ROLE}:(?:[^\S\n]+(?=\S)|$)"
    rf"|(?P<stop>(?:[A-Z][a-z.’'-]{{1,20}}[^\S\n]){{1,4}}[A-Z][A-Z’'-]{{1,20}}|[QA])\.[^\S\n]+(?=\S))",
    re.MULTILINE,
)
"""Of transcripts: "Ada Wick: Yes.", "[00:12] Ada Wick: Yes.", "Dr. LIND. Yes.", "Q. Why?"; "Ada Wick  0:12" above."""
_WORD = re.compile(r"[^\W\d_]+")
_NOBODY = re.compile(
    r"[ivxlcdm]+|.|(?:(?:re-?)?enter|exit|exeunt)\b.*|act|scene|argument|note|end|no|vol|fig|mrs?|dr|st"
    r"|(?:fade|cut|dissolve)\b.*|continued|theorem|proof|corollary|lemma|remark|definition|example|male|female",
    re.IGNORECASE,
)
_NO_TALKER = re.compile(
    r"(?:in )?(?:present|attendance)|absent|apologies|actions?|decisions?|resolved|motion|agenda|note|notes|tip|warning"
    r"|caution|important|example|result|input|output|date|time|place|venue|subject|from|to|cc|re|break|edit",
    re.IGNORECASE,
)
"""What else stands before a colon in minutes, letters and manuals."""


@dataclass(frozen=True, kw_only=True)
class Speech:
    """Where somebody begins to speak."""

    text: int
    """Number of the text, from 0."""
    label: int
    """Character of the text where the name begins."""
    start: int
    """Character of the text behind the name."""
    speaker: str
    """As one writes a name: "Lady Macbeth" of "LADY MACBETH."."""


def find_speeches(texts: Sequence[str]) -> list[Speech]:
    """The speeches of a play or transcript, in order; none where the texts are not those of one.

    Args:
        texts: of all of a book, in order.
    """
    return find_play_speeches(texts) or _of_transcript(_find_labels(_TALK_LABEL, texts), texts)


def find_play_speeches(texts: Sequence[str]) -> list[Speech]:
    """Those of a play alone."""
    return _of_play(_find_labels(_LABEL, texts), texts) or _of_play(_find_short(texts), texts)


def has_label(text: str) -> bool:
    """Whether a name stands before words in a text as in a play or transcript."""
    return any(label.search(text) for label in (_LABEL, _SHORT_LABEL, _TALK_LABEL))


def _find_labels(label: re.Pattern[str], texts: Sequence[str]) -> list[Speech]:
    return [
        Speech(
            text=number,
            label=match.end() - len(match[0].lstrip()),
            start=match.end(),
            speaker=_written(match[match.lastgroup]),
        )
        for number, text in enumerate(texts)
        for match in label.finditer(text)
        if match.lastgroup
    ]


def _of_transcript(found: Sequence[Speech], texts: Sequence[str]) -> list[Speech]:
    """Those of people; none where there are too few for a transcript, or hardly anybody speaks again."""
    found = [speech for speech in found if not _NO_TALKER.fullmatch(speech.speaker)]
    counts = Counter(speech.speaker for speech in found)
    again = sum(count > 1 for count in counts.values())
    is_one = len(found) >= LEAST_LABELS and again >= LEAST_TALKERS
    return found if is_one and len(found) * LONGEST >= sum(map(len, texts)) else []


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
        Speech(
            text=number, label=match.end() - len(match[0].lstrip()), start=match.end(), speaker=names[match["label"]]
        )
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
