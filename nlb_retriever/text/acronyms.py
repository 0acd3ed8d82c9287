"""What an acronym stands for, where a sentence says so: "the National Weather Office (NWO)".

The letters are looked for from the last one back (Schwartz and Hearst, PSB 2003).
"""

from __future__ import annotations

import re

_ACRONYM = re.compile(r"[^\W\d_](?:[^\W_]|[.&-]){1,9}")
_LONGEST = 120
"""Characters of what it stands for."""
_SMALL = ("of ", "and ", "the ", "for ", "in ", "on ", "to ", "a ", "an ")
"""No long form begins with these."""
_OPENS = re.compile(r"[”\"’'_*]*\s*[(\[]\s*[“\"‘']?\Z")
_SAYS = re.compile(
    r"s?[”\"’']?(?:\s*[(\[]|\s*[–—]|\s+-|,?\s+(?:stands|standing|short|an (?:acronym|abbreviation)) for|,?\s+or)\s*"
    r"(?:the\s+)?[“\"‘']?(?P<long>[^()\[\]“”\"–—,.;:\n]{3,120})"
)
"""Behind an acronym: "NWO (National Weather Office)", "NWO stands for ..."."""


def is_acronym(word: str) -> bool:
    """Whether a word has at least two capitals and at most ten characters: "NWO", "mRNA"."""
    return _ACRONYM.fullmatch(word) is not None and sum(map(str.isupper, word)) > 1


def find_long_form(acronym: str, sentence: str) -> tuple[int, int] | None:
    """The span of what an acronym stands for in a sentence that says so; None for other sentences."""
    for match in re.finditer(rf"(?<!\w){re.escape(acronym)}s?(?!\w)", sentence):
        if opened := _OPENS.search(sentence, max(0, match.start() - 9), match.start()):
            end = opened.start()
            words = [*re.finditer(r"\S+", sentence[max(0, end - _LONGEST) : end])][-2 * len(acronym) :]
            first = max(0, end - _LONGEST) + words[0].start() if words else end
            if (start := _spell(acronym, sentence, first, end)) is not None:
                return start, end
        elif said := _SAYS.match(sentence, match.start() + len(acronym)):
            start, end = said.start("long"), said.start("long") + len(said["long"].rstrip())
            if _spell(acronym, sentence, start, end, initials=True) == start:
                return start, end
    return None


def _spell(acronym: str, text: str, start: int, end: int, *, initials: bool = False) -> int | None:
    """Where the letters of an acronym begin in `text[start:end]`, the first one, or all, at a word's beginning."""
    letters = [letter for letter in acronym.lower() if letter.isalnum()]
    at = end
    for number, letter in reversed([*enumerate(letters)]):
        begins = initials or not number
        at -= 1
        while at >= start and (
            text[at].lower() != letter
            or (begins and at > start and text[at - 1].isalnum())
            or (not number and text.startswith(_SMALL, at))
        ):
            at -= 1
        if at < start:
            return None
    return at if at < end - len(acronym) else None
