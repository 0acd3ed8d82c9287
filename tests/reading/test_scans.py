"""Scanned pages whose words a program has read: numbers and heads that it misread, lines and words that it parted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nlb_retriever.errors import NotABook
from nlb_retriever.reading import read_book
from nlb_retriever.reading.markup.unwrap import unwrap
from nlb_retriever.reading.omissions import Omissions
from nlb_retriever.reading.pages.columns import Line, ReadingOrder
from nlb_retriever.reading.pages.page_numbers import PageNumbers
from nlb_retriever.reading.pages.printed import join_lines
from nlb_retriever.reading.pages.running_heads import without_running_heads

Write = Callable[..., Path]
THINGS = "ropes lamps boats nets oars sails barrels anchors bells flags hooks masts".split()
WIDTH = 400.0


def page_of(thing: str) -> list[str]:
    return [f"The keeper looked for the {thing}", "in the house below the light", f"and found {thing} there."]


def bodies(pages: list[list[str]]) -> list[list[str]]:
    return without_running_heads(pages, PageNumbers(pages, [""] * len(pages)), Omissions())


@pytest.mark.parametrize("mark", ["\u2010", "\xac", "\xac "])
def test_other_hyphens_at_the_ends_of_lines_part_words_too(tmp_path: Path, mark: str) -> None:
    lines = [f"The keeper of the light {i} went down to the har{mark}\nbour before the gulls woke." for i in range(12)]
    (tmp_path / "a.txt").write_text("\n\n".join([*lines, "It was a harbour."]))
    assert "harbour before" in read_book(tmp_path / "a.txt").text


def test_words_that_are_cut_within_a_line_are_joined() -> None:
    lines = [
        "The har- bour was inter- minable, as a harbour is",
        "before and and and and after pre- and post- war nets",
    ]
    text, _ = join_lines(lines, [])
    assert "The harbour was interminable" in text
    assert "pre- and post-" in text


def test_a_head_whose_words_name_what_is_counted_has_the_number_of_its_page() -> None:
    pages = [[f"{i} ESSAY ON LIGHT", *page_of(thing)] for i, thing in enumerate(THINGS, 4)]
    assert bodies(pages)[1:] == [page_of(thing) for thing in THINGS][1:]
    chapters = [[f"{i} ACT", *page_of(thing)] for i, thing in enumerate(THINGS, 1)]
    assert bodies(chapters) == chapters


def test_a_misread_head_is_skipped_behind_others_but_no_title() -> None:
    heads = [f"THE LAST LIGHT {i}" for i in range(5, 17)]
    heads[4:6] = ["THE LAST L1GHT $", "THE LAST LIGHT"]
    pages = [[head, *page_of(thing)] for head, thing in zip(heads, THINGS, strict=True)]
    kept = bodies(pages)
    assert kept[4] == pages[4][1:]
    assert kept[5] == pages[5]


def test_a_number_alone_is_a_page_s_between_pages_with_theirs_in_their_heads() -> None:
    pages = [[f"THE LAST LIGHT {i}", *page_of(thing)] for i, thing in enumerate(THINGS, 1)]
    pages[0] = ["1", *page_of("ropes")]  # a chapter
    pages[6] = ["7", "THE LAST LIGHT", *page_of("barrels")]
    kept = bodies(pages)
    assert (kept[0], kept[6]) == (pages[0], pages[6][1:])


def test_a_head_above_the_right_column_stands_first() -> None:
    left = [Line(f"{thing} of the northern tower\r\n", 30, 190, 600 - 12 * i, 10) for i, thing in enumerate(THINGS)]
    right = [Line(f"{thing} of the southern tower\r\n", 210, 370, 600 - 12 * i, 10) for i, thing in enumerate(THINGS)]
    head = Line("THE HISTORY OF THE LIGHT\r\n", 230, 370, 640, 10)
    assert ReadingOrder().sort([*left, head, *right], WIDTH) == [head, *left, *right]
    lower = [line._replace(height=line.height - 40) for line in left]
    assert ReadingOrder().sort([*lower, *right], WIDTH) == [*lower, *right]


@pytest.mark.parametrize(
    ("capital", "first", "whole"),
    [("T", "he keeper slept", "The keeper slept"), ("“I", "n the night", "“In the night"), ("I", "slept", "I slept"),
     ("A", " keeper slept", "A keeper slept"), ("A", "ll was still", "All was still")],
)  # fmt: skip
def test_a_large_capital_begins_the_first_of_its_lines(capital: str, first: str, whole: str) -> None:
    title = Line("The Light\r\n", 80, 200, 640, 16)
    body = [Line(f"{text}\r\n", 50, 300, 600 - 12 * i, 10) for i, text in enumerate([first, "in the house", *THINGS])]
    body[5] = body[5]._replace(text="all in it slept\r\n")
    drawn = Line(f"{capital}\r\n", 30, 48, 588, 30)
    words = [line.words for line in ReadingOrder().sort([drawn, title, *body], WIDTH)]
    assert words[:3] == ["The Light", whole, "in the house"]


def test_a_paragraph_ends_neither_within_a_word_nor_at_the_foot_of_a_column(tmp_path: Path) -> None:
    lines = ("by", "See the edi-", "tion. The book was lost in the year", "of the storm. An edition.")
    page = "".join(f"<p class='ocr_par'><span class='ocr_line'>{line}</span></p>" for line in lines)
    (tmp_path / "a.hocr").write_text(f"<meta name='ocr-system' content='x'><div class='ocr_page'>{page}</div>")
    text = read_book(tmp_path / "a.hocr").text
    assert text == "by\n\nSee the edition. The book was lost in the year of the storm. An edition.\n"
    wrapped = "\n".join(f"The keeper of the light went down to the {thing} of the tower" for thing in THINGS)
    assert "the edition of it" in unwrap(f"{wrapped}\n\n1. See the edi-\n\ntion of it.\n\nAn edition.\n", 60)


def test_the_title_page_of_a_scan_has_its_title_on_lines_of_their_own(pdf: Write) -> None:
    pages = [["The Last Light", "by", "Ada Keeper"], *(page_of(thing) for thing in THINGS)]
    book = read_book(pdf(pages))
    assert (book.title, book.author) == ("The Last Light", "Ada Keeper")


def test_pages_that_all_have_one_line_alone_have_no_text(pdf: Write) -> None:
    stamps = [["Digitized by the Library", f"Sheet {i}", "\f"] for i in range(8)]
    with pytest.raises(NotABook, match="no text layer: run OCR"):
        read_book(pdf(stamps))
    book = read_book(pdf([page_of("ropes"), page_of("boats"), *stamps]))
    assert "8 of 10 pages hold no text (images?), the first is 3" in book.warnings


def test_letters_of_a_font_that_does_not_say_what_they_are_are_refused(pdf: Write) -> None:
    shifted = str.maketrans({chr(code): chr(code + 3) for code in range(ord("a"), ord("x"))})
    pages = [[line.translate(shifted) for line in page_of(thing)] for thing in THINGS * 4]
    with pytest.raises(NotABook, match="signs for letters"):
        read_book(pdf(pages))


def test_pages_that_were_read_upside_down_are_named(pdf: Write) -> None:
    garbled = [
        "3i\tUIeYIIO sem pPIeYI UsxoIg aU s1ojoq eTeymM pepueut 1odeay plo UeT ay",
        "3i\tMes Apoqou pue Aizenb",
    ] * 4
    pages = [[f"3i\t{line}" for line in page_of(thing)] * 4 for thing in THINGS[:4]]
    book = read_book(pdf([*pages, garbled, *pages, garbled]))
    assert "2 of 10 pages hold text that makes no sense (scanned upside down?), the first is 5" in book.warnings
    with pytest.raises(NotABook, match="makes no sense.* run OCR on it again"):
        read_book(pdf([garbled, garbled]))
    code = [line.replace("3i\t", "") for line in garbled]  # to be seen, as names in a program are
    assert not read_book(pdf([code, *pages])).warnings


def test_a_language_with_marks_on_nearly_all_vowels_is_read(pdf: Write) -> None:
    lines = [r"B\351 h\341t b\340n c\371ng m\350 v\340 ch\372 tr\350n l\371ng l\372c s\341ng"] * 30
    assert read_book(pdf([lines] * 3)).text.startswith("Bé hát")


def test_titles_of_a_table_of_contents_whose_numbers_are_misread_are_sections(tmp_path: Path) -> None:
    titles = ["The Light", "A Storm", "The Boat Goes Out", "Night", "What the Gulls Saw", "Morning"]
    numbers = ("1", "II", "IIL", "IV", "V", "VL")
    entries = [f"{number}. {title} ..." for number, title in zip(numbers, titles, strict=True)]
    prose = "The keeper went down to the harbour before the gulls woke, and he found that the boat was gone. " * 30
    chapters = [[["VuI"], [title], [prose]] for title in titles]
    page = "".join(
        f"<p class='ocr_par'>{''.join(f'<span class=ocr_line>{line}</span>' for line in paragraph)}</p>"
        for paragraph in [["CONTENTS"], entries, *(each for chapter in chapters for each in chapter)]
    )
    (tmp_path / "a.hocr").write_text(f"<meta name='ocr-system' content='x'><div class='ocr_page'>{page}</div>")
    assert [section.path[-1] for section in read_book(tmp_path / "a.hocr").sections][-6:] == titles


def test_numbers_behind_every_fifth_verse_are_skipped_and_other_numbers_stay(pdf: Write) -> None:
    verses = [f"The {thing} of the northern light" for thing in THINGS * 5]
    numbered = [f"{verse} {n}" if n % 5 == 0 else verse for n, verse in enumerate(verses, 1)]
    pages = [numbered[first : first + 20] for first in (0, 20, 40)]
    pages[1][3] = "And in the year of 1871"
    text = read_book(pdf(pages)).text
    assert "year of 1871" in text
    assert not any(f"light {n}" in text for n in range(5, 61, 5))
    pages[1].insert(0, "EPISTLE II")
    pages = [*pages, *([f"EPISTLE II {i}", *page[:-1]] for i, page in enumerate(pages, 4))]
    assert "EPISTLE II\n" in read_book(pdf(pages)).text
    listed = [[f"The {thing} of the light {5 * n}" for n, thing in enumerate(THINGS, 12 * of)] for of in range(3)]
    assert "light 55" in read_book(pdf(listed)).text


def test_a_bookmark_of_pages_that_are_skipped_is_no_section(pdf: Write) -> None:
    contents = ["Contents", *(f"The {thing} .......... {n}" for n, thing in enumerate(THINGS, 3))]
    chapters = [[f"The {thing}", *page_of(thing) * 12] for thing in THINGS]
    outline = [("Contents", 0), *((f"The {thing}", n) for n, thing in enumerate(THINGS, 1))]
    book = read_book(pdf([contents, *chapters], outline=outline))
    assert [section.path[-1] for section in book.sections] == [f"The {thing}" for thing in THINGS]


def test_a_journal_s_head_with_its_date_counts_the_pages() -> None:
    pages = [[f"JOURNAL OF BELLS, NO. 8, AUGUST 2021 {i}", *page_of(thing)] for i, thing in enumerate(THINGS[:5], 1)]
    pages[-1][:1] = ["JOURNAL OF BELLS, NO. 8, AUGUST 2021", "5"]
    assert bodies(pages)[1:] == [page_of(thing) for thing in THINGS[1:5]]
    diary = [[f"{i} August 2021", *page_of(thing)] for i, thing in enumerate(THINGS, 1)]
    assert bodies(diary) == diary


def test_the_heads_of_left_and_right_pages_count_a_short_paper_together() -> None:
    heads = ["Bells", "2 A. Ringer et al.", "Ropes and bells 3", "4 A. Ringer et al.", "Ropes and bells 5"]
    pages = [[head, *page_of(thing)] for head, thing in zip(heads, THINGS, strict=False)]
    assert bodies(pages) == [pages[0], *(page_of(thing) for thing in THINGS[1:5])]


def test_a_head_with_a_date_within_a_sentence_is_no_heading() -> None:
    head = "Bells ’21, June 3–5, 2021, Fallmouth"
    pages = [
        [*([head] if i % 2 else []), "was looked for.", "The keeper of", thing] for i, thing in enumerate(THINGS[:5])
    ]
    assert not any(head in page for page in bodies(pages))


def test_the_chapters_with_one_number_in_several_works_are_no_running_heads() -> None:
    pages = [[f"The {'very ' * i}old light.", *page_of("ropes")] for i in range(36)]
    for i in range(0, 36, 6):
        pages[i] = [f"Chapter {i % 12 // 6 + 1}", *page_of("bells")]
    assert bodies(pages) == pages
