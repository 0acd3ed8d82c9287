"""FB2 and ODT: their sections, notes, names and dates; what is skipped is named; damage in one line."""

# ruff: noqa: E501 - XML
from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from nlb_retriever.errors import NotABook, ReadingError
from nlb_retriever.reading import discover, read_book

from .conftest import SENTENCE
from .words import read_all_words

PROSE = SENTENCE * 5
FB2 = f"""<?xml version="1.0" encoding="{{encoding}}"?>
<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0" xmlns:l="http://www.w3.org/1999/xlink"><description><title-info>
<genre>prose</genre><author><first-name>Анна</first-name><last-name>Автор</last-name></author><author><nickname>bell</nickname></author>
<book-title>Часы</book-title><annotation><p>О часах.</p></annotation><date value="1871-01-01">1871</date><lang>ru</lang></title-info>
<publish-info><year>1999</year></publish-info></description>
<body><title><p>Анна Автор</p><p>Часы</p></title><epigraph><p>Время не ждёт.</p><text-author>Поговорка</text-author></epigraph>
<section><title><p>Часть первая</p></title>
<section><title><p>Глава 1</p><p>Лестница<a l:href="#n1" type="note">[1]</a></p></title><p>{PROSE}<a l:href="#n1" type="note">[1]</a> И <emphasis>вот</emphasis> они стали.</p>
<poem><title><p>Песня</p></title><stanza><v>Бьют часы,</v><v>бьют часы.</v></stanza></poem><image l:href="#i.png"/></section>
<section><title><p>Глава 2</p></title><p>{PROSE}&nbsp;Море.</p><table><tr><th>час</th><td>удар</td></tr></table></section></section>
</body>
<body name="notes"><title><p>Примечания</p></title><section id="n1"><title><p>1</p></title><p>Лестница дома.</p></section></body>
<binary id="i.png" content-type="image/png">{"QUJD" * 50}</binary></FictionBook>"""

ODT_TYPE = "application/vnd.oasis.opendocument.text"
SPACES = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" '
    'xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" '
    'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0"'
)
META = "<meta:initial-creator>Ann Author</meta:initial-creator><dc:creator>Ed Editor</dc:creator><dc:language>en-GB</dc:language>"


def paragraph(text: str, style: str = "Standard") -> str:
    return f'<text:p text:style-name="{style}">{text}</text:p>'


def heading(text: str, level: int = 1) -> str:
    return f'<text:h text:outline-level="{level}">{text}</text:h>'


@pytest.fixture
def odt(tmp_path: Path) -> Callable[..., Path]:
    """Write an ODT file with `body` as its content, and more entries."""

    def write(body: str, meta: str = META, **more: str) -> Path:
        path = tmp_path / "a.odt"
        styles = '<office:automatic-styles><style:style style:name="P1" style:parent-style-name="Title"/></office:automatic-styles>'
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("mimetype", ODT_TYPE)
            archive.writestr(
                "content.xml",
                f"<office:document-content {SPACES}>{styles}<office:body><office:text>{body}</office:text></office:body></office:document-content>",
            )
            archive.writestr(
                "meta.xml", f"<office:document-meta {SPACES}><office:meta>{meta}</office:meta></office:document-meta>"
            )
            for name, content in more.items():
                archive.writestr(name, content)
        return path

    return write


@pytest.mark.parametrize(("name", "encoding"), [("a.fb2", "utf-8"), ("b.FB2", "windows-1251"), ("c.fb2.zip", "utf-8")])
def test_fb2_gives_sections_notes_and_what_it_says_of_itself(tmp_path: Path, name: str, encoding: str) -> None:
    path = tmp_path / name
    data = FB2.format(encoding=encoding).encode(encoding)
    if name.endswith(".zip"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.fb2", data)
    else:
        path.write_bytes(data)
    assert discover([tmp_path]).files == (path,)
    book = read_book(path)
    assert (book.title, book.author, book.language, book.year) == ("Часы", "Анна Автор, bell", "ru", 1871)
    assert book.description == "О часах."
    assert [s.path for s in book.sections] == [
        ("Часть первая", "Глава 1. Лестница"),
        ("Часть первая", "Глава 2"),
        ("Notes",),
    ]
    assert "И вот они стали.\n\nПесня\n\nБьют часы,\nбьют часы." in book.text
    assert "\xa0" not in book.text and "час  удар" in book.text
    assert book.text.endswith("Примечания\n\n1\n\nЛестница дома.")
    assert "[1]" not in book.text
    assert book.text.startswith("Анна Автор\n\nЧасы\n\nВремя не ждёт.\n\nПоговорка")
    assert any("2 note references (2 words)" in warning for warning in book.warnings)


def test_every_word_of_fb2_is_kept_or_named(tmp_path: Path) -> None:
    path = tmp_path / "a.fb2"
    path.write_text(FB2.format(encoding="utf-8"))
    read_all_words(path)


def test_titles_of_fb2_below_six_levels_and_without_lines(tmp_path: Path) -> None:
    deep = "<section><title><p>T{}</p></title><p>x</p>"
    path = tmp_path / "deep.fb2"
    body = (
        "".join(deep.format(i) for i in range(1, 9)) + "</section>" * 8 + f"<section><title/><p>{PROSE}</p></section>"
    )
    path.write_text(f"<FictionBook><body>{body}</body></FictionBook>")
    book = read_book(path)
    assert book.sections[-1].path[-1] == "T8"
    assert book.title == "Deep"


def test_a_damaged_fb2_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "a.fb2"
    text = FB2.format(encoding="utf-8")
    path.write_text(text[: text.index("Море.") + 5])
    book = read_book(path)
    assert book.text.endswith("Море.")
    assert any("its XML is damaged" in warning for warning in book.warnings)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.fb2", "<FictionBook><body><section><p>Before.</p>{}</section><p>Behind.</p></body></FictionBook>"),
        ("a.tei", "<TEI><text><body><p>Before.</p>{}<p>Behind.</p></body></text></TEI>"),
    ],
)
def test_xml_that_is_nested_too_deeply_is_not_called_damaged(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content.format("<p>" * 300 + "Deep." + "</p>" * 300))
    book = read_book(path)
    assert "Before." in book.text
    assert book.warnings == ("its XML is nested too deeply (line 1): what follows was left out",)


def test_half_characters_and_foreign_entities_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.fb2"
    path.write_text(
        "<FictionBook><body><section><p>a&#xD800;b&nbsp;c&unknown;d &#57343;</p></section></body></FictionBook>"
    )
    assert read_book(path).text == "a\ufffdb cd \ufffd"


@pytest.mark.parametrize(
    ("name", "content", "error", "message"),
    [
        ("a.fb2", "<html><body>Hello</body></html>", NotABook, "is no FB2 book"),
        ("a.fb2", "Plain words.", NotABook, "is no FB2 book"),
        ("a.fb2", '<FictionBook><body><p> </p></body></FictionBook>', NotABook, "holds no text"),
        ("a.fb2.zip", {"x.txt": "words"}, NotABook, "no FB2 book in it"),
        ("a.odt", {"x.txt": "words"}, NotABook, "no content.xml"),
        ("a.odt", {"content.xml": "<a><b>"}, NotABook, "holds no OpenDocument text"),
        ("a.odt", {"content.xml": "x", "META-INF/manifest.xml": "<encryption-data/>"}, ReadingError, "encrypted with a password"),
        ("a.epub", {"mimetype": ODT_TYPE}, NotABook, "rename it to .odt"),
        ("a.odt", "words", NotABook, "is no OpenDocument file"),
    ],
)  # fmt: skip
def test_what_is_no_fb2_or_odt_is_refused_in_one_line(
    tmp_path: Path, name: str, content: str | dict[str, str], error: type[Exception], message: str
) -> None:
    path = tmp_path / name
    if isinstance(content, str):
        path.write_text(content)
    else:
        with zipfile.ZipFile(path, "w") as archive:
            for entry, text in content.items():
                archive.writestr(entry, text)
    with pytest.raises(error, match=message) as caught:
        read_book(path)
    assert "\n" not in str(caught.value)


def test_only_the_first_fb2_of_a_zip_is_read_and_the_others_are_named(tmp_path: Path) -> None:
    path = tmp_path / "two.fb2.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("one.fb2", "two.fb2"):
            archive.writestr(name, f"<FictionBook><body><section><p>{name}</p></section></body></FictionBook>")
    book = read_book(path)
    assert (book.text, book.title) == ("one.fb2", "Two")
    assert any("two.fb2: one book is read of a zip file" in warning for warning in book.warnings)


def test_odt_gives_sections_notes_and_what_it_says_of_itself(odt: Callable[..., Path]) -> None:
    note = '<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body>{}</text:note-body></text:note>'
    box = f"<draw:frame><draw:text-box>{paragraph('A caption.')}</draw:text-box><svg:desc>drawn by hand</svg:desc></draw:frame>"
    cell = f"<table:table-cell>{paragraph('left')}{paragraph('below')}</table:table-cell><table:table-cell>{paragraph('right')}</table:table-cell>"
    body = (
        paragraph("The Clock", "P1")
        + 2 * f'<text:tracked-changes><text:deletion>{paragraph("taken out")}</text:deletion></text:tracked-changes>'
        + f'<text:table-of-content>{paragraph("Landing 1")}</text:table-of-content>'
        + heading("Landing")
        + paragraph(f"{PROSE}Two<text:s text:c='2'/>blanks<text:line-break/>and a <text:span>stair</text:span>{note.format(paragraph('Of oak.'))} case{box} went.")
        + heading("Bells", 2)
        + f"<text:list><text:list-item>{paragraph('one')}</text:list-item><text:list-item>{paragraph('two')}</text:list-item></text:list>"
        + f"<table:table><table:table-row>{cell}</table:table-row></table:table>"
        + f'<office:annotation><dc:creator>Ed</dc:creator>{paragraph("why?")}</office:annotation>'
        + paragraph(PROSE)
    )  # fmt: skip
    book = read_all_words(odt(body))
    assert (book.title, book.author, book.language) == ("The Clock", "Ann Author", "en-GB")
    assert [s.path for s in book.sections] == [("Landing",), ("Landing", "Bells"), ("Notes",)]
    assert (
        "Two blanks\nand a stair case went.\n\nA caption.\n\nBells\n\none\ntwo\n\nleft\nbelow  right\n\n" in book.text
    )
    assert book.text.endswith("Notes\n\nOf oak.")
    for name in ("2 deleted stretches (4 words)", "table of contents", "reader's comment", "picture's description"):
        assert any(name in warning for warning in book.warnings), name


def test_hidden_text_of_odt_is_left_out_and_named(odt: Callable[..., Path]) -> None:
    styles = "".join(
        f'<style:style style:name="{name}" style:parent-style-name="{parent}">{properties}</style:style>'
        for name, parent, properties in (("T1", "", '<style:text-properties text:display="none"/>'), ("P9", "T1", ""))
    )
    shown = '<text:hidden-text text:is-hidden="{}">{}</text:hidden-text><text:hidden-paragraph text:is-hidden="{}"/>'
    body = (
        paragraph('It costs <text:span text:style-name="T1">300 or </text:span>400.')
        + paragraph("A hidden one.", "P9")
        + f'<text:section text:display="none">{paragraph("Of a section.")}</text:section>'
        + paragraph(f"A field {shown.format('true', 'unseen', 'false')}here.")
        + paragraph(f"None {shown.format('false', 'seen', 'true')}here.")
        + f"<table:table><table:table-row><table:table-cell>{paragraph('a', 'P9')}{paragraph('b')}</table:table-cell></table:table-row></table:table>"
    )
    sheet = f"<office:document-styles {SPACES}><office:styles>{styles}</office:styles></office:document-styles>"
    book = read_all_words(odt(body, **{"styles.xml": sheet}))
    assert book.text == "It costs 400.\n\nA field here.\n\nb"
    assert "6 hidden stretches (13 words)" in " ".join(book.warnings)


def test_formulas_of_odt_are_read_and_other_objects_named(odt: Callable[..., Path]) -> None:
    objects = "".join(f'<draw:object xlink:href="./Object {i}"/>' for i in (1, 2, 3))
    parts = {
        "Object 1/content.xml": "<x:math xmlns:x='http://www.w3.org/1998/Math/MathML'><x:semantics><x:mrow><x:mi>E</x:mi>"
        "<x:mo>=</x:mo><x:mfrac><x:mn>1</x:mn><x:mn>2</x:mn></x:mfrac><x:mi>m</x:mi></x:mrow>"
        "<x:annotation>E = m</x:annotation></x:semantics></x:math>",
        "Object 2/content.xml": f"<office:document-content {SPACES}><office:body>four words of chart</office:body></office:document-content>",
    }
    book = read_book(
        odt(heading("A") + paragraph(f"{PROSE}It is {objects}.") + heading("B") + paragraph(PROSE), **parts)
    )
    assert "It is E = (1/2)m." in book.text
    assert any("Object 2 (4 words): files inside the document are not read" in warning for warning in book.warnings)


def test_an_odt_does_without_its_damaged_parts(odt: Callable[..., Path]) -> None:
    path = odt(heading("A") + paragraph(PROSE) + heading("B") + paragraph(PROSE), **{"styles.xml": "not XML"})
    data = path.read_bytes()
    start = data.index(b"Ann Author")
    path.write_bytes(data[:start] + b"Xnn" + data[start + 3 :])  # its checksum is wrong now
    book = read_book(path)
    assert (book.title, book.author, len(book.sections)) == ("A", None, 2)


def test_odt_without_headings_has_its_chapter_lines(odt: Callable[..., Path]) -> None:
    body = "".join(paragraph(f"CHAPTER {n}") + paragraph(PROSE) * 3 for n in ("I", "II", "III"))
    book = read_book(odt(body, meta="<dc:title>Untitled1</dc:title><dc:creator>calibre (7.0)</dc:creator>"))
    assert [s.title for s in book.sections] == ["CHAPTER I", "CHAPTER II", "CHAPTER III"]
    assert (book.title, book.author) == ("A", None)


def test_several_books_in_one_fb2_stand_above_their_chapters(tmp_path: Path) -> None:
    words = "The keeper went along the salt road to the harbour with a lamp of brass. " * 5
    chapters = "".join(f"<section><title><p>Chapter {n}</p></title><p>{words}</p></section>" for n in (1, 2))
    bodies = "".join(
        f"<body><title><p>Ada Penwick</p><p>{title}</p></title>{chapters}</body>" for title in ("The Road", "The Pear")
    )
    path = tmp_path / "a.fb2"
    path.write_text(f"<FictionBook>{bodies}</FictionBook>")
    assert [section.path for section in read_book(path).sections] == [
        (f"Ada Penwick. {title}", f"Chapter {n}") for title in ("The Road", "The Pear") for n in (1, 2)
    ]
