"""Small and real books in every format that is read, to be mutated."""

from __future__ import annotations

import io
import random
import tarfile
import zipfile
from collections.abc import Iterator
from html import escape
from pathlib import Path

import docx

from tests.reading.conftest import CONTAINER, nav_document, opf, pdf_bytes, xhtml
from tests.reading.doc_files import compound, document
from tests.reading.kindle_files import database, mobi

_CORPORA = ("dev.tar.bz2", "openstax.tar.bz2", "fairytaleqa.tar.bz2")
SUFFIXES = (
    ".txt", ".md", ".html", ".epub", ".pdf", ".docx", ".odt", ".fb2", ".rst", ".rtf", ".tei", ".mhtml", ".doc", ".mobi",
)  # fmt: skip
_SLICE = 30_000
"""Characters of a real book that one made from it holds."""
_WORDS = """river clock landing house family moon night sea harbour letter window stone garden winter morning captain
    teacher bread horse mountain soldier candle mirror silver shadow island doctor village engine silence""".split()


def story(rng: random.Random, paragraphs: int = 60) -> list[str]:
    """Paragraphs of made-up prose; chapters begin with a heading."""
    lines: list[str] = []
    for i in range(paragraphs):
        if i % 20 == 0:
            lines.append(f"CHAPTER {i // 20 + 1}")
        words = [
            rng.choice(_WORDS) + rng.choice(("", "", f"{rng.randrange(999)}")) for _ in range(rng.randrange(8, 60))
        ]
        lines.append(f"The {' and the '.join(' '.join(words[n : n + 5]) for n in range(0, len(words), 5))}.")
    return lines


def real_stories(data: Path | None, rng: random.Random) -> list[list[str]]:
    """Slices of real books as paragraphs; none where there is no data."""
    if data is None:
        return []
    texts = [path.read_text("utf-8") for path in sorted((data / "library").glob("*.txt"))]
    for name in _CORPORA:
        with tarfile.open(data / "corpus" / name) as archive:
            members = [m for m in archive.getmembers() if m.isfile()]
            for member in rng.sample(members, 3):
                stream = archive.extractfile(member)
                assert stream
                texts.append(stream.read().decode("utf-8"))
    slices: list[list[str]] = []
    for text in texts:
        start = rng.randrange(max(1, len(text) - _SLICE))
        slices.append([p.strip() for p in text[start : start + _SLICE].split("\n\n") if p.strip()])
    return slices


def make_all(data: Path | None, rng: random.Random) -> dict[str, list[bytes]]:
    """Suffix -> files: those of the library as they are, and some made in every format."""
    books: dict[str, list[bytes]] = {suffix: [] for suffix in SUFFIXES}
    for lines in [story(rng), story(rng, 15), *real_stories(data, rng)]:
        books[".txt"].append("\n\n".join(lines).encode())
        books[".md"].append("\n\n".join(f"# {p}" if p.startswith("CHAPTER") else p for p in lines).encode())
        books[".html"].append(html_page(lines))
        books[".epub"].append(epub(lines))
        books[".pdf"].append(pdf(lines))
        books[".docx"].append(word(lines))
        books[".odt"].append(odt(lines))
        books[".fb2"].append(fb2(lines))
        books[".rst"].append(rst(lines))
        books[".rtf"].append(rtf(lines))
        books[".tei"].append(tei(lines))
        books[".mhtml"].append(mhtml(lines))
        books[".doc"].append(doc(lines))
        books[".mobi"].append(database(mobi(html_page(lines))))
    for path in sorted((data / "library").iterdir()) if data else ():
        books[path.suffix].append(path.read_bytes())
    return books


def html_page(lines: list[str]) -> bytes:
    body = "\n".join(f"<h2>{escape(p)}</h2>" if p.startswith("CHAPTER") else f"<p>{escape(p)}</p>" for p in lines)
    return f"<!DOCTYPE html>\n<html><head><title>x</title></head>\n<body>\n{body}\n</body></html>\n".encode()


def epub(lines: list[str]) -> bytes:
    out = io.BytesIO()
    chapters = [lines[i : i + 20] for i in range(0, len(lines), 20)]
    names = [f"c{i}.xhtml" for i in range(len(chapters))]
    links = "".join(f'<li><a href="{name}">Chapter {i}</a></li>' for i, name in enumerate(names, 1))
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("OPS/book.opf", opf(names, nav="nav.xhtml"))
        archive.writestr("OPS/nav.xhtml", nav_document(links))
        for name, chapter in zip(names, chapters, strict=True):
            archive.writestr(f"OPS/{name}", xhtml("".join(f"<p>{escape(p)}</p>\n" for p in chapter)))
    return out.getvalue()


def pdf(lines: list[str]) -> bytes:
    rows = [row for p in lines for row in _wrap(p.encode("ascii", "replace").decode().replace("\\", "/"))]
    pages = [[f"THE BOOK {i // 40 + 1}", *rows[i : i + 40]] for i in range(0, len(rows), 40)]
    return pdf_bytes(pages[:30])


def word(lines: list[str]) -> bytes:
    document = docx.Document()
    for p in lines:
        if p.startswith("CHAPTER"):
            document.add_heading(p, level=1)
        else:
            document.add_paragraph("".join(c if c.isprintable() else " " for c in p))
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def odt(lines: list[str]) -> bytes:
    spaces = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "text", "table", "draw")
    )
    tags = (("h" if p.startswith("CHAPTER") else "p", _xml(p)) for p in lines)
    note = (
        "<text:note><text:note-citation>1</text:note-citation>"
        "<text:note-body><text:p>a note</text:p></text:note-body></text:note>"
    )
    body = "".join(f"<text:{tag}>{p}{note if i % 9 == 8 else ''}</text:{tag}>" for i, (tag, p) in enumerate(tags))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr(
            "content.xml",
            f"<office:document-content{spaces}><office:body><office:text>{body}</office:text></office:body>"
            "</office:document-content>",
        )
    return out.getvalue()


def fb2(lines: list[str]) -> bytes:
    parts = [
        f"</section><section><title><p>{_xml(p)}</p></title>" if p.startswith("CHAPTER") else f"<p>{_xml(p)}</p>"
        for p in lines
    ]
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0">'
        "<description><title-info><book-title>x</book-title></title-info></description>"
        f"<body><section>{''.join(parts)}</section></body></FictionBook>\n"
    ).encode()


def rst(lines: list[str]) -> bytes:
    notes = "".join(f"\n\n.. note::\n\n   {p[:60]}" for p in lines[5:7])
    return ("\n\n".join(f"{p}\n{'=' * len(p)}" if p.startswith("CHAPTER") else p for p in lines) + notes).encode()


def rtf(lines: list[str]) -> bytes:
    def shown(text: str) -> str:
        return "".join(
            f"\\u{ord(c)}?" if ord(c) > 126 else f"\\{c}" if c in "\\{}" else c for c in text if ord(c) < 2**15
        )

    body = "".join(
        rf"\pard\plain\s1\outlinelevel0{{{shown(p)}}}\par"
        if p.startswith("CHAPTER")
        else rf"\pard\plain {shown(p)}\par"
        for p in lines
    )
    return rf"{{\rtf1\ansi{{\info{{\title x}}}}{body}}}".encode("ascii")


def tei(lines: list[str]) -> bytes:
    parts = [f"</div><div><head>{_xml(p)}</head>" if p.startswith("CHAPTER") else f"<p>{_xml(p)}</p>\n" for p in lines]
    return (
        '<?xml version="1.0" encoding="utf-8"?><TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/>'
        f"<text><body><div>{''.join(parts)}</div></body></text></TEI>\n"
    ).encode()


def mhtml(lines: list[str]) -> bytes:
    head = b'MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="x"\r\n\r\n--x\r\nContent-Type: text/html'
    return head + b"; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n" + html_page(lines) + b"\r\n--x--\r\n"


def doc(lines: list[str]) -> bytes:
    return compound(document([(p.startswith("CHAPTER"), f"{p}\r") for p in lines[:15]], wide=True))


def _xml(text: str) -> str:
    return escape("".join(c if c.isprintable() else " " for c in text), quote=False)


def _wrap(paragraph: str, width: int = 70) -> Iterator[str]:
    row = ""
    for each in paragraph.split():
        if row and len(row) + len(each) >= width:
            yield row
            row = ""
        row += f" {each}" if row else each
    yield row
