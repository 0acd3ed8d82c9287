"""Authors' names in the order in which people say them, where a name is surely one person's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nlb_retriever.reading.authors import in_spoken_order, join_authors
from nlb_retriever.reading.book import is_read_alike, read_book


@pytest.mark.parametrize(
    ("named", "spoken"),
    [
        ("Dumas, Alexandre, 1802-1870", "Alexandre Dumas"),
        ("Wells, H. G. (Herbert George), 1866-1946", "H. G. Wells"),
        ("Tolstoy, Leo, graf, 1828-1910", "Leo Tolstoy"),
        ("King, Martin Luther, Jr., 1929-1968", "Martin Luther King, Jr."),
        ("Chaucer, Geoffrey, d. 1400", "Geoffrey Chaucer"),
        ("van der Berg, Anna, 1950-", "Anna van der Berg"),
        ("Knuth, Donald E.", "Donald E. Knuth"),
        ("Bell, Ann; Coil, Bob", "Ann Bell, Bob Coil"),
        ("Bell, Ann & Coil, Bob", "Ann Bell, Bob Coil"),
        ("Bell, Ann and Coil, Bob", "Ann Bell, Bob Coil"),
        ("MORROW, Anna", "Anna MORROW"),
        ("Morrow, Bella", "Morrow, Bella"),
        ("Smith, Jones", "Smith, Jones"),
        ("Smith, Jones, 1990", "Smith, Jones, 1990"),
        ("Plato, Xenophon", "Plato, Xenophon"),
        ("Homer, Samuel Butler", "Homer, Samuel Butler"),
        ("Bell, Coil and Dunn", "Bell, Coil and Dunn"),
        ("O'Reilly Media, Inc.", "O'Reilly Media, Inc."),
        ("King, Jr.", "King, Jr."),
        ("ISAAC BARROW, D.D", "ISAAC BARROW, D.D"),
        ("John Dimitry, A.M.", "John Dimitry, A.M."),
        ("Isaac Barrow, D.D. and John Dimitry, A.M.", "Isaac Barrow, D.D. and John Dimitry, A.M."),
        ("Barrow, D.D.", "Barrow, D.D."),
        ("García Márquez, Gabriel, 1927-2014", "Gabriel García Márquez"),
        ("Jane Austen, Anna Cox", "Jane Austen, Anna Cox"),
        ("Ann Bell and Bob Coil", "Ann Bell and Bob Coil"),
        ("", ""),
    ],
)
def test_the_last_name_goes_behind_the_first_where_it_is_one_person(named: str, spoken: str) -> None:
    assert in_spoken_order(named, "THE KEEPER\n\nBY ANNA\nMORROW\n\nSmith met Jones, and Engels Marx.") == spoken


def test_a_long_name_is_fast() -> None:
    for name in ("A " * 100, "a." * 100, "A, " * 100, "; " * 100, "A, B" + " " * 100):
        in_spoken_order(name, "A" * 100_000)


def test_several_names_stay_apart() -> None:
    assert join_authors(["Bell, Ann", "Coil, Bob", "Bell, Ann", ""]) == "Bell, Ann; Coil, Bob"
    assert join_authors(["Ann Bell", "Bob Coil"]) == "Ann Bell, Bob Coil"
    assert join_authors([]) is None


def test_a_book_has_its_author_in_that_order(tmp_path: Path) -> None:
    path = tmp_path / "emma.md"
    author = json.dumps("Austen, Jane, 1775-1817")
    path.write_text(f"---\ntitle: Emma\nauthor: {author}\n---\n\nEmma Woodhouse was handsome.\n")
    assert read_book(path).author == "Jane Austen"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("AB23CD45/Okafor et al. - 2015 - Well-known bells.txt", ("Okafor et al.", 2015, "Well-known bells")),
        ("AB23CD45/Lund and Pell - 1887 - Weirs - a survey.txt", ("Lund and Pell", 1887, "Weirs - a survey")),
        ("AB23CD45/1987 - Tide tables.txt", (None, 1987, "Tide tables")),
        ("AB23CD45/Lund - Weirs.txt", (None, None, "Lund Weirs")),
        ("notes/Report - 2015 - Bells.txt", (None, None, "Report 2015 Bells")),
    ],
)
def test_a_file_of_zotero_s_storage_has_what_its_name_says(
    tmp_path: Path, name: str, said: tuple[str | None, int | None, str]
) -> None:
    path = tmp_path / name
    path.parent.mkdir()
    path.write_text("the bells rust when salt spray settles in the rim.\n")
    book = read_book(path)
    assert (book.author, book.year, book.title) == said


def test_what_a_file_of_zotero_s_storage_says_itself_stays(tmp_path: Path) -> None:
    path = tmp_path / "AB23CD45" / "Okafor - 2015 - Rust.md"
    path.parent.mkdir()
    path.write_text("---\ntitle: Rust of bells\nauthor: Ada Okafor\ndate: 2014-02-03\n---\n\nBells rust.\n")
    book = read_book(path)
    assert (book.author, book.year, book.title) == ("Ada Okafor", 2014, "Rust of bells")
    assert is_read_alike(path, path.with_name("Okafor - 2015 - Rust of bells.md"), book.title)
    assert not is_read_alike(path, path.with_name("Okafor and Lund - 2015 - Rust.md"), book.title)
