"""DOCX: every word of every part is in the book, or a warning names what was left out and why."""

# ruff: noqa: E501 - XML
from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import docx
import pytest

from nlb_retriever.reading import read_book
from nlb_retriever.records import Book

from .test_pdf_docx import make_docx, repack
from .words import assert_all_words, named_words, read_all_words

SPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office"'
)
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def para(inner: str) -> str:
    return f"<w:p>{inner}</w:p>"


def change(path: Path, edit: Callable[[dict[str, bytes]], None]) -> Path:
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    edit(entries)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


@pytest.fixture
def word(tmp_path: Path) -> Callable[..., Path]:
    """Write a DOCX file with `inner` as further content of the body, and more parts (name -> type, target, content)."""

    def write(inner: str, parts: Mapping[str, tuple[str, str | bytes]] | None = None) -> Path:
        path = make_docx(tmp_path / "a.docx")

        def edit(entries: dict[str, bytes]) -> None:
            source = entries["word/document.xml"].decode()
            start = source.index("<w:document")
            source = source[:start] + f"<w:document {SPACES}>" + source[source.index(">", start) + 1 :]
            entries["word/document.xml"] = source.replace("<w:sectPr", inner + "<w:sectPr", 1).encode()
            links = ""
            for i, (name, (kind, content)) in enumerate((parts or {}).items()):
                entries[f"word/{name}"] = content.encode() if isinstance(content, str) else content
                links += f'<Relationship Id="x{i}" Type="{REL}/{kind}" Target="{name}"/>'
            rels = "word/_rels/document.xml.rels"
            entries[rels] = entries[rels].replace(b"</Relationships>", links.encode() + b"</Relationships>")

        return change(path, edit)

    return write


Write = Callable[..., Path]
FIELD = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'
INNER = {
    "run": para(run("plain words")),
    "fldSimple": para(f'<w:fldSimple w:instr="AUTHOR">{run("Ann field")}</w:fldSimple>'),
    "nested fldSimple": para(f'<w:fldSimple w:instr="A"><w:fldSimple w:instr="B">{run("inner")}</w:fldSimple></w:fldSimple>'),
    "complex field": para(FIELD.format("begin") + '<w:r><w:instrText>TITLE</w:instrText></w:r>'
                          + FIELD.format("separate") + run("field result") + FIELD.format("end")),
    "field that never ends": para(FIELD.format("begin") + run("words in the field code")) + para(run("more words")),
    "bdo": para(f'<w:bdo w:val="rtl">{run("overridden")}</w:bdo>'),
    "dir": para(f'<w:dir w:val="rtl">{run("directed")}</w:dir>'),
    "equation": para('<m:oMath><m:r><m:t>E = mc</m:t></m:r><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e></m:sSup></m:oMath>'),
    "equation paragraph": para("<m:oMathPara><m:oMath><m:r><m:t>a + b</m:t></m:r></m:oMath></m:oMathPara>"),
    "text box": para("<w:r><mc:AlternateContent><mc:Choice Requires=\"wps\"><w:drawing><wp:inline><a:graphic><a:graphicData>"
                     f"<wps:wsp><wps:txbx><w:txbxContent>{para(run('boxed words'))}</w:txbxContent></wps:txbx></wps:wsp>"
                     "</a:graphicData></a:graphic></wp:inline></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox>"
                     f"<w:txbxContent>{para(run('boxed words'))}</w:txbxContent></v:textbox></w:pict></mc:Fallback>"
                     "</mc:AlternateContent></w:r>"),
    "old text box": para(f"<w:r><w:pict><v:shape><v:textbox><w:txbxContent>{para(run('old box'))}</w:txbxContent>"
                         "</v:textbox></v:shape></w:pict></w:r>"),
    "fallback alone": para("<w:r><mc:AlternateContent><mc:Fallback>" + "<w:t>fallback words</w:t>"
                           "</mc:Fallback></mc:AlternateContent></w:r>").replace("mc:Fallback", "mc:Choice"),
    "group shape": para("<w:r><w:drawing><a:graphic><a:graphicData><wps:wgp><wps:wsp><wps:txbx><w:txbxContent>"
                        f"{para(run('grouped'))}</w:txbxContent></wps:txbx></wps:wsp></wps:wgp></a:graphicData></a:graphic>"
                        "</w:drawing></w:r>"),
    "content control": f"<w:sdt><w:sdtContent>{para(run('controlled'))}</w:sdtContent></w:sdt>",
    "inline control": para(f"<w:sdt><w:sdtContent>{run('inline control')}</w:sdtContent></w:sdt>"),
    "smart tag": para(f'<w:smartTag w:element="place">{run("London")}</w:smartTag>'),
    "custom xml": f'<w:customXml w:element="x">{para(run("custom"))}</w:customXml>',
    "hyperlink": para(f'<w:hyperlink w:anchor="x">{run("linked")}</w:hyperlink>'),
    "insertion": para(f'<w:ins w:id="1">{run("inserted")}</w:ins>'),
    "deletion": para('<w:del w:id="1"><w:r><w:delText>deleted words</w:delText></w:r></w:del>' + run("kept")),
    "move": para(f'<w:moveFrom w:id="1">{run("moved")}</w:moveFrom>') + para(f'<w:moveTo w:id="2">{run("moved")}</w:moveTo>'),
    "ruby": para(f"<w:r><w:ruby><w:rt>{run('gloss')}</w:rt><w:rubyBase>{run('base')}</w:rubyBase></w:ruby></w:r>"),
    "hidden": para('<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden words</w:t></w:r>'),
    "table": f"<w:tbl><w:tr><w:tc>{para(run('cell one'))}</w:tc><w:tc>{para(run('cell two'))}</w:tc></w:tr></w:tbl>",
    "nested table": f"<w:tbl><w:tr><w:tc><w:tbl><w:tr><w:tc>{para(run('deep'))}</w:tc></w:tr></w:tbl>{para('')}</w:tc></w:tr></w:tbl>",
    "row in a control": f"<w:tbl><w:sdt><w:sdtContent><w:tr><w:tc>{para(run('row'))}</w:tc></w:tr></w:sdtContent></w:sdt></w:tbl>",
    "symbols": para('<w:r><w:t>non</w:t><w:noBreakHyphen/><w:t>break</w:t><w:tab/><w:t>tab</w:t><w:br/><w:t>line</w:t>'
                    '<w:cr/><w:t>cr </w:t><w:sym w:font="Symbol" w:char="F061"/></w:r>'),
    "split word": para("<w:r><w:t>un</w:t></w:r><w:proofErr/><w:r><w:t>broken</w:t></w:r>"),
    "soft hyphen": para("<w:r><w:t>soft</w:t><w:softHyphen/><w:t>ly</w:t></w:r>"),
    "unknown element": para(f'<w:newThing>{run("unknown words")}</w:newThing>'),
    "text outside": '<w:p><w:r>' + "<w:t>loose</w:t>" + "</w:r></w:p><w:r><w:t> body run</w:t></w:r>",
    "drawing text": para("<w:r><w:drawing><a:graphic><a:graphicData><a:p><a:r><a:t>drawn</a:t></a:r></a:p></a:graphicData>"
                         "</a:graphic></w:drawing></w:r>"),
    "word art": para('<w:r><w:pict><v:shape><v:textpath string="Word art"/></v:shape></w:pict></w:r>'),
    "alt content of shapes": para('<w:r><mc:AlternateContent><mc:Choice Requires="wpg"/>'
                                  "<mc:Fallback><w:t>only in the fallback</w:t></mc:Fallback></mc:AlternateContent></w:r>"),
}  # fmt: skip


@pytest.mark.parametrize("inner", INNER.values(), ids=INNER)
def test_the_words_of_every_element_are_kept_or_named(word: Write, inner: str) -> None:
    path = word(inner + para(run("The last line")))
    book = read_all_words(path)
    assert "The last line" in book.text


KEPT = {
    "fldSimple": "Ann field", "complex field": "field result", "bdo": "overridden", "dir": "directed", "equation": "E = mc",
    "text box": "boxed words", "old text box": "old box", "fallback alone": "fallback words", "move": "moved",
    "deletion": "kept", "split word": "unbroken", "table": "cell two", "unknown element": "unknown words",
    "alt content of shapes": "only in the fallback", "word art": "Word art",
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_what_a_reader_sees_is_in_the_text_once(word: Write, name: str) -> None:
    assert read_book(word(INNER[name])).text.count(KEPT[name]) == 1


def test_deleted_text_is_left_out_and_named(word: Write) -> None:
    book = read_all_words(word(INNER["deletion"]))
    assert "deleted words" not in book.text
    assert named_words(book.warnings) == 2


CHUNKS = {
    "html": ("afchunk.html", "<html><body><h1>Inside</h1><p>Chunk words of HTML</p></body></html>"),
    "xhtml": ("afchunk.xhtml", '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>Chunk words</p></body></html>'),
    "text": ("afchunk.txt", "Chunk words\nof plain text"),
    "rtf": ("afchunk.rtf", "{\\rtf1 Chunk words}"),
    "mht": ("afchunk.mht", "MIME-Version: 1.0\nContent-Type: text/html\n\n<p>Chunk words</p>"),
}


HIDDEN_STYLES = (
    '<w:style w:type="character" w:styleId="Unseen"><w:name w:val="Unseen"/><w:rPr><w:vanish/></w:rPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="Form"><w:name w:val="Form"/><w:basedOn w:val="Unseen"/></w:style>'
    '<w:style w:type="character" w:styleId="Seen"><w:name w:val="Seen"/><w:basedOn w:val="Unseen"/>'
    '<w:rPr><w:vanish w:val="0"/></w:rPr></w:style>'
)


def test_hidden_text_is_left_out_and_named(word: Write) -> None:
    def hidden(text: str, mark: str) -> str:
        return run(text).replace("<w:r>", f"<w:r><w:rPr>{mark}</w:rPr>")

    path = word(
        para(run("It costs ") + hidden("300", "<w:vanish/>") + run("400, ") + hidden("500, ", '<w:rStyle w:val="Unseen"/>'))
        + para('<w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>' + hidden("seen", '<w:rStyle w:val="Seen"/><w:webHidden/>'))
        + para('<w:pPr><w:pStyle w:val="Form"/></w:pPr>' + run("Top of form") + hidden("shown", '<w:vanish w:val="false"/>'))
    )  # fmt: skip

    def edit(entries: dict[str, bytes]) -> None:
        styles = entries["word/styles.xml"]
        entries["word/styles.xml"] = styles.replace(b"</w:styles>", HIDDEN_STYLES.encode() + b"</w:styles>")

    book = read_all_words(change(path, edit))
    assert book.text.endswith("It costs 400,\n\nseen\n\nshown")
    assert any("3 hidden stretches (5 words)" in warning for warning in book.warnings)


@pytest.mark.parametrize("kind", CHUNKS)
def test_an_alternative_format_chunk_is_read_or_named(word: Write, kind: str) -> None:
    name, content = CHUNKS[kind]
    book = read_book(word('<w:altChunk r:id="x0"/>', {name: ("aFChunk", content)}))
    if kind in {"html", "xhtml", "text"}:
        assert "Chunk words" in book.text
    else:
        assert any(f"word/{name}" in warning for warning in book.warnings)


def test_a_word_file_in_a_word_file_is_read(word: Write, tmp_path: Path) -> None:
    inner = docx.Document()
    inner.add_paragraph("Words of the inner file")
    stream = io.BytesIO()
    inner.save(stream)
    book = read_book(word('<w:altChunk r:id="x0"/>', {"inner.docx": ("aFChunk", stream.getvalue())}))
    assert "Words of the inner file" in book.text


def notes(kind: str, text: str) -> str:
    return f'<w:{kind}s {SPACES}><w:{kind} w:id="2">{para(run(text))}</w:{kind}></w:{kind}s>'


PARTS = {
    "footnotes.xml": ("footnotes", notes("footnote", "Words of a footnote")),
    "endnotes.xml": ("endnotes", notes("endnote", "Words of an endnote")),
    "comments.xml": ("comments", notes("comment", "Words of a comment")),
    "header9.xml": ("header", f"<w:hdr {SPACES}>{para(run('Words of a header'))}</w:hdr>"),
    "footer9.xml": ("footer", f"<w:ftr {SPACES}>{para(run('Words of a footer'))}</w:ftr>"),
    "glossary/document.xml": (
        "glossaryDocument",
        f"<w:glossaryDocument {SPACES}>{para(run('Stored words'))}</w:glossaryDocument>",
    ),
    "diagrams/data1.xml": ("diagramData", f"<dgm {SPACES}><a:p><a:r><a:t>Diagram words</a:t></a:r></a:p></dgm>"),
    "charts/chart1.xml": ("chart", f"<c {SPACES}><a:p><a:r><a:t>Chart words</a:t></a:r></a:p></c>"),
}


@pytest.mark.parametrize("name", PARTS)
def test_the_words_of_other_parts_are_kept_or_named(word: Write, name: str) -> None:
    book = read_all_words(word(para(run("x")), {name: PARTS[name]}))
    if name in {"footnotes.xml", "endnotes.xml"}:
        assert f"Words of a{'n' * (name[0] == 'e')} {name[:-5]}" in book.text


def test_embedded_files_are_named(word: Write) -> None:
    book = read_book(word(para(run("x")), {"embeddings/sheet1.xlsx": ("package", b"PK\x05\x06" + bytes(18))}))
    assert any("word/embeddings/sheet1.xlsx" in warning for warning in book.warnings)


def test_a_main_part_of_another_name_is_found(tmp_path: Path) -> None:
    path = make_docx(tmp_path / "a.docx")

    def edit(entries: dict[str, bytes]) -> None:
        entries["word/document2.xml"] = entries.pop("word/document.xml")
        entries["word/_rels/document2.xml.rels"] = entries.pop("word/_rels/document.xml.rels")
        for name in ("_rels/.rels", "[Content_Types].xml"):
            entries[name] = entries[name].replace(b"word/document.xml", b"word/document2.xml")

    assert "The old clock" in read_all_words(change(path, edit)).text


def test_strict_open_xml_is_read_with_its_headings(tmp_path: Path) -> None:
    path = make_docx(tmp_path / "a.docx")

    def edit(entries: dict[str, bytes]) -> None:
        old, new = b"http://schemas.openxmlformats.org/", b"http://purl.oclc.org/ooxml/"
        for name, content in list(entries.items()):
            strict = content.replace(old + b"wordprocessingml/2006", new + b"wordprocessingml")
            entries[name] = strict.replace(old + b"officeDocument/2006", new + b"officeDocument")

    assert [s.path for s in read_all_words(change(path, edit)).sections] == [("Door",), ("Stair",), ("Bell",)]


@pytest.mark.parametrize("style", ["heading 1", "Heading 1", "HEADING 1", "outline"])
def test_headings_are_known_by_style_name_or_outline_level(tmp_path: Path, style: str) -> None:
    path = make_docx(tmp_path / "a.docx")

    def edit(entries: dict[str, bytes]) -> None:
        if style == "outline":
            level = b'<w:pPr><w:outlineLvl w:val="0"/></w:pPr>'
            entries["word/document.xml"] = entries["word/document.xml"].replace(
                b'<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>', level
            )
            return
        for name in ("word/document.xml", "word/styles.xml"):
            entries[name] = entries[name].replace(b'"Heading1"', b'"berschrift1"')
        entries["word/styles.xml"] = entries["word/styles.xml"].replace(b'"heading 1"', f'"{style}"'.encode())

    assert [s.path for s in read_book(change(path, edit)).sections] == [("Door",), ("Stair",), ("Bell",)]


def test_notes_stand_apart_at_the_end(word: Write) -> None:
    reference = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    book = read_book(word(para(run("Before") + reference + run(" after.")), {"footnotes.xml": PARTS["footnotes.xml"]}))
    assert "Before after." in book.text
    assert book.text.rstrip().endswith("Words of a footnote")
    assert book.sections[-1].path == ("Notes",)


def test_paragraphs_tables_and_lists_are_laid_out_as_text(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("One")
    document.add_paragraph("Two", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for i, cell in enumerate(cell for row in table.rows for cell in row.cells):
        cell.text = f"cell{i}"
    document.add_paragraph("Three\nfour")
    document.save(str(tmp_path / "a.docx"))
    assert read_book(tmp_path / "a.docx").text == "One\n\nTwo\n\ncell0  cell1\ncell2  cell3\n\nThree\nfour"


def test_a_damaged_part_beside_the_text_costs_that_part_only(word: Write) -> None:
    path = word(para(run("x")), {"footnotes.xml": PARTS["footnotes.xml"]})
    repack(path, "word/footnotes.xml", lambda content: b"<w:footnotes")
    book: Book = read_book(path)
    assert any("word/footnotes.xml" in warning for warning in book.warnings)


def test_a_hundred_thousand_nested_elements_are_read(word: Write) -> None:
    deep = "<w:smartTag>" * 200 + run("deep words") + "</w:smartTag>" * 200
    assert_all_words("deep words", read_book(word(para(deep))))


def test_contents_of_a_document_are_skipped_and_counted(word: Callable[..., Path]) -> None:
    link = '<w:hyperlink w:anchor="a{0}"><w:r><w:t>Chapter {0}</w:t></w:r></w:hyperlink>'
    links = "".join(para(link.format(i)) for i in range(1, 5))
    styled = para('<w:pPr><w:pStyle w:val="TOC2"/></w:pPr>' + run("Part one 3"))
    text = para(run("See ") + link.format(9)) + para(link.format(8)) + para(run("The end."))
    book = read_all_words(word(links + para(run("Words.")) + text))
    assert "Chapter 1" not in book.text
    assert "See Chapter 9\n\nChapter 8\n\nThe end." in book.text
    assert any("4 contents lines (8 words)" in warning for warning in book.warnings)
    assert "Part one" in read_all_words(word(styled)).text  # of a style that is none of contents


def test_styles_of_contents_are_skipped(tmp_path: Path) -> None:
    document = docx.Document()
    document.styles.add_style("toc 1", docx.enum.style.WD_STYLE_TYPE.PARAGRAPH)
    document.add_paragraph("The Landing 7", style="toc 1")
    document.add_heading("The Landing")
    document.add_paragraph("The clock struck.")
    document.save(str(tmp_path / "a.docx"))
    book = read_all_words(tmp_path / "a.docx")
    assert book.text == "The Landing\n\nThe clock struck."
    assert any("1 contents line (3 words)" in warning for warning in book.warnings)
