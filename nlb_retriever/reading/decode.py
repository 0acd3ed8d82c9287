"""Bytes to text: byte order marks, the declared encoding, UTF-8, then a guess that expects western text."""

from __future__ import annotations

import codecs
import re

from nlb_retriever.errors import NotABook
from nlb_retriever.reading.encodings import (
    DECLARED,
    MULTIBYTE,
    guess_by_letters,
    guess_ebcdic,
    guess_seven_bit,
    guess_wide,
    guess_wide_asian,
)

_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UTF8_SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_HIGH = re.compile(rb"[\x80-\xff]")
_DAMAGED = re.compile(rb"[\x80-\xff](?:.{0,30}[\x80-\xff])*", re.DOTALL)
"""A stretch in which bytes that are no UTF-8 stand close together."""
_ZEROS = re.compile(rb"\x00{16,}")
"""A page that was lost, in text as in other files."""
_BINARY = bytes(range(7)) + bytes(range(14, 27)) + bytes(range(28, 32))
_WESTERN = set("àâäáãåæçéèêëíìîïñóòôöõøœßúùûüýÿÀÂÄÁÃÅÆÇÉÈÊËÍÌÎÏÑÓÒÔÖÕØŒÚÙÛÜÝ")
_PUNCTUATION = set("‘’“”‚„…–—«»‹›¡¿£§°©®™·•†‡€¢¥±×÷½¼¾²³¹ªº´¨`¶ \xa0\xad")
_CYRILLIC = ("cp1251", "koi8_r", "cp866", "iso8859_5", "mac_cyrillic")
_SAMPLE = 1 << 18
_CERTAIN = 8
"""So many UTF-8 sequences, and no other byte above 127, are no accident in a file that declares an Asian encoding."""


def decode(data: bytes, declared: str | None = None) -> tuple[str, str | None]:
    """Decode a text file.

    Args:
        data: the file's bytes.
        declared: encoding that the file itself names (HTML). It is not believed against the bytes: UTF-8 and UTF-16
            are known by their look.

    Returns:
        The text, and a warning where the encoding had to be guessed or bytes could not be decoded, else None.

    Raises:
        NotABook: the bytes are no text in any encoding (message without the path).
    """
    for bom, wide in _BOMS:
        if data.startswith(bom):
            return _wide(data[len(bom) :], wide), None
    if data.startswith(codecs.BOM_UTF8):
        data, declared = data[len(codecs.BOM_UTF8) :], None
    if name := guess_wide(data):
        return _wide(data, name), _guessed(name)
    if declared and (text := _by_declaration(data, declared)) is not None:
        return text, None
    if data.isascii():
        if name := guess_seven_bit(data):
            return data.decode(name), _guessed(name)
    elif name := guess_ebcdic(data):
        return data.decode(name).replace("\x85", "\n"), _guessed(name)
    if _is_binary(data[:_SAMPLE]):
        raise NotABook("is binary data, not text")
    try:
        return data.decode("utf-8"), None
    except UnicodeDecodeError:
        pass
    if name := guess_wide_asian(data):
        return _wide(data, name), _guessed(name)
    good = len(_UTF8_SEQUENCE.findall(data))
    rest = _UTF8_SEQUENCE.sub(b"", data)
    broken = len(_HIGH.findall(rest))
    if good > 4 * broken or (20 * broken < len(data) and good > 4 * len(_DAMAGED.findall(rest))):
        return data.decode("utf-8", _STRAY), _guessed(f"UTF-8 with {broken} stray bytes read as Windows-1252")
    best = _guess(data)
    return _eight_bit(data, best), _guessed(best)


def _is_binary(sample: bytes) -> bool:
    rest = _ZEROS.sub(b"", sample)
    return 2 * len(rest) < len(sample) or len(rest) - len(rest.translate(None, _BINARY)) > 0.02 * len(rest) + 8


def _guessed(name: str) -> str:
    return f"the encoding was guessed: {name}"


def _wide(data: bytes, name: str) -> str:
    width = 4 if "32" in name else 2
    return data[: len(data) // width * width].decode(name, "replace" if width == 4 else "surrogatepass")


def _by_declaration(data: bytes, declared: str) -> str | None:
    """The text in the encoding that is declared; None where the bytes are plainly of another."""
    name = DECLARED.get(declared.lower(), declared.lower())
    if not name or name.startswith(("utf-8", "utf8", "utf_8")):
        return None
    sequences = len(_UTF8_SEQUENCE.findall(data))
    if sequences >= (_CERTAIN if name in MULTIBYTE else 1) and _is_utf8(data):
        return None
    try:
        return data.decode(name)
    except (LookupError, UnicodeError, ValueError):
        return None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _read_stray(error: UnicodeError) -> tuple[str, int]:
    """Codec error handler: bytes that are no UTF-8, read as Windows-1252."""
    assert isinstance(error, UnicodeDecodeError)
    return _eight_bit(error.object[error.start : error.end], "cp1252"), error.end


_STRAY = "nlb-stray-bytes"
codecs.register_error(_STRAY, _read_stray)


def _guess(data: bytes) -> str:
    """Name of an 8-bit (or Asian multi-byte) encoding; a western one wherever that reads naturally."""
    first = _HIGH.search(data)
    begin = max(0, first.start() - 2_000) if first else 0
    sample = data[begin : begin + _SAMPLE]
    if name := guess_by_letters(sample):
        return name
    for name in ("cp1252", "mac_roman", "cp850"):
        if _reads_western(_eight_bit(sample, name)):
            return name
    from charset_normalizer import from_bytes

    best = from_bytes(sample[: 1 << 16], steps=5, chunk_size=1024).best()
    name = best.encoding if best else "cp1252"
    if name in _CYRILLIC:  # they differ in upper and lower case: most letters of a text are lower
        return max(_CYRILLIC, key=lambda n: sum("а" <= c <= "я" for c in sample.decode(n, "replace")))
    return name


def _reads_western(text: str) -> bool:
    """Whether the non-ASCII characters of text stand where western languages have them."""
    odd = high = letters = 0
    for before, char, after in zip(" " + text, text, text[1:] + " ", strict=False):
        if char <= "\x7f":
            letters += char.isalpha()
            continue
        high += 1
        inside = before.isalpha() and after.isalpha()
        if char in _WESTERN:
            odd += inside and char.isupper() and before.islower() and after.islower()
        elif char in _PUNCTUATION:
            odd += inside and char not in "’—–…\xad·"
        else:
            odd += 1
    return high == 0 or (odd <= 0.03 * high + 1 and high < 0.6 * (letters + 10))


def _eight_bit(data: bytes, name: str) -> str:
    if name == "cp1252":  # five bytes of it are undefined: read them as Latin-1 does
        return "".join(
            part.decode("latin-1") if i % 2 else part.decode("cp1252")
            for i, part in enumerate(re.split(rb"([\x81\x8d\x8f\x90\x9d]+)", data))
        )
    return data.decode(name, "replace")
