"""PDF by pypdfium2: pages with their labels, the outline as sections, running heads taken out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nlb_retriever.errors import NotABook, ReadingError, ReadingLimit
from nlb_retriever.reading.draft import Draft, Heading, clean, one_line
from nlb_retriever.reading.headings import parse_line
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.listings import without_listings
from nlb_retriever.reading.numbering import numbered_lines
from nlb_retriever.reading.omissions import Omissions, count_words
from nlb_retriever.reading.outline import find_headings
from nlb_retriever.reading.running_heads import without_running_heads
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
_UNKNOWN = re.compile(r"(?:untitled|microsoft word|.*\.(?:docx?|tex|indd|pdf|qxd|dvi)$)", re.IGNORECASE)


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
        pages = _page_lines(document, limits, draft.omissions)
        empty = [i for i, lines in enumerate(pages, 1) if not lines]
        chars = sum(len(line) for lines in pages for line in lines)
        if not chars or (chars < _STRAY_CHARS and 2 * len(empty) > count):
            raise NotABook("has no text layer: run OCR on it first (for example with ocrmypdf)")
        labels = [clean(document.get_page_label(i)).strip() for i in range(count)]
        bookmarks = _bookmarks(document)
        metadata = document.get_metadata_dict()
        for i in range(document.count_attachments()):
            name = one_line(document.get_attachment(i).get_name(), 100)
            draft.omissions.lose(name, "it is a file attached to the PDF")
    finally:
        document.close()
    if empty:
        draft.warnings.append(f"{len(empty)} of {count} pages hold no text (images?), the first is {empty[0]}")
    pages = without_listings(without_running_heads(pages, labels, draft.omissions), draft.omissions)
    draft.text, starts = _join(pages)
    draft.pages = [
        Page(start=start, number=i, label=label or str(i))
        for i, (start, label) in enumerate(zip(starts, labels, strict=True), 1)
        if start < len(draft.text)
    ]
    draft.headings = _outline(bookmarks, draft.text, starts) or find_headings(draft.text)
    title = one_line(metadata.get("Title", ""))
    draft.title = title if title and not _UNKNOWN.match(title) else None
    draft.author = one_line(metadata.get("Author", "")) or None
    return draft


def _page_lines(document: PdfDocument, limits: Limits, omissions: Omissions) -> list[list[str]]:
    import pypdfium2

    pages: list[list[str]] = []
    total = 0
    for i in range(len(document)):
        try:
            page = document[i]
            textpage = page.get_textpage()
            text = textpage.get_text_range() if textpage.count_chars() else ""
            textpage.close()
            text += "".join(f"\n{written}" for written in _annotations(page, omissions))
            page.close()
        except pypdfium2.PdfiumError:
            omissions.lose(f"page {i + 1}", "it could not be read")
            text = ""
        text = clean(re.sub("[\x02\ufffe\uffff]\r?\n?", "-\n", text).replace("\xad\r\n", "-\n").replace("\xad", ""))
        total += len(text)
        if total > limits.chars:
            raise ReadingLimit(f"holds more than {limits.chars} characters")
        pages.append([re.sub(r"[ \t\xa0]+", " ", line).strip() for line in text.split("\n") if line.strip()])
    return pages


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
            if index is not None and (title := one_line(item.get_title() or "")):
                found.append(_Bookmark(item.level, title, index))
            if len(found) > 20_000:
                break
    except pypdfium2.PdfiumError:
        pass
    return found


def _join(pages: Sequence[Sequence[str]]) -> tuple[str, list[int]]:
    """All lines as paragraphs, with the offset at which each page begins."""
    lengths = sorted(len(line) for lines in pages for line in lines)
    width = lengths[int(0.9 * (len(lengths) - 1))] if lengths else 0
    words = Counter(word.casefold() for lines in pages for line in lines for word in _WORD.findall(line))
    flat = [(n, line) for n, lines in enumerate(pages) for line in lines]
    candidates = ["" if _is_paragraph(flat, i, width) else line for i, (_, line) in enumerate(flat)]
    firsts = {found.line for found in numbered_lines(candidates)}
    lasts = {i + 1 if _goes_on(flat, i) else i for i in firsts}
    parts: list[str] = []
    starts: list[int] = []
    length = 0
    for i, ((n, line), (_, following)) in enumerate(pairwise([*flat, (len(pages), "")])):
        while len(starts) <= n:
            starts.append(length)
        text, glue = (line, "\n\n") if i in lasts or i + 1 in firsts else _glue(line, following, width, words)
        parts += [text, glue]
        length += len(text) + len(glue)
    starts += [length] * (len(pages) - len(starts))
    return "".join(parts).rstrip("\n") + "\n", starts


def _is_paragraph(lines: Sequence[tuple[int, str]], i: int, width: int) -> bool:
    """Whether a line goes on as no title does: in a long line, or to a full stop."""
    if i + 1 == len(lines) or not lines[i][1][0].isdigit() or not _goes_on(lines, i):
        return False
    following = lines[i + 1][1]
    return len(following) > _SHORT * width or following[-1] in ".;:,"


def _goes_on(lines: Sequence[tuple[int, str]], i: int) -> bool:
    """Whether a numbered title goes on in the next line of its page."""
    (page, line), (following_page, following) = lines[i], lines[min(i + 1, len(lines) - 1)]
    return page == following_page and len(line) > _WRAPPED and (line[-1] == "-" or following[0].islower())


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


def _outline(bookmarks: Sequence[_Bookmark], text: str, starts: Sequence[int]) -> list[Heading]:
    """Bookmarks as headings, each where its title stands on its page (or at the page's top)."""
    found: list[Heading] = []
    for bookmark in bookmarks:
        if bookmark.page >= len(starts):
            continue
        start = starts[bookmark.page]
        end = starts[bookmark.page + 1] if bookmark.page + 1 < len(starts) else len(text)
        words = re.findall(r"\w+", bookmark.title)[:12]
        title = re.compile(r"\W{1,8}".join(words), re.IGNORECASE)
        match = title.search(text, start, end) if words else None
        place = match.start() if match else start
        if found and place < found[-1].start:
            place = max(start, found[-1].start)
        found.append(Heading(place, bookmark.level, bookmark.title))
    return found
