"""Books and sections as people name them."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from nlb_retriever import book_from_text, index_books
from nlb_retriever.errors import QueryError
from nlb_retriever.records import Section, source_of
from nlb_retriever.store import LibraryStore, open_store
from nlb_retriever.store.lookup import find_book, find_sections
from nlb_retriever.text.folding import fold

TITLES = (
    "CHAPTER I. The Inn", "CHAPTER II. The Third Man", "CHAPTER III. Rain", "CHAPTER IV. IV at Last",
    "CHAPTER IX. Snow", "CHAPTER X. Sun",
)  # fmt: skip
BOOKS: dict[str, list[tuple[str, ...]]] = {
    "The Keeper’s Lamp": [(title,) for title in TITLES],
    "Les Misérables — a tale": [(f"PART {part}", number) for part in ("ONE", "TWO") for number in ("I", "II")],
}
BOOKS["The Bible"] = [
    *((("The First Book: Called Genesis"), f"Chapter {number}") for number in (1, 2, 3)),
    *((part, f"Chapter {number}") for part in ("Psalms", "The Gospel of John", "John") for number in (1, 2)),
    *((part, f"Chapter {number}") for part in ("2 Letter to Rome", "The First Letter to Rome") for number in (1, 2)),
    *(
        (part, f"Chapter {number}")
        for part in ("First Samuel, called: First Kings", "First Kings")
        for number in (1, 2)
    ),
    ("3 Kings", "3 Kings 1"),
]
MANUAL = ("5. Clocks", "5.1. Hands", "5.2. Bells", "5.2.1. Bronze", "5.20. Doors", "A.1 Maps", "Chapter 6: 5.2 miles")
BOOKS["The Manual"] = [
    (MANUAL[0],),
    *((MANUAL[0], title) for title in MANUAL[1:3]),
    (MANUAL[0], *MANUAL[2:4]),
    *((each,) for each in MANUAL[4:]),
]
TREATISE = ("Sect. 1. Of Clocks", "Sec. 2. Of Bells", "Sect, 3. Of Doors")
BOOKS["Treatise"] = [(each,) for each in TREATISE]
PAPERS = ("FEDERALIST No. 9. On Bells", "FEDERALIST No. 10. On Doors", "Lesson II: Hands", "Lesson III: Feet")
BOOKS["Papers"] = [(each,) for each in PAPERS]
TEXTBOOK = [
    *(("Chapter 1: Clocks", title) for title in ("1.1 Hands", "Review Questions")),
    ("Chapter 2: Doors",),
    *(("Answers to Review Questions", title) for title in ("Chapter 1", "Chapter 2", "Chapter 3")),
]
BOOKS["Textbook"] = TEXTBOOK
BOOKS["Years"] = [("1805",), ("2",), ("1812", "Moscow")]
TEXT = "A lamp burns. "


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> LibraryStore:
    library = tmp_path_factory.mktemp("lookup") / "library"
    books = []
    for title, paths in BOOKS.items():
        starts = range(0, len(paths) * len(TEXT), len(TEXT))
        sections = [
            Section(path=path, start=start, end=start + len(TEXT)) for path, start in zip(paths, starts, strict=True)
        ]
        books.append(book_from_text(TEXT * len(paths), source=title, title=title, sections=sections))
    index_books(books, library)
    return open_store(str(library))


@pytest.mark.parametrize("name", ["the keeper's lamp", "Keeper's", "THE KEEPER’S  LAMP"])
def test_a_book_is_found_as_it_is_typed(store: LibraryStore, name: str) -> None:
    assert store.find_book(name).title == "The Keeper’s Lamp"


@pytest.mark.parametrize("name", ["les miserables - a tale", "Miserables", "Misérables"])
def test_accents_and_dashes_do_not_count(store: LibraryStore, name: str) -> None:
    assert store.find_book(name).title == "Les Misérables — a tale"


def test_a_file_whose_name_is_no_utf8_is_found_by_its_path(store: LibraryStore) -> None:
    path = os.fsdecode(b"/books/caf\xe9.txt")
    book = replace(store.books()[0], source=source_of(path))
    assert find_book(path, [book], "library") == book
    with pytest.raises(QueryError, match="no book"):
        find_book("/books/\ud800.txt", [book], "library")


def test_a_book_may_be_named_in_short(store: LibraryStore) -> None:
    lamp, manual = store.find_book("keeper"), replace(store.find_book("manual"), source="/books/clock-7.txt")
    for name, title in (("tkl", lamp.title), ("TKL", lamp.title), ("clock", manual.title)):
        assert find_book(name, [lamp, manual], "library").title == title
    for name in ("kl", "7"):
        with pytest.raises(QueryError, match="no book"):
            find_book(name, [lamp, manual], "library")
    with pytest.raises(QueryError, match="fits 2 books"):
        find_book("clock", [manual, replace(manual, id="2", source="clock-8.txt")], "library")


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("chapter 1", ["CHAPTER I. The Inn"]),
        ("Chapter I", ["CHAPTER I. The Inn"]),
        ("the third chapter", ["CHAPTER III. Rain"]),
        ("chapter three", ["CHAPTER III. Rain"]),
        ("X", ["CHAPTER X. Sun"]),
        ("III", ["CHAPTER III. Rain"]),
        ("rain", ["CHAPTER III. Rain"]),
        ("third", ["CHAPTER II. The Third Man"]),
        ("3", ["CHAPTER III. Rain"]),
        ("chapter", [*TITLES]),
    ],
)
def test_a_chapter_is_found_by_its_number_however_it_is_written(
    store: LibraryStore, name: str, titles: list[str]
) -> None:
    assert _named(store, "keeper", name) == [(title,) for title in titles]


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("part 2", [("PART TWO", "I"), ("PART TWO", "II")]),
        ("chapter 2", [("PART ONE", "II"), ("PART TWO", "II")]),
        ("part one", [("PART ONE", "I"), ("PART ONE", "II")]),
        ("part 2, chapter 1", [("PART TWO", "I")]),
        ("Part I Chapter II", [("PART ONE", "II")]),
        ("chapter 2 of part 1", [("PART ONE", "II")]),
        ("chapter 2 in the first part", [("PART ONE", "II")]),
        ("Chapter 2, Part 1", [("PART ONE", "II")]),
    ],
)
def test_a_number_is_of_the_kind_that_is_named(store: LibraryStore, name: str, paths: list[tuple[str, ...]]) -> None:
    assert _named(store, "misérables", name) == paths


@pytest.mark.parametrize("name", ["chapter 7", "letter 1", "chapter 0", "99", " ", "part 2, chapter 1"])
def test_what_is_not_there_is_refused(store: LibraryStore, name: str) -> None:
    with pytest.raises(QueryError, match="see `nlb show`"):
        _named(store, "keeper", name)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("Genesis 2", ("The First Book: Called Genesis", "Chapter 2")),
        ("genesis, chapter 3", ("The First Book: Called Genesis", "Chapter 3")),
        ("Psalm 1", ("Psalms", "Chapter 1")),
        ("John 2", ("John", "Chapter 2")),
        ("Gospel of John 2", ("The Gospel of John", "Chapter 2")),
        ("chapter 2 of Genesis", ("The First Book: Called Genesis", "Chapter 2")),
        ("1 Rome 2", ("The First Letter to Rome", "Chapter 2")),
        ("II Letter to Rome, chapter 2", ("2 Letter to Rome", "Chapter 2")),
        ("the chapter 1 of 2 Rome", ("2 Letter to Rome", "Chapter 1")),
        ("1 Kings 2", ("First Kings", "Chapter 2")),
        ("1 Samuel 2", ("First Samuel, called: First Kings", "Chapter 2")),
        ("Third Kings 1", ("3 Kings", "3 Kings 1")),
    ],
)
def test_a_chapter_is_found_by_the_part_that_it_is_in(store: LibraryStore, name: str, path: tuple[str, ...]) -> None:
    assert _named(store, "bible", name) == [path]


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("Federalist 10", PAPERS[1]),
        ("the federalist no. 9", PAPERS[0]),
        ("FEDERALIST number 10", PAPERS[1]),
        ("lesson 2", PAPERS[2]),
        ("Lesson II", PAPERS[2]),
        ("the second lesson", PAPERS[2]),
        ("lesson two", PAPERS[2]),
        ("lesson three", PAPERS[3]),
    ],
)
def test_a_chapter_is_found_by_the_word_that_it_is_numbered_with(store: LibraryStore, name: str, title: str) -> None:
    assert _named(store, "Papers", name) == [(title,)]


@pytest.mark.parametrize(
    ("book", "name"),
    [
        ("bible", "Genesis 4"),
        ("bible", "3 Rome 2"),
        ("bible", "1 Genesis 4"),
        ("bible", "Exodus 1"),
        ("bible", "book 2"),
        ("bible", "nesis 2"),
        ("bible", "of 2"),
        ("Papers", "federalist 1"),
        ("Papers", "on doors 10"),
        ("misérables", "part 3"),
        ("misérables", "letter 2"),
        ("misérables", "the part 3"),
    ],
)
def test_a_chapter_that_a_part_has_not_is_refused(store: LibraryStore, book: str, name: str) -> None:
    with pytest.raises(QueryError, match="no section"):
        _named(store, book, name)


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("section 5", ["5. Clocks", "5.1. Hands", "5.2. Bells", "5.2.1. Bronze"]),
        ("section 5.2", ["5.2. Bells", "5.2.1. Bronze"]),
        ("5.2", ["5.2. Bells", "5.2.1. Bronze"]),
        ("§ 5.2.1", ["5.2.1. Bronze"]),
        ("Chapter 5.20.", ["5.20. Doors"]),
        ("appendix a.1", ["A.1 Maps"]),
    ],
)
def test_a_section_is_found_by_its_number(store: LibraryStore, name: str, titles: list[str]) -> None:
    assert [path[-1] for path in _named(store, "manual", name)] == titles


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("chapter 1", TEXTBOOK[:2]),
        ("Chapter 2", TEXTBOOK[2:3]),
        ("chapter 3", TEXTBOOK[5:]),
        ("Chapter 1 of Answers to Review Questions", TEXTBOOK[3:4]),
        ("answers to review questions", TEXTBOOK[3:]),
    ],
)
def test_answers_to_a_chapter_are_not_the_chapter(store: LibraryStore, name: str, paths: list[tuple[str, ...]]) -> None:
    assert _named(store, "textbook", name) == paths


@pytest.mark.parametrize(("name", "title"), [(f"section {number}", title) for number, title in enumerate(TREATISE, 1)])
def test_a_section_may_be_called_in_short(store: LibraryStore, name: str, title: str) -> None:
    assert _named(store, "Treatise", name) == [(title,)]


@pytest.mark.parametrize("name", ["section 5.3", "section 5.2.2", "6.1"])
def test_a_section_of_no_such_number_is_refused(store: LibraryStore, name: str) -> None:
    with pytest.raises(QueryError, match="no section"):
        _named(store, "manual", name)


@pytest.mark.parametrize(("name", "paths"), [("1805", BOOKS["Years"][:1]), ("1812", BOOKS["Years"][2:])])
def test_a_title_may_be_a_number(store: LibraryStore, name: str, paths: list[tuple[str, ...]]) -> None:
    assert _named(store, "years", name) == paths
    assert _named(store, "years", "2") == BOOKS["Years"][1:2]
    for number in ("0", "4", "18"):
        with pytest.raises(QueryError, match="3 sections, no number"):
            _named(store, "years", number)


@pytest.mark.parametrize(
    ("name", "title"), [("V", "IV"), ("i", "VI"), ("Chapter 1", "Chapter 12"), ("part 2", "Part 20")]
)
def test_a_number_is_no_part_of_another(store: LibraryStore, name: str, title: str) -> None:
    record = store.find_book("years")
    sections = [replace(section, path=(title,)) for section in store.sections(record.id)[:1]]
    with pytest.raises(QueryError, match="no section"):
        find_sections(name, sections, record)


def test_a_text_is_folded() -> None:
    assert fold("  Les  Misérables’ «Œuvre» — İ") == 'les miserables\' "œuvre" - i'
    assert fold("パパ") != fold("ハハ") == fold("ハハ")


def _named(store: LibraryStore, book: str, name: str) -> list[tuple[str, ...]]:
    record = store.find_book(book)
    sections = store.sections(record.id)
    return [sections[index].path for index in find_sections(name, sections, record)]
