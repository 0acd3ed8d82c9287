"""Builders of the files that the tests read: each writes one file and gives its path."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

CONTAINER = (
    '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
SENTENCE = "The old clock on the landing struck the hour, and nobody in the house was awake to count it. "


def prose(paragraphs: int = 8) -> str:
    return "\n\n".join(SENTENCE * 6 for _ in range(paragraphs))


def xhtml(body: str, head: str = "<title>x</title>") -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head>{head}</head><body>{body}</body></html>'
    )


def chapter(title: str, text: str = SENTENCE * 5) -> str:
    return xhtml(f"<h2>{title}</h2><p>{text}</p>")


def opf(names: list[str], *, metadata: str = "", nav: str | None = None, ncx: str | None = None) -> str:
    items = "".join(
        f'<item id="i{i}" href="{name}" media-type="application/xhtml+xml"/>' for i, name in enumerate(names)
    )
    items += f'<item id="nav" href="{nav}" properties="nav" media-type="application/xhtml+xml"/>' if nav else ""
    items += f'<item id="ncx" href="{ncx}" media-type="application/x-dtbncx+xml"/>' if ncx else ""
    spine = '<spine toc="ncx">' if ncx else "<spine>"
    spine += "".join(f'<itemref idref="i{i}"/>' for i in range(len(names)))
    return (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:opf="http://www.idpf.org/2007/opf">'
        f"<dc:title>The Clock</dc:title><dc:creator>Ann Author</dc:creator><dc:language>en</dc:language>{metadata}"
        f"</metadata><manifest>{items}</manifest>{spine}</spine></package>"
    )


def nav_document(list_items: str, pages: str = "") -> str:
    page_list = f'<nav epub:type="page-list"><ol>{pages}</ol></nav>' if pages else ""
    return xhtml(f'<nav epub:type="toc"><ol>{list_items}</ol></nav>{page_list}')


@pytest.fixture
def epub(tmp_path: Path) -> Callable[..., Path]:
    """Write an EPUB of the given files (path in the zip -> content)."""

    def write(files: Mapping[str, str | bytes], name: str = "book.epub", container: str | None = CONTAINER) -> Path:
        path = tmp_path / name
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
            if container:
                archive.writestr("META-INF/container.xml", container)
            for entry, content in files.items():
                archive.writestr(entry, content)
        return path

    return write


@pytest.fixture
def simple_epub(epub: Callable[..., Path]) -> Callable[..., Path]:
    """Write an EPUB of three chapters, with `extra` files added or (None) removed."""

    def write(extra: Mapping[str, str | bytes | None] | None = None, **package: object) -> Path:
        names = ["one.xhtml", "two.xhtml", "three.xhtml"]
        files: dict[str, str | bytes | None] = {
            "OPS/book.opf": opf(names, **package),  # type: ignore[arg-type]
            "OPS/one.xhtml": chapter("Chapter One"),
            "OPS/two.xhtml": chapter("Chapter Two"),
            "OPS/three.xhtml": chapter("Chapter Three"),
        }
        files.update(extra or {})
        return epub({k: v for k, v in files.items() if v is not None})

    return write


def _shown(line: str) -> str:
    """A line of a PDF's page as it is drawn."""
    if line == "\f":
        return "ET q 500 0 0 700 50 50 cm BI /W 1 /H 1 /BPC 8 /CS /G ID x EI Q BT"
    look, _, text = line.rpartition("\t")
    escaped = text.replace("(", "\\(").replace(")", "\\)")
    if not look:
        parts = escaped.split("^")
        raised = [
            f"4 Ts /F1 7 Tf ({part}) Tj 0 Ts /F1 10 Tf" if i % 2 else f"({part}) Tj" for i, part in enumerate(parts)
        ]
        return " ".join(raised)
    if "," in look:
        x, y, size = look.split(",")
        return f"1 0 0 1 {x} {y} Tm /F1 {size} Tf ({escaped}) Tj"
    font = "/F2" if look.endswith("b") else "/F1"
    seen = 3 if look.endswith("i") else 0
    return f"{seen} Tr {font} {look.rstrip('bi')} Tf ({escaped}) Tj /F1 10 Tf"


def pdf_bytes(
    pages: list[list[str]], *, outline: Sequence[tuple[str, int]] = (), labels: str = "", info: str = ""
) -> bytes:
    """A minimal PDF: each page's lines of text, bookmarks (title, page index), a page label tree.

    A line "14b Title" with a tabulator for its space is set in 14 points, bold; "14i" is not to be seen;
    "60,700,9 Text" stands at that place in 9 points; what stands between carets is raised, "10^23^". A form feed
    as the last line is an image.
    """
    objects: list[str] = []

    def add(body: str) -> int:
        objects.append(body)
        return len(objects)

    catalog, tree = add(""), add("")
    font = add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
    bold = add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>")
    kids: list[int] = []
    for lines in pages:
        shown = " T* ".join(map(_shown, lines))
        stream = f"BT /F1 10 Tf 12 TL 60 760 Td {shown} ET" if lines else ""
        content = add(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        kids.append(
            add(
                f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R "
                f"/Resources << /Font << /F1 {font} 0 R /F2 {bold} 0 R >> >> >>"
            )
        )
    objects[tree - 1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(f'{k} 0 R' for k in kids)}] >>"
    extra = f" /PageLabels << /Nums [{labels}] >>" if labels else ""
    if outline:
        root = len(objects) + 1
        first, last = root + 1, root + len(outline)
        add(f"<< /Type /Outlines /First {first} 0 R /Last {last} 0 R /Count {len(outline)} >>")
        for i, (title, page) in enumerate(outline):
            links = f" /Next {first + i + 1} 0 R" if i + 1 < len(outline) else ""
            links += f" /Prev {first + i - 1} 0 R" if i else ""
            add(f"<< /Title ({title}) /Parent {root} 0 R /Dest [{kids[page]} 0 R /Fit]{links} >>")
        extra += f" /Outlines {root} 0 R"
    objects[catalog - 1] = f"<< /Type /Catalog /Pages {tree} 0 R{extra} >>"
    trailer_info = f" /Info {add(f'<< {info} >>')} 0 R" if info else ""
    out = bytearray(b"%PDF-1.7\n")
    offsets: list[int] = []
    for i, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{i} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{offset:010} 00000 n \n".encode() for offset in offsets)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R{trailer_info} >>\nstartxref\n{table}\n%%EOF\n".encode()
    return bytes(out)


@pytest.fixture
def pdf(tmp_path: Path) -> Callable[..., Path]:
    """Write a PDF of pages of lines."""

    def write(pages: list[list[str]], **more: object) -> Path:
        path = tmp_path / "book.pdf"
        path.write_bytes(pdf_bytes(pages, **more))  # type: ignore[arg-type]
        return path

    return write
