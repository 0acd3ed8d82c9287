"""Comparison of answers: SQuAD's normalization, exact match and token F1."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Sequence

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation + "‘’“”—–…")
_WORD = re.compile(r"\w+(?:['’]\w+)?")
_LONGEST, _LEAST = 20, 0.4
"""Most words of a span that is only like an answer, and its least F1."""


def normalise(text: str) -> list[str]:
    """Words of an answer in small letters, without articles and punctuation (SQuAD's evaluation script)."""
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def token_f1(answer: str, reference: str) -> float:
    """Harmonic mean of the shares of words that two answers have in common."""
    mine, theirs = normalise(answer), normalise(reference)
    if not mine or not theirs:
        return float(mine == theirs)
    common = sum((Counter(mine) & Counter(theirs)).values())
    return 2 * common / (len(mine) + len(theirs))


def best_f1(answer: str, references: Iterable[str]) -> float:
    """The highest token F1 with one of the reference answers."""
    return max((token_f1(answer, each) for each in references), default=0.0)


def exact_match(answer: str, references: Iterable[str]) -> float:
    """1 where the words are those of a reference answer, else 0."""
    return float(any(normalise(answer) == normalise(each) for each in references))


def find_verbatim(text: str, answer: str) -> list[tuple[int, int]]:
    """Where an answer stands in a text as whole words, whatever its case and outer articles and stops."""
    words = _WORD.findall(answer)
    while words and words[0].lower() in {"a", "an", "the"}:
        words = words[1:]
    if not words:
        return []
    pattern = r"\b" + r"\W{1,3}".join(map(re.escape, words)) + r"\b"
    return [match.span() for match in re.finditer(pattern, text, re.IGNORECASE)]


def closest_spans(text: str, answers: Sequence[str]) -> list[tuple[int, int]]:
    """The spans of a text that are most like an answer in any words, by token F1.

    Returns:
        All spans with the best F1 that begin and end with a word of the answer; at most four, the shortest first.
    """
    found: dict[tuple[int, int], float] = {}
    words = [(match.span(), normalise(match.group())) for match in _WORD.finditer(text)]
    for answer in answers:
        reference = Counter(normalise(answer))
        size = sum(reference.values())
        positions = [index for index, (_, own) in enumerate(words) if own and own[0] in reference]
        for position, first in enumerate(positions):
            common: Counter[str] = Counter()
            shared = total = 0
            seen = first
            for last in positions[position:]:
                if last - first >= _LONGEST:
                    break
                for index in range(seen, last + 1):
                    for word in words[index][1]:
                        total += 1
                        common[word] += 1
                        shared += common[word] <= reference[word]
                seen = last + 1
                span = (words[first][0][0], words[last][0][1])
                found[span] = max(found.get(span, 0.0), 2 * shared / (size + total))
    best = max(found.values(), default=0.0)
    if best < _LEAST:
        return []
    spans = [span for span, f1 in found.items() if f1 > best - 1e-9]
    return sorted(spans, key=lambda span: (span[1] - span[0], span))[:4]
