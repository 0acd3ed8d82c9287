"""XML from strangers: parsed without entities, elements and attributes known by their local names."""

from __future__ import annotations

import re
from html.entities import html5
from typing import TYPE_CHECKING, Any

from nlb_retriever.errors import ReadingError, ReadingLimit
from nlb_retriever.reading.containers.archive import Archive
from nlb_retriever.reading.draft import one_line

if TYPE_CHECKING:
    from lxml.etree import _Element

_HALF = re.compile(rb"&#(?:x0*d[89a-f][0-9a-f]{2}|0*(?:5529[6-9]|55[3-9]\d\d|5[6-7]\d{3}));", re.IGNORECASE)
"""A reference to half a character, as no XML may have (a few whole ones are taken for such: U+E000 to U+E28F)."""
_ENTITY = re.compile(rb"&([A-Za-z][A-Za-z0-9]{1,30});")


def parse_xml(data: bytes, warnings: list[str] | None = None) -> _Element | None:
    """Parse XML, without its declarations of entities; None where there is nothing to parse.

    HTML's named characters (&nbsp;) are read although no declaration is; all other entities vanish.

    Args:
        data: the document; of a damaged one, what can be read of it.
        warnings: gets what is wrong with it.
    """
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        huge_tree=False,
        load_dtd=False,
        recover=True,
        remove_comments=True,
        remove_pis=True,
    )
    start = data[:4096].find(b"<!DOCTYPE")
    if start >= 0:
        end, subset = data.find(b">", start), data.find(b"[", start)
        if 0 <= subset < end:
            end = data.find(b">", data.find(b"]", subset))
        data = data[:start] + data[end + 1 :] if end >= 0 else data[:start]
    data = _HALF.sub(b"&#xfffd;", _ENTITY.sub(_character, data))
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    faults = [entry for entry in parser.error_log if entry.domain_name not in {"DTD", "VALID"}]  # ids are not read
    if faults and warnings is not None:
        if deep := next((fault for fault in faults if fault.message.startswith("Excessive depth")), None):
            what = f"nested too deeply (line {deep.line}): what follows was left out"
        else:
            what = f"damaged, and was read as far as that goes (line {faults[0].line}: {faults[0].message})"
        warnings.append(f"its XML is {what}")
    return root


def read_part(archive: Archive, name: str) -> _Element | None:
    """A part that the book can do without; None where it is missing or damaged."""
    actual = archive.find(name)
    try:
        return parse_xml(archive.read(actual)) if actual else None
    except ReadingLimit:
        raise
    except ReadingError:
        return None


def _character(match: re.Match[bytes]) -> bytes:
    name = match[1].decode("ascii")
    if name in {"amp", "lt", "gt", "quot", "apos"}:
        return match[0]
    return b"".join(b"&#%d;" % ord(c) for c in html5.get(f"{name};", ""))


def text_of(element: Any) -> str:
    return one_line("".join(element.itertext()))


def local_name(element: _Element) -> str:
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: _Element, name: str) -> str:
    """An attribute by its local name; empty where there is none."""
    return next((str(value) for key, value in element.attrib.items() if str(key).rpartition("}")[2] == name), "")
