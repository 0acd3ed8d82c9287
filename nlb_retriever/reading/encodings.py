"""Encodings that are not detected from their high bytes (UTF-16, UTF-32, seven-bit ones, EBCDIC), and declared ones."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

_SAMPLE = 1 << 18
DECLARED = {
    # wider encodings that web pages mean by these names (WHATWG Encoding Standard)
    "us-ascii": "cp1252", "ascii": "cp1252", "iso-8859-1": "cp1252", "latin1": "cp1252", "latin-1": "cp1252",
    "iso8859-1": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030", "gb_2312-80": "gb18030",
    "shift_jis": "cp932", "shift-jis": "cp932", "sjis": "cp932", "x-sjis": "cp932", "windows-31j": "cp932",
    "euc-kr": "cp949", "ks_c_5601-1987": "cp949", "korean": "cp949", "iso-8859-9": "cp1254", "iso-8859-11": "cp874",
    "tis-620": "cp874", "big5": "big5hkscs", "big5-hkscs": "big5hkscs", "x-x-big5": "big5hkscs",
    # these are detected from the bytes, or are no encodings of text
    **dict.fromkeys((
        "utf-16", "utf-16le", "utf-16be", "utf_16", "utf16", "ucs-2", "iso-10646-ucs-2", "utf-32", "utf-32le",
        "utf-32be", "utf32", "utf_32", "utf-7", "utf7", "unicode-1-1-utf-7", "unicode-1-1-utf-8", "unicode", "none",
        "idna", "punycode",
        "unicode_escape", "unicode-escape", "raw_unicode_escape", "raw-unicode-escape", "undefined", "mbcs", "oem",
    ), ""),
}  # fmt: skip
"""Declared encoding -> codec; empty where the declaration is not believed."""
MULTIBYTE = frozenset(
    {"gb18030", "hz", "cp932", "cp949", "big5hkscs", "euc-jp", "euc_jp", "iso-2022-jp", "iso-2022-kr", "johab"}
)
_EBCDIC = ("cp037", "cp500", "cp273", "cp1140", "cp1026")
_OWN_LETTERS = (
    (("cp1252",), "ðþ", "áéíóúýæö"), (("cp1254",), "ış", "çğöüâîû"), (("cp1250", "iso8859_2"), "őű", "áéíóöúü"),
    (("cp1250", "iso8859_2"), "ąęł", "ćńóśźż"), (("cp1250", "iso8859_2"), "ěřž", "áčďéíňóšťúůý"),
    (("cp1250", "iso8859_2"), "čšž", "áäďéíĺľňóôŕťúýćđ"), (("cp1250", "iso8859_2"), "ăşţ", "âî"),
)  # fmt: skip
"""Encodings of Icelandic, Turkish, Hungarian, Polish, Czech, Slovak and South Slavic, and Romanian; the letters beside
a to z that all longer texts in it have; and the others."""
_LEAST_LETTERS, _OF_LETTERS = 20, 0.98
_SHIFTS = (
    (rb"\x1b\$\)C", ("iso2022_kr",)),
    (rb"\x1b\$(?:[@AB]|\([@AB]|\(D)", ("iso2022_jp_2", "iso2022_jp_ext", "iso2022_jp_3")),
)
_HZ = re.compile(rb"~\{([^~]*)~\}")
_UTF7 = re.compile(rb"\+[A-Za-z0-9/][A-Za-z0-9+/]*")


def guess_wide(data: bytes) -> str | None:
    """UTF-16 or UTF-32 without a byte order mark, detected from their NUL bytes."""
    sample = data[: _SAMPLE & ~3]
    if len(sample) < 4 or b"\x00" not in sample:
        return None
    for name, order in (("utf-32-le", (0, 2, 3)), ("utf-32-be", (3, 1, 0))):
        low, second, high = (sample[i::4] for i in order)
        if not any(high) and second.count(0) > 0.9 * len(second) and low.count(0) < 0.02 * len(low):
            return name
    return _utf16_with_zeros(sample, data)


def _utf16_with_zeros(sample: bytes, data: bytes) -> str | None:
    """UTF-16 of most scripts shows as NUL bytes at one parity only (spaces and line ends of any script)."""
    for name, high, low in (("utf-16-le", sample[1::2], sample[0::2]), ("utf-16-be", sample[0::2], sample[1::2])):
        if low.count(0) > 0.02 * len(low):
            continue
        if high.count(0) <= 0.08 * len(high):
            if _reads_asian(sample, name):
                return name
            continue
        if sum(n for _, n in Counter(high).most_common(3)) < 0.9 * len(high):  # one script has few high bytes
            continue
        text = data[: len(data) & ~1].decode(name, "surrogatepass")
        if " " in text or "\n" in text:
            return name
    return None


def guess_wide_asian(data: bytes) -> str | None:
    """Chinese or Japanese in UTF-16 without a single ASCII character."""
    sample = data[: _SAMPLE & ~3]
    if len(sample) < 40:
        return None
    return next((name for name in ("utf-16-le", "utf-16-be") if _reads_asian(sample, name)), None)


def _reads_asian(sample: bytes, name: str) -> bool:
    text = sample[: 1 << 14].decode(name, "replace")
    marks = sum(text.count(mark) for mark in "。、，！？「」 \n\u3000")
    asian = sum("\u3040" <= c <= "\u30ff" or "\u4e00" <= c <= "\u9fff" for c in text)
    strange = sum(unicodedata.category(c) in {"Cn", "Co", "Cs", "Cc"} and c not in "\n\r\t" for c in text)
    return marks > 0.02 * len(text) and asian + marks > 0.9 * len(text) and strange == 0


def guess_by_letters(data: bytes) -> str | None:
    """An encoding of `_OWN_LETTERS`, if letters above 127 are nearly all of one of these languages; else None.

    As Windows-1252 such a text may have western letters alone: Turkish has those of Icelandic then.
    """
    counts = {
        name: Counter(
            char for char in data[:_SAMPLE].decode(name, "replace").lower() if char > "\x7f" and char.isalpha()
        )
        for name in ("cp1252", "cp1254", "cp1250", "iso8859_2")
    }
    for names, needed, others in _OWN_LETTERS:
        for name in names:
            found, own = counts[name], {*needed, *others}
            many = found.total() >= _LEAST_LETTERS and all(found[letter] > 1 for letter in needed)
            if many and sum(found[letter] for letter in own) >= _OF_LETTERS * found.total():
                return name
    return None


def guess_seven_bit(data: bytes) -> str | None:
    """ISO-2022, HZ or UTF-7: all their bytes are ASCII, which they would pass for."""
    if b"\x1b$" in data:
        for pattern, names in _SHIFTS:
            if re.search(pattern, data) and (name := next((n for n in names if _decodes(data, n)), None)):
                return name
    if b"~{" in data and (runs := _HZ.findall(data)) and all(run and len(run) % 2 == 0 for run in runs):
        whole = b"".join(runs)
        if min(whole) > 0x20 and not re.search(rb"~[^{}~\n]", data) and _decodes(data, "hz"):
            return "hz"
    if b"+" in data and len(_UTF7.findall(data)) >= 3 and _decodes(data, "utf-7") and _reads_utf7(data.decode("utf-7")):
        return "utf-7"
    return None


def _reads_utf7(text: str) -> bool:
    """Whether what UTF-7 makes of "+..." is letters of one script and punctuation."""
    high = [c for c in text if c > "\x7f"]
    scripts = Counter(unicodedata.name(c, "?").split()[0] for c in high if c.isalpha())
    letters = scripts.total()
    strange = sum(unicodedata.category(c)[0] not in "LPZM" for c in high)
    return len(high) >= 3 and strange == 0 and (not letters or scripts.most_common(1)[0][1] >= 0.9 * letters)


def _decodes(data: bytes, name: str) -> bool:
    try:
        return not data.decode(name).isascii()
    except UnicodeError:
        return False


def guess_ebcdic(data: bytes) -> str | None:
    """EBCDIC has its spaces at 0x40 and its letters above 0x80."""
    sample = data[:_SAMPLE]
    if sample.count(0x40) < 0.05 * len(sample) or sample.count(0x20) > 0.01 * len(sample):
        return None

    def letters(name: str) -> int:
        return sum(c.isalnum() or c in " .,;:'\"!?()-\n\r\x85" for c in sample.decode(name))

    best = max(_EBCDIC, key=letters)
    return best if letters(best) > 0.9 * len(sample) else None
