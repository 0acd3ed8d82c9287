"""EPUB: every word of every chapter is in the book, or a warning names what was left out and why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nlb_retriever.reading import read_book

from .conftest import chapter, nav_document, opf, xhtml
from .words import assert_all_words, named_words, read_all_words, text_of_file

Write = Callable[..., Path]


def paragraphs(count: int, word: str = "river") -> str:
    """Paragraphs of prose in which each has words of its own."""
    return "".join(f"<p>He came to {word}{i} and saw no{word}{i} in the light of it.</p>" for i in range(count))


def book_of(names: list[str], **files: str | bytes) -> dict[str, str | bytes]:
    content: dict[str, str | bytes] = {"OPS/book.opf": opf(names)}
    return content | {f"OPS/{name.replace('_', '.')}": text for name, text in files.items()}


def toc(*entries: tuple[str, str]) -> str:
    return nav_document("".join(f'<li><a href="{name}">{title}</a></li>' for name, title in entries))


def with_toc(names: list[str], entries: list[tuple[str, str]], **files: str | bytes) -> dict[str, str | bytes]:
    return book_of(names, **files) | {"OPS/book.opf": opf(names, nav="nav.xhtml"), "OPS/nav.xhtml": toc(*entries)}


@pytest.mark.parametrize(
    "kind", ["titlepage", "cover", "halftitlepage", "imprint", "colophon", "toc", "copyright-page"]
)
@pytest.mark.parametrize("count", [0, 3, 200])
def test_a_file_that_begins_with_a_typed_section_keeps_what_follows(epub: Write, kind: str, count: int) -> None:
    body = f'<section epub:type="{kind}"><h1>The Clock</h1></section>{paragraphs(count)}'
    book = read_all_words(epub(book_of(["a.xhtml", "b.xhtml"], a_xhtml=xhtml(body), b_xhtml=chapter("Two"))))
    assert book.text.count("He came to river") == count


@pytest.mark.parametrize(
    "kind", ["titlepage", "cover", "imprint", "colophon", "toc", "loi", "landmarks", "uncopyright"]
)
@pytest.mark.parametrize("tag", ["section", "body", "article", "div"])
def test_a_typed_section_that_holds_the_whole_story_is_kept(epub: Write, kind: str, tag: str) -> None:
    body = f'<{tag} epub:type="{kind}">{paragraphs(200)}</{tag}>'
    source = xhtml(body) if tag != "body" else xhtml("").replace("<body></body>", body)
    book = read_all_words(epub(book_of(["a.xhtml", "b.xhtml"], a_xhtml=source, b_xhtml=chapter("Two"))))
    assert book.text.count("He came to river") == 200


@pytest.mark.parametrize(
    "title", ["Cover", "Contents", "Copyright", "Imprint", "Title Page", "Table of Contents", "Colophon", "Half Title"]
)
@pytest.mark.parametrize("count", [4, 40])
def test_chapters_of_prose_are_kept_whatever_they_are_called(epub: Write, title: str, count: int) -> None:
    files = with_toc(
        ["a.xhtml", "b.xhtml"],
        [("a.xhtml", title), ("b.xhtml", "Two")],
        a_xhtml=xhtml(f"<h2>{title}</h2>{paragraphs(count)}"),
        b_xhtml=chapter("Two"),
    )
    assert read_all_words(epub(files)).text.count("He came to river") == count


@pytest.mark.parametrize("role", ["cover", "toc", "title-page", "copyright-page", "loi", "titlepage"])
def test_a_chapter_of_prose_is_kept_whatever_the_guide_says(epub: Write, role: str) -> None:
    files = book_of(["a.xhtml", "b.xhtml"], a_xhtml=xhtml(paragraphs(60)), b_xhtml=chapter("Two"))
    guide = f'<guide><reference type="{role}" href="a.xhtml"/></guide></package>'
    files["OPS/book.opf"] = str(files["OPS/book.opf"]).replace("</package>", guide)
    assert read_all_words(epub(files)).text.count("He came to river") == 60


def test_a_short_copyright_page_goes_with_a_note_of_its_words(epub: Write) -> None:
    page = "<p>Copyright © 1999 by Ann Author. All rights reserved. Published by Press.</p>"
    files = with_toc(
        ["a.xhtml", "b.xhtml"],
        [("a.xhtml", "Copyright"), ("b.xhtml", "Two")],
        a_xhtml=xhtml(page),
        b_xhtml=chapter("Two"),
    )
    book = read_all_words(epub(files))
    assert "rights reserved" not in book.text
    assert any("OPS/a.xhtml (copyright-page, 11 words)" in warning for warning in book.warnings)


def test_two_files_of_one_id_are_both_read(epub: Write) -> None:
    files = book_of(["a.xhtml", "b.xhtml"], a_xhtml=xhtml(paragraphs(9, "lake")), b_xhtml=xhtml(paragraphs(9, "sea")))
    files["OPS/book.opf"] = opf(["a.xhtml", "b.xhtml"]).replace('"i1"', '"i0"')
    book = read_all_words(epub(files))
    assert book.text.index("lake8") < book.text.index("sea0")


@pytest.mark.parametrize(
    "kind", ["image/jpeg", "text/css", "font/ttf", "application/octet-stream", "", "text/plain", "image/svg+xml"]
)
def test_a_chapter_of_a_wrong_media_type_is_read(epub: Write, kind: str) -> None:
    files = book_of(["a.xhtml", "b.xhtml"], a_xhtml=xhtml(paragraphs(9)), b_xhtml=chapter("Two"))
    files["OPS/book.opf"] = opf(["a.xhtml", "b.xhtml"]).replace("application/xhtml+xml", kind, 1)
    assert read_all_words(epub(files)).text.count("He came to river") == 9


@pytest.mark.parametrize(
    "body",
    [
        '<a id="top">{}',
        '<a href="#x">{}',
        '<a href="#x">{}</a>',
        '<a name="x">{}</a>',
        '<p><a href="#x"></p>{}',
        '<section><a href="nav.xhtml"><div>{}</div></a></section>',
        '<a epub:type="noteref" href="#x">{}',
        '<a epub:type="noteref" href="#x">{}</a>',
        '<span epub:type="pagebreak" title="3">{}</span>',
        '<div role="doc-pagebreak" title="3">{}</div>',
        "<nav>{}</nav>",
        '<nav epub:type="toc">{}</nav>',
        '<div hidden="hidden">{}</div>',
        "<button>{}</button>",
        "<object>{}</object>",
        "<noscript>{}</noscript>",
        "<template>{}</template>",
        "<template>{}",
        "<video><track/>{}</video>",
        "<canvas>{}",
        "<select><option>{}</option></select>",
        "<textarea>{}</textarea>",
        "<iframe>{}</iframe>",
        "<svg><foreignObject>{}</foreignObject></svg>",
        "<noframes>{}</noframes>",
        "<frameset>{}</frameset>",
        "<title>Odd</title>{}",
        "<!-- a comment that does not end {}",
        "<style> p {{ color: red }} {}",
        "<script> x = 1; {}",
        '<aside epub:type="footnote">{}</aside>',
        '<aside epub:type="footnote">{}',
        "<table>{}</table>",
        "<table><tr><td>{}</td></tr></table>",
        "<ruby>{}</ruby>",
        "<math><mtext>{}</mtext></math>",
        "<details><summary>More</summary>{}</details>",
        '<section class="pg-boilerplate">{}</section>',
        '<div id="pg-header">{}</div>',
        '<p class="x"{}',
        "<p>{}</p><p class='end",
    ],
)
def test_a_chapter_inside_an_odd_element_keeps_its_words(epub: Write, body: str) -> None:
    text = paragraphs(50)
    path = epub(book_of(["a.xhtml", "b.xhtml"], a_xhtml=xhtml(body.format(text)), b_xhtml=chapter("Two")))
    book = read_book(path)
    assert_all_words(" ".join(f"river{i} noriver{i}" for i in range(1, 50)), book)
    assert book.text.count("He came to river") >= 49


def test_words_in_cdata_sections_are_kept(epub: Write) -> None:
    body = "<p>Before <![CDATA[one < two & three]]> after.</p>" + paragraphs(3)
    book = read_all_words(epub(book_of(["a.xhtml"], a_xhtml=xhtml(body))))
    assert "Before one < two & three after." in book.text


def test_words_in_svg_pictures_are_kept(epub: Write) -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><style>x</style><text><tspan>Map</tspan> of Treasure</text></svg>'
    book = read_all_words(epub(book_of(["a.xhtml"], a_xhtml=xhtml(svg + paragraphs(3)))))
    assert "Map of Treasure" in book.text


def test_a_chapter_that_is_an_svg_file_is_read(epub: Write) -> None:
    svg = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><text>Treasure map</text></svg>'
    book = read_book(epub(book_of(["a.svg", "b.xhtml"], a_svg=svg, b_xhtml=chapter("Two"))))
    assert "Treasure map" in book.text


def test_a_chapter_of_plain_text_is_read(epub: Write) -> None:
    text = "He saw that a < b.\n\nThen nothing."
    book = read_book(epub(book_of(["a.txt", "b.xhtml"], a_txt=text, b_xhtml=chapter("Two"))))
    assert_all_words(text, book)


def test_a_file_of_notes_alone_is_kept(epub: Write) -> None:
    notes = "".join(f'<aside epub:type="footnote" id="n{i}"><p>Note about lake{i}.</p></aside>' for i in range(5))
    book = read_all_words(epub(book_of(["a.xhtml", "n.xhtml"], a_xhtml=chapter("One"), n_xhtml=xhtml(notes))))
    assert "Note about lake4." in book.text


def test_files_outside_the_reading_order_are_read_after_it(epub: Write) -> None:
    files = book_of(["a.xhtml", "z.xhtml"], a_xhtml=chapter("One"), z_xhtml=xhtml("<h2>Extra</h2>" + paragraphs(5)))
    files["OPS/book.opf"] = opf(["a.xhtml", "z.xhtml"]).replace('<itemref idref="i1"/>', "")
    book = read_all_words(epub(files))
    assert book.text.count("He came to river") == 5
    assert book.sections[-1].path == ("Extra",)


def test_a_package_without_a_spine_gives_all_its_files(epub: Write) -> None:
    files = book_of(["a.xhtml", "b.xhtml"], a_xhtml=xhtml(paragraphs(5, "lake")), b_xhtml=xhtml(paragraphs(5, "sea")))
    package = opf(["a.xhtml", "b.xhtml"])
    files["OPS/book.opf"] = package[: package.index("<spine")] + "</package>"
    assert "sea4" in read_all_words(epub(files)).text


def test_files_that_the_package_does_not_list_are_named(epub: Write) -> None:
    files = book_of(["a.xhtml"], a_xhtml=chapter("One"), draft_xhtml=xhtml("<p>An older draft of it.</p>"))
    book = read_all_words(epub(files))
    assert any("OPS/draft.xhtml (5 words)" in warning for warning in book.warnings)


def test_a_picture_among_the_chapters_is_named(epub: Write) -> None:
    files = book_of(["a.xhtml", "b.png"], a_xhtml=chapter("One"), b_png=b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9)
    warnings = read_book(epub(files)).warnings
    assert any(warning.startswith("left out: OPS/b.png: ") for warning in warnings)


@pytest.mark.parametrize(
    "declared", ["utf-16", "UTF-16LE", "utf-32", "utf-7", "windows-1252", "ascii", "hex", "x-mac-a"]
)
def test_utf8_that_declares_another_encoding_is_read_as_what_it_is(epub: Write, declared: str) -> None:
    source = xhtml(paragraphs(20) + "<p>Élodie et l’été à Zürich – naïve.</p>").replace("utf-8", declared, 1)
    book = read_book(epub(book_of(["a.xhtml"], a_xhtml=source)))
    assert "Élodie et l’été à Zürich – naïve." in book.text


@pytest.mark.parametrize("declared", ["utf-8", "iso-8859-1", "utf-16"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_known_by_its_bytes(epub: Write, declared: str, encoding: str) -> None:
    source = xhtml(paragraphs(20) + "<p>Élodie et l’été.</p>").replace("utf-8", declared, 1).encode(encoding)
    assert "Élodie et l’été." in read_book(epub(book_of(["a.xhtml"], a_xhtml=source))).text


def test_elements_with_a_prefix_are_paragraphs_too(epub: Write) -> None:
    source = (
        '<?xml version="1.0"?><h:html xmlns:h="http://www.w3.org/1999/xhtml"><h:body><h:h2>One</h:h2>'
        "<h:p>First line</h:p><h:p>second line</h:p></h:body></h:html>"
    )
    book = read_book(epub(book_of(["a.xhtml"], a_xhtml=source)))
    assert book.text.split() == ["One", "First", "line", "second", "line"]


def test_words_that_simple_entities_stand_for_are_kept(epub: Write) -> None:
    source = '<!DOCTYPE html [<!ENTITY hero "Tom Sawyer">]>' + xhtml("<p>Then came &hero; himself.</p>")
    assert "Then came Tom Sawyer himself." in read_book(epub(book_of(["a.xhtml"], a_xhtml=source))).text


@pytest.mark.parametrize("name", ["chap%20one.xhtml", "chap+one.xhtml", "chäp.xhtml", "CHAP.XHTML"])
def test_names_in_the_archive_may_be_escaped_as_the_package_has_them(epub: Write, name: str) -> None:
    files = {"OPS/book.opf": opf([name]), f"OPS/{name}": xhtml(paragraphs(3))}
    assert read_all_words(epub(files)).text.count("He came to river") == 3


def test_a_table_of_contents_page_goes_and_is_named(epub: Write) -> None:
    links = "".join(f'<p><a href="b.xhtml#{i}">Chapter {i}: Of rivers</a></p>' for i in range(40))
    names = ["c.xhtml", "b.xhtml"]
    book = read_all_words(epub(book_of(names, c_xhtml=xhtml(links), b_xhtml=chapter("Two"))))
    assert "Of rivers" not in book.text
    assert named_words(book.warnings) == 160


def test_an_index_or_a_list_of_short_links_with_prose_is_kept(epub: Write) -> None:
    body = '<p><a href="#a">See there</a> ' + "and then he went on for a long while. " * 20 + "</p>"
    book = read_all_words(epub(book_of(["a.xhtml"], a_xhtml=xhtml(body))))
    assert "See there" in book.text


def test_every_damaged_chapter_is_named_however_many_there_are(epub: Write) -> None:
    names = [f"c{i}.xhtml" for i in range(400)]
    files: dict[str, str | bytes] = {"OPS/book.opf": opf(names), "OPS/c0.xhtml": chapter("One")}
    book = read_book(epub(files))
    assert len(book.warnings) <= 100
    assert all(len(warning) <= 300 for warning in book.warnings)
    named = sum(warning.count(".xhtml") for warning in book.warnings)
    assert named == 399 or any("more" in warning for warning in book.warnings)


@pytest.mark.parametrize(
    "book", ["brewsters-millions", "hansom-cab", "huntingtower", "pride-and-prejudice", "zuleika-dobson"]
)
def test_real_epubs_keep_every_word(data_dir: Path, book: str) -> None:
    path = data_dir / "library" / f"{book}.epub"
    read = read_all_words(path)
    assert named_words(read.warnings) < 0.05 * len(text_of_file(path).split())
