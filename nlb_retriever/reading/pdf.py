"""PDF by pypdfium2: pages with their labels, the outline as sections, running heads taken out."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nlb_retriever.errors import NotABook, ReadingError, ReadingLimit
from nlb_retriever.reading.draft import Draft, Heading, clean, one_line
from nlb_retriever.reading.headings import is_bibliography, parse_line
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.listings import without_listings
from nlb_retriever.reading.numbering import numbered_lines
from nlb_retriever.reading.omissions import Omissions, count_words
from nlb_retriever.reading.outline import find_headings, leave_long_stretches
from nlb_retriever.reading.running_heads import without_running_heads
from nlb_retriever.reading.typography import (
    Look,
    Title,
    are_numbered,
    find_book_title,
    find_titles,
    read_looks,
)
from nlb_retriever.records import Page

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

_TERMINAL = re.compile(r"[.!?:…][\"'”’»)\]]*$")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_STRAY_CHARS = 20
"""A scan of which most pages are empty may hold as many characters of no sense."""
_WRAPPED = 40
"""Characters of a title's line that may go on in the next."""
_SHORT = 0.8
"""Share of a line's width that the second line of a title has at most."""
_UNKNOWN = re.compile(r"(?:untitled|microsoft word|arxiv:|.*\.(?:docx?|tex|indd|pdf|qxd|dvi)$)", re.IGNORECASE)
_NUMBER = re.compile(
    r"\s*(?:(?:Chapter|Section|Appendix|Part) )?(?:\d{1,3}|[A-Z](?=\.))(?:\.\d{1,3})*[.:]?[ ]+", re.IGNORECASE
)
"""Before a title, on its line."""
_ALONE = re.compile(r"^(.{4,40})\n\n", re.MULTILINE)
_DINGBATS = re.compile("[\u2700-\u27bf\u2460-\u2473]")
"""What the letters of old TeX's bitmap fonts are taken for."""
_STRAY_SHARE = 0.2
_OUTLINE = 3
"""Bookmarks of an outline: fewer are a cover's and a title's."""
_TITLE_PAGES = 3
"""First pages of which the looks are read where an outline tells the sections."""
_MARKS = "*∗†‡§¹ "
"""Of footnotes, behind a title."""
_SPACES = re.compile(r"[ \t\xa0]+")
_LIGATURES = dict(zip("\x1b\x1c\x1d\x1e\x1f\x0b\x0c\r\x0e\x0f", 2 * ["ff", "fi", "fl", "ffi", "ffl"], strict=True))
"""Of fonts that do not say what their characters mean, in the encodings T1 and OT1."""
_LIGATURE = re.compile(
    r"[\x1b-\x1f\x0b\x0c\x0e\x0f](?=[a-z]{2})|(?<=[a-z]{2})[\x1b-\x1f\x0b\x0c\x0e\x0f]|(?<=[a-z])\r(?=[a-z])"
)
_HYPHEN = re.compile("[\x02\ufffe\uffff]\r?\n?")


@dataclass(frozen=True)
class _Bookmark:
    level: int
    title: str
    page: int


def read_pdf(data: bytes, path: Path, limits: Limits) -> Draft:
    """Read a PDF's text layer.

    Raises:
        NotABook: it has no pages or no text layer (messages without the path).
        ReadingError: it is damaged, or needs a password.
    """
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise ReadingError("is encrypted with a password: save a copy without one") from error
        raise ReadingError("is a damaged or truncated PDF file") from error
    try:
        count = len(document)
        if count == 0:
            raise NotABook("is a PDF without pages")
        draft = Draft("")
        bookmarks = _bookmarks(document)
        outlined = len(bookmarks) >= _OUTLINE
        pages, looks = _page_lines(document, limits, draft.omissions, _TITLE_PAGES if outlined else count)
        empty = [i for i, lines in enumerate(pages, 1) if not lines]
        chars = sum(len(line) for lines in pages for line in lines)
        if not chars or (chars < _STRAY_CHARS and 2 * len(empty) > count):
            raise NotABook("has no text layer: run OCR on it first (for example with ocrmypdf)")
        if sum(len(_DINGBATS.findall(line)) for lines in pages for line in lines) > _STRAY_SHARE * chars:
            raise NotABook("has signs for letters in its text layer: run OCR on it first (ocrmypdf --force-ocr)")
        labels = [clean(document.get_page_label(i)).strip() for i in range(count)]
        metadata = document.get_metadata_dict()
        for i in range(document.count_attachments()):
            name = one_line(document.get_attachment(i).get_name(), 100)
            draft.omissions.lose(name, "it is a file attached to the PDF")
    finally:
        document.close()
    if empty:
        draft.warnings.append(f"{len(empty)} of {count} pages hold no text (images?), the first is {empty[0]}")
    pages = without_listings(without_running_heads(pages, labels, draft.omissions), draft.omissions)
    lines = [line for page in pages for line in page]
    of_page = [i for i, page in enumerate(pages) for _ in page]
    titles = [] if outlined else find_titles(lines, of_page, looks)
    titles += _numbered_titles(lines, of_page, titles)
    draft.text, places = _join(lines, of_page, titles)
    starts = [places[bisect_left(of_page, i)] for i in range(count)]
    draft.pages = [
        Page(start=start, number=i, label=label or str(i))
        for i, (start, label) in enumerate(zip(starts, labels, strict=True), 1)
        if start < len(draft.text)
    ]
    outline = _outline(bookmarks, draft.text, starts)
    headings = outline if outlined else _headings(titles, places, draft.text) or outline
    draft.headings = _with_references(headings, draft.text)
    title = one_line(metadata.get("Title", ""))
    if not title or _UNKNOWN.match(title):
        first = next((i for i, page in enumerate(pages) if page), 0)
        title = one_line(find_book_title(pages[first], looks[first]) or "").rstrip(_MARKS)
        title = "" if not outlined and title in {heading.title for heading in draft.headings} else title
    draft.title = title or None
    draft.author = one_line(metadata.get("Author", "")) or None
    return draft


def _page_lines(
    document: PdfDocument, limits: Limits, omissions: Omissions, looked_at: int
) -> tuple[list[list[str]], list[dict[str, Look]]]:
    """The lines of each page and, of so many of the first pages, how they are set."""
    import pypdfium2

    pages: list[list[str]] = []
    looks: list[dict[str, Look]] = []
    total = 0
    for i in range(len(document)):
        seen: dict[str, Look] = {}
        try:
            page = document[i]
            textpage = page.get_textpage()
            text = textpage.get_text_range() if textpage.count_chars() else ""
            if i < looked_at:
                seen = {
                    _SPACES.sub(" ", _clean(f"{line}\r\n")).strip(): look for line, look in read_looks(textpage, text)
                }
            textpage.close()
            text += "".join(f"\n{written}" for written in _annotations(page, omissions))
            page.close()
        except pypdfium2.PdfiumError:
            omissions.lose(f"page {i + 1}", "it could not be read")
            text = ""
        text = _clean(text)
        total += len(text)
        if total > limits.chars:
            raise ReadingLimit(f"holds more than {limits.chars} characters")
        pages.append([_SPACES.sub(" ", line).strip() for line in text.split("\n") if line.strip()])
        looks.append(seen)
    return pages, looks


def _clean(text: str) -> str:
    """The text without soft hyphens, but those at a line's end become hyphens, and with TeX's ligatures as letters."""
    text = _LIGATURE.sub(lambda match: _LIGATURES[match[0]], text)
    return clean(_HYPHEN.sub("-\n", text).replace("\xad\r\n", "-\n").replace("\xad", ""))


def _annotations(page: PdfPage, omissions: Omissions) -> Iterator[str]:
    """What is written over a page and into its form; readers' comments become an omission."""
    from pypdfium2 import raw

    for i in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, i)
        if not annotation:
            continue
        kind = raw.FPDFAnnot_GetSubtype(annotation)
        if kind == raw.FPDF_ANNOT_WIDGET:
            yield _annotation_text(annotation, b"V")
        elif kind == raw.FPDF_ANNOT_FREETEXT:
            yield _annotation_text(annotation, b"Contents")
        elif kind not in {raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP}:
            omissions.skip_element("comment", count_words(_annotation_text(annotation, b"Contents")))
        raw.FPDFPage_CloseAnnot(annotation)


def _annotation_text(annotation: Any, key: bytes) -> str:
    """A text of an annotation; empty where it has none."""
    import ctypes

    from pypdfium2 import raw

    size = raw.FPDFAnnot_GetStringValue(annotation, key, None, 0)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    raw.FPDFAnnot_GetStringValue(annotation, key, ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)), size)
    return buffer.raw[: size - 2].decode("utf-16-le", "replace")


def _bookmarks(document: PdfDocument) -> list[_Bookmark]:
    import pypdfium2

    found: list[_Bookmark] = []
    try:
        for item in document.get_toc(max_depth=8):
            dest = item.get_dest()
            index = dest.get_index() if dest is not None else None
            title = one_line((item.get_title() or "").replace("``", "“").replace("''", "”"))
            if index is not None and title:
                found.append(_Bookmark(item.level, title, index))
            if len(found) > 20_000:
                break
    except pypdfium2.PdfiumError:
        pass
    return found


def _numbered_titles(lines: Sequence[str], of_page: Sequence[int], titles: Sequence[Title]) -> list[Title]:
    """Titles by their section numbers that are no titles yet; none beside more titles without numbers."""
    width = _width(lines)
    candidates = ["" if _is_paragraph(lines, of_page, i, width) else line for i, line in enumerate(lines)]
    chain = numbered_lines(candidates)
    if len(chain) < len(titles) and not are_numbered([title.text for title in titles]):
        return []
    taken = {i for title in titles for i in range(title.first, title.last + 1)}
    found = []
    for line in chain:
        if line.line not in taken:
            last = line.line + _goes_on(lines, of_page, line.line)
            found.append(Title(line.line, last, len(line.number), " ".join(lines[line.line : last + 1])))
    return found


def _headings(titles: Sequence[Title], places: Sequence[int], text: str) -> list[Heading]:
    """Titles as headings, unless the words of the text tell better where its sections begin."""
    headings = [Heading(places[title.first], title.level, title.text.rstrip(_MARKS)) for title in titles]
    if headings and not leave_long_stretches(headings, len(text)):
        return headings
    of_words = find_headings(text)
    return headings if len(headings) >= len(of_words) and leave_long_stretches(of_words, len(text)) else of_words


def _width(lines: Sequence[str]) -> int:
    """Characters of a full line."""
    lengths = sorted(map(len, lines))
    return lengths[int(0.9 * (len(lengths) - 1))] if lengths else 0


def _join(lines: Sequence[str], of_page: Sequence[int], titles: Sequence[Title]) -> tuple[str, list[int]]:
    """All lines as paragraphs, with the offset at which each line begins, and that of the end."""
    width = _width(lines)
    words = Counter(word.casefold() for line in lines for word in _WORD.findall(line))
    firsts, lasts = {title.first for title in titles}, {title.last for title in titles}
    within = {i for title in titles for i in range(title.first, title.last)}
    parts: list[str] = []
    places = [0]
    for i, (line, following) in enumerate(pairwise([*lines, ""])):
        text, glue = (line, "\n\n") if i in lasts or i + 1 in firsts else _glue(line, following, width, words)
        if i in within:
            text, glue = (line[:-1], "") if line[-1] == "-" and following[0].islower() else (line, " ")
        parts += [text, glue]
        places.append(places[-1] + len(text) + len(glue))
    joined = "".join(parts).rstrip("\n") + "\n"
    return joined, [min(place, len(joined)) for place in places]


def _is_paragraph(lines: Sequence[str], of_page: Sequence[int], i: int, width: int) -> bool:
    """Whether a line goes on as no title does: in a long line, or to a full stop."""
    if i + 1 == len(lines) or not lines[i][0].isdigit() or not _goes_on(lines, of_page, i):
        return False
    following = lines[i + 1]
    return len(following) > _SHORT * width or following[-1] in ".;:,"


def _goes_on(lines: Sequence[str], of_page: Sequence[int], i: int) -> bool:
    """Whether a numbered title goes on in the next line of its page."""
    if i + 1 == len(lines) or of_page[i] != of_page[i + 1]:
        return False
    return len(lines[i]) > _WRAPPED and (lines[i][-1] == "-" or lines[i + 1][0].islower())


def _glue(line: str, following: str, width: int, words: Counter[str]) -> tuple[str, str]:
    """The line as it is kept, and what stands between it and the next."""
    if not following:
        return line, "\n"
    if len(line) > 1 and line[-1] == "-" and line[-2].isalpha() and following[0].islower():
        left, right = _WORD.findall(line)[-1], _WORD.findall(following)[0]
        whole, hyphened = words[(left + right).casefold()], words[f"{left}-{right}".casefold()]
        return (line, "") if hyphened > whole else (line[:-1], "")
    if _heading(line) or _heading(following):
        return line, "\n\n"
    short = len(line) < 0.8 * width
    if short and (_TERMINAL.search(line) or following[0].isupper() or following[0] in "“\"‘'—•"):
        return line, "\n\n"
    if len(line) < 0.95 * width and _TERMINAL.search(line) and following[0] in '“"‘' and width > 30:
        return line, "\n\n"
    return line, " "


def _heading(line: str) -> bool:
    found = parse_line(line, 0, 0) if len(line) < 100 else []
    return (
        bool(found)
        and (found[0].kind != "bare" or len(found[0].rest) > 3)
        and not (found[0].kind == "bare" and found[0].style == "arabic" and not found[0].rest)
    )


def _with_references(headings: list[Heading], text: str) -> list[Heading]:
    """The headings and, where none of them is that of the references, the line that is."""
    if not headings or any(is_bibliography(heading.title) for heading in headings):
        return headings
    level = min(heading.level for heading in headings)
    found = [match for match in _ALONE.finditer(text) if is_bibliography(match[1])]
    return [*headings, *(Heading(match.start(), level, match[1].strip()) for match in found[-1:])]


def _outline(bookmarks: Sequence[_Bookmark], text: str, starts: Sequence[int]) -> list[Heading]:
    """Bookmarks as headings, each where its title stands on its page (or at the page's top), with its number there."""
    found: list[Heading] = []
    for bookmark in bookmarks:
        if bookmark.page >= len(starts):
            continue
        start = starts[bookmark.page]
        end = starts[bookmark.page + 1] if bookmark.page + 1 < len(starts) else len(text)
        words = re.findall(r"\w+", bookmark.title)[:12]
        title = re.compile(r"\W{1,8}".join(words), re.IGNORECASE)
        match = title.search(text, start, end) if words else None
        place, named = start, bookmark.title
        if match:
            place = match.start()
            line = text.rfind("\n", start, place) + 1 or start
            if number := _NUMBER.fullmatch(text, line, place):
                place, named = line, f"{number[0].strip()} {named}"
        if found and place < found[-1].start:
            place = max(start, found[-1].start)
        found.append(Heading(place, bookmark.level, named))
    return found
