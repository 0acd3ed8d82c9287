"""The rule of reading: every word of a file is in the book, or a warning says what was left out and why.

The words of a source are taken here by other means than the readers' own (text nodes of the XML, the lines that a
test wrote), and compared as multisets with those of the book. A warning names its parts with a number of words
("left out: cover.xhtml (12 words): ..."); as many words may be missing, and no more.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from html import unescape
from pathlib import Path

from lxml import etree, html

from nlb_retriever.reading import read_book
from nlb_retriever.records import Book

_WORD = re.compile(r"[^\W_]+")
_JOINING = re.compile("[\xad\u200b\u2060\ufeff]")
"""Soft hyphens and characters of no width stand inside words."""
_COUNT = re.compile(r"\((?:[^()]*, )?(\d[\d,]*) words?\)")
_NO_TEXT = ("script", "style", "head", "title", "rp")
BLOCKS = frozenset(
    "address article aside blockquote body br center dd details div dl dt figcaption figure footer form h1 h2 h3 h4 "
    "h5 h6 header hr html li main nav ol option p pre section select summary table tbody td tfoot th thead tr "
    "ul caption button textarea template object noscript iframe svg text line para tspan rt".split()
)


_DAMAGE = (zipfile.BadZipFile, OSError, EOFError, RuntimeError, NotImplementedError, zlib.error, ValueError)
_DOCX_ELEMENTS = [f"{{*}}{name}" for name in "t delText p br cr tab noBreakHyphen".split()]


def words_of(text: str) -> list[str]:
    return _WORD.findall(_JOINING.sub("", text))


def named_words(warnings: Iterable[str]) -> int:
    """How many words the warnings name as not in the book."""
    named = [w for w in warnings if w.startswith(("left out: ", "boilerplate skipped: "))]
    return sum(int(count.replace(",", "")) for warning in named for count in _COUNT.findall(warning))


def missing_words(source: str, book: Book) -> Counter[str]:
    # page labels are kept apart from the text
    kept = words_of(book.text) + [word for page in book.pages for word in words_of(page.label)]
    return Counter(words_of(source)) - Counter(kept)


def assert_all_words(source: str, book: Book) -> None:
    """Check the rule for a source's words."""
    missing, named = missing_words(source, book), named_words(book.warnings)
    some = ", ".join(f"{word} ({n})" for word, n in missing.most_common(20))
    assert missing.total() <= named, f"{missing.total()} words are missing, warnings name {named}: {some}"


def read_all_words(path: Path, source: str | None = None) -> Book:
    """Read a file and check the rule; its words are taken from it where `source` is not given."""
    book = read_book(path)
    assert_all_words(text_of_file(path) if source is None else source, book)
    return book


def text_of_file(path: Path) -> str:
    """All words of a file, by other means than its reader.

    Raises:
        ValueError: they cannot be taken from it (damaged in a way that this extraction does not read).
    """
    data = path.read_bytes()
    match path.suffix:
        case ".txt":
            return data.decode("utf-8")
        case ".md":
            return markdown_text(data.decode("utf-8"))
        case ".html" | ".htm" | ".xhtml":
            return html_text(data)
        case ".epub":
            return epub_text(data)
        case ".docx":
            return docx_text(data)
        case ".fb2":
            return fb2_text(data)
        case ".odt":
            return odt_text(data)
    raise ValueError(f"no extraction of words from {path.suffix} files")


def html_text(data: bytes) -> str:
    """All text nodes below the body, by libxml2's HTML parser."""
    try:
        root = html.document_fromstring(data, parser=html.HTMLParser(encoding="utf-8", huge_tree=True))
    except (etree.LxmlError, ValueError) as error:
        raise ValueError(str(error)) from error
    return _text_nodes(root)


def xhtml_text(data: bytes) -> str:
    """All text nodes below the body, as XML; as HTML where it is none."""
    try:
        root = etree.fromstring(data, etree.XMLParser(resolve_entities=True, load_dtd=False, no_network=True))
    except etree.XMLSyntaxError:
        return html_text(data)
    return _text_nodes(root)


def _text_nodes(root: etree._Element) -> str:
    parts: list[str] = []
    for event, element in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        if event in {"comment", "pi"}:
            parts.append(element.tail or "")
            continue
        name = etree.QName(element).localname.lower()
        border = " " if name in BLOCKS else ""
        hidden = any(etree.QName(a).localname.lower() in _NO_TEXT for a in element.iterancestors())
        if event == "start":
            parts.append(border + ("" if hidden or name in _NO_TEXT else element.text or ""))
        else:
            parts.append(border + ("" if hidden else element.tail or ""))
    return "".join(parts)


def epub_text(data: bytes) -> str:
    """The text of every (X)HTML file in the archive."""
    return "\n".join(map(xhtml_text, epub_entries(data)))


def epub_entries(data: bytes) -> Iterator[bytes]:
    """The (X)HTML files of an archive, by what they look like; damaged ones are passed over."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except _DAMAGE as error:
        raise ValueError(str(error)) from error
    with archive:
        for name in archive.namelist():
            try:
                content = archive.read(name)
            except _DAMAGE:
                continue
            if re.search(rb"<(?:\w+:)?(?:html|body)\b", content[:4096], re.IGNORECASE):
                yield content


def docx_text(data: bytes) -> str:
    """Every t and delText of the archive's XML parts, fallbacks for older programs aside.

    Raises:
        ValueError: the archive or a part of it is damaged.
    """
    parts: list[str] = []
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in dict.fromkeys(archive.namelist()):
                if name.startswith("word/") and name.endswith(".xml"):
                    parts.append(_docx_part(etree.fromstring(archive.read(name))))
    except (*_DAMAGE, etree.XMLSyntaxError) as error:
        raise ValueError(str(error)) from error
    return " ".join(parts)


def _docx_part(root: etree._Element) -> str:
    parts: list[str] = []
    for element in root.iter(*_DOCX_ELEMENTS):
        above = {etree.QName(a).localname for a in element.iterancestors()}
        text = element.text or "" if etree.QName(element).localname in {"t", "delText"} else " "
        parts.append("" if "Fallback" in above else text)
    return "".join(parts)


def fb2_text(data: bytes) -> str:
    """All text of the bodies.

    Raises:
        ValueError: the XML is damaged.
    """
    root = _strict_xml(re.sub(rb"&(?!(?:amp|lt|gt|quot|apos);|#)\w+;", b" ", data))
    return " ".join(_xml_text(body) for body in root.iterchildren("{*}body"))


def odt_text(data: bytes) -> str:
    """All text of the content.

    Raises:
        ValueError: the archive or its XML is damaged.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            root = _strict_xml(archive.read("content.xml"))
    except (*_DAMAGE, KeyError) as error:
        raise ValueError(str(error)) from error
    return " ".join(_xml_text(body) for body in root.iterfind("{*}body/{*}text"))


_XML_INLINE = frozenset("span a emphasis strong style strikethrough sub sup code soft-page-break bookmark".split())


def _xml_text(root: etree._Element) -> str:
    parts: list[str] = []
    for event, element in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        if event in {"comment", "pi"}:
            parts.append(element.tail or "")
            continue
        border = "" if etree.QName(element).localname in _XML_INLINE else " "
        parts.append(border + ((element.text if event == "start" else element.tail) or ""))
    return "".join(parts)


def _strict_xml(data: bytes) -> etree._Element:
    try:
        return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True))
    except (etree.XMLSyntaxError, ValueError) as error:
        raise ValueError(str(error)) from error


def markdown_text(source: str) -> str:
    """Markdown without the addresses of its links."""
    source = re.sub(r"\]\(\s*(?:<[^>\n]*>|[^\s()]*)(?:\s+\"[^\"]*\")?\s*\)", "] ", source)
    source = re.sub(r"<(?:https?|mailto):[^>\s]*>", " ", source)
    source = re.sub(
        r"</?(?:p|b|i|em|strong|br|hr|div|span|a|sup|sub|h[1-6])(?:\s+[\w-]+=\"[^\"]*\")*\s*/?>", " ", source
    )
    return unescape(source)
