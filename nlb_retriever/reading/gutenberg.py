"""Project Gutenberg's headers and licenses: they are read for title and author, then skipped."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from nlb_retriever.reading.draft import Draft, one_line
from nlb_retriever.reading.omissions import Omissions, count_words

_IN_MARKERS = ("Gutenberg", "GUTENBERG", "gutenberg", "SMALL PRINT")
"""One of these stands in the line of every marker."""
_MOST_MARKERS = 300
"""Start and end markers that are looked at: no file holds more books."""
_OPENINGS = 3
"""First lines of headers that are tried for one start marker."""
_START = re.compile(
    r"[ \t]*\*{3,}[ \t]*START(?: OF)?[ \t]*(?:THE|THIS)?[ \t]*PROJECT GUTENBERG[^\n]*(?:\n[^\n]*\*{3}[ \t]*$)?"
    r"|[ \t]*\*END[ \t*]*THE SMALL PRINT[^\n]*",
    re.IGNORECASE | re.MULTILINE,
)
_END = re.compile(
    r"[ \t]*\*{3,}[ \t]*END(?: OF)?[ \t]*(?:THE|THIS)?[ \t]*PROJECT GUTENBERG[^\n]*"
    r"|[ \t]*(?:The )?End of (?:the |this )?Project Gutenberg(?:['’]s)?\b[^\n]*",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"\W*(?:The )?Project Gutenberg['’]?s? (?:e-?text|e-?book)?,?\s*(?:of )?(?P<title>[^\n]+(?:\n[^\n]+)?)",
    re.IGNORECASE,
)
_HEADER = 5_000
"""Characters of a header at most; with the small print of the 1990s below _LICENSE."""
_LICENSE = 25_000
"""Characters of a license or of the small print at most (the full license has 19,000)."""
_LICENSE_WORDS = re.compile(
    r"general\s+terms\s+of\s+use|full\s+project\s+gutenberg\S*\s+license|updated\s+editions\s+will", re.IGNORECASE
)
_LICENSE_END = re.compile(r"hear\s+about\s+new\s+e-?books\.?[ \t]*(?:\n|\Z)", re.IGNORECASE)
_HEADER_WORDS = re.compile(
    r"^(?:title|author|language|release date|posting date|editor):|for the use of anyone|small print",
    re.IGNORECASE | re.MULTILINE,
)
_FIELD = re.compile(
    r"^(Title|Author|Language|Editor|Translator|Original publication|Release Date|Posting Date|Credits|Illustrator)"
    r":[ \t]*([^\n]*(?:\n[ \t]+\S[^\n]*)*)",
    re.IGNORECASE | re.MULTILINE,
)
_MENTION = re.compile(r"project gutenberg", re.IGNORECASE)
_SMALL_PRINT = re.compile("small print", re.IGNORECASE)
_PARAGRAPH = re.compile(r"\s*(?P<body>\S[^\n]*(?:\n[ \t]*\S[^\n]*){0,5})(?=\n[ \t]*\n|\s*\Z)")
_YEAR = re.compile(r"\b(1[4-9]\d\d|20\d\d)\b")
_CREDITS = re.compile(
    r"(?:E-text |Etext |This etext was )?(?i:produced|prepared|transcribed|scanned)\b[^.]{0,120}?"
    r"\bby\s+(?:the\s+)?[A-Z]"
)
_CREDITS_LENGTH = 700
LANGUAGES = {
    "english": "en", "french": "fr", "german": "de", "spanish": "es", "italian": "it", "portuguese": "pt",
    "dutch": "nl", "finnish": "fi", "swedish": "sv", "danish": "da", "norwegian": "no", "latin": "la",
    "greek": "el", "russian": "ru", "polish": "pl", "hungarian": "hu", "czech": "cs", "chinese": "zh",
    "japanese": "ja", "catalan": "ca", "esperanto": "eo", "tagalog": "tl", "welsh": "cy", "irish": "ga",
}  # fmt: skip


@dataclass(frozen=True)
class Stretch:
    """Characters of a file that are Project Gutenberg's, not the author's."""

    start: int
    end: int
    name: str


@dataclass(frozen=True)
class Wrapper:
    """What Project Gutenberg put around one or more texts in a file, and what the first header says."""

    stretches: tuple[Stretch, ...]
    """In text order, without overlaps."""
    titles: tuple[tuple[int, str], ...]
    """Where each header ends, and the title that it gives."""
    title: str | None
    author: str | None
    language: str | None
    year: int | None


def title_of_mention(line: str) -> tuple[str, str | None] | None:
    """Title and author of "The Project Gutenberg eBook of Dracula, by Bram Stoker"; None for other lines."""
    opening = _OPENING.match(line)
    if not opening:
        return None
    title, _, by = one_line(opening["title"]).partition(", by ")
    return title.strip(" ."), by or None


def find_wrapper(text: str) -> Wrapper | None:
    """Project Gutenberg's headers and licenses in a text with line ends "\\n"; None where there are none.

    A marker counts only with what belongs to it: a start marker below a header, an end marker above a license or
    at the end. A text that cites a marker keeps it.
    """
    lines = _marked_lines(text)
    if not lines:
        return None
    starts = [(n, m) for n in lines if (m := _START.match(text, n))][:_MOST_MARKERS]
    ends = [m for n in lines if (m := _END.match(text, n))][:_MOST_MARKERS]
    stretches: list[Stretch] = []
    headers: list[Stretch] = []
    done = 0
    while True:
        header = _next_header(text, lines, starts, done)
        stretches += _footers(text, ends, done, header.start if header else len(text))
        if header is None:
            break
        headers.append(header)
        stretches.append(header)
        done = header.end
    mentioned = lines[0] < 1_000
    if not stretches and not mentioned:
        return None
    header_text = text[headers[0].start : headers[0].end] if headers else text[:3_000] if mentioned else ""
    facts = {m[1].lower(): one_line(m[2]) for m in _FIELD.finditer(header_text)}
    title, author = facts.get("title"), facts.get("author")
    if title is None and mentioned and (mention := title_of_mention(text[:3_000].lstrip("\ufeff\n "))):
        title, author = mention[0], author or mention[1]
    year = _YEAR.search(facts.get("original publication", ""))
    return Wrapper(
        tuple(stretches),
        tuple((h.end, _title(text[h.start : h.end])) for h in headers),
        title or None,
        None if author is None or author.lower() in {"various", "anonymous", "unknown", ""} else author,
        LANGUAGES.get(facts.get("language", "").lower().split(",")[0].strip()),
        int(year[0]) if year else None,
    )


def _title(header: str) -> str:
    fields = {m[1].lower(): one_line(m[2]) for m in _FIELD.finditer(header)}
    mention = _MENTION.search(header)
    line = header[header.rfind("\n", 0, mention.start()) + 1 :] if mention else header
    return fields.get("title") or (title_of_mention(line.lstrip("\ufeff ")) or ("",))[0]


def _marked_lines(text: str) -> list[int]:
    """Starts of the lines that name Project Gutenberg or its small print."""
    starts: set[int] = set()
    for word in _IN_MARKERS:
        found = text.find(word)
        while found >= 0:
            starts.add(text.rfind("\n", 0, found) + 1)
            end_of_line = text.find("\n", found)
            found = text.find(word, end_of_line) if end_of_line >= 0 else -1
    return sorted(starts)


def _next_header(
    text: str, lines: Sequence[int], starts: Sequence[tuple[int, re.Match[str]]], begin: int
) -> Stretch | None:
    """The first header from `begin` on: from its first line to the start marker and the credits below it."""
    for i, (line, marker) in enumerate(starts):
        if line < begin:
            continue
        above = lines[bisect_left(lines, max(begin, line - _LICENSE)) : bisect_left(lines, line)]
        openings = [n for n in above if _OPENING.match(text, n)]
        first = next((n for n in (begin, *openings[-_OPENINGS:]) if _is_header(text, n, line)), None)
        if first is None:
            continue
        end = marker.end()
        for further, small in starts[i + 1 :]:  # the small print may stand below the marker
            if (
                further - end < _LICENSE
                and "SMALL PRINT" in small[0].upper()
                and _SMALL_PRINT.search(text, end, further)
            ):
                end = small.end()
        return Stretch(first, _after_credits(text, end), "Project Gutenberg's header")
    return None


def _is_header(text: str, start: int, end: int) -> bool:
    """Whether text[start:end] is a header: names the project at its beginning, is short, holds a header's words."""
    if end - start > _LICENSE or not _MENTION.search(text, start, min(end, start + 1_000)):
        return False
    if end - start > _HEADER and not _SMALL_PRINT.search(text, start, end):
        return False
    return end - start < 300 or _HEADER_WORDS.search(text, start, end) is not None


def _footers(text: str, ends: Sequence[re.Match[str]], begin: int, end: int) -> list[Stretch]:
    """End markers with their licenses in text[begin:end], which holds no header."""
    found: list[Stretch] = []
    markers = [m for m in ends if begin <= m.start() < end]
    i = 0
    while i < len(markers):
        chain = i  # "End of the Project Gutenberg EBook of ..." and "*** END OF ..." stand together
        while chain + 1 < len(markers) and len(text[markers[chain].end() : markers[chain + 1].start()].strip()) < 150:
            chain += 1
        stop = markers[chain + 1].start() if chain + 1 < len(markers) else end
        if (license_end := _license_end(text, markers[chain].end(), stop, last=stop == end)) is not None:
            found.append(Stretch(markers[i].start(), license_end, "Project Gutenberg's license"))
        i = chain + 1
    return found


def _license_end(text: str, start: int, end: int, *, last: bool) -> int | None:
    """Where the license that begins at `start` ends; None where another text stands there."""
    if last and not text[start:end].strip():
        return end
    if not _LICENSE_WORDS.search(text, start, min(end, start + 3_000)):
        return None
    closing = _LICENSE_END.search(text, start, min(end, start + _LICENSE))
    if closing:
        return closing.end()
    return end if last and end - start < _LICENSE else None


def _after_credits(text: str, start: int) -> int:
    """Skip the paragraph "Produced by ..." that follows the header."""
    paragraph = _PARAGRAPH.match(text, start)
    if paragraph and len(paragraph["body"]) < _CREDITS_LENGTH and _CREDITS.match(paragraph["body"]):
        return paragraph.end()
    return start


def kept_pieces(text: str, wrapper: Wrapper, omissions: Omissions) -> list[tuple[int, str]]:
    """What remains of a text without a wrapper's stretches, which become omissions: pieces and their offsets.

    Empty where nothing would remain: then the text is about Project Gutenberg itself.
    """
    pieces: list[tuple[int, str]] = []
    begin = 0
    for stretch in (*wrapper.stretches, Stretch(len(text), len(text), "")):
        piece = text[begin : stretch.start]
        if piece.strip():
            pieces.append((begin + len(piece) - len(piece.lstrip("\n")), piece.strip("\n")))
        begin = stretch.end
    for stretch in wrapper.stretches if pieces else ():
        omissions.skip(stretch.name, count_words(text[stretch.start : stretch.end]))
    return pieces


def without_wrapper(draft: Draft) -> None:
    """Take Project Gutenberg's headers and licenses out of a book that was made of such a text.

    Title and author of its header count more than the file's own; of a text that only names the project, less.
    """
    wrapper = find_wrapper(draft.text)
    if not wrapper:
        return
    pieces = kept_pieces(draft.text, wrapper, draft.omissions)
    if wrapper.stretches and pieces:
        draft.keep(pieces)
        named = wrapper.title or next((title for _, title in wrapper.titles), "")
        draft.title, draft.author = named or draft.title, wrapper.author or draft.author
    draft.title, draft.author = draft.title or wrapper.title, draft.author or wrapper.author
    draft.language, draft.year = draft.language or wrapper.language, draft.year or wrapper.year
