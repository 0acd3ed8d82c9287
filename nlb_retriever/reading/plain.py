"""Plain text: encodings, Gutenberg's wrapper, hard wraps, chapter headings."""

from __future__ import annotations

import re
from pathlib import Path

from nlb_retriever.reading.decode import decode
from nlb_retriever.reading.draft import Draft, clean, one_line
from nlb_retriever.reading.gutenberg import find_wrapper
from nlb_retriever.reading.headings import parse_line, title_like
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.outline import find_headings
from nlb_retriever.reading.unwrap import unwrap, wrap_width

_BY = re.compile(r"\s*\b[Bb][Yy]:?\b\s*")
_BOX = " \t_*=#"


def read_plain(data: bytes, path: Path, limits: Limits) -> Draft:
    """Read a text file. Without wrapper, hard wraps and control characters its text is the file's, exactly.

    Raises:
        NotABook: the file is binary (message without the path).
    """
    text, guessed = decode(data)
    warnings = [f"the encoding was guessed: {guessed}"] if guessed else []
    text = clean(text)
    draft = Draft(text, warnings=warnings)
    wrapper = find_wrapper(text)
    if wrapper:
        draft.text = text[wrapper.start : wrapper.end].strip("\n") + "\n"
        draft.title, draft.author = wrapper.title, wrapper.author
        draft.language, draft.year = wrapper.language, wrapper.year
    if width := wrap_width(draft.text):
        draft.text = unwrap(draft.text, width)
    draft.headings = find_headings(draft.text)
    if not draft.title:
        draft.title, author = title_page(draft.text)
        draft.author = draft.author or author
    return draft


def title_page(text: str) -> tuple[str | None, str | None]:
    """Title and author from the front: "THE TITLE", "by", "Author" in a few short lines."""
    lines = [line.strip(_BOX) for line in text[:1_500].split("\n")]
    short = [line for line in lines if line][:8]
    for i, line in enumerate(short):
        if len(line) > 90 or (i and len(line) > 60 and not _BY.match(line)):
            break
        if not (by := _BY.match(line)):
            continue
        author = line[by.end() :] or (short[i + 1] if i + 1 < len(short) else "")
        title = [t for t in short[:i] if not t.startswith("[") and "edited" not in t.lower()]
        if not title or not author or len(author) > 60 or not title_like(author):
            return None, None
        if any(p[0].kind not in {"caps", "bare"} for t in title if (p := parse_line(t, 0, 0))):
            return None, None
        return one_line(" ".join(title).strip(" .;,")), one_line(author.strip(" .;,"))
    return None, None
