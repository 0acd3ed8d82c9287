"""MHTML: a web page that a browser saved in one file with its pictures (RFC 2557)."""

from __future__ import annotations

from email import message_from_bytes
from email.message import Message

from nlb_retriever.errors import NotABook
from nlb_retriever.reading.draft import Draft
from nlb_retriever.reading.formats.html import html_to_text, read_html
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.markup.repair import decode_markup
from nlb_retriever.reading.omissions import count_words

_PAGES = frozenset({"text/html", "application/xhtml+xml"})
_FRAME = "cid:"
"""Browsers give frames such an address."""


def read_mhtml(data: bytes, limits: Limits) -> Draft:
    """Read the page of a saved file as an HTML file, without its frames, which are advertisements mostly.

    Raises:
        NotABook: there is no page in it (message without the path).
    """
    message = message_from_bytes(data)
    pages = [part for part in message.walk() if part.get_content_type() in _PAGES]
    if not pages:
        raise NotABook("holds no web page")
    page = next((part for part in pages if not part.get("Content-Location", "").startswith(_FRAME)), pages[0])
    draft = read_html(_content(page), limits)
    for part in pages:
        if part is not page:
            frame = html_to_text(decode_markup(_content(part))[0])
            draft.omissions.skip_element("frame", count_words(frame.text))
    return draft


def _content(part: Message) -> bytes:
    """The HTML of a part as UTF-8 with its mark, where the part says how it is encoded."""
    payload = part.get_payload(decode=True)
    source = payload if isinstance(payload, bytes) else b""
    try:
        return b"\xef\xbb\xbf" + source.decode(part.get_content_charset() or "").encode()
    except (LookupError, UnicodeError):
        return source
