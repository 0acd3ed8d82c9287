"""Web pages that a browser saved in one file."""

from __future__ import annotations

import base64
import quopri
from pathlib import Path

import pytest

from nlb_retriever.errors import NotABook
from nlb_retriever.reading import read_book
from tests.reading.conftest import SENTENCE

PAGE = f"<title>Zoë’s Lamps</title><body><h1>Der Türmer</h1><p>{SENTENCE * 6}</p><h1>Night</h1><p>{SENTENCE * 6}</p>"
AD = "<p>Buy more lamps now.</p>"


def mhtml(*parts: tuple[str, str, bytes]) -> bytes:
    """A file of parts: headers, transfer encoding and content each."""
    encoders = {"quoted-printable": quopri.encodestring, "base64": base64.encodebytes, "8bit": bytes}
    return (
        b"From: <Saved by a browser>\r\nSubject: A page\r\nMIME-Version: 1.0\r\n"
        b'Content-Type: multipart/related; type="text/html"; boundary="--x--"\r\n\r\n'
        + b"".join(
            f"----x--\r\n{headers}\r\nContent-Transfer-Encoding: {how}\r\n\r\n".encode()
            + encoders[how](content)
            + b"\r\n"
            for headers, how, content in parts
        )
        + b"----x----\r\n"
    )


@pytest.mark.parametrize("how", ["quoted-printable", "base64", "8bit"])
@pytest.mark.parametrize("charset", ["", "; charset=utf-8", "; charset=windows-1252", "; charset=unheard-of"])
def test_the_page_is_read_and_frames_and_pictures_are_not(tmp_path: Path, how: str, charset: str) -> None:
    codec = "windows-1252" if "1252" in charset else "utf-8"
    path = tmp_path / "page.mhtml"
    path.write_bytes(
        mhtml(
            ("Content-Type: text/html\r\nContent-Location: cid:frame-1@mhtml.blink", how, AD.encode()),
            (f"Content-Type: text/html{charset}\r\nContent-Location: https://example.org/", how, PAGE.encode(codec)),
            ("Content-Type: image/png\r\nContent-Location: https://example.org/a.png", "base64", b"\x89PNG"),
        )
    )
    book = read_book(path)
    assert book.title == "Zoë’s Lamps"
    assert [section.path for section in book.sections] == [("Der Türmer",), ("Night",)]
    assert "Buy" not in book.text
    assert book.warnings == ("boilerplate skipped: 1 frame (4 words)",)


def test_a_file_without_a_page_is_no_book(tmp_path: Path) -> None:
    (tmp_path / "a.mht").write_bytes(mhtml(("Content-Type: image/png", "base64", b"\x89PNG")))
    with pytest.raises(NotABook, match="holds no web page"):
        read_book(tmp_path / "a.mht")
