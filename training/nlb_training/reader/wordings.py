"""Where a text has the words of an answer that somebody gave in their own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nlb_training.reader.cloze import DETERMINERS, FUNCTION_WORDS
from nlb_training.reader.examples import Span

_BEFORE = re.compile(r"(?:(?:the|an?|his|her|their|to|in|at|on|by|from|with|because|of)\s+){1,2}", re.IGNORECASE)
_TITLES = frozenset(
    "mr mrs miss dr sir lady lord captain count countess prince princess king queen father uncle aunt madame monsieur "
    "the a an his her their of and old young".split()
)
_WORD = re.compile(r"[\w'’]+")
_STEM = 5
"""Letters of a word that are compared: "throws" and "thrown" are the same word then."""
_NO_CONTENT = FUNCTION_WORDS | DETERMINERS


def find_wordings(text: str, question: str, answers: Sequence[str]) -> list[Span]:
    """Ranges of characters that say an answer, in reading order.

    They have it as it is worded, or of a person's name what stands without titles, or its first or last word; where
    nothing does, all content words of an answer of two or more, in any order and form, within twice its length and
    four words ("a lock of hair": "lock of her hair"). What the question says itself is no answer.
    """
    pattern = _find_exactly(question, answers)
    exact = [match.span() for match in pattern.finditer(text)] if pattern else []
    return exact or _find_closely(text, question, answers)


def _find_exactly(question: str, answers: Sequence[str]) -> re.Pattern[str] | None:
    wordings: set[str] = set()
    for answer in answers:
        plain = _BEFORE.sub("", answer.strip(" ."), count=1) if _BEFORE.match(answer) else answer.strip(" .")
        words = re.findall(r"[\w'’-]+", plain)
        wordings.add(plain)
        if len(words) <= 4 and all(word[0].isupper() or word.lower() in _TITLES for word in words):
            names = [word for word in words if word.lower() not in _TITLES]
            wordings.update([" ".join(names), *names[:1], *names[-1:]])
    lowered = question.lower()
    kept = sorted((each for each in wordings if len(each) > 1 and each.lower() not in lowered), key=len, reverse=True)
    parts = (r"\s+".join(map(re.escape, each.split())) for each in kept)
    return re.compile("|".join(rf"(?<!\w){part}(?!\w)" for part in parts), re.IGNORECASE) if kept else None


def _find_closely(text: str, question: str, answers: Sequence[str]) -> list[Span]:
    words = [(_stem(match.group()), match.span()) for match in _WORD.finditer(text)]
    given = _content(question)
    spans: list[tuple[int, Span]] = []
    for answer in answers:
        wanted = _content(answer)
        if len(wanted) < 2 or wanted <= given:
            continue
        longest = 2 * len(_WORD.findall(answer)) + 4
        having = [place for place, (word, _) in enumerate(words) if word in wanted]
        for index, first in enumerate(having):
            seen = set[str]()
            for last in having[index:]:
                if last - first >= longest:
                    break
                seen.add(words[last][0])
                if seen == wanted:
                    spans.append((last - first, (words[first][1][0], words[last][1][1])))
                    break
    kept: list[Span] = []
    for _, (start, end) in sorted(spans):
        if all(end <= a or b <= start for a, b in kept):
            kept.append((start, end))
    return sorted(kept)


def _content(text: str) -> set[str]:
    return {_stem(word) for word in _WORD.findall(text) if word.lower() not in _NO_CONTENT and len(word) > 1}


def _stem(word: str) -> str:
    return word.lower().replace("’", "'").removesuffix("'s").strip("'")[:_STEM]
