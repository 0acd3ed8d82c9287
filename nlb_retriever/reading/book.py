"""One file to one Book: which format it is, its hash, its sections."""

from __future__ import annotations

import hashlib
import importlib
import io
import logging
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import BinaryIO

from nlb_retriever.errors import NlbError, NotABook, ReadingError, ReadingLimit
from nlb_retriever.reading.authors import in_spoken_order
from nlb_retriever.reading.containers.unpacked import is_unpacked, pack
from nlb_retriever.reading.draft import Draft, clean, one_line
from nlb_retriever.reading.gutenberg import LANGUAGES, without_wrapper
from nlb_retriever.reading.headings.subtitles import with_titles
from nlb_retriever.reading.limits import DEFAULT, Limits, beyond_memory, shown
from nlb_retriever.reading.omissions import LONGEST
from nlb_retriever.reading.pages.title_page import is_given
from nlb_retriever.reading.sidecar import Sidecar, read_sidecar
from nlb_retriever.reading.signatures import kind_of
from nlb_retriever.reading.structure import partition
from nlb_retriever.records import Book

logger = logging.getLogger(__name__)

FORMATS = {
    ".txt": "plain", ".text": "plain", ".srt": "plain", ".vtt": "plain", ".md": "markdown", ".markdown": "markdown",
    ".html": "html", ".htm": "html", ".xhtml": "html", ".hocr": "html", ".epub": "epub", ".pdf": "pdf", ".docx": "docx",
    ".doc": "doc", ".odt": "odt", ".fb2": "fb2", ".fb2.zip": "fb2", ".rtf": "rtf", ".rst": "rst",
    ".adoc": "adoc", ".asciidoc": "adoc", ".mobi": "kindle", ".azw": "kindle", ".azw3": "kindle", ".prc": "kindle",
    ".tei": "xml", ".tei.xml": "xml", ".xml": "xml", ".mhtml": "mhtml", ".mht": "mhtml",
    ".ipynb": "ipynb", ".org": "org", ".wiki": "mediawiki", ".mediawiki": "mediawiki", ".wikitext": "mediawiki",
}  # fmt: skip
"""Module of this package that reads files of each suffix."""
_NAMES = {
    "epub": "EPUB", "pdf": "PDF", "docx": "Word", "doc": "Office", "odt": "OpenDocument", "rtf": "RTF",
    "kindle": "Kindle",
}  # fmt: skip
"""What `kind_of` calls the files of a reader; of the others "text"."""
_SAID = {
    "EPUB": "an EPUB book: rename it to .epub", "PDF": "a PDF document: rename it to .pdf", "zip": "a zip file",
    "OpenDocument": "an OpenDocument text: rename it to .odt", "RTF": "an RTF document: rename it to .rtf",
    "Word": "a Word document: rename it to .docx", "Kindle": "a Kindle book: rename it to .mobi",
    "Office": "an old Office file, or one with a password",
}  # fmt: skip
"""What a message calls a file of another kind than its suffix says."""
_TWO_LETTERS = {
    "eng": "en", "fra": "fr", "fre": "fr", "deu": "de", "ger": "de", "spa": "es", "ita": "it", "por": "pt", "nld": "nl",
    "dut": "nl", "lat": "la", "rus": "ru", "pol": "pl", "hun": "hu", "ces": "cs", "cze": "cs", "swe": "sv", "dan": "da",
    "nor": "no", "fin": "fi", "zho": "zh", "chi": "zh", "jpn": "ja", "kor": "ko", "ell": "el", "gre": "el",
}  # fmt: skip
"""ISO 639-1's codes of languages that files name by those of ISO 639-2."""
_ZIPPED = frozenset({"epub", "docx", "odt", "fb2"})
_SMALL = "a an and as at by for from in of on or the to with de la le les du des der die das und el y e o"
_SMALL_WORDS = frozenset(_SMALL.split())
_BETWEEN_WORDS = re.compile(r"(?<!\d)(\d{4})[-_](0[1-9]|1[0-2])[-_]([0-2]\d|3[01])(?!\d)|(?!(?<=\d)\.\d)[_\-+.]+|\s+")
"""Or a date."""
_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
"""Within a word, where spaces stand between words."""
_ID = re.compile(r"(?<=\w) [0-9a-f]{32}$")
"""With which Notion ends the names of files."""
_ZOTERO = re.compile(r"(?:(.+?) - )?(1[4-9]\d\d|20\d\d) - (.+)", re.DOTALL)
"""Author, year and title, in names that Zotero gives to the files of its storage."""
_ZOTERO_FOLDER = re.compile(r"[2-9A-NP-Z]{8}")
_ADDRESS = re.compile(r"\s*<[^<>@\s]+@[^<>@\s]+>")
"""Of mail, behind an author's name."""
_DESCRIPTION = 1_000
"""Characters that are kept of a description."""
_CHUNK = 1 << 20


def hash_file(path: Path) -> str:
    """SHA-256 of a file's bytes, hexadecimal, in constant memory; and, where Calibre's file beside it says something
    of the book, "-" and the start of the SHA-256 of that.

    Raises:
        ReadingError: it cannot be read or is no regular file.
    """
    digest = hashlib.sha256()
    try:
        with _open(path, DEFAULT) as stream:
            while piece := stream.read(_CHUNK):
                digest.update(piece)
    except OSError as error:
        raise ReadingError(f"{shown(path)}: cannot be read ({error.strerror or error})") from error
    return _content_hash(digest.hexdigest(), read_sidecar(path, frozenset(FORMATS)))


def hash_of_bytes(content_hash: str) -> str:
    """The part of a file's `content_hash` that is of its bytes alone."""
    return content_hash.partition("-")[0]


def read_book(path: Path, *, limits: Limits = DEFAULT) -> Book:
    """Read a file as a book, in this process (time and memory are bounded in ReaderPool only).

    Raises:
        NotABook: it is of no known format, of another than its suffix says, or holds no text.
        ReadingLimit: it would grow beyond the limits.
        ReadingError: it cannot be read, is damaged or protected.
    """
    path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
    try:
        data = _read_bytes(path, limits)
        return _read(path, data, limits)
    except NlbError as error:
        message = one_line(str(error), 300 + len(shown(path)))
        raise type(error)(message if message.startswith(shown(path)) else f"{shown(path)}: {message}") from error
    except MemoryError as error:
        raise ReadingLimit(beyond_memory(path, limits)) from error
    except OSError as error:
        raise ReadingError(f"{shown(path)}: cannot be read ({error.strerror or error})") from error
    except Exception as error:
        logger.debug("reading %s failed", shown(path), exc_info=True)
        what = one_line(f"{type(error).__name__}: {error}", 160)
        raise ReadingError(f"{shown(path)}: is damaged in a way that its reader does not know ({what})") from error


def title_from_name(path: PurePath) -> str:
    """A readable title from a file name: "moby-dick.txt" -> "Moby Dick"; dates and "The Half-Moon.txt" keep hyphens."""
    if named := _named_by_zotero(path):
        return one_line(clean(named[3]))
    stem = _stem(path)
    stem = (stem.rpartition("__")[2] or stem).removesuffix("_djvu")
    if " " in stem:
        stem = _HYPHEN.sub("\u2010", stem)
    words = _BETWEEN_WORDS.sub(_show_date, _ID.sub("", clean(stem))).split()
    if not any(c.isupper() for w in words for c in w):
        words = re.sub(r"(?<=\w\w) s ", "'s ", " ".join(words)).split()
        words = [w if i and w in _SMALL_WORDS else w[:1].upper() + w[1:] for i, w in enumerate(words)]
    return one_line(" ".join(words).replace("\u2010", "-")) or "Untitled"


def _stem(path: PurePath) -> str:
    return os.fsencode(path.name[: len(path.name) - len(suffix_of(path))]).decode("utf-8", "replace")


def _named_by_zotero(path: PurePath) -> re.Match[str] | None:
    return _ZOTERO.fullmatch(_stem(path)) if _ZOTERO_FOLDER.fullmatch(path.parent.name) else None


def _show_date(match: re.Match[str]) -> str:
    return "-".join(match.groups()) if match[1] else " "


def is_read_alike(path: PurePath, other: PurePath, title: str) -> bool:
    """Whether a book of this title that was read from one path is the same at another: in its format, in its title
    where that is the name of its file, and in author and year of Zotero's names.
    """
    named = title_from_name(path)
    ours, theirs = _named_by_zotero(path), _named_by_zotero(other)
    return (
        FORMATS.get(suffix_of(path)) == FORMATS.get(suffix_of(other))
        and (title != named or named == title_from_name(other))
        and (ours and ours.group(1, 2)) == (theirs and theirs.group(1, 2))
    )


def _open(path: Path, limits: Limits) -> BinaryIO:
    """Open a regular file for reading, or a folder that is a book as one, without ever waiting for a FIFO's writer."""
    if is_unpacked(path):
        return io.BytesIO(pack(path, limits.file_bytes))
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except ValueError as error:  # NUL in its name
        raise ReadingError(f"{shown(path)}: cannot be read ({error})") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotABook(f"{shown(path)}: is no regular file")
    return os.fdopen(descriptor, "rb")


def _read_bytes(path: Path, limits: Limits) -> bytes:
    with _open(path, limits) as stream:
        pieces: list[bytes] = []
        size = 0
        while piece := stream.read(_CHUNK):
            size += len(piece)
            if size > limits.file_bytes:
                raise ReadingLimit(f"is larger than {limits.file_bytes >> 20} MiB")
            pieces.append(piece)
    data = b"".join(pieces)
    if not data:
        raise NotABook("is empty (0 bytes)")
    return data


def _read(path: Path, data: bytes, limits: Limits) -> Book:
    kind = _format(path, data)
    module = importlib.import_module(f"nlb_retriever.reading.formats.{kind}")
    reader: Callable[[bytes, Limits], Draft] = getattr(module, f"read_{kind}")
    draft = reader(data, limits)
    without_wrapper(draft)
    sidecar = read_sidecar(path, frozenset(FORMATS))
    if sidecar:
        sidecar.describe(draft)
    if len(draft.text) > limits.chars:
        raise ReadingLimit(f"holds more than {limits.chars} characters")
    if not draft.text.strip():
        raise NotABook("holds no text, only white space")
    title = one_line(draft.title or "")
    title = title if is_given(title) else title_from_name(path)
    author, year = one_line(_ADDRESS.sub("", draft.author or "")), draft.year
    if named := _named_by_zotero(path):
        author, year = author if is_given(author) else one_line(clean(named[1] or "")), year or int(named[2])
    description = one_line(draft.description or "", _DESCRIPTION)
    content_hash = _content_hash(hashlib.sha256(data).hexdigest(), sidecar)
    return Book(
        id=content_hash[:16],
        content_hash=content_hash,
        title=title,
        author=in_spoken_order(author, draft.text) if is_given(author) else None,
        language=language_tag(draft.language),
        year=year,
        description=description if is_given(description) else None,
        source=os.fspath(path),
        text=draft.text,
        sections=partition(
            draft.text,
            with_titles(draft.text, draft.headings),
            title,
            is_page=draft.is_page,
            is_marked=draft.is_marked,
        ),
        pages=tuple(draft.pages),
        warnings=(*draft.omissions.warnings(), *(one_line(warning, LONGEST) for warning in draft.warnings)),
    )


def _content_hash(of_bytes: str, sidecar: Sidecar | None) -> str:
    return f"{of_bytes}-{hashlib.sha256(sidecar.to_bytes()).hexdigest()[:16]}" if sidecar else of_bytes


def suffix_of(path: PurePath) -> str:
    """What a file's name says about its format: ".epub", ".fb2.zip"."""
    two = "".join(path.suffixes[-2:]).lower()
    return two if two in FORMATS else path.suffix.lower()


def language_tag(declared: str | None) -> str | None:
    tag = (declared or "").strip().replace("_", "-")
    if re.fullmatch(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*", tag):
        return _TWO_LETTERS.get(tag.lower(), tag)
    return LANGUAGES.get(tag.lower())


def _format(path: Path, data: bytes) -> str:
    """The reader for a file: its suffix says which, its first bytes must not say otherwise."""
    suffix = suffix_of(path)
    kind = FORMATS.get(suffix)
    if kind is None:
        raise NotABook(f"has no suffix of a book ({', '.join(sorted(FORMATS))})")
    found, name = kind_of(data), _NAMES.get(kind, "text")
    if found == name or (found == "zip" and kind in _ZIPPED):
        return kind
    if found == "text":
        if kind != "html" and b"<html" in data[:4096].lower():
            raise NotABook(f"is a web page: rename it to .html, though its suffix is {suffix}")
        raise NotABook(f"is no {name} file, though its suffix is {suffix}")
    raise NotABook(f"is {_SAID.get(found, found)}, though its suffix is {suffix}")
