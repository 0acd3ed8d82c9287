"""XML by its outermost element: TEI, an export of MediaWiki, or what a program read on scanned pages."""

from __future__ import annotations

from nlb_retriever.errors import NotABook
from nlb_retriever.reading.containers.xmltree import local_name, parse_xml
from nlb_retriever.reading.draft import Draft
from nlb_retriever.reading.formats.mediawiki import read_export
from nlb_retriever.reading.formats.ocr import read_abbyy, read_alto
from nlb_retriever.reading.formats.tei import read_tei
from nlb_retriever.reading.limits import Limits

_READERS = {
    **dict.fromkeys(("TEI", "TEI.2", "teiCorpus", "teiCorpus.2"), read_tei),
    "mediawiki": read_export,
    "alto": read_alto,
    "document": read_abbyy,
}
"""By the outermost element."""


def read_xml(data: bytes, limits: Limits) -> Draft:
    """Read an XML file.

    Raises:
        NotABook: it is none of these (messages without the path).
    """
    draft = Draft("")
    root = parse_xml(data, draft.warnings)
    name = "" if root is None else local_name(root)
    if root is None or name not in _READERS or (name == "document" and "abbyy" not in str(root.tag).lower()):
        raise NotABook("is no TEI document, export of MediaWiki, ALTO or ABBYY file, as its outermost element says")
    return _READERS[name](root, draft)
