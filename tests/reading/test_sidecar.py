"""Calibre's metadata.opf beside a book."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nlb_retriever.reading import hash_file, read_book
from nlb_retriever.reading.sidecar import read_sidecar
from tests.reading.conftest import prose

OPF = """<?xml version='1.0' encoding='utf-8'?>
<package xmlns="http://www.idpf.org/2007/opf" version="2.0">
  <metadata xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:opf="http://www.idpf.org/2007/opf">
    <dc:title>The Town Clock</dc:title><dc:creator opf:role="aut">Ann Author</dc:creator>
    <dc:date>1887-05-01T00:00:00+00:00</dc:date><dc:language>en</dc:language>
    <dc:description>&lt;p&gt;Who winds &lt;b&gt;the clock&lt;/b&gt;.&lt;/p&gt;</dc:description>
    <meta name="calibre:timestamp" content="2020-01-02T10:00:00+00:00"/>
  </metadata></package>"""


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "clock - Unknown.txt"
    path.write_text(f"# A Draft\n\n{prose()}")
    (tmp_path / "cover.jpg").write_bytes(b"\xff\xd8\xff")
    (tmp_path / "metadata.opf").write_text(OPF)
    return path


def test_it_says_title_author_year_and_description(book: Path) -> None:
    (book.parent / "clock - Unknown.pdf").write_bytes(b"%PDF-1.4")  # the same book
    found = read_book(book)
    assert (found.title, found.author, found.year, found.language) == ("The Town Clock", "Ann Author", 1887, "en")
    assert found.description == "Who winds the clock."


def test_a_correction_makes_it_another_version_of_the_book(book: Path) -> None:
    before = hash_file(book)
    (book.parent / "metadata.opf").write_text(OPF.replace("2020-01-02", "2024-03-04"))
    assert hash_file(book) == read_book(book).content_hash == before  # when Calibre wrote it is not shown
    (book.parent / "metadata.opf").write_text(OPF.replace("Ann Author", "Anne Author"))
    assert hash_file(book) == read_book(book).content_hash != before


def test_a_title_that_was_guessed_from_the_file_s_name_does_not_count(book: Path) -> None:
    unknown = (
        OPF.replace("Ann Author", "Unknown").replace("1887-05-01", "2020-01-02").replace("The Town Clock", "clock")
    )
    (book.parent / "metadata.opf").write_text(unknown)
    book.write_text("Title: Lanterns\nAuthor: Zoe Two\n\n" + prose())
    html = book.with_suffix(".html")
    html.write_text(f"<title>Lanterns</title><meta name=author content='Zoe Two'><p>{prose()}")
    found = read_book(html)
    assert (found.title, found.author, found.year) == ("Lanterns", "Zoe Two", None)


@pytest.mark.parametrize("what", ["another book", "damaged", "a folder", "large", "other XML"])
def test_one_that_is_not_known_to_be_the_book_s_changes_nothing(book: Path, what: str) -> None:
    opf = book.parent / "metadata.opf"
    if what == "another book":
        (book.parent / "other.epub").write_bytes(b"PK")
    elif what == "a folder":
        opf.unlink()
        opf.mkdir()
    else:
        texts = {
            "damaged": "no markup",
            "large": OPF + " " * (1 << 20),
            "other XML": "<feed><title>News</title></feed>",
        }
        opf.write_text(texts[what])
    assert read_book(book).author is None
    assert read_book(book).title != "The Town Clock"


@pytest.mark.parametrize(
    "other",
    [
        "._clock - Unknown.txt",  # macOS's, on other disks than its own
        "clock - Unknown (conflicted copy 2024-01-01).txt",
        "clock - Unknown.sync-conflict-20240101-101010-ABCDEFG.txt",
        "clock - Unknown - Copy.txt",
    ],
)
def test_a_copy_beside_the_book_is_no_other_book(book: Path, other: str) -> None:
    copy = book.with_name(other)
    copy.write_text("# A Draft\n\nAnother version.")
    assert read_book(book).title == "The Town Clock"


def test_of_many_books_in_a_folder_one_other_is_looked_at(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    for number in range(50):
        book.with_name(f"{number}.txt").write_text("Another book.")
    splitext = os.path.splitext

    def look(name: str) -> tuple[str, str]:
        seen.append(name)
        return splitext(name)

    monkeypatch.setattr(os.path, "splitext", look)
    assert read_sidecar(book, frozenset({".txt"})) is None
    assert len(seen) < 6


def test_books_that_calibre_saved_to_a_folder_have_one_each(book: Path) -> None:
    (book.parent / "metadata.opf").rename(book.with_suffix(".opf"))
    other = book.with_name("Lanterns.txt")
    other.write_text(f"# Lanterns\n\n{prose()}")
    assert (read_book(book).title, read_book(other).title) == ("The Town Clock", "Lanterns")
    assert read_book(book).content_hash == hash_file(book)
