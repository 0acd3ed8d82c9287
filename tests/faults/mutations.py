"""Plausible and hostile changes to book files: each takes a file's bytes and gives others."""

from __future__ import annotations

import io
import random
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable

Mutation = Callable[[bytes, random.Random], bytes]

SNIPPETS = {
    ".txt": [
        "*** END OF THE PROJECT GUTENBERG EBOOK X ***", "*** START OF THIS PROJECT GUTENBERG EBOOK X ***",
        "End of the Project Gutenberg EBook of X", "*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*",
        "The Project Gutenberg EBook of X, by Y", "Produced by Z", "*** START: FULL LICENSE ***", "CHAPTER I", "I.",
        "\x00", "\x1b$B", "\x0c", "~{", "+AOk-", "\ufeff", "\u2028", "-" * 70, "1.", "Contents", "_" * 200, " " * 5_000,
    ],
    ".md": [
        "---", "...", "```", "~~~", "    ", "<!--", "-->", "<style>", "</style>", "<script>", "<object>", "<template>",
        "List<object>", "<div", "<div>", "</div>", "<p hidden>", "<nav>", "<?php", "<![CDATA[", "]]>", "[a]: b", "[a]:",
        "[a](", "![a](", "| a | b |\n|---|---|\n| c | d | e |", "> " * 70, "- " * 70, "&amp;", "&#0;", "$$", "\\",
        "#" * 7,
        "\x00", "\u2028", "<textarea>", "<title>", "title: x", "***", "___", "1. ", "[^1]: x", "<a href='", "`",
    ],
    ".html": [
        "<!--", "-->", "<style>", "<script>", "</script>", "<title>", "<textarea>", "<select>", "<template>",
        "<object>",
        "<iframe>", "<noscript>", "<nav>", "</nav>", "<a href='#x'>", "<a href=\"", "<p class='",
        "<aside epub:type='footnote'>",
        "<section epub:type='titlepage'>", "<div hidden>", "<b>", "</p>", "</div>", "</body>", "</html>", "<table>",
        "<tr>",
        "<td>", "<svg>", "<math>", "<h1>", "<h2>", "<plaintext>", "<xmp>", "<frameset>", "<![CDATA[", "]]>", "<?", "<!",
        "&", "&lt;", "&#0;", "&#xD800;", "\x00", "<p/>", "<br/>", "<a/>", "<x-y>", "<span role='doc-pagebreak'>",
        "<ruby>",
        "<button>", "<form>", "<pre>", "<li>", "<dd>", "<image>", "<body epub:type='cover'>", "<div>" * 400,
        "<font>" * 90,
    ],
    ".fb2": [
        "<!--", "-->", "<p>", "</p>", "<section>", "</section>", "<section/>", "<title/>", "<title>", "</title>",
        "<title><p>x</p><p>y</p><p>z</p></title>", "<body>", "</body>", "<body name='notes'>", "<a type='note'>1</a>",
        "<v>x</v>", "<poem><stanza><v>x</v></stanza></poem>", "<table><tr><td>x</td></tr></table>", "<empty-line/>",
        "<image/>", "<binary>QUJD</binary>", "<binary>", "<![CDATA[<words>]]>", "<?pi x?>", "&nbsp;", "&x;", "&",
        "&amp;", "&#0;", "\x00", "<section>" * 300, "<emphasis>", "<subtitle>* * *</subtitle>", "<x:y>",
        "<cite><p>x</p></cite>",
    ],
}  # fmt: skip
_WRAPPERS = (b"aside", b"nav", b"section", b"a", b"title", b"w:del", b"w:p", b"w:fldSimple", b"m:oMath")
_XML = [
    "", "", "<!-- c -->", "<a/>", "<p>", "</p>", "&amp;", "&x;", "&#0;", "\x00", "<![CDATA[words]]>", "<?pi x?>",
    "]]>", "<",
]  # fmt: skip


def flip_bits(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 3, 30))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def cut_off(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(1, len(data))]


def delete_stretch(data: bytes, rng: random.Random) -> bytes:
    start, end = _stretch(data, rng)
    return data[:start] + data[end:]


def double_stretch(data: bytes, rng: random.Random) -> bytes:
    start, end = _stretch(data, rng)
    return data[:end] + data[start:end] * rng.choice((1, 1, 5)) + data[end:]


def move_stretch(data: bytes, rng: random.Random) -> bytes:
    start, end = _stretch(data, rng)
    rest = data[:start] + data[end:]
    to = rng.randrange(len(rest) + 1)
    return rest[:to] + data[start:end] + rest[to:]


def zero_page(data: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(data)) & ~511
    return data[:start] + bytes(len(data[start : start + 512])) + data[start + 512 :]


def insert_noise(data: bytes, rng: random.Random) -> bytes:
    to = rng.randrange(len(data) + 1)
    return data[:to] + rng.randbytes(rng.choice((1, 3, 200))) + data[to:]


def append_itself(data: bytes, rng: random.Random) -> bytes:
    return data + rng.choice((b"", b"\n\n", b"\x00")) + data


BYTES: tuple[Mutation, ...] = (
    flip_bits, cut_off, delete_stretch, double_stretch, move_stretch, zero_page, insert_noise, append_itself,
)  # fmt: skip


def insert_snippets(suffix: str) -> Mutation:
    """Put marks and markers of the format between lines, at line ends or into words."""

    def insert(data: bytes, rng: random.Random) -> bytes:
        for _ in range(rng.choice((1, 2, 6))):
            snippet = rng.choice(SNIPPETS[suffix]).encode("utf-8", "surrogatepass")
            at = rng.randrange(len(data) + 1)
            if rng.random() < 0.8:
                at = data.find(b"\n" if suffix != ".html" else b">", at) + 1
                snippet = rng.choice((b"", b"\n", b"\n\n")) + snippet + rng.choice((b" ", b"\n", b"\n\n"))
            data = data[:at] + snippet + data[at:]
        return data

    return insert


def encode_otherwise(data: bytes, rng: random.Random) -> bytes:
    """Another encoding or other line ends of a UTF-8 text."""
    text = data.decode("utf-8", "replace")
    match rng.randrange(4):
        case 0:
            return text.encode(rng.choice(("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig")))
        case 1:
            return text.encode(rng.choice(("cp1252", "latin-1", "cp037", "utf-7", "mac_roman")), "replace")
        case 2:
            return text.replace("\n", rng.choice(("\r\n", "\r", "\n\n", "\u2028", " "))).encode()
        case _:
            half = len(text) // 2
            return text[:half].encode("cp1252", "replace") + text[half:].encode()


def change_entries(data: bytes, rng: random.Random) -> bytes:
    """Change the parts of a zip file: their text, names, number and order."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [(info.filename, archive.read(info)) for info in archive.infolist()]
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError, RuntimeError):
        return data
    for _ in range(rng.choice((1, 1, 3))):
        if not entries:
            break
        i = rng.randrange(len(entries))
        name, content = entries[i]
        match rng.randrange(9):
            case 0:
                del entries[i]
            case 1:
                entries.insert(rng.randrange(len(entries) + 1), (f"{name}.copy.xhtml", content))
            case 2:
                entries[i] = (name.upper() if rng.random() < 0.5 else f"../{name}", content)
            case 3 if content:
                entries[i] = (name, rng.choice(BYTES)(content, rng))
            case 4:
                rng.shuffle(entries)
            case _ if name.endswith((".xhtml", ".html", ".xml", ".opf", ".ncx", ".rels")):
                entries[i] = (name, change_xml(content, rng))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of several entries of one name
        for name, content in entries:
            archive.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


def change_xml(content: bytes, rng: random.Random) -> bytes:
    """Drop, double, swap or rename tags and attributes, or put something between."""
    tags = list(re.finditer(rb"<[^<>]+>", content))
    if not tags:
        return content
    tag, other = rng.choice(tags), rng.choice(tags)
    first, last = sorted((tag, other), key=lambda m: m.start())
    match rng.randrange(7):
        case 0:
            return content[: tag.start()] + content[tag.end() :]
        case 1:
            return content[: tag.end()] + tag[0] + content[tag.end() :]
        case 2 if first.end() <= last.start():
            return (
                content[: first.start()]
                + last[0]
                + content[first.end() : last.start()]
                + first[0]
                + content[last.end() :]
            )
        case 3:
            return content[: tag.end()] + rng.choice(_XML).encode() + content[tag.end() :]
        case 4:  # an attribute's value becomes another's
            values = re.findall(rb'"([^"<>]*)"', content)
            value = rng.choice(values) if values else b"x"
            changed = re.sub(rb'"[^"]*"', lambda m: b'"' + value + b'"', tag[0], count=1)
            return content[: tag.start()] + changed + content[tag.end() :]
        case 5:
            name = rng.choice(_WRAPPERS)
            inner = content[first.start() : last.end()]
            return content[: first.start()] + b"<%s>%s</%s>" % (name, inner, name) + content[last.end() :]
        case _:
            snippet = rng.choice(SNIPPETS[".html"]).encode("utf-8", "surrogatepass")
            return content[: tag.end()] + snippet + content[tag.end() :]


def _stretch(data: bytes, rng: random.Random) -> tuple[int, int]:
    start = rng.randrange(len(data))
    return start, min(len(data), start + rng.choice((1, 10, 1_000, 20_000)))


MUTATIONS: dict[str, tuple[Mutation, ...]] = {
    suffix: (*BYTES, encode_otherwise, *[insert_snippets(suffix)] * 8) for suffix in SNIPPETS
} | {
    ".epub": (*BYTES, *[change_entries] * 16),
    ".docx": (*BYTES, *[change_entries] * 16),
    ".odt": (*BYTES, *[change_entries] * 16),
    ".pdf": BYTES,
    ".rst": (*BYTES, encode_otherwise),
    ".rtf": BYTES,
    ".tei": (*BYTES, encode_otherwise, *[change_xml] * 8),
    ".mhtml": BYTES,
    ".doc": BYTES,
    ".mobi": BYTES,
}  # fmt: skip
"""By suffix; those that leave most of a file readable stand more often."""


def mutate(data: bytes, suffix: str, rng: random.Random) -> bytes:
    """One to three changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        data = rng.choice(MUTATIONS[suffix])(data, rng) or data
    return data
