"""Where the words that answer begin and end in a passage."""

from __future__ import annotations

import re

from nlb_retriever.text.characters import SPEECH

_OUTER = " \n\t,.;:!?-–—_*\"'“”‘’«»()[]{}"
_HALVES = {"(": ")", "[": "]", "{": "}", "“": "”", "«": "»", '"': '"'}
_NOTE = re.compile(
    r"(?:(?<=[.!?,;:\"”’)])\[\d{1,3}\]|\[(?:note \d{1,3}|[a-z]{3,12} needed)\]|(?<=[.!?\]]):\d[\d,–-]{0,9})+$"
)
"""The mark of a footnote at the end: "[12]" behind a stop, "[citation needed]"."""
_SHORTENED = re.compile(r"(?:(?:\b[^\W\d_]\.)+[^\W\d_]|\b(?:Jr|Sr|Inc|Ltd|Co|Corp|Bros|Esq|etc))\Z")
"""What a stop belongs to: "D.C.", "p.m.", "Jr."."""
_SIGN = re.compile(r"(?:\b(?:US|A|C|NZ|HK)?[$£€¥]|(?:(?<=\s)|(?<=\())[-−])\Z")
"""What belongs to the figure behind it: "US$", "-"."""
_ITEM = re.compile(r"(?:\(?\d{1,3}[.)]|\d{1,2}(?:\.\d{1,3}){1,3}(?=\s+[“\"‘'(]?[A-Z]))\s+(?=[^\W\d]|[“\"‘'(])")
"""The number of a list's item, a clause or a paragraph."""
_JOINED = re.compile(r"(?:[-./_][^\W_]+)*")
_FIGURE = re.compile(r"[£$€¥]?\d++(?:[.,]\d+)+")
"""A figure that is one word: "£1,494.2"."""
_UNFINISHED = re.compile(
    r"\W(?:a|an|the|to|of|and|or|but|in|on|at|by|for|with|from|as|is|are|was|were|be|been|has|had|have|his|her|their|my|"
    r"your|our|its|that|which|who|whom|not|no|so|than|if|when|while|because|into|upon)$",
    re.IGNORECASE,
)
"""The end of words that break off."""
_STOP = re.compile(r"[,.;:!?—]|--|\Z")
_SPEECH_ENDS = re.compile(rf"[,.;:!?—-][\"”’'](?=\s+(?:[\w.]+ ){{0,3}}(?:{'|'.join(sorted(SPEECH))})\b)")
"""The end of what is said, before who says it: `,” said Mary`."""
_ITEM_ENDS = re.compile(r"[.!?](?:--|—)(?=[A-Z])")
"""The end of an item of a synopsis: "The mate is lost.--We reach Dunmore."."""
_LABEL = re.compile(r"\n[^\S\n]*(?:[^\W\d_]\w{0,20}(?: \w{1,20})?:\s|--?\w)")
"""The beginning of the next line of a record or of options: "Made in: Italy", "-x  extracts files"."""
_WORKS = re.compile(r"[A-Z][\w'’-]+(?:,? [A-Z][\w'’-]+){0,3}(?:,? (?:and|&) [A-Z][\w'’-]+|,? et al\.?),? \d{4}[a-z]?")
"""What a paper refers to: "Wick and Orme, 2011"."""
CLAUSE_WORDS = 3
"""Least words of a span that is finished where it breaks off."""


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """A span without outer stops and quotation marks, with the whole of words such as `reader.md` and "half-way".

    It ends where the next line of a record begins; a clause that breaks off ("he told her that") goes on to the next
    stop.
    """
    start, end = strip(text, start, end)
    if start < end:
        if (number := _ITEM.match(text, start)) and text[:start].rstrip(" ")[-1:] in ("", "\n"):
            start = number.end()
        if start >= end:
            return end, end  # nothing but the number
        start -= _joined(text[:start][::-1])
        end += _joined(text[end:])
        line = slice(text.rfind("\n", 0, start) + 1, (text.find("\n", end) + 1 or len(text) + 1) - 1)
        for figure in _FIGURE.finditer(text, line.start, line.stop):
            if figure.start() < end and start < figure.end():
                start, end = min(start, figure.start()), max(end, figure.end())
    if (label := _LABEL.search(text, start)) and label.start() < end:
        end = label.start()
    if (said := _SPEECH_ENDS.search(text, start)) and start < said.start() < end:
        return start, said.start()
    if (item := _ITEM_ENDS.search(text, start, end)) and start < item.start():
        return start, item.start()
    if len(text[start:end].split()) >= CLAUSE_WORDS and _UNFINISHED.search(text, start, end):
        stop = _STOP.search(text, end)
        end = stop.start() if stop else end
    return start, end


def strip(text: str, start: int, end: int) -> tuple[int, int]:
    """A span without outer stops, marks of footnotes, and brackets and quotation marks but those it has both halves of.

    It has the stop of what is shortened, the sign before a figure and the "%" behind it.
    """
    while start < end and text[start] in _OUTER and not _opens(text, start, end):
        start += 1
    while start < end and text[end - 1] in _OUTER and not _closes(text, start, end):
        end -= 1
    if note := _NOTE.search(text, start, end):
        return strip(text, start, note.start())
    if start == end:
        return start, end
    for opening, closing in _HALVES.items():
        opened = text.count(opening, start, end)
        if opened % 2 if opening == closing else opened > text.count(closing, start, end):
            if text.startswith(closing, end):
                return strip(text, start, end + 1)
            if opening in "([{":
                return strip(text, start, text.rfind(opening, start, end))
    if text[start].isdigit() and (sign := _SIGN.search(text, max(0, start - 4), start)):
        start = sign.start()
    if text.startswith(".", end) and _SHORTENED.search(text, start, end):
        end += 1
    return start, end + (text[end - 1].isdigit() and text[end : end + 1] in {"%", "°", "‰"})


def _opens(text: str, start: int, end: int) -> bool:
    """Whether a span begins with the first half of a pair whose second half is in it, before other words."""
    closing = text.find(_HALVES[text[start]], start + 1, end) if text[start] in _HALVES else -1
    return closing >= 0 and not set(_OUTER).issuperset(text[closing:end])


def _closes(text: str, start: int, end: int) -> bool:
    """Whether a span ends with the second half of a pair whose first half is in it."""
    opening = next((first for first, second in _HALVES.items() if second == text[end - 1]), None)
    if opening is None:
        return False
    opened = text.count(opening, start, end)
    return opened % 2 == 0 if opening == text[end - 1] else opened >= text.count(text[end - 1], start, end)


def _joined(text: str) -> int:
    """Characters that a text begins with and that belong to the word before it."""
    match = _JOINED.match(text)
    return match.end() if match else 0


def is_reference(text: str, start: int, end: int) -> bool:
    """Whether a span is what stands in brackets to name a work: "(Wick and Orme, 2011; Gull 2014)"."""
    opened, closed = text[:start].rstrip()[-1:], text[end:].lstrip()[:1]
    return opened in {"(", ";"} and closed in {")", ";"} and _WORKS.fullmatch(text, start, end) is not None
