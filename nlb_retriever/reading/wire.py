"""Messages between ReaderPool and its workers: a length, then JSON. Plain data, nothing executable."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, BinaryIO

from nlb_retriever.errors import NotABook, ReadingError, ReadingLimit
from nlb_retriever.records import Book, Page, Section

_LENGTH = struct.Struct(">Q")
HEADER_BYTES = _LENGTH.size
_ERRORS = {c.__name__: c for c in (ReadingError, NotABook, ReadingLimit)}


def encode(message: Mapping[str, Any]) -> bytes:
    body = json.dumps(message).encode("ascii")  # ASCII: lone surrogates of file names survive
    return _LENGTH.pack(len(body)) + body


def body_length(header: bytes) -> int:
    return int(_LENGTH.unpack(header)[0])


def receive(stream: BinaryIO) -> dict[str, Any] | None:
    """The next message; None at the end of the stream, even in the middle of a message."""
    header = stream.read(HEADER_BYTES)
    if len(header) < HEADER_BYTES:
        return None
    length = body_length(header)
    body = stream.read(length)
    return decode(body) if len(body) == length else None


def decode(body: bytes) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(body)
    return message


def book_to_wire(book: Book) -> dict[str, Any]:
    values = asdict(book)
    values["sections"] = [[list(s.path), s.start, s.end] for s in book.sections]
    values["pages"] = [[p.start, p.number, p.label] for p in book.pages]
    return values


def book_from_wire(values: dict[str, Any]) -> Book:
    sections = tuple(Section(path=tuple(p), start=s, end=e) for p, s, e in values.pop("sections"))
    pages = tuple(Page(start=s, number=n, label=label) for s, n, label in values.pop("pages"))
    warnings = tuple(values.pop("warnings"))
    return Book(**values, sections=sections, pages=pages, warnings=warnings)


def error_from_wire(kind: str, text: str) -> ReadingError:
    return _ERRORS.get(kind, ReadingError)(text)
