"""PDF by pypdfium2: pages with their labels, the outline as sections, running heads taken out."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, takewhile
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from nlb_retriever.errors import NotABook, ReadingError, ReadingLimit
from nlb_retriever.reading.draft import Draft, clean, one_line
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.omissions import Omissions, count_words
from nlb_retriever.reading.pages.columns import ReadingOrder
from nlb_retriever.reading.pages.line_numbers import find_line_numbers
from nlb_retriever.reading.pages.listings import without_listings
from nlb_retriever.reading.pages.page_notes import Note, take_notes
from nlb_retriever.reading.pages.page_numbers import PageNumbers
from nlb_retriever.reading.pages.pdf_lines import LookReader
from nlb_retriever.reading.pages.printed import (
    Bookmark,
    find_numbered_titles,
    headings_of,
    join_lines,
    read_outline,
    with_references,
)
from nlb_retriever.reading.pages.running_heads import without_letterheads, without_running_heads
from nlb_retriever.reading.pages.title_page import is_given, read_title_page, title_page
from nlb_retriever.reading.pages.typography import Look, find_titles
from nlb_retriever.records import Page

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

_STRAY_CHARS = 20
"""A scan of which most pages are empty may hold as many characters of no sense."""
_SIGNS = re.compile("[\u2700-\u27bf\u2460-\u2473\ue000-\uf8ff\ufffd]")
"""What the letters of old TeX's bitmap fonts are taken for, and of fonts that do not say what theirs mean."""
_STRAY_SHARE = 0.2
"""Of these among the characters of a text that says nothing."""
_STAMPED, _STAMPS, _FEW = 5, 0.5, 6
"""Pages, and the share of all, on which a line stands that somebody put on each page of a scan, at least; and lines
of a page that has no others, at most."""
_SAMPLE, _LEAST_LETTERS, _VOWELS = 200_000, 2_000, 0.2
"""Characters of a text, letters among them, marks aside, and the least share of these that vowels have in a language:
other characters stand there where a font does not say what its own mean."""
_SCANNED = re.compile(r"[^\W_]{3,}")
_MIXED = re.compile(r"[a-zß-öø-ÿ][A-ZÀ-ÖØ-Þ]|[^\W\d_]\d[^\W\d_]")
_LEAST_SCANNED, _MOST_MIXED = 30, 0.15
"""Words of a scanned page that counts, and the share of them with capitals or figures inside where they are none: those
of a page that was read upside down have a third, of one read well a hundredth."""
_NO_SENSE = "text that makes no sense (scanned upside down?)"
_OUTLINE = 3
"""Bookmarks of an outline: fewer are a cover's and a title's."""
_DIGITS = re.compile(r"\d+")
_SPACES = re.compile(r"[ \t\xa0]+")
_LIGATURES = {"\x1b": "ff", "\x1c": "fi", "\x1d": "fl", "\x1e": "ffi", "\x1f": "ffl"}
"""Of TeX's fonts in the encoding T1 that do not say what their characters mean."""
_LIGATURE = re.compile(r"[\x1b-\x1f](?=[a-z]{2})|(?<=[a-z]{2})[\x1b-\x1f]")
_HYPHEN = re.compile("[\x02\ufffe\uffff]\r?\n?")
_MENDED = re.compile("[\x02\x1b-\x1f\xad\ufffe\uffff]")
"""All of these, and soft hyphens: few lines have one."""


def read_pdf(data: bytes, limits: Limits) -> Draft:
    """Read a PDF's text layer.

    Raises:
        NotABook: it has no pages or no text layer (messages without the path).
        ReadingError: it is damaged, or needs a password.
    """
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower() and b"/Encrypt" in data:  # else PDFium names the error of a file before
            raise ReadingError("is encrypted with a password: save a copy without one") from error
        raise ReadingError("is a damaged or truncated PDF file") from error
    try:
        count = len(document)
        if count == 0:
            raise NotABook("is a PDF without pages")
        draft = Draft("")
        bookmarks = _bookmarks(document)
        outlined = len(bookmarks) >= _OUTLINE
        whole, looks, numbered = _without_line_numbers(*_page_lines(document, limits, draft.omissions), draft.omissions)
        draft.warnings += _check_pages(document, whole, looks)
        whole = without_letterheads(whole, draft.omissions)
        labels = [clean(document.get_page_label(i)).strip() for i in range(count)]
        metadata = document.get_metadata_dict()
        for i in range(document.count_attachments()):
            name = one_line(document.get_attachment(i).get_name(), 100)
            draft.omissions.lose(name, "files attached to the PDF are not read")
    finally:
        document.close()
    numbers = PageNumbers(whole, labels)
    unheaded = without_running_heads(whole, numbers, draft.omissions, numbered)
    labels = numbers.printed()
    pages, notes = take_notes(without_listings(unheaded, draft.omissions), looks)
    lines = [line for page in pages for line in page]
    of_page = [i for i, page in enumerate(pages) for _ in page]
    of_line = [looks[i].get(line) for i, line in zip(of_page, lines, strict=True)]
    titles = [] if outlined else find_titles(lines, of_page, of_line)
    titles += find_numbered_titles(lines, of_page, titles)
    draft.text, places = join_lines(lines, titles)
    starts = [places[bisect_left(of_page, i)] for i in range(count)]
    draft.pages = [
        Page(start=start, number=i, label=label)
        for i, (start, label) in enumerate(zip(starts, labels, strict=True), 1)
        if start < len(draft.text)
    ]
    outline = read_outline(bookmarks, draft.text, starts)
    draft.headings = with_references(
        outline if outlined else headings_of(titles, places, draft.text) or outline, draft.text
    )
    front = of_page[0] if lines else 0
    first = bisect_left(of_page, front + 1)
    on_page = {h.title for h in draft.headings if h.start < places[first] and not (outlined and h.title[:1].isalpha())}
    heads = list(takewhile(lambda line: line not in unheaded[front][:1], whole[front]))  # one may be the title
    shown = read_title_page([*heads, *lines[:first]], [*map(looks[front].get, heads), *of_line], on_page)
    plain = title_page("\n".join([*heads, *lines[:first]]))  # as of a scan, whose letters have no look
    draft.title, draft.author = _names(metadata, next(filter(any, (shown, plain)), title_page(draft.text)))
    _append_notes(draft, notes, labels)
    return draft


def _check_pages(
    document: PdfDocument, pages: Sequence[Sequence[str]], looks: Sequence[Mapping[str, Look]]
) -> Iterator[str]:
    """Warnings of sheets that hold no text, or none that makes sense."""
    empty = _find_empty(document, pages)
    _check_letters(pages, len(empty))
    garbled = _find_garbled(pages, looks)
    for sheets, what in ((empty, "no text (images?)"), (garbled, _NO_SENSE)):
        if sheets:
            yield f"{len(sheets)} of {len(pages)} pages hold {what}, the first is {sheets[0]}"


def _find_empty(document: PdfDocument, pages: Sequence[Sequence[str]]) -> list[int]:
    """The numbers of the sheets that hold no text, or an image and what most of them have ("Digitized by ...")."""
    keys = {i: {_DIGITS.sub("", line) for line in lines} for i, lines in enumerate(pages) if len(lines) <= _FEW}
    on_pages = Counter(key for of_page in keys.values() for key in of_page)
    stamps = {key for key, count in on_pages.items() if count >= max(_STAMPED, _STAMPS * len(pages) + 1)}
    return [i + 1 for i, of_page in keys.items() if of_page <= stamps and (not of_page or _has_image(document, i))]


def _has_image(document: PdfDocument, i: int) -> bool:
    import pypdfium2

    try:
        return next(document[i].get_objects([pypdfium2.raw.FPDF_PAGEOBJ_IMAGE], max_depth=3), None) is not None
    except pypdfium2.PdfiumError:
        return False


def _check_letters(pages: Sequence[Sequence[str]], empty: int) -> None:
    """Refuse what has no text layer, or one that says nothing.

    Args:
        pages: their lines.
        empty: how many hold no text.
    """
    chars = sum(len(line) for lines in pages for line in lines)
    if empty == len(pages) or (chars < _STRAY_CHARS and 2 * empty > len(pages)):
        raise NotABook("has no text layer: run OCR on it first (for example with ocrmypdf)")
    sample = unicodedata.normalize("NFD", "".join(line for lines in pages for line in lines)[:_SAMPLE]).lower()
    known, vowels = (sum(map(sample.count, of)) for of in (ascii_lowercase, "aeiouy"))
    means_nothing = known >= max(_LEAST_LETTERS, len(sample) / 2) and vowels < _VOWELS * known
    if means_nothing or sum(len(_SIGNS.findall(line)) for lines in pages for line in lines) > _STRAY_SHARE * chars:
        raise NotABook("has signs for letters in its text layer: run OCR on it first (ocrmypdf --force-ocr)")


def _find_garbled(pages: Sequence[Sequence[str]], looks: Sequence[Mapping[str, Look]]) -> list[int]:
    """The numbers of the scanned sheets whose words are none; their letters are not to be seen, and have no look.

    Raises:
        NotABook: all that have words are such.
    """
    words = {i: _SCANNED.findall("\n".join(page)) for i, page in enumerate(pages, 1)}
    words = {i: of_page for i, of_page in words.items() if len(of_page) >= _LEAST_SCANNED}
    garbled = [
        i
        for i, of_page in words.items()
        if not looks[i - 1] and sum(map(bool, map(_MIXED.search, of_page))) >= _MOST_MIXED * len(of_page)
    ]
    if garbled and len(garbled) == len(words):
        raise NotABook(f"has {_NO_SENSE}: run OCR on it again (ocrmypdf --rotate-pages --force-ocr)")
    return garbled


def _append_notes(draft: Draft, notes: Sequence[Note], labels: Sequence[str]) -> None:
    """Put footnotes into a section of their own at the end, each on its own page."""
    texts = [one_line(join_lines(note.lines, [])[0], len(draft.text)) for note in notes]
    ends = accumulate((len(text) + 2 for text in texts), initial=len(draft.text) + len("\n\nNotes\n\n"))
    draft.append_notes("\n\n".join(texts))
    draft.pages += [
        Page(start=start, number=note.page + 1, label=labels[note.page])
        for start, note in zip(ends, notes, strict=False)
    ]


def _names(metadata: Mapping[str, str], shown: tuple[str | None, str | None]) -> tuple[str | None, str | None]:
    """Title and author as the file names them, or else as its first page shows them."""
    named = (one_line(metadata.get(key, "")).rstrip(" ;,") for key in ("Title", "Author"))
    title, author = (name if is_given(name) else None for name in named)
    return title or shown[0], author or shown[1]


def _page_lines(
    document: PdfDocument, limits: Limits, omissions: Omissions
) -> tuple[list[list[str]], list[dict[str, Look]]]:
    """The lines of each page and how they are set."""
    import pypdfium2

    pages: list[list[str]] = []
    looks: list[dict[str, Look]] = []
    reader, order = LookReader(), ReadingOrder()
    total = 0
    for i in range(len(document)):
        seen: dict[str, Look] = {}
        try:
            page = document[i]
            textpage, text = _text_of(page)
            rotation = page.get_rotation()
            if rotation and (upright := reader.find_rotation(textpage, text)) != rotation:
                rotation = upright
                textpage.close()
                page.set_rotation(upright)  # as pdfium orders lines by where they are shown
                textpage, text = _text_of(page)
            text = text if rotation else reader.raise_numbers(textpage, reader.order_right_to_left(textpage, text))
            read = reader.read(textpage, text, rotation)
            seen = {_SPACES.sub(" ", _clean(f"{line}\r\n")).strip(): look for line, look in read}
            placed = [] if rotation else [*reader.place(textpage, text, page.get_cropbox()[0])]
            if (ordered := order.sort(placed, page.get_width())) != placed:
                text = "".join(line.text.rstrip(" \r\n") + "\r\n" for line in ordered)
                seen |= {line.words: seen[rest] for line in ordered for rest in (line.words[1:],) if rest in seen}
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


def _without_line_numbers(
    pages: Sequence[list[str]], looks: Sequence[dict[str, Look]], omissions: Omissions
) -> tuple[list[list[str]], list[dict[str, Look]], list[dict[str, str]]]:
    """What `_page_lines` gives, without the numbers of lines, and `find_line_numbers` of it."""
    numbered = find_line_numbers(pages, omissions)
    return (
        [[own for line in page if (own := bare.get(line, line))] for page, bare in zip(pages, numbered, strict=True)],
        [{bare.get(line, line): look for line, look in of.items()} for of, bare in zip(looks, numbered, strict=True)],
        numbered,
    )


def _text_of(page: PdfPage) -> tuple[PdfTextPage, str]:
    textpage = page.get_textpage()
    return textpage, textpage.get_text_range() if textpage.count_chars() else ""


def _clean(text: str) -> str:
    """The text without soft hyphens, but those at a line's end become hyphens, and with TeX's ligatures as letters."""
    if _MENDED.search(text):
        text = _LIGATURE.sub(lambda match: _LIGATURES[match[0]], text)
        text = _HYPHEN.sub("-\n", text).replace("\xad\r\n", "-\n").replace("\xad", "")
    return clean(text)


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


def _bookmarks(document: PdfDocument) -> list[Bookmark]:
    import pypdfium2

    found: list[Bookmark] = []
    try:
        for item in document.get_toc(max_depth=8):
            dest = item.get_dest()
            index = dest.get_index() if dest is not None else None
            title = one_line((item.get_title() or "").replace("``", "“").replace("''", "”"))
            if index is not None and title:
                found.append(Bookmark(item.level, title, index))
            if len(found) > 20_000:
                break
    except pypdfium2.PdfiumError:
        pass
    return found
