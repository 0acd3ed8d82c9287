"""Forms of English questions: regular expressions, each with the kind of question that has it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

LONGEST = 500
"""Characters of a question that has a form."""
WORK = r"book|novel|paper|report|thesis|document|file|manual|agreement|contract|judgment|judgement"
"""Words for a book of a library. An article may also be a part of one, and a letter is of the plot."""
WORKS = rf"(?:(?:{WORK})s|theses)"
TALE = r"tale|poem|play|essay|fable|recipe|hymn|song|sermon"
"""Words for a piece of a collection, but for "story" and "entry"."""
SORT = r"(?:(?:short|fairy|folk|ghost|one-act|prose) )?"
"""What may stand before "story" and such words."""
NUMBER = (
    r"(?:\d{1,3}(?:st|nd|rd|th)?|[ivxlc]+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)\b"
)
Forms: TypeAlias = Sequence[tuple[str, re.Pattern[str]]]


def compile_forms(forms: Iterable[tuple[str, str]]) -> Forms:
    """Kinds with the forms of whole questions: in any case, with stops behind."""
    return [(kind, re.compile(rf"\s*(?:{form})[\s?.!]*", re.IGNORECASE)) for kind, form in forms]


def match_form(question: str, forms: Forms) -> tuple[str, re.Match[str]] | None:
    """The first form that a question has, with its kind; None where it has none."""
    if len(question) > LONGEST:
        return None
    return next(((kind, match) for kind, form in forms if (match := form.fullmatch(question))), None)
