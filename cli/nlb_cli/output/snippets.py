"""The part of a passage that shows why it was found."""

from __future__ import annotations

import re

from nlb_cli.output.terminal import inline
from nlb_retriever.text.languages import UNSPACED

Piece = tuple[str, bool]
"""A piece of text, and whether it matches the question."""

# Words without meaning of their own; only for what is shown in bold.
_COMMON = frozenset(
    "a about after all also an and any are as at be been before but by can could did do does for from had has have"
    " he her him his how i if in into is it its me my no not of on or our she so than that the their them then there"
    " these they this those to up us was we were what when where which who whom whose why will with would you"
    " your".split()
)
_PAIR = re.compile(r"(?=([\u30a1-\u30ff\u3400-\u9fff]{2}))")
_LENGTH = 215
_LONGEST_WORD = 20
"""So far is looked for a word's start."""


def pattern_of(question: str) -> re.Pattern[str] | None:
    """What matches the words of a question in their usual forms; None where it has no word."""
    words = dict.fromkeys(re.findall(r"[^\W_]+", question.lower()))
    words |= dict.fromkeys(_PAIR.findall(question))
    rare = [word for word in words if word not in _COMMON] or list(words)
    if not rare:
        return None
    stems = sorted((re.escape(_stem(word)) for word in rare[:64]), key=len, reverse=True)
    return re.compile("|".join(f"({_in_text(stem)})" for stem in stems), re.IGNORECASE)


def snippet(text: str, pattern: re.Pattern[str] | None) -> list[Piece]:
    """At most 215 characters of a text on one line, around most of the words that match."""
    text = inline(text)
    start = _best_start(text, pattern) if pattern and len(text) > _LENGTH else 0
    end = len(text)
    if end - start > _LENGTH:
        end = text.rfind(" ", start + _LENGTH // 2, start + _LENGTH) + 1 or start + _LENGTH
    shown = marked(text[start:end].rstrip(), pattern)
    return [*([("…", False)] if start else []), *shown, *([("…", False)] if end < len(text) else [])]


def marked(text: str, pattern: re.Pattern[str] | None) -> list[Piece]:
    """A text cut at the words that match."""
    spans: list[Piece] = []
    last = 0
    for match in pattern.finditer(text) if pattern else ():
        spans += [(text[last : match.start()], False), (match[0], True)]
        last = match.end()
    return [span for span in [*spans, (text[last:], False)] if span[0]]


def _best_start(text: str, pattern: re.Pattern[str]) -> int:
    """Where the window with the most different words of the question begins, at a word's start."""
    matches = [(match.start(), match.lastindex) for match in pattern.finditer(text)]
    best, best_at = (0, 0), 0
    for number, (at, _) in enumerate(matches):
        inside = []
        for start, word in matches[number:]:
            if start >= at + _LENGTH - 60:
                break
            inside.append(word)
        if (rated := (len(set(inside)), len(inside))) > best:
            best, best_at = rated, at
    start = min(best_at - 50, len(text) - _LENGTH)
    if start <= 0:
        return 0
    return text.find(" ", start, start + _LONGEST_WORD) + 1 or start


def _in_text(stem: str) -> str:
    """What matches a stem with an ending; within words where no spaces are between them."""
    return stem if UNSPACED.search(stem) else rf"\b{stem}\w{{0,4}}\b"


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
