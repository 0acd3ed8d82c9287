"""TEI: divisions, verse, plays, notes, pages, readings beside each other, headers."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever.errors import NlbError, NotABook
from nlb_retriever.reading import discover, read_book
from nlb_retriever.records import Book
from tests.reading.conftest import SENTENCE

FILLER = f"<p>{SENTENCE * 4}</p>"
HEADER = """<teiHeader><fileDesc><titleStmt><title type="sub">A Tale</title>
    <title type="main">The Town Clock : ELTeC edition</title>
    <author ref="viaf:1">Author, Ann (1847-1912)</author></titleStmt>
  <sourceDesc><bibl type="digitalSource"><date>2001</date></bibl>
    <bibl type="firstEdition"><date>1887</date></bibl></sourceDesc></fileDesc></teiHeader>"""


def document(body: str, header: str = HEADER, root: str = "TEI") -> bytes:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><{root} xmlns="http://www.tei-c.org/ns/1.0" xml:lang="en">'
        f"{header}<text>{body}</text></{root}>"
    ).encode()


def read(tmp_path: Path, body: str, *, header: str = HEADER, name: str = "a.xml") -> Book:
    (tmp_path / name).write_bytes(document(body, header))
    return read_book(tmp_path / name)


def test_divisions_are_sections_and_the_header_describes_the_book(tmp_path: Path) -> None:
    body = f"""<front><div type="titlepage"><p>The Town Clock, by Ann Author</p></div></front><body>
      <div type="part"><head>Part One</head>
        <div type="chapter" n="1"><head>The <hi>Door</hi></head>{FILLER}</div>
        <div type="chapter"><head>The Bell</head>{FILLER}</div></div>
      <div1><head>Part Two</head>{FILLER}</div1></body>"""
    book = read(tmp_path, body)
    assert (book.title, book.author, book.language, book.year) == ("The Town Clock", "Author, Ann", "en", 1887)
    paths = [section.path for section in book.sections]
    assert paths == [("Part One", "The Door"), ("Part One", "The Bell"), ("Part Two",)]
    assert book.text.count(SENTENCE.strip()) == 12
    assert "title page (6 words)" in " ".join(book.warnings)


@pytest.mark.parametrize("name", ["a.xml", "a.tei", "a.tei.xml"])
def test_its_suffixes(tmp_path: Path, name: str) -> None:
    assert SENTENCE.strip() in read(tmp_path, f"<body>{FILLER}</body>", name=name).text


def test_divisions_without_heads_are_called_by_their_type_and_number(tmp_path: Path) -> None:
    body = "".join(
        f"""<div type="textpart" subtype="book" n="{n}"><div type="textpart" subtype="card" n="1">{FILLER}</div>
        <div type="textpart" subtype="card" n="44">{FILLER}</div></div>"""
        for n in (1, 2)
    )
    book = read(tmp_path, f'<body><div type="translation" n="urn:cts:1">{body}</div></body>')
    assert [section.title for section in book.sections] == ["Book 1", "Book 2"]
    assert "Book 1" not in book.text


def test_the_earliest_source_and_the_text_s_language_count(tmp_path: Path) -> None:
    header = """<teiHeader><fileDesc><titleStmt><title>The Odyssey</title></titleStmt><publicationStmt><date>2019</date>
        </publicationStmt><sourceDesc><bibl><title>Full-Text Database</title><date>2000</date><relatedItem>
        <bibl type="copyText"><author>Butler (1835-1902)</author><date when="1900">first</date></bibl></relatedItem>
        </bibl></sourceDesc></fileDesc><profileDesc><langUsage><language ident="grc"/></langUsage></profileDesc>
        </teiHeader>"""
    (tmp_path / "a.xml").write_text(f'<TEI>{header}<text xml:lang="eng"><body>{FILLER}</body></text></TEI>')
    book = read_book(tmp_path / "a.xml")
    assert (book.title, book.author, book.year, book.language) == ("The Odyssey", None, 1900, "en")


def test_verse_has_lines_and_plays_have_speakers(tmp_path: Path) -> None:
    verse = "<lg><l>The bell is rung</l><l>and the town awakes</l></lg><lg><l>at six.</l></lg>"
    play = """<sp><speaker>KEEPER</speaker><stage>He winds the clock.</stage>
        <p>Who rang <stage>aside</stage> the bell?</p></sp>"""
    text = read(tmp_path, f"<body><div><head>I</head>{verse}</div><div><head>II</head>{play}</div></body>").text
    assert "The bell is rung\nand the town awakes\n\nat six." in text
    assert "KEEPER\n\nHe winds the clock.\n\nWho rang aside the bell?" in text


def test_notes_are_an_end_section_and_page_beginnings_pages(tmp_path: Path) -> None:
    body = f"""<body><div><head>One</head><pb n="11"/>{FILLER}<p>The bell<note place="foot">Cast in
        <hi>1700</hi>.</note> was old.</p></div><div><head>Two</head><pb n="12"/>{FILLER}</div></body>"""
    book = read(tmp_path, body)
    assert "The bell was old." in book.text
    assert book.text.endswith("Notes\n\nCast in 1700.")
    assert [page.label for page in book.pages] == ["11", "12"]
    assert book.text[book.pages[1].start :].startswith("The old clock")


def test_words_go_on_over_the_ends_of_printed_lines(tmp_path: Path) -> None:
    body = """<body><p>The clock of the town-<lb break="no"/>
        ship is wound<lb/>on Mondays by the keep<pb n="3" break="no"/>er of the <w>bell</w>
        <pc>,</pc> and <w>rung</w> <pc>.</pc></p></body>"""
    assert read(tmp_path, body).text.strip() == (
        "The clock of the township is wound on Mondays by the keeper of the bell, and rung."
    )


def test_of_forms_beside_each_other_the_newer_is_read(tmp_path: Path) -> None:
    body = """<body><p>The <choice><sic>clok</sic><corr>clock</corr></choice> is
        <choice><orig>olde</orig><reg>old</reg></choice>, <abbr>Mr.</abbr> Bell
        <choice><abbr>sd</abbr><expan>said</expan></choice> <app><lem>once</lem><rdg>twice</rdg></app>
        <del>never</del> <app><rdg>today</rdg><rdg>tomorrow</rdg></app>.</p>
        <fw type="header">THE CLOCK 12</fw></body>"""
    book = read(tmp_path, body)
    assert book.text.strip() == "The clock is old, Mr. Bell said once today."
    warnings = " ".join(book.warnings)
    for skipped in ("mistake", "old spelling", "abbreviation", "2 variant readings", "deleted text", "running head"):
        assert skipped in warnings


def test_lists_and_tables_and_figures(tmp_path: Path) -> None:
    body = """<body><list><head>Tools</head><item>a hammer</item><item>a saw</item></list>
        <table><row><cell>one</cell><cell>two</cell></row></table>
        <figure><head>The clock.</head><figDesc>A clock on a tower.</figDesc></figure></body>"""
    text = read(tmp_path, body).text
    assert "Tools\n\na hammer\na saw" in text
    assert "one  two" in text
    assert "The clock.\n\nA clock on a tower." in text


def test_what_is_no_tei_is_refused_by_name_and_passed_over_in_folders(tmp_path: Path) -> None:
    (tmp_path / "feed.xml").write_text("<rss><channel/></rss>")
    (tmp_path / "broken.xml").write_text("no markup at all")
    (tmp_path / "wide.xml").write_bytes(
        document(f"<body>{FILLER}</body>").decode().replace("UTF-8", "UTF-16").encode("utf-16")
    )
    found = discover([tmp_path])
    assert [path.name for path in found.files] == ["wide.xml"]
    assert found.skipped == {"XML that is no book": 2}
    assert SENTENCE.strip() in read_book(tmp_path / "wide.xml").text
    for name in ("feed.xml", "broken.xml"):
        with pytest.raises(NotABook, match="is no TEI document, export of MediaWiki"):
            read_book(tmp_path / name)


def test_a_file_that_was_cut_says_so_and_keeps_its_text(tmp_path: Path) -> None:
    whole = document(f"<body><div><head>One</head>{FILLER}</div><div><head>Two</head>{FILLER}</div></body>")
    for end in range(900, len(whole), 37):
        (tmp_path / "a.xml").write_bytes(whole[:end])
        try:
            book = read_book(tmp_path / "a.xml")
        except NlbError as error:
            assert "does not know" not in str(error)
        else:
            assert "is damaged" in " ".join(book.warnings)


def test_a_corpus_is_read_as_one_book(tmp_path: Path) -> None:
    texts = "".join(
        f"<TEI>{HEADER.replace('Town', name)}<text><body><div><head>{name}</head>{FILLER}</div></body></text></TEI>"
        for name in ("Red", "Blue")
    )
    (tmp_path / "a.xml").write_text(f'<teiCorpus xmlns="http://www.tei-c.org/ns/1.0">{HEADER}{texts}</teiCorpus>')
    book = read_book(tmp_path / "a.xml")
    assert book.title == "The Town Clock"
    assert [section.title for section in book.sections] == ["Red", "Blue"]


def test_what_is_quoted_within_a_sentence_parts_no_paragraph(tmp_path: Path) -> None:
    body = f"<body><p>He said <quote>No</quote>, and left.</p><p>So:<quote><p>The bell.</p></quote></p>{FILLER}</body>"
    assert read(tmp_path, body).text.startswith("He said No, and left.\n\nSo:\n\nThe bell.\n\n")
