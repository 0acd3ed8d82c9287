"""What a file is by its first bytes."""

from __future__ import annotations

_MAGIC = (
    (b"\x89PNG", "a PNG image"), (b"\xff\xd8\xff", "a JPEG image"), (b"GIF8", "a GIF image"),
    (b"II*\x00", "a TIFF image"), (b"\x1f\x8b", "a gzip file"), (b"BZh", "a bzip2 file"), (b"\xfd7zXZ", "an xz file"),
    (b"7z\xbc\xaf", "a 7-Zip file"), (b"Rar!", "a RAR file"), (b"\x7fELF", "a program"), (b"MZ\x90", "a program"),
    (b"AT&TFORM", "a DjVu document"), (b"SQLite format 3", "a database"), (b"OggS", "an audio file"),
    (b"\xd0\xcf\x11\xe0", "Office"), (b"ID3", "an audio file"),
    (b"TPZ", "a Kindle book in the old Topaz format"), (b"CONT\x02\x00", "a Kindle book in the KFX format"),
    (b"\xeaDRMION\xee", "a Kindle book that is protected by DRM"),
    (b"{\\rtf", "RTF"), (b"RIFF", "an audio, image or video file"),
)  # fmt: skip


def kind_of(data: bytes) -> str:
    """What a file is: "text", "EPUB", "OpenDocument", "Word", "RTF", "Kindle", "Office", "PDF", "zip", or
    words for a message."""
    if b"%PDF-" in data[:1024]:
        return "PDF"
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        if b"application/epub+zip" in data[:200] or b"META-INF/container.xml" in data:
            return "EPUB"
        if b"application/vnd.oasis.opendocument.text" in data[:200]:
            return "OpenDocument"
        return "Word" if b"word/document.xml" in data else "zip"
    if data[60:68] == b"BOOKMOBI":
        return "Kindle"
    return next((name for magic, name in _MAGIC if data.startswith(magic)), "text")
