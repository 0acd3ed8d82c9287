"""Titles of PDFs without an outline by how they are set, and the book's title from its first page."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from nlb_retriever.errors import NotABook
from nlb_retriever.reading import read_book
from nlb_retriever.reading.pages.title_page import read_title_page
from nlb_retriever.reading.pages.typography import Look, find_titles
from nlb_retriever.records import Book

Write = Callable[..., Path]
PROSE = [
    "The old clock on the landing struck the hour and nobody in the",
    "house was awake to count it, for the whole family had gone down",
    "to the sea. It went on striking all the same, as faithful as any",
    "thing that was ever made, and the moon came up.",
] * 2
TITLES = ["The Landing", "Of Clocks and Bells", "Who hears them?", "The Sea", "What the moon saw"]


def titles(book: Book) -> list[str]:
    return [section.path[-1] for section in book.sections if section.path[-1] != "Front matter"]


def pages(look: str, names: list[str] = TITLES) -> list[list[str]]:
    return [[*PROSE[:3], "Nothing else was heard.", f"{look}\t{name}", *PROSE] for name in names]


@pytest.mark.parametrize("look", ["14", "14b", "11b", "10b"])
def test_larger_or_bold_lines_cut_a_pdf_into_sections(pdf: Write, look: str) -> None:
    book = read_book(pdf(pages(look)))
    assert titles(book) == TITLES
    assert book.text[book.sections[-1].start :].startswith("What the moon saw\n\nThe old clock")


def test_tables_in_smaller_type_hide_no_titles(pdf: Write) -> None:
    towns = [*TITLES, "The Hall", "Kent"]
    rows = [f"8\tLamps of the town of {name} {n},100 {n},{n}00" for n in range(1, 9) for name in towns]
    book = read_book(pdf([[f"14\t{name}", *PROSE, *PROSE, *rows] for name in TITLES]))
    assert titles(book) == TITLES
    assert book.text.count("\n\nLamps of the town of The Hall 5,100 5,500\n\n") == len(TITLES)


def test_sizes_make_the_levels(pdf: Write) -> None:
    names = [("16b", "The House"), ("12b", "The Landing"), ("12b", "The Hall"), ("16b", "The Sea"), ("12b", "Ships")]
    book = read_book(pdf([[f"{look}\t{name}", *PROSE, *PROSE] for look, name in names]))
    assert [section.path for section in book.sections][-1] == ("The Sea", "Ships")
    assert ("The House", "The Hall") in [section.path for section in book.sections]


def test_numbers_make_the_levels_where_titles_have_them(pdf: Write) -> None:
    names = ["1 Bells", "1.1 Old bells", "1.1.1 Brass", "2 Clocks", "2.1 Wheels", "2.2 Hands", "References"]
    book = read_book(pdf([[f"12b\t{name}", *PROSE, *PROSE] for name in names]))
    assert [section.path for section in book.sections][2] == ("1 Bells", "1.1 Old bells", "1.1.1 Brass")
    assert titles(book) == names


def test_a_title_may_have_several_lines_and_a_number_above_it(pdf: Write) -> None:
    chapter = ["20b\tChapter {n}", "24b\tOf clocks that are heard {n} times", "24b\tin a night"]
    book = read_book(pdf([[*(line.format(n=n) for line in chapter), *PROSE, *PROSE] for n in range(1, 5)]))
    assert titles(book)[1] == "Chapter 2 Of clocks that are heard 2 times in a night"
    assert len(book.sections) == 4


def test_a_hyphen_at_a_title_s_line_end_goes(pdf: Write) -> None:
    book = read_book(pdf([[*PROSE, "14b\tOf bells and their re-", f"14b\tnown {name}", *PROSE] for name in TITLES]))
    assert titles(book)[0] == "Of bells and their renown The Landing"
    assert "\n\nOf bells and their renown The Landing\n\n" in book.text


def test_labels_of_a_figure_are_no_titles(pdf: Write) -> None:
    figure = ["14\tBells heard", "6\t0.1 0.2 0.3", "14\tClocks seen", "6\t10 20 30"]
    book = read_book(pdf([[*PROSE, *figure, *PROSE, f"12b\t{name}", *PROSE] for name in TITLES[:3]]))
    assert titles(book) == TITLES[:3]


def test_references_get_a_section_that_outline_and_looks_lack(pdf: Write) -> None:
    last = [*PROSE, "References", "Ann (1901). Of bells.", *PROSE]
    outlined = [(name, i) for i, name in enumerate(TITLES)]
    assert titles(read_book(pdf([*pages("14b"), last])))[-1] == "References"
    assert titles(read_book(pdf([*pages("14b"), last], outline=outlined)))[-1] == "References"


def test_an_outline_s_titles_have_the_numbers_of_the_page(pdf: Write) -> None:
    names = ["1. Bells", "1.1 Old bells", "A.1 Clocks"]
    outline = [(name.split(" ", 1)[1], i) for i, name in enumerate(names)]
    book = read_book(pdf([["It rang.", "", name, "", *PROSE] for name in names], outline=outline))
    assert titles(book) == names
    assert book.text[book.sections[-1].start :].startswith("A.1 Clocks")


def test_an_outline_s_title_is_not_looked_for_in_a_running_head(pdf: Write) -> None:
    page = ["2 Old bells of the sea", "", *PROSE, "1.1 Old bells", "", *PROSE]
    book = read_book(pdf([PROSE, page, PROSE], outline=[("The sea", 0), ("Old bells", 1), ("End", 2)]))
    assert book.sections[-2].path[-1] == "1.1 Old bells"
    assert book.text[book.sections[-2].start :].startswith("1.1 Old bells")


@pytest.mark.parametrize("head", ["{page} bells of the sea", "The Sea {n}:{page}", "The Sea 111:{page}"])
def test_running_heads_in_small_letters_or_with_an_article_s_number_are_skipped(pdf: Write, head: str) -> None:
    book = read_book(pdf([[head.format(page=i, n=7), f"{'Very ' * i}old.", *PROSE] for i in range(1, 9)]))
    assert book.text.count(":") + book.text.count("bells") <= 1  # the first may be a heading
    assert any("on 7 pages" in warning or "on 8 pages" in warning for warning in book.warnings)


@pytest.mark.parametrize(
    "line", ["Note", "Figure 3: bells", "heard at night", "x = {n} + y", "It stopped, then,", "- a bell {n}"]
)
def test_notes_captions_terms_and_code_in_bold_are_no_titles(pdf: Write, line: str) -> None:
    bold = [[*PROSE, f"10b\t{line.format(n=i)}", *PROSE, f"14b\t{name}", *PROSE] for i, name in enumerate(TITLES)]
    assert titles(read_book(pdf(bold))) == TITLES


def test_bold_lines_among_larger_titles_are_no_titles(pdf: Write) -> None:
    table = [[f"14b\t{name}", *PROSE, f"10b\tBell{i} Weight Price", *PROSE] for i, name in enumerate(TITLES)]
    assert titles(read_book(pdf(table))) == TITLES


def test_the_title_page_gives_the_title_and_no_sections(pdf: Write) -> None:
    front = [
        "20b\tThe Book of",
        "20b\tBells",
        "14b\tAnn Author",
        "14b\tThe Institute of Clocks",
        "12b\tAbstract",
        *PROSE,
    ]
    book = read_book(pdf([front, *pages("14b")]))
    assert book.title == "The Book of Bells"
    assert titles(book) == TITLES
    assert read_book(pdf([front, *pages("14b")], info="/Title (From the file)")).title == "From the file"
    assert read_book(pdf([front, *pages("14b")], info="/Title (arXiv:1703.05984v1)")).title == "The Book of Bells"
    outline = [("Bells", 0), ("Clocks", 1), ("Sea", 2)]
    book = read_book(pdf([front, *pages("14b")], outline=outline))
    assert (book.title, len(book.sections)) == ("The Book of Bells", 3)


@pytest.mark.parametrize("date", ["12 May 2022", "1 Januar 2022", "3. März", "4 Sept. 2022"])
def test_the_date_below_the_title_is_no_section(pdf: Write, date: str) -> None:
    front = ["20b\tThe Book of Bells", "12\tAnn Author", f"12\t{date}", *(f"9\tSo {line}" for line in PROSE)]
    names = [
        ("14", "1 The Landing"),
        ("12", "1.1 Of Clocks and Bells"),
        ("14", "2 March of the Bells"),
        ("12", "2.1 What the moon saw"),
    ]
    sections = [line for look, name in names for line in (f"{look}\t{name}", *PROSE * 2)]
    assert titles(read_book(pdf([[*front, *sections]]))) == [name for _, name in names]


def test_a_bookmark_alone_is_no_outline(pdf: Write) -> None:
    assert titles(read_book(pdf(pages("14b"), outline=[("Cover", 0)]))) == TITLES


def test_text_of_one_look_keeps_what_its_words_tell(pdf: Write) -> None:
    book = read_book(pdf([[f"CHAPTER {n}", *PROSE * 5] for n in ("I", "II", "III")]))
    assert titles(book) == ["CHAPTER I", "CHAPTER II", "CHAPTER III"]
    assert book.title == "Book"


def test_chapters_of_one_look_outdo_a_few_bold_words(pdf: Write) -> None:
    chapters = [[f"CHAPTER {n}", *PROSE * 80] for n in ("I", "II", "III", "IV", "V", "VI")]
    front = ["14b\tTo Ann", *PROSE, "14b\tTo Bob", *PROSE, "14b\tTo Eve", *PROSE]
    assert titles(read_book(pdf([front, *chapters])))[-1] == "CHAPTER VI"


def test_the_looks_of_a_scan_tell_nothing() -> None:
    lines = [f"Line {chr(97 + i % 26)} of a scan that was read" for i in range(400)]
    looks = [Look(8 + i % 7, False) for i in range(len(lines))]
    assert find_titles(lines, [0] * len(lines), looks) == []
    assert read_title_page(lines[:3], [None] * 3) == (None, None)


@pytest.mark.parametrize(("rotation", "moved"), [(90, (792, 0)), (180, (612, 792)), (270, (0, 612))])
@pytest.mark.parametrize("turned", [False, True])
def test_turned_pages_are_read_as_upright_ones(pdf: Write, rotation: int, moved: tuple[int, int], turned: bool) -> None:
    pypdf = pytest.importorskip("pypdf")
    content = [["20b\tThe Book of Bells", "Ann Author", "12 May 2022", *PROSE], *pages("10b")]
    upright = read_book(pdf(content))
    path = pdf(content)
    writer = pypdf.PdfWriter(clone_from=pypdf.PdfReader(io.BytesIO(path.read_bytes())))
    for page in writer.pages:
        page.rotate(rotation)
        if turned:
            page.add_transformation(pypdf.Transformation().rotate(rotation).translate(*moved))
            page.mediabox.upper_right = (612, 792) if rotation == 180 else (792, 612)
    with path.open("wb") as stream:
        writer.write(stream)
    book = read_book(path)
    assert (book.title, book.author, book.text) == (upright.title, upright.author, upright.text)
    assert titles(book) == titles(upright) == TITLES


def test_what_a_scanner_has_read_below_the_picture_has_no_look(pdf: Write) -> None:
    scan = [[f"{8 + i % 7}i\t{line}" for i, line in enumerate(lines)] for lines in pages("10")]
    book = read_book(pdf([[line.replace("\t10\t", "\t") for line in lines] for lines in scan]))
    assert (titles(book), book.title) == (["Book"], "Book")
    assert "What the moon saw" in book.text


def test_ligatures_of_old_fonts_are_letters(pdf: Write) -> None:
    text = read_book(pdf([["The di\x1berent \x1crst speci\x1ccation of the o\x1ece", *PROSE]])).text
    assert text.startswith("The different first specification of the office")
    assert "fi" not in read_book(pdf([["The value of \x0cdet and \x0fnd", *PROSE]])).text


@pytest.mark.parametrize("signs", ["❡♥❛❧✐③❡❞ ❡♥ bell", "\uf062\uf065\uf06c\uf06c bell", "\ufffd\ufffd\ufffd bell"])
def test_signs_for_letters_say_what_to_do(pdf: Write, monkeypatch: pytest.MonkeyPatch, signs: str) -> None:
    monkeypatch.setattr("nlb_retriever.reading.formats.pdf._clean", lambda text: signs)
    with pytest.raises(NotABook, match="signs for letters in its text layer: run OCR"):
        read_book(pdf([PROSE]))


@pytest.mark.parametrize("look", ["14", "10b"])
@pytest.mark.parametrize("numbers", [["I", "II", "III", "IV", "V", "VI"], ["1", "2", "3", "4", "5", "6"]])
def test_numbers_alone_are_titles_where_they_count(pdf: Write, look: str, numbers: list[str]) -> None:
    assert titles(read_book(pdf([[*PROSE, f"{look}\t{n}", *PROSE] for n in numbers]))) == numbers


def test_numbers_that_do_not_count_are_no_titles(pdf: Write) -> None:
    assert titles(read_book(pdf([[*PROSE, f"14\t{n}", *PROSE] for n in (40, 9, 22, 7, 31, 5)]))) == ["Book"]


def test_titles_that_end_in_stops_are_titles_where_most_do(pdf: Write) -> None:
    names = [f"CHAPTER {n}. Of Bells." for n in ("I", "II", "III", "IV")]
    assert titles(read_book(pdf([[*PROSE, f"14\t{name}", *PROSE] for name in names]))) == names
    stopped = [f"{name.rstrip('?')}." for name in TITLES]
    assert titles(read_book(pdf([[*PROSE, f"14\t{name}", *PROSE] for name in stopped]))) == stopped


def test_dates_and_numerals_in_plain_pages(pdf: Write) -> None:
    diary = "1. August.--I came up here an hour ago with Lucy, and we had a"
    full = "been given him. I quite detest the man who rang the bell last night."
    pages = [
        [*PROSE, full, n, *PROSE, diary, "most interesting talk with him.", *PROSE]
        for n in ("I", "II", "III", "IV", "V")
    ]
    book = read_book(pdf(pages))
    assert titles(book) == ["I", "II", "III", "IV", "V"]
    assert f"{diary} most interesting talk" in book.text
    dated = "11. September.--This afternoon I went over to Hillingham. Found Van"
    pages = [[*PROSE, *PROSE[:i], dated, "Helsing there, who had come to count the bells.", *PROSE] for i in range(5)]
    book = read_book(pdf(pages))
    assert f"{dated} Helsing there" in book.text and titles(book) == ["Book"]


def test_a_line_with_a_month_alone_stays_a_line(pdf: Write) -> None:
    months = ["I. January", "II. March of the Clans", "III. April", "IV. Sunday morning"]
    text = read_book(pdf([[*PROSE, *PROSE[:i], name, *PROSE] for i, name in enumerate(months)])).text
    assert all(f"\n\n{name}\n\n" in text for name in months)


def test_a_title_may_be_the_running_head_of_all_pages(pdf: Write) -> None:
    book = read_book(pdf([["20b\tThe Book of Bells", *PROSE], *(["The Book of Bells", *PROSE] for _ in range(4))]))
    assert book.title == "The Book of Bells" and book.text.count("Bells") <= 1


def test_a_line_of_years_or_signs_is_part_of_the_title_above_it(pdf: Write) -> None:
    front = ["20b\tThe Bells of the Sea,", "20b\t1540-1640", "Ann Author", "12 May 2022", *PROSE]
    book = read_book(pdf([front, PROSE]))
    assert (book.title, book.author) == ("The Bells of the Sea, 1540-1640", "Ann Author")


def test_the_name_of_a_journal_is_no_title(pdf: Write) -> None:
    front = ["8\tBells & Clocks 137 (2015) 1-5", "14\tBells & Clocks", "12\tThe Ropes of the Tower", *PROSE]
    assert read_book(pdf([front, PROSE])).title == "The Ropes of the Tower"
    assert read_book(pdf([["8\tBells & Clocks 2015", *front[1:]], PROSE])).title == "Bells & Clocks"


def test_a_large_initial_is_no_title(pdf: Write) -> None:
    assert read_book(pdf([["20b\tThe Book of Bells", *PROSE[:3], "24\tT", *PROSE], PROSE])).title == "The Book of Bells"


def test_a_title_page_in_one_size_may_say_by(pdf: Write) -> None:
    book = read_book(pdf([["THE BOOK OF", "BELLS", "by", "Ann Author"], PROSE, PROSE]))
    assert (book.title, book.author) == ("THE BOOK OF BELLS", "Ann Author")


def test_a_chapter_s_title_in_two_lines_of_the_text_s_look(pdf: Write) -> None:
    long = "CHAPTER {n}. Doctor Seward, Phonograph Diary, Spoken by Van"
    pages = [[*PROSE, *PROSE[:i], long.format(n=n), "Helsing.", *PROSE] for i, n in enumerate(["I", "II", "III"])]
    assert titles(read_book(pdf(pages))) == [f"{long.format(n=n)} Helsing." for n in ("I", "II", "III")]


@pytest.mark.parametrize("made", ["(anonymous)", "untitled", "report.docx", "doi:10.9/b", "pii: S0-1", "bel-3-4:bel-0"])
def test_names_that_programs_write_are_no_title_and_no_author(pdf: Write, made: str) -> None:
    info = "".join(
        f"/{key} ({made.replace('(', chr(92) + '(').replace(')', chr(92) + ')')})" for key in ("Title", "Author")
    )
    book = read_book(pdf([["20b\tThe Book of Bells", *PROSE], PROSE], info=info))
    assert (book.title, book.author) == ("The Book of Bells", None)


@pytest.mark.parametrize(
    ("below", "authors"),
    [
        (["Ann Author1 , Bob de Vries2,* and Eve M. Neil*"], "Ann Author, Bob de Vries, Eve M. Neil"),
        (
            ["A subtitle of bells", "Ann Author, Bob Vries", "Eve Neil & Ida Ro"],
            "Ann Author, Bob Vries, Eve Neil, Ida Ro",
        ),
        (
            ["Ann Author+*, Bob Vries$", ", Eve Neil#", "Bell Corporation+", "Sea Inc$"],
            "Ann Author, Bob Vries, Eve Neil",
        ),
        (["Ann Bella,*, Bob Vriesb, E. Neila,b", "aClinic of Bells", "bSea Bank"], "Ann Bell, Bob Vries, E. Neil"),
        (["Ann Bell a,b,n , Bob Vries b", "a Clinic of Bells", "b Bank of Sea"], "Ann Bell, Bob Vries"),
        (["Ann Bella, Bob Vriesa", "The Clinic of Bells"], "Ann Bella, Bob Vriesa"),
        (["by Ann Author"], "Ann Author"),
        (["by", "Ann Author"], "Ann Author"),
        (["Ann Author"], None),
        (["University of Bells, Institute of Clocks"], None),
        (["The Landing, the Sea"], None),
        (["DRAFT COPY, Ann Author"], None),
        (["November 1, 2022"], None),
        (["Ann Author", "November 1, 2022"], "Ann Author"),
        (["A subtitle of bells", "Ann Author1", "Wirtschaftsuniversität Bellstadt", "Bob Vries"], "Ann Author"),
        (["Ann Author, Sea Clinic"], "Ann Author"),
        (["Ann Author", "Computer Bells, University of Clocks"], "Ann Author"),
        (["Ann Author* Bob Vries2", "2022"], "Ann Author, Bob Vries"),
        (["Old Clock", "November 1, 2022"], None),
        (["Ann Author", "November bells of the year 2022"], None),
        (["ANN AUTHOR", "Port Bell", "2022"], None),
        (["12 May 2022", "Port Bell", "University of Clocks"], None),
        (["A subtitle of bells", "Bell Studies, University of Clocks"], None),
        ([], None),
    ],
)
def test_names_below_the_title_are_its_authors(pdf: Write, below: list[str], authors: str | None) -> None:
    book = read_book(pdf([["20b\tThe Book of Bells", *below, *PROSE], PROSE]))
    assert (book.title, book.author) == ("The Book of Bells", authors)
    assert read_book(pdf([["20b\tBells of the Sea", *below, *PROSE]], info="/Author (Zoe)")).author == "Zoe"
