"""DOCX through mammoth's HTML, after its parts were counted and searched for declarations."""

from __future__ import annotations

import io
from pathlib import Path

from nlb_retriever.errors import NotABook, ReadingError, ReadingLimit
from nlb_retriever.reading.archive import Archive, shown_name
from nlb_retriever.reading.draft import Draft
from nlb_retriever.reading.html import html_to_text
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.outline import find_headings
from nlb_retriever.reading.package import parse_xml, text_of

_STYLES = "p[style-name='Title'] => p.title:fresh\np[style-name='Subtitle'] => p.subtitle:fresh"


def read_docx(data: bytes, path: Path, limits: Limits) -> Draft:
    """Read a Word document: heading styles become sections, footnotes an end section.

    Raises:
        NotABook, ReadingError, ReadingLimit: as for any zip (messages without the path).
    """
    archive = Archive(data, limits)
    if archive.find("word/document.xml") is None:
        raise NotABook("is a zip file but no Word document (no word/document.xml in it)")
    for name in archive.names():
        if name.endswith((".xml", ".rels")):
            try:
                head = archive.read(name)[:65_536]
            except ReadingLimit:
                raise
            except ReadingError:
                continue  # mammoth complains where it needs this part
            if b"<!DOCTYPE" in head or b"<!ENTITY" in head:
                raise ReadingError(f"{shown_name(name)} in it declares XML entities, as no Word document does")
    import mammoth

    without_images = mammoth.images.img_element(lambda image: {"src": ""})
    result = mammoth.convert_to_html(io.BytesIO(data), style_map=_STYLES, convert_image=without_images)
    source, notes_at = result.value, result.value.rfind('<ol><li id="footnote-')
    if notes_at < 0:
        notes_at = result.value.rfind('<ol><li id="endnote-')
    page = html_to_text(source[:notes_at] if notes_at >= 0 else source)
    draft = Draft(page.text, page.headings, warnings=list(archive.warnings))
    if len(draft.headings) < 2:
        draft.headings = find_headings(draft.text) or draft.headings
    if notes_at >= 0:
        draft.append_notes(html_to_text(source[notes_at:].replace("↑", "")).text)
    _properties(archive, draft)
    return draft


def _properties(archive: Archive, draft: Draft) -> None:
    name = archive.find("docProps/core.xml")
    root = parse_xml(archive.read(name)) if name else None
    if root is None:
        return
    values = {str(e.tag).rpartition("}")[2]: text_of(e) for e in root}
    draft.title = values.get("title") or None
    draft.author = values.get("creator") or None
    draft.language = values.get("language") or None
