"""Project Gutenberg's wrapper: its header is read for title and author, then both ends come off."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nlb_retriever.reading.draft import one_line

_EDGE = 60_000
"""The header and the licence (19,000 characters) are sought this far from either end."""
_START = re.compile(
    r"^[ \t]*\*{3,}[ \t]*START(?: OF)?[ \t]*(?:THE|THIS)?[ \t]*PROJECT GUTENBERG[^\n]*(?:\n[^\n]*\*{3}[ \t]*$)?"
    r"|^[ \t]*\*END[ \t*]*THE SMALL PRINT[^\n]*",
    re.IGNORECASE | re.MULTILINE,
)
_END = re.compile(
    r"^[ \t]*\*{3,}[ \t]*END(?: OF)?[ \t]*(?:THE|THIS)?[ \t]*PROJECT GUTENBERG"
    r"|^[ \t]*(?:The )?End of (?:the |this )?Project Gutenberg(?:['’]s)?\b"
    r"|^[ \t]*\*{3,}[ \t]*START:? FULL LICENSE",
    re.IGNORECASE | re.MULTILINE,
)
_MENTION = re.compile(r"project gutenberg", re.IGNORECASE)
_FIELD = re.compile(
    r"^(Title|Author|Language|Editor|Translator|Original publication|Release Date|Posting Date|Credits|Illustrator)"
    r":[ \t]*([^\n]*(?:\n[ \t]+\S[^\n]*)*)",
    re.IGNORECASE | re.MULTILINE,
)
_YEAR = re.compile(r"\b(1[4-9]\d\d|20\d\d)\b")
_CREDITS = re.compile(r"(?:E-text |Etext |This etext was )?(?:produced|prepared|transcribed|scanned)\b", re.IGNORECASE)
_FIRST_LINE = re.compile(
    r"^\W*(?:The )?Project Gutenberg['’]?s? (?:e-?text|e-?book)?,?\s*(?:of )?(?P<title>[^\n]+(?:\n[^\n]+)?)",
    re.IGNORECASE,
)
LANGUAGES = {
    "english": "en", "french": "fr", "german": "de", "spanish": "es", "italian": "it", "portuguese": "pt",
    "dutch": "nl", "finnish": "fi", "swedish": "sv", "danish": "da", "norwegian": "no", "latin": "la",
    "greek": "el", "russian": "ru", "polish": "pl", "hungarian": "hu", "czech": "cs", "chinese": "zh",
    "japanese": "ja", "catalan": "ca", "esperanto": "eo", "tagalog": "tl", "welsh": "cy", "irish": "ga",
}  # fmt: skip


@dataclass(frozen=True)
class Wrapper:
    """Where the book proper lies in a Gutenberg file, and what the header says about it."""

    start: int
    end: int
    title: str | None
    author: str | None
    language: str | None
    year: int | None


def title_of_mention(line: str) -> tuple[str, str | None] | None:
    """Title and author of "The Project Gutenberg eBook of Dracula, by Bram Stoker"; None for other lines."""
    opening = _FIRST_LINE.match(line)
    if not opening:
        return None
    title, _, by = one_line(opening["title"]).partition(", by ")
    return title.strip(" ."), by or None


def find_wrapper(text: str) -> Wrapper | None:
    """The wrapper of a text with line ends "\\n"; None where there is none."""
    head, tail = text[:_EDGE], max(0, len(text) - _EDGE)
    first = None
    for first in _START.finditer(head):  # noqa: B007 - the last one counts: the small print comes after START
        pass
    last = _END.search(text, max(tail, first.end() if first else 0))
    if first is None and (last is None or not _MENTION.search(head[:1_000])):
        return None if last is None else Wrapper(0, last.start(), None, None, None, None)
    start = first.end() if first else 0
    header = head[: first.start()] if first else head[:3_000]
    fields = {m[1].lower(): one_line(m[2]) for m in _FIELD.finditer(header)}
    title, author = fields.get("title"), fields.get("author")
    if title is None and (mention := title_of_mention(head.lstrip("\ufeff\n "))):
        title, author = mention[0], author or mention[1]
    year = _YEAR.search(fields.get("original publication", ""))
    language = LANGUAGES.get(fields.get("language", "").lower().split(",")[0].strip())
    return Wrapper(
        _after_credits(text, start),
        last.start() if last else len(text),
        title or None,
        None if author is None or author.lower() in {"various", "anonymous", "unknown", ""} else author,
        language,
        int(year[0]) if year else None,
    )


def _after_credits(text: str, start: int) -> int:
    """Skip the paragraph "Produced by ..." that follows the header."""
    paragraph = re.compile(r"\s*(?P<body>\S[^\n]*(?:\n[ \t]*\S[^\n]*){0,5})(?=\n[ \t]*\n|\s*\Z)").match(text, start)
    return paragraph.end() if paragraph and _CREDITS.match(paragraph["body"]) else start
