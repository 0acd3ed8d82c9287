"""Bytes to text: byte order marks, UTF-8, then a guess that expects western text."""

from __future__ import annotations

import codecs
import re
from collections import Counter

from nlb_retriever.errors import NotABook

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MULTIBYTE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_HIGH = re.compile(rb"[\x80-\xff]")
_BINARY = bytes(range(7)) + bytes(range(14, 27)) + bytes(range(28, 32))
_WESTERN = set("àâäáãåæçéèêëíìîïñóòôöõøœßúùûüýÿÀÂÄÁÃÅÆÇÉÈÊËÍÌÎÏÑÓÒÔÖÕØŒÚÙÛÜÝ")
_PUNCTUATION = set("‘’“”‚„…–—«»‹›¡¿£§°©®™·•†‡€¢¥±×÷½¼¾²³¹ªº´¨`¶ \xa0\xad")
_SAMPLE = 1 << 18


def decode(data: bytes, declared: str | None = None) -> tuple[str, str | None]:
    """Decode a text file; the second value is the encoding where it had to be guessed, else None.

    Args:
        declared: encoding that the file itself names (HTML), tried after BOM and before UTF-8.

    Raises:
        NotABook: the bytes are no text in any encoding (message without the path).
    """
    for bom, name in _BOMS:
        if data.startswith(bom):
            return data[len(bom) :].decode(name, "replace"), None
    if declared:
        try:
            return data.decode(declared), None
        except (LookupError, UnicodeError, ValueError):
            pass
    if wide := _utf16(data):
        return data[: len(data) & ~1].decode(wide, "surrogatepass"), wide
    sample = data[:_SAMPLE]
    if len(sample) - len(sample.translate(None, _BINARY)) > 0.02 * len(sample) + 8:
        raise NotABook("is binary data, not text")
    try:
        return data.decode("utf-8"), None
    except UnicodeDecodeError:
        pass
    good = len(_MULTIBYTE.findall(data))
    broken = len(_HIGH.findall(_MULTIBYTE.sub(b"", data)))
    if good > 4 * broken:
        return _utf8_with_strays(data), f"UTF-8 with {broken} stray bytes read as Windows-1252"
    name = _guess(data)
    return _eight_bit(data, name), name


def _utf16(data: bytes) -> str | None:
    """UTF-16 without BOM shows as NUL bytes at one parity only (spaces and line ends of any script)."""
    sample = data[: _SAMPLE & ~1]
    if len(sample) < 4 or b"\x00" not in sample:
        return None
    for name, high, low in (("utf-16-le", sample[1::2], sample[0::2]), ("utf-16-be", sample[0::2], sample[1::2])):
        if high.count(0) <= 0.08 * len(high) or low.count(0) > 0.02 * len(low):
            continue
        if sum(n for _, n in Counter(high).most_common(3)) < 0.9 * len(high):  # one script has few high bytes
            continue
        text = data[: len(data) & ~1].decode(name, "surrogatepass")
        if " " in text or "\n" in text:
            return name
    return None


def _utf8_with_strays(data: bytes) -> str:
    parts: list[str] = []
    position = 0
    while position < len(data):
        try:
            parts.append(data[position:].decode("utf-8"))
            break
        except UnicodeDecodeError as error:
            bad = position + error.start, position + error.end
            parts.append(data[position : bad[0]].decode("utf-8"))
            parts.append(_eight_bit(data[bad[0] : bad[1]], "cp1252"))
            position = bad[1]
            if len(parts) > 2_000:  # each round copies the rest: bound the work
                parts.append(data[position:].decode("utf-8", "replace"))
                break
    return "".join(parts)


def _guess(data: bytes) -> str:
    """Name of an 8-bit (or Asian multi-byte) encoding; cp1252 wherever that reads naturally."""
    first = _HIGH.search(data)
    near = max(0, first.start() - 2_000) if first else 0
    sample = data[near : near + _SAMPLE]
    if _reads_western(_eight_bit(sample, "cp1252")):
        return "cp1252"
    from charset_normalizer import from_bytes

    best = from_bytes(sample[: 1 << 16], steps=5, chunk_size=1024).best()
    return best.encoding if best else "cp1252"


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
