"""Kindle books: both layouts, their ways of packing, contents, protection, damage."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from struct import pack

import pytest

from nlb_retriever.errors import NlbError, NotABook, ReadingError
from nlb_retriever.reading import read_book
from nlb_retriever.reading.containers.palm import Phrases, unpack_palmdoc, without_trailers
from nlb_retriever.records import Book
from tests.reading import kindle_files
from tests.reading.conftest import SENTENCE
from tests.reading.kindle_files import database, header, mobi, pack_palmdoc, pieces, text_records

BREAK = "<mbp:pagebreak/>"
FILLER = f"<p>{SENTENCE * 4}</p>" * 3


def write(path: Path, records: Sequence[bytes], *, made: int = 0) -> Path:
    path.write_bytes(database(records, made=made))
    return path


def read(tmp_path: Path, records: Sequence[bytes], *, name: str = "a.mobi", made: int = 0) -> Book:
    return read_book(write(tmp_path / name, records, made=made))


def chapters(*titles: str, tag: str = "h2") -> tuple[bytes, list[tuple[int, int, str]]]:
    """The HTML of a book of chapters, each a page, and its table of contents."""
    text, toc = b"<html><head></head><body>", []
    for title in titles:
        toc.append((len(text), 0, title))
        text += f"<{tag}>{title}</{tag}>{FILLER}{BREAK}".encode()
    return text + b"</body></html>", toc


def test_a_book_of_one_file_has_the_sections_of_its_contents(tmp_path: Path) -> None:
    text, toc = chapters("I. The Door", "II. The Café", "III. The Bell")
    said = [
        (503, b"The Town Clock"), (100, b"Ann Author"), (100, b"Bob Writer"), (524, b"fr"), (106, b"1887-05-01"),
        (103, b"<p>A clock, and <b>who</b> winds it.</p>"),
    ]  # fmt: skip
    book = read(tmp_path, mobi(text, toc, described=said))
    assert (book.title, book.author, book.language) == ("The Town Clock", "Ann Author, Bob Writer", "fr")
    assert (book.year, book.description) == (1887, "A clock, and who winds it.")
    assert [section.title for section in book.sections] == ["I. The Door", "II. The Café", "III. The Bell"]
    starts = [book.text[section.start :].split("\n")[0] for section in book.sections]
    assert starts == ["I. The Door", "II. The Café", "III. The Bell"]
    assert book.text.count(SENTENCE.strip()) == 36
    assert "mbp" not in book.text
    assert book.warnings == ()


def test_windows_characters_and_a_title_of_the_header(tmp_path: Path) -> None:
    text = f"<html><body><p>“It is the café’s clock” — said she. {SENTENCE}</p></body></html>".encode("cp1252")
    book = read(tmp_path, mobi(text, encoding=1252, title="The Café’s Clock".encode("cp1252")), name="a.prc")
    assert (book.title, book.language) == ("The Café’s Clock", "en")
    assert book.text.startswith("“It is the café’s clock” — said she.")


def test_a_place_inside_a_tag_or_letter_breaks_nothing(tmp_path: Path) -> None:
    text, toc = chapters("I. The Door", "II. The Bell")
    assert read(tmp_path, mobi(text, [(place + 2, level, title) for place, level, title in toc])).text == (
        read(tmp_path, mobi(text, toc)).text
    )


@pytest.mark.parametrize("tag", [("h1", "h3"), ('font size="7"', 'font size="5"')])
def test_headings_tell_the_levels_of_flat_contents(tmp_path: Path, tag: tuple[str, str]) -> None:
    text, toc = b"<html><body>", []
    for title, each in (("Tools", tag[0]), ("Hammer", tag[1]), ("Saw", tag[1]), ("Work", tag[0])):
        toc.append((len(text), 0, title))
        text += f'<p height="1em"><b> <{each}>{title}</{each.split()[0]}></b></p>{FILLER}'.encode()
    paths = [section.path for section in read(tmp_path, mobi(text, toc)).sections]
    assert paths == [("Tools",), ("Tools", "Hammer"), ("Tools", "Saw"), ("Work",)]


def test_levels_of_contents_are_kept(tmp_path: Path) -> None:
    text, toc = chapters("Tools", "Hammer", "Work")
    levels = [(place, int(title == "Hammer"), title) for place, _, title in toc]
    paths = [section.path for section in read(tmp_path, mobi(text, [*levels[::2], levels[1]])).sections]
    assert paths == [("Tools",), ("Tools", "Hammer"), ("Work",)]


def test_links_of_its_contents_page_are_the_contents_where_there_are_no_others(tmp_path: Path) -> None:
    titles = ("The Door", "The <i>Bell</i>", "The Wheel")
    page = '<html><head><guide><reference type="toc" filepos={:010}/></guide></head><body>'
    links = "".join("<p><a filepos={:010}>" + title + "</a></p>" for title in titles) + BREAK
    start = len(page.format(0))
    places = [start + len(links.format(0, 0, 0))]
    for title in titles[:-1]:
        places.append(places[-1] + len(f"<p><b>{title}</b></p>{FILLER}{BREAK}"))
    text = page.format(start) + links.format(*places)
    titles = (*titles[:2], "The Wheel: filepos=12")
    text += BREAK.join(f"<p><b>{title}</b></p>{FILLER}" for title in titles)
    book = read(tmp_path, mobi(text.encode()))
    assert [section.title for section in book.sections] == ["The Door", "The Bell", "The Wheel"]
    assert "The Wheel: filepos=12" in book.text
    assert book.text.startswith("The Door\n")
    assert "(toc, 6 words)" in " ".join(book.warnings)


def test_files_in_pieces_are_put_together(tmp_path: Path) -> None:
    files = [
        (b"<html><body><div>", b"</div></body></html>", f"<h1>{title}</h1>{FILLER}".encode())
        for title in ("I. The Door", "II. The Bell")
    ]
    files.append((b"<html><body>", b"</body></html>", b"<p>ISBN 1-23. All rights reserved. First published 1901.</p>"))
    toc = [(0, "I. The Door"), (1, "II. The Bell")]
    records = pieces(files, toc, styles=b"p { margin: 0 } all styles", guide={b"copyright-page": 2}, title=b"Clock")
    book = read(tmp_path, records, name="a.azw3")
    assert book.title == "Clock"
    assert [section.title for section in book.sections] == ["I. The Door", "II. The Bell"]
    assert book.text.startswith("I. The Door\n\nThe old clock")
    assert "margin" not in book.text
    assert "ISBN" not in book.text
    assert "part0003.html (copyright-page, 9 words)" in " ".join(book.warnings)


def test_of_two_layouts_the_newer_is_read(tmp_path: Path) -> None:
    old, toc = chapters("Old")
    new = pieces([(b"<html><body>", b"</body></html>", f"<h1>New</h1>{FILLER}".encode())], [(0, "New")])
    first = mobi(old, toc)
    both = mobi(old, toc, described=[(121, pack(">L", len(first) + 1))])
    assert [s.title for s in read(tmp_path, [*both, b"BOUNDARY", *new]).sections] == ["New"]


@pytest.mark.parametrize("flags", [0, 1, 3, 7])
def test_what_stands_behind_the_text_of_a_record_is_cut_off(flags: int) -> None:
    trailers = {
        0: b"",
        1: b"\xa9\x81",
        3: b"\xa9\x81" + b"ab\x83",
        7: b"\xa9\x81" + b"ab\x83" + b"x" * 198 + b"\x81\x48",
    }
    assert without_trailers(b"the text" + trailers[flags], flags) == b"the text"


def test_palmdoc_unpacks_what_it_packs() -> None:
    text = (SENTENCE * 3 + "ab" * 40 + "“é”\0\x08~ Zz").encode()
    packed = pack_palmdoc(text)
    assert len(packed) < len(text) / 2
    assert unpack_palmdoc(packed) == text
    with pytest.raises(ValueError, match="before the text"):
        unpack_palmdoc(b"a\xbf\xff")


def test_packed_books_are_read(tmp_path: Path) -> None:
    text, toc = chapters(*(f"{n}. Hour {n}" for n in range(1, 9)))
    plain = mobi(text, toc)
    count = len(text_records(text))
    assert count > 2
    packed = [pack_palmdoc(record) for record in plain[1 : 1 + count]]
    head = mobi(text, toc, packed=2)[0]
    assert read(tmp_path, [head, *packed, *plain[1 + count :]]).text == read(tmp_path, plain).text


def test_books_of_phrases_are_read(tmp_path: Path) -> None:
    phrases = [(b" ", True), (b"the clock", True), (b"", False), (b"the bell", True), (b"<p>", True)]
    phrases += [(b"strange%d" % i, True) for i in range(14)]
    phrases[2] = kindle_files.pack_phrases([1, 0, 3]), False  # "the clock the bell"
    numbers = [4, 2, 0, 18, 0, 1, *([0, 1, 0, 3] * 40)]
    tables = kindle_files.phrase_records(phrases)
    record = kindle_files.pack_phrases(numbers)
    expected = b"<p>the clock the bell strange13 the clock" + b" the clock the bell" * 40
    assert Phrases(tables[0], tables[1:]).unpack(record) == expected
    head = header(expected, packed=17480, numbers={112: 2, 116: 2})
    assert read(tmp_path, [head, record, *tables]).text.startswith("the clock the bell strange13 the clock the clock")


def test_phrases_that_hold_themselves_end() -> None:
    tables = kindle_files.phrase_records([(kindle_files.pack_phrases([0, 0]), False)])
    with pytest.raises(ValueError, match="too deep"):
        Phrases(tables[0], tables[1:]).unpack(kindle_files.pack_phrases([0]))


def test_the_day_of_its_making_is_no_year_of_publication(tmp_path: Path) -> None:
    text, toc = chapters("I", "II")
    made = int(datetime(2024, 3, 5, 12, tzinfo=UTC).timestamp())
    for date, publisher, year in (
        (b"2024-03-05", b"", None), (b"2024-03-06", b"", 2024), (b"2004-03-06", b"Project Gutenberg", None)
    ):  # fmt: skip
        book = read(tmp_path, mobi(text, toc, described=[(106, date), (101, publisher)]), made=made)
        assert book.year == year


def test_what_is_protected_or_of_another_format_is_refused(tmp_path: Path) -> None:
    text, toc = chapters("I", "II")
    with pytest.raises(ReadingError, match=r"a\.mobi: is protected by DRM"):
        read(tmp_path, mobi(text, toc, encrypted=2))
    with pytest.raises(ReadingError, match="packed in a way that is not known"):
        read(tmp_path, mobi(text, toc, packed=9))
    for data, words in ((b"TPZ0", "Topaz"), (b"CONT\x02\x00", "KFX"), (b"\xeaDRMION\xee", "protected by DRM")):
        (tmp_path / "b.azw").write_bytes(data + bytes(100))
        with pytest.raises(NotABook, match=words):
            read_book(tmp_path / "b.azw")
    (tmp_path / "c.mobi").write_text("Only text.")
    with pytest.raises(NotABook, match=r"is no Kindle file, though its suffix is \.mobi"):
        read_book(tmp_path / "c.mobi")
    write(tmp_path / "d.epub", mobi(text, toc))
    with pytest.raises(NotABook, match=r"rename it to \.mobi"):
        read_book(tmp_path / "d.epub")


def test_a_file_that_was_cut_says_how_much_is_missing(tmp_path: Path) -> None:
    text, _ = chapters(*(f"{n}. Hour {n}" for n in range(1, 9)))
    path = write(tmp_path / "a.mobi", mobi(text))
    path.write_bytes(path.read_bytes()[: -2 * kindle_files.SIZE])
    book = read_book(path)
    assert book.text.startswith("1. Hour 1")
    count = len(text_records(text))
    assert f"2 of {count} parts of its text" in " ".join(book.warnings)


def test_damaged_lists_cost_titles_and_no_text(tmp_path: Path) -> None:
    files = [(b"<html><body>", b"</body></html>", f"<h1>{n}. Hour {n}</h1>{FILLER}".encode()) for n in range(1, 4)]
    toc = [(n, f"{n + 1}. Hour {n + 1}") for n in range(3)]
    records = pieces(files, toc)
    text = read(tmp_path, records).text
    for i, record in enumerate(records):
        if record.startswith(b"INDX"):
            book = read(tmp_path, [*records[:i], b"INDX" + bytes(60), *records[i + 1 :]])
            assert book.text.split() == text.split()
            assert "is damaged" in " ".join(book.warnings)


@pytest.mark.parametrize("build", [
    lambda: mobi(*chapters("I. The Door", "II. The Bell")),
    lambda: pieces([(b"<html><body>", b"</body></html>", FILLER.encode())] * 3, [(0, "I. The Door"), (2, "The Bell")]),
])  # fmt: skip
def test_no_damage_is_a_traceback(tmp_path: Path, build: Callable[[], list[bytes]]) -> None:
    whole = database(build())
    chance = random.Random(5)
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 3, 30))):
            data[chance.randrange(len(data) if chance.random() < 0.3 else 1_200)] = chance.randrange(256)
        (tmp_path / "a.mobi").write_bytes(data[: chance.randrange(100, len(data)) if chance.random() < 0.2 else None])
        try:
            read_book(tmp_path / "a.mobi")
        except NlbError as error:
            assert "does not know" not in str(error)  # a message of its own, and no exception that nobody expected
