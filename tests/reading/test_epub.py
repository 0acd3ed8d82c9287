"""EPUB: spine order, titles from the contents, and every broken or hostile file in one clear line."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from nlb_retriever.errors import NotABook, ReadingError, ReadingLimit
from nlb_retriever.reading import Limits, read_book

from .conftest import CONTAINER, SENTENCE, chapter, nav_document, opf, xhtml

Write = Callable[..., Path]
BOMB = b"\x00" * (40 << 20)


def paths(path: Path) -> list[tuple[str, ...]]:
    return [section.path for section in read_book(path).sections]


def test_chapters_come_in_spine_order_with_the_packages_metadata(simple_epub: Write) -> None:
    book = read_book(simple_epub(metadata='<dc:date opf:event="publication">1901-05-01</dc:date>'))
    assert (book.title, book.author, book.language, book.year) == ("The Clock", "Ann Author", "en", 1901)
    assert [s.path for s in book.sections] == [("Chapter One",), ("Chapter Two",), ("Chapter Three",)]
    assert book.text.startswith("Chapter One\n\nThe old clock")


def test_the_date_of_a_republished_file_is_not_the_books_year(simple_epub: Write) -> None:
    metadata = "<dc:publisher>Project Gutenberg</dc:publisher><dc:date>2008-06-01</dc:date>"
    assert read_book(simple_epub(metadata=metadata)).year is None


def test_the_date_of_a_conversion_is_not_the_books_year(simple_epub: Write) -> None:
    stamp = '<meta name="calibre:timestamp" content="2026-11-28T04:52:10+00:00"/>'
    assert read_book(simple_epub(metadata=f"{stamp}<dc:date>2026-11-28T04:52:02+00:00</dc:date>")).year is None
    assert read_book(simple_epub(metadata=f"{stamp}<dc:date>1911-01-01T00:00:00+00:00</dc:date>")).year == 1911


def test_nested_contents_with_fragments_become_a_tree(epub: Write) -> None:
    body = f'<h2 id="a">A</h2><p>{SENTENCE * 5}</p><h2 id="b">B</h2><p>{SENTENCE * 5}</p>'
    items = (
        '<li><span>Part One</span><ol><li><a href="one.xhtml#a">Alpha</a></li>'
        '<li><a href="one.xhtml#b">Beta</a></li></ol></li>'
        '<li><a href="two.xhtml">Part Two</a><ol><li><a href="two.xhtml#a">Gamma</a></li></ol></li>'
    )
    files = {
        "OPS/book.opf": opf(["one.xhtml", "two.xhtml"], nav="nav.xhtml"),
        "OPS/nav.xhtml": nav_document(items),
        "OPS/one.xhtml": xhtml(body),
        "OPS/two.xhtml": xhtml(f"<h1>Two</h1><p>{SENTENCE * 8}</p>" + body),
    }
    assert paths(epub(files)) == [
        ("Part One", "Alpha"), ("Part One", "Beta"), ("Part Two",), ("Part Two", "Gamma"),
    ]  # fmt: skip


def test_an_ncx_alone_gives_the_titles(epub: Write) -> None:
    points = "".join(
        f'<navPoint><navLabel><text>Title {i}</text></navLabel><content src="{name}.xhtml"/></navPoint>'
        for i, name in enumerate(["one", "two"], 1)
    )
    ncx = f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{points}</navMap></ncx>'
    files = {
        "OPS/book.opf": opf(["one.xhtml", "two.xhtml"], ncx="toc.ncx"),
        "OPS/toc.ncx": ncx,
        "OPS/one.xhtml": chapter("x"),
        "OPS/two.xhtml": chapter("y"),
    }
    assert paths(epub(files)) == [("Title 1",), ("Title 2",)]


@pytest.mark.parametrize(
    ("titles", "labels"),
    [
        (["Page 7", "Page 8"], ["7", "8"]),
        (["Section 1", "Section 2"], []),
        (["Start"], []),
        (["Unknown", "Unknown"], []),
    ],
)
def test_titles_that_a_program_made_are_no_sections(epub: Write, titles: list[str], labels: list[str]) -> None:
    items = "".join(f'<li><a href="{name}.xhtml">{title}</a></li>' for name, title in zip("ab", titles, strict=False))
    bodies = [
        "".join(f"<p>CHAPTER {n}</p><p>{SENTENCE * 9}</p>" for n in pair) for pair in (("I", "II"), ("III", "IV"))
    ]
    book = read_book(
        epub({
            "OPS/book.opf": opf(["a.xhtml", "b.xhtml"], nav="nav.xhtml"), "OPS/nav.xhtml": nav_document(items),
            "OPS/a.xhtml": xhtml(bodies[0]), "OPS/b.xhtml": xhtml(bodies[1]),
        })
    )  # fmt: skip
    assert [s.path for s in book.sections] == [("CHAPTER I",), ("CHAPTER II",), ("CHAPTER III",), ("CHAPTER IV",)]
    assert [page.label for page in book.pages] == labels


def test_a_lone_title_hides_no_headings(epub: Write) -> None:
    body = f"<h2>Bells</h2><p>{SENTENCE * 9}</p><h2>Clocks</h2><p>{SENTENCE * 9}</p>"
    files = {
        "OPS/book.opf": opf(["a.xhtml"], nav="nav.xhtml"),
        "OPS/nav.xhtml": nav_document('<li><a href="a.xhtml">The Tower</a></li>'),
        "OPS/a.xhtml": xhtml(body),
    }
    assert paths(epub(files)) == [("Bells",), ("Clocks",)]
    files["OPS/a.xhtml"] = xhtml(f"<p>{SENTENCE * 9}</p>")
    assert paths(epub(files)) == [("The Tower",)]


def test_a_page_list_gives_printed_labels(epub: Write) -> None:
    pages = '<li><a href="one.xhtml#p9">ix</a></li><li><a href="one.xhtml#p10">x</a></li>'
    body = f'<h2>One</h2><span id="p9"/><p>{SENTENCE}</p><p>{SENTENCE}<a id="p10"/>After the break.</p>'
    files = {
        "OPS/book.opf": opf(["one.xhtml"], nav="nav.xhtml"),
        "OPS/nav.xhtml": nav_document('<li><a href="one.xhtml">One</a></li>', pages),
        "OPS/one.xhtml": xhtml(body),
    }
    book = read_book(epub(files))
    assert [(p.number, p.label) for p in book.pages] == [(1, "ix"), (2, "x")]
    assert book.text[book.pages[1].start :].startswith("After the break.")


def test_cover_contents_and_colophon_are_left_out(epub: Write) -> None:
    files = {
        "OPS/book.opf": opf(["cover.xhtml", "nav.xhtml", "one.xhtml", "end.xhtml"], nav="nav.xhtml"),
        "OPS/cover.xhtml": '<html xmlns:epub="e"><body epub:type="cover"><p>Cover picture</p></body></html>',
        "OPS/nav.xhtml": nav_document('<li><a href="one.xhtml">One</a></li>'),
        "OPS/one.xhtml": chapter("One"),
        "OPS/end.xhtml": '<section epub:type="colophon"><p>Was first published in 1888 by X.</p></section>',
    }
    book = read_book(epub(files))
    assert book.text.strip() == f"One\n\n{(SENTENCE * 5).strip()}"
    assert book.year == 1888


@pytest.mark.parametrize("start", ['<aside epub:type="footnote"', '<aside epub:type="footnote" hidden="hidden"',
                                   '<div epub:type="rearnote" hidden=""'])  # fmt: skip
def test_footnotes_stand_apart_at_the_end(epub: Write, start: str) -> None:
    note = f'{start} id="n"><p>A note.</p></{start[1:].split(maxsplit=1)[0]}>'
    body = f'<h2>One</h2><p>{SENTENCE}<a epub:type="noteref" href="#n">1</a></p>{note}<p>On.</p>'
    book = read_book(epub({"OPS/book.opf": opf(["one.xhtml"]), "OPS/one.xhtml": xhtml(body)}))
    assert "count it.\n\nOn." in book.text
    assert book.text.rstrip().endswith("Notes\n\nA note.")


def test_a_missing_chapter_is_named_and_the_rest_is_kept(simple_epub: Write) -> None:
    book = read_book(simple_epub({"OPS/two.xhtml": None}))
    assert [s.path[0] for s in book.sections] == ["Chapter One", "Chapter Three"]
    assert book.warnings == ("left out: OPS/two.xhtml: it is missing from the file",)


def test_entities_latin1_and_html_that_is_no_xml_come_out_right(simple_epub: Write) -> None:
    old = (
        '<html><head><meta charset="iso-8859-1"></head><body><h2>Two</h2>'
        "<p>caf\xe9 &mdash; na\xefve&nbsp;&eacute;<br>x<p>y"
    )
    book = read_book(
        simple_epub({"OPS/two.xhtml": old.encode("latin-1"), "OPS/one.xhtml": chapter("Chapter&nbsp;One &amp; only")})
    )
    assert "café — naïve é\nx\n\ny" in book.text
    assert book.sections[0].path == ("Chapter One & only",)


def test_self_closed_tags_swallow_nothing(simple_epub: Write) -> None:
    text = xhtml(f'<h2>Two</h2><a id="x"/><p>{SENTENCE}</p><script src="x.js"/><p>After.</p>', head="<title/>")
    assert "After." in read_book(simple_epub({"OPS/two.xhtml": text})).text


@pytest.mark.parametrize(
    "href",
    ["chap%20one.xhtml", "../OPS/chap one.xhtml", "/OPS/chap one.xhtml", "x\\..\\chap one.xhtml", "CHAP%20ONE.XHTML"],
)
def test_odd_hrefs_find_their_file(epub: Write, href: str) -> None:
    book = read_book(epub({"OPS/book.opf": opf([href]), "OPS/chap one.xhtml": chapter("One")}))
    assert book.text.startswith("One\n\n")
    assert book.warnings == ()


@pytest.mark.parametrize(
    "href",
    ["../../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "file:///etc/passwd", "..\\..\\etc\\passwd", "/etc/passwd"],
)
def test_nothing_outside_the_archive_is_read(epub: Write, href: str) -> None:
    book = read_book(epub({"OPS/book.opf": opf(["one.xhtml", href]), "OPS/one.xhtml": chapter("One")}))
    assert "root:" not in book.text


def test_external_and_exploding_entities_are_inert(simple_epub: Write, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("TOPSECRET")
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    evil = f'<!DOCTYPE html [<!ENTITY l0 "ha">{laughs}<!ENTITY x SYSTEM "file://{tmp_path}/secret">]>'
    evil_opf = opf(["one.xhtml"]).replace("The Clock", "&x;&l9;Clock")
    book = read_book(
        simple_epub(
            {"OPS/book.opf": evil + evil_opf, "OPS/one.xhtml": evil + xhtml(f"<h2>One</h2><p>&x; &l9; {SENTENCE}</p>")}
        )
    )
    assert "TOPSECRET" not in book.text + book.title
    assert len(book.text) < 1_000


def test_no_container_falls_back_to_the_package_file(epub: Write) -> None:
    assert (
        "One" in read_book(epub({"OPS/book.opf": opf(["a.xhtml"]), "OPS/a.xhtml": chapter("One")}, container=None)).text
    )


def test_a_zip_bomb_is_refused_by_what_it_inflates_to(simple_epub: Write) -> None:
    with pytest.raises(ReadingLimit, match="inflates more than 200-fold"):
        read_book(simple_epub({"OPS/two.xhtml": BOMB}))
    with pytest.raises(ReadingLimit, match="inflates to more than 1 MiB"):
        read_book(simple_epub({"OPS/two.xhtml": "x" * (2 << 20)}), limits=Limits(inflated=1 << 20))


def test_an_unused_bomb_does_no_harm(simple_epub: Write) -> None:
    assert len(read_book(simple_epub({"OPS/image.png": BOMB})).sections) == 3


def test_too_many_entries_are_refused(epub: Write) -> None:
    path = epub({f"f{i}": b"" for i in range(30)})
    with pytest.raises(ReadingLimit, match="holds 32 files; the limit is 20"):
        read_book(path, limits=Limits(entries=20))


def test_drm_is_named_and_obfuscated_fonts_are_not_drm(simple_epub: Write) -> None:
    def encryption(algorithm: str, file: str = "") -> str:
        cipher = f'<enc:CipherData><enc:CipherReference URI="{file}"/></enc:CipherData>' if file else ""
        return (
            '<encryption xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData>'
            f'<enc:EncryptionMethod Algorithm="{algorithm}"/>{cipher}</enc:EncryptedData></encryption>'
        )

    aes = "http://www.w3.org/2001/04/xmlenc#aes128-cbc"
    for fonts in (encryption("http://www.idpf.org/2008/embedding"), encryption(aes, "OPS/Serif.OTF")):
        assert len(read_book(simple_epub({"META-INF/encryption.xml": fonts})).sections) == 3
    for text in (encryption(aes), encryption(aes, "OPS/one.xhtml")):
        with pytest.raises(ReadingError, match="protected by DRM"):
            read_book(simple_epub({"META-INF/encryption.xml": text}))


@pytest.mark.parametrize("keep", [0.2, 0.6, 0.95])
def test_a_truncated_epub_gives_one_line(simple_epub: Write, keep: float) -> None:
    path = simple_epub()
    data = path.read_bytes()
    path.write_bytes(data[: int(keep * len(data))])
    with pytest.raises(NotABook, match=r"book\.epub: is a damaged or truncated zip file") as caught:
        read_book(path)
    assert "\n" not in str(caught.value)


def test_a_flipped_byte_costs_one_chapter_only(simple_epub: Write) -> None:
    path = simple_epub()
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("OPS/two.xhtml")
    data = bytearray(path.read_bytes())
    name_length, extra_length = struct.unpack("<HH", data[info.header_offset + 26 : info.header_offset + 30])
    data[info.header_offset + 30 + name_length + extra_length + 20] ^= 0xFF
    path.write_bytes(data)
    book = read_book(path)
    assert [s.path[0] for s in book.sections] == ["Chapter One", "Chapter Three"]
    assert book.warnings[0].startswith("left out: OPS/two.xhtml: it is damaged (")


def test_a_zip_encrypted_by_password_is_named(simple_epub: Write) -> None:
    path = simple_epub()
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        position = data.find(signature)
        while position >= 0:
            data[position + offset] |= 1
            position = data.find(signature, position + 4)
    path.write_bytes(data)
    with pytest.raises(ReadingError, match="encrypted"):
        read_book(path)


def test_duplicate_names_are_read_once_and_reported(simple_epub: Write) -> None:
    path = simple_epub()
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning):
        archive.writestr("OPS/two.xhtml", chapter("Chapter Two, again"))
    book = read_book(path)
    assert book.sections[1].path == ("Chapter Two, again",)
    assert book.warnings[0].startswith("left out: OPS/two.xhtml: the archive holds several files of this name")


def test_a_zip_that_is_no_epub_is_no_book(tmp_path: Path) -> None:
    path = tmp_path / "a.epub"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("hello.txt", "hello")
    with pytest.raises(NotABook, match="is a zip file but no EPUB"):
        read_book(path)


def test_an_epub_without_text_is_no_book(epub: Write) -> None:
    path = epub({"OPS/book.opf": opf(["one.xhtml"]), "OPS/one.xhtml": xhtml('<img src="x.png"/>')}, container=CONTAINER)
    with pytest.raises(NotABook, match="holds no text"):
        read_book(path)


LIBRARY = {
    "brewsters-millions.epub": ("Brewster’s Millions", "George Barr McCutcheon", 1902, 34, ("I: A Birthday Dinner",)),
    "hansom-cab.epub": ("The Mystery of a Hansom Cab", "Fergus Hume", 1886, 36, ("Preface",)),
    "huntingtower.epub": ("Huntingtower", "John Buchan", 1922, 19, ("Dedication",)),
    "pride-and-prejudice.epub": ("Pride and Prejudice", "Jane Austen", 1813, 61, ("I",)),
    "zuleika-dobson.epub": ("Zuleika Dobson", "Max Beerbohm", 1911, 27, ("Note to the 1922 Edition",)),
}


@pytest.mark.parametrize("name", LIBRARY)
def test_real_epubs_have_their_chapters(data_dir: Path, name: str) -> None:
    book = read_book(data_dir / "library" / name)
    title, author, year, count, first = LIBRARY[name]
    assert (book.title, book.author, book.year) == (title, author, year)
    assert len(book.sections) == count
    assert book.sections[0].path == first
    assert "Standard Ebooks" not in book.text
    assert all(warning.startswith("boilerplate skipped: ") for warning in book.warnings)


def test_of_several_renditions_the_first_with_text_is_read(epub: Write) -> None:
    first = '<rootfile full-path="pictures/book.opf" media-type="application/oebps-package+xml"/>'
    files = {
        "pictures/book.opf": opf(["one.xhtml"]),
        "pictures/one.xhtml": xhtml('<img src="a.png" alt=""/>'),
        "OPS/book.opf": opf(["one.xhtml", "two.xhtml"]),
        "OPS/one.xhtml": chapter("One"),
        "OPS/two.xhtml": chapter("Two"),
    }
    book = read_book(epub(files, container=CONTAINER.replace("<rootfiles>", f"<rootfiles>{first}")))
    assert [section.path for section in book.sections] == [("One",), ("Two",)]
