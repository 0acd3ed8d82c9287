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
from nlb_retriever.reading.headings.underlined import find_title, part_titles
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.markup.unwrap import unwrap, wrap_width
from nlb_retriever.reading.pages.form_feeds import join_pages, with_form_feeds
from nlb_retriever.reading.pages.line_numbers import without_verse_numbers
from nlb_retriever.reading.pages.title_page import read_first_lines

_KINDS = "novel|novella|story|tale|romance|play|drama|comedy|tragedy|poem|memoir|thriller|mystery|fable"
_BY = re.compile(
    rf"\s*(?:\bwritten\s+|\ban?\s+(?:[\w-]{{1,20}}\s+){{0,2}}(?:{_KINDS})\s+)?\bby:?(?!\w)\s*", re.IGNORECASE
)
_BY_ABROAD = re.compile(
    r"(?:von|par|por|door|av|af|VON|PAR|POR)\s+(?=[^\W\d_a-z][\w.’'-]*(?: (?:[a-z]{1,3} )*[^\W\d_a-z][\w.’'-]*){1,3}$)"
    r"|(?:作者|著者|作|著|저자|지은이|글|[Аа]втор|Autor|Autorin|Auteur|Autore|Συγγραφέας)\s*[:：/／\u3000]\s*"
)
"""Before the author in other languages, below a blank line. Those that titles have, too, do not count: "de", "di"."""
_NO_BYLINE = re.compile(r"(?:way|means|order|permission|arrangement) ", re.IGNORECASE)
"""Behind "by", what is no author: "by way of acknowledgement"."""
_UNNAMED = re.compile(r"\b(?:authors|writers|hands)$", re.IGNORECASE)
"""Several whom the line does not name: "by twelve authors"."""
_DECORATION = " \t_*=#"
_SCANNED = re.compile(
    r"Digitized by the Internet Archive\s{1,9}in \d{4}(?: with funding from\s{1,9}[^\n]{1,90})?(?:\s{1,9}https?://\S{1,200})?",
    re.IGNORECASE,
)
"""What the Internet Archive puts on one of the first pages."""
_SECTION_NUMBER = re.compile(r"\w{1,2}\.\d|(?:article|amendment)\.? [\dIVX]+\b", re.IGNORECASE)
_CENTRED = re.compile(r"(?:[^\S\n]*\n)*(?P<lines>(?:[^\S\n]{8,}\S[^\n]*\n){1,4})[^\S\n]*\n")
"""Lines in the middle at the beginning, and a blank line."""
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
    draft.text = text = _BOX.sub(_open_box, read_cues(INVISIBLE.sub("", text), draft.omissions))
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
    if not draft.title:
        draft.title, author = title_page(draft.text)
        draft.author = draft.author or author
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
    if sum(_SECTION_NUMBER.match(title) is not None for title in titles) < _SECTIONS:
        return None
    line, _, rest = draft.text.strip().partition("\n")
    line = line.strip("#= ")
    alone = not rest.partition("\n")[0].strip()
    is_heading = parse_line(line, 0, len(line)) and not line.isupper()
    is_title = len(line) <= 60 and title_like(line, caseless=True) and not is_heading
    return one_line(line) if alone and is_title else None


def title_page(text: str) -> tuple[str | None, str | None]:
    """Title and author from the front: "THE TITLE", "by", "Author" in a few short lines, or as the first line says them
    alone (`read_first_lines`); else a title with a rule."""
    if first := read_first_lines(text):
        return first
    lines = [line.strip(_DECORATION) for line in _SCANNED.sub("", text[:1_500]).split("\n")]
    short = [line for line in lines if line][:8]
    for i, line in enumerate(short):
        if len(line) > 90 or (i and len(line) > 60 and not _BY.match(line)):
            break
        abroad = _BY_ABROAD.match(line) if i and not lines[lines.index(line) - 1] else None
        if not (by := abroad or _BY.match(line)):
            continue
        author = line[by.end() :] or (short[i + 1] if i + 1 < len(short) else "")
        title = [t for t in short[:i] if not t.startswith("[") and "edited" not in t.lower()]
        if any(t == author or "@" in t for t in title):  # of a manuscript, whose author's address is above
            above = "\n".join(lines[: lines.index(line)]).rstrip().rpartition("\n\n")[2]
            title = above.split("\n")
        if any(title[0] == " ".join(title[1:end]) for end in range(2, len(title) + 1)):
            del title[0]  # a half-title
        if (
            not title
            or not author
            or len(author) > 60
            or not (abroad or title_like(author))
            or _NO_BYLINE.match(author)
        ):
            return None, None
        if any(p[0].kind not in {"caps", "bare"} for t in title if (p := parse_line(t))):
            return None, None
        author = one_line(author.strip(" .;,"))
        return one_line(" ".join(title).strip(" .;,《》『』")), None if _UNNAMED.search(author) else author
    return find_title(text), None
