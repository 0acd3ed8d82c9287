"""Plain text: encodings, Gutenberg's wrapper, hard wraps, chapter headings."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import accumulate
from textwrap import dedent

from nlb_retriever.reading.decode import decode
from nlb_retriever.reading.draft import INVISIBLE, Draft, Heading, clean, one_line
from nlb_retriever.reading.formats.aozora import read_aozora
from nlb_retriever.reading.formats.clippings import read_clippings
from nlb_retriever.reading.formats.cues import read_cues
from nlb_retriever.reading.gutenberg import Wrapper, find_wrapper, kept_pieces
from nlb_retriever.reading.headings.looks import parse_line, title_like
from nlb_retriever.reading.headings.outline import find_headings
from nlb_retriever.reading.headings.underlined import part_titles
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.markup.unwrap import unwrap, wrap_width
from nlb_retriever.reading.pages.form_feeds import join_pages, with_form_feeds
from nlb_retriever.reading.pages.line_numbers import without_verse_numbers
from nlb_retriever.reading.pages.title_page import add_title_page

_SECTION_NUMBER = re.compile(r"\w{1,2}\.\d|(?:article|amendment)\.? [\dIVX]+\b", re.IGNORECASE)
_LAW = re.compile(
    r"\b(?:act|agreement|by-?laws|charter|code|constitution|convention|law|licen[cs]e|order|policy|regulations?|rules"
    r"|statutes?|terms|treaty)\b",
    re.IGNORECASE,
)
"""In the title of a law or contract."""
_CENTRED = re.compile(r"(?:[^\S\n]*\n)*(?P<lines>(?:[^\S\n]{8,}\S[^\n]*\n){1,4})[^\S\n]*\n")
"""Lines in the middle at the beginning, and a blank line."""
_NUMBER = re.compile(rf"{_SECTION_NUMBER.pattern}|\d{{1,3}}\.|§", re.IGNORECASE)
_SECTIONS = 5
"""Numbered sections of a manual or law, at least."""
_BOX = re.compile(r"^[^\S\n]*\*{10,}\n(?P<lines>(?:[^\S\n]*\*(?:[^\n]*[^*\n])?\*\n)+)[^\S\n]*\*{10,}$", re.MULTILINE)
"""Of asterisks around lines."""
_BETWEEN = "\n\n\n"
"""Between the books of one file."""


def read_plain(data: bytes, limits: Limits) -> Draft:
    """Read a text file. Without wrapper, hard wraps, control characters and soft hyphens its text is the file's.

    But it is in NFC, a blank line stands below the rule of a title, boxes are open, pages are joined (`form_feeds`),
    subtitles have no numbers and times (`cues`), and a Kindle's clippings stand by book (`clippings`).

    Raises:
        NotABook: the file is binary (message without the path).
    """
    text, note = decode(data)
    draft = Draft("", warnings=[note] if note else [])
    text = "\f".join(map(clean, text.split("\f")))
    if "\f" in text or "\f" in (text := with_form_feeds(text)):
        text = join_pages(text, draft.omissions)
    text, draft.pages = read_cues(INVISIBLE.sub("", text), draft.omissions)
    if draft.pages:
        draft.text, draft.headings = text, find_headings(text)
        return draft
    draft.text = text = _BOX.sub(_open_box, text)
    marked, titles = read_clippings(text, draft.omissions)
    if titles:
        draft.text, draft.headings = marked, titles
        return draft
    if read_aozora(text, draft):
        return draft
    pieces = [text]
    wrapper = find_wrapper(text)
    if wrapper and (kept := kept_pieces(text, wrapper, draft.omissions)):
        draft.title, draft.author = wrapper.title, wrapper.author
        draft.language, draft.year = wrapper.language, wrapper.year
        pieces = [f"{piece}\n" for _, piece in kept]
        draft.text = _BETWEEN.join(pieces)
    pieces = [without_verse_numbers(piece, draft.omissions) for piece in pieces]
    draft.text = _BETWEEN.join(pieces)
    if width := wrap_width(draft.text):
        pieces = [unwrap(piece, width) for piece in pieces]
    pieces = [part_titles(piece) for piece in pieces]
    draft.text = _BETWEEN.join(pieces)
    draft.headings = find_headings(draft.text)
    if wrapper and len(wrapper.titles) > 1:
        draft.headings += _books(pieces, [start for start, _ in kept], wrapper)
    add_title_page(draft)
    draft.title = draft.title or _title_of_manual(draft)
    return draft


def _open_box(match: re.Match[str]) -> str:
    """What stands in a box, as a paragraph of its own."""
    return "\n" + dedent("\n".join(line.strip()[1:-1].rstrip() for line in match["lines"].split("\n"))) + "\n"


def _books(pieces: Sequence[str], starts: Sequence[int], wrapper: Wrapper) -> Iterator[Heading]:
    """The title of each of several books in one file as a heading above all of its own."""
    offsets = accumulate((len(piece) + len(_BETWEEN) for piece in pieces), initial=0)
    titles = deque(wrapper.titles)
    for offset, start in zip(offsets, starts, strict=False):
        title = ""
        while titles and titles[0][0] <= start:
            title = titles.popleft()[1]
        if title:
            yield Heading(offset, 0, title)


def _title_of_manual(draft: Draft) -> str | None:
    """The first lines of a text whose sections are numbered, where they are centred or one that stands alone."""
    titles = [heading.title for heading in draft.headings]
    centred = _CENTRED.match(draft.text)
    if centred and sum(map(str.isdigit, (title[0] for title in titles))) >= _SECTIONS:
        lines = [line.strip() for line in centred["lines"].splitlines() if "://" not in line]
        return one_line(", ".join(lines)) if lines and all(map(title_like, lines)) else None
    line, _, rest = draft.text.strip().partition("\n")
    line = line.strip("#= ")
    number = _NUMBER if _LAW.search(line) else _SECTION_NUMBER
    if sum(number.match(title) is not None for title in titles) < _SECTIONS:
        return None
    alone = not rest.partition("\n")[0].strip()
    is_heading = parse_line(line, 0, len(line)) and not line.isupper()
    is_title = len(line) <= 60 and title_like(line, caseless=True) and not is_heading
    return one_line(line) if alone and is_title else None
