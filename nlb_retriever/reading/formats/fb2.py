"""FB2 (FictionBook 2): titled sections become sections, the bodies that hold notes an end section."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from nlb_retriever.errors import NotABook
from nlb_retriever.reading.containers.archive import Archive, shown_name
from nlb_retriever.reading.containers.xmltree import attribute, local_name, parse_xml, text_of
from nlb_retriever.reading.draft import YEAR, Draft, one_line
from nlb_retriever.reading.formats.html import html_to_text
from nlb_retriever.reading.headings.outline import add_unmarked
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.omissions import Omissions, count_words

if TYPE_CHECKING:
    from lxml.etree import _Element

_PICTURE = re.compile(rb"<binary\b[^>]*>[^<]*</binary>")
_BLOCKS = {
    "p": "p", "subtitle": "p", "text-author": "p", "date": "p", "epigraph": "blockquote", "cite": "blockquote",
    "annotation": "blockquote", "poem": "div", "stanza": "div", "v": "li", "section": "div",
}  # fmt: skip
_SAME = frozenset({"table", "tr", "td", "th", "sub", "sup"})
"""What HTML calls by the same names."""
_LONGEST_TITLE = 500


def read_fb2(data: bytes, limits: Limits) -> Draft:
    """Read a FictionBook 2 file, as it is or alone in a zip file (`.fb2.zip`).

    Raises:
        NotABook: it is none (messages without the path).
        ReadingError, ReadingLimit: as for any zip.
    """
    draft = Draft("")
    if data.startswith(b"PK"):
        data = _unzipped(Archive(data, limits), draft.omissions)
    root = parse_xml(_PICTURE.sub(b"", data), draft.warnings)
    if root is None or local_name(root) != "FictionBook":
        raise NotABook("is no FB2 book (its outermost element is not FictionBook)")
    _describe(root, draft)
    for link in root.iter("{*}a"):
        if attribute(link, "type") == "note":
            draft.omissions.skip_element("note reference", count_words("".join(map(str, link.itertext()))))
            for inside in [*link]:
                link.remove(inside)
            link.text = None
    notes: list[str] = []
    bodies = [*root.iterchildren("{*}body")]
    several = sum(not body.get("name") for body in bodies) > 1
    for body in bodies:
        page = html_to_text(_to_html(body, titled=not body.get("name"), several=several))
        draft.omissions.add(page.omissions)
        if body.get("name"):
            notes.append(page.text)
        else:
            draft.add_page(page.text, page.headings)
    add_unmarked(draft)
    draft.append_notes("\n\n".join(filter(str.strip, notes)))
    return draft


def _unzipped(archive: Archive, omissions: Omissions) -> bytes:
    books = [name for name in archive.names() if name.lower().endswith(".fb2")]
    if not books:
        raise NotABook("is a zip file with no FB2 book in it")
    for name in books[1:]:
        omissions.lose(shown_name(name), "one book is read of a zip file: unpack it")
    return archive.read(books[0])


def _describe(root: _Element, draft: Draft) -> None:
    for info in root.iterfind("{*}description/{*}title-info"):
        parts = {local_name(element): element for element in info}
        authors = [name for author in info.iterchildren("{*}author") if (name := _name(author))]
        draft.author = ", ".join(dict.fromkeys(authors)) or None
        draft.title, draft.language, draft.description = (
            text_of(parts[key]) if key in parts else None for key in ("book-title", "lang", "annotation")
        )
        if (date := parts.get("date")) is not None and (year := YEAR.search(f"{date.get('value')} {text_of(date)}")):
            draft.year = int(year[0])


def _name(author: _Element) -> str:
    names = {local_name(element): text_of(element) for element in author}
    full = " ".join(names.get(key, "") for key in ("first-name", "middle-name", "last-name"))
    return one_line(full) or names.get("nickname", "")


def _to_html(body: _Element, *, titled: bool, several: bool) -> str:
    """HTML of a body.

    Args:
        titled: titles of its sections are headings.
        several: it is one of several books, and its own title a heading above them.
    """
    from lxml.etree import iterwalk

    out: list[str] = []
    depth = int(several)
    headed = {"section", "body"} if several else {"section"}
    walker = iterwalk(body, events=("start", "end"))
    for event, element in walker:
        name = local_name(element)
        start = event == "start"
        if name == "section":
            depth += 1 if start else -1
        if name == "title":
            if start:
                out.append(_title(element, depth if titled and local_name(element.getparent()) in headed else 0))
                walker.skip_subtree()
        elif tag := _BLOCKS.get(name, name if name in _SAME else ""):
            out.append(f"<{tag}>" if start else f"</{tag}>")
        if name != "title" and start:
            out.append(escape(element.text or "", quote=False))
        if not start:
            out.append(escape(element.tail or "", quote=False))
    return "".join(out)


def _title(title: _Element, level: int) -> str:
    """The lines of a title, several as two headings; at level 0, or where it is too long for one, as text."""
    texts = [
        title.text or "",
        *(text for child in title for text in ("".join(map(str, child.itertext())), child.tail or "")),
    ]
    lines = [escape(text, quote=False) for text in texts if text.strip()]
    if not level or sum(map(len, lines)) > _LONGEST_TITLE:
        return "".join(f"<p>{line}</p>" for line in lines)
    tag = f"h{min(level, 6)}"
    return "".join(f"<{tag}>{line}</{tag}>" for line in (lines[0], "<br>".join(lines[1:])) if line) if lines else ""
