"""A chapter's number and title in lines of their own are one heading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import docx
import pytest

from nlb_retriever.reading import read_book
from nlb_retriever.reading.draft import Heading
from nlb_retriever.reading.headings.subtitles import with_titles

from .conftest import SENTENCE

NUMBERS = ["I", "II", "III", "IV"]
TITLES = ["The Landing", "Of Clocks and Bells", "“I Am the Moon”", "The Sea"]


def joined(lines: Sequence[str], headings: Sequence[str]) -> list[tuple[str, str]]:
    """Titles after joining, each with the line that it begins at."""
    text = "\n\n".join(lines)
    starts = [text.index(f"{heading}\n") for heading in headings]
    found = with_titles(text, [Heading(start, 1, title) for start, title in zip(starts, headings, strict=True)])
    return [(h.title, text[h.start :].partition("\n")[0]) for h in found]


def chapters(numbers: Sequence[str], titles: Sequence[str]) -> list[str]:
    return [line for pair in zip(numbers, titles, strict=True) for line in (*pair, SENTENCE * 3)]


def test_a_number_takes_the_title_below_it() -> None:
    titles = [*TITLES[:2], TITLES[2].upper(), TITLES[3]]
    found = joined(["Front.", *chapters(NUMBERS, titles)], NUMBERS)
    assert found == [(f"{n}. {t}", n) for n, t in zip(NUMBERS, titles, strict=True)]


def test_a_title_takes_the_number_above_it() -> None:
    titles = ["The Landing", "Of Clocks and Bells", "What the Moon Saw", "The Sea"]
    numbers = [f"Chapter {n}" for n in range(1, 5)]
    found = joined(["Front.", *chapters(numbers, titles)], titles)
    assert found == [(f"{n}. {t}", n) for n, t in zip(numbers, titles, strict=True)]


@pytest.mark.parametrize(
    "below",
    [
        [SENTENCE, SENTENCE, SENTENCE, SENTENCE],
        ["“Who is there?”", "Nobody answered him at all.", "It was a dark night.", "“The clock!” said Ann."],
        ["The Landing", SENTENCE, SENTENCE, SENTENCE],  # one of four
        ["Chapter 1", "Chapter 2", "Chapter 3", "Chapter 4"],
    ],
)
def test_a_chapters_first_words_are_no_title(below: list[str]) -> None:
    assert [title for title, _ in joined(chapters(NUMBERS, below), NUMBERS)] == NUMBERS


def test_a_number_and_its_title_that_are_both_headings_are_one() -> None:
    lines = chapters(NUMBERS, ["The Landing", "Of Clocks and Bells", "What the Moon Saw", "The Sea"])
    text = "\n\n".join(lines)
    at = {line: text.index(f"{line}\n\n") for line in lines}
    headings = [Heading(at[line], 1 if line in NUMBERS else 2, line) for line in lines if len(line) < 60]
    found = with_titles(text, headings)
    assert [(h.level, h.title) for h in found] == [
        (1, f"{number}. {title}") for number, title in zip(NUMBERS, lines[1::3], strict=True)
    ]


def test_parts_above_their_first_chapters_stay_parts() -> None:
    lines = [line for n in NUMBERS for line in (f"PART {n}", f"First of {n}", SENTENCE, f"Second of {n}", SENTENCE)]
    text = "\n\n".join(lines)
    headings = [Heading(text.index(f"{line}\n\n"), 1 + ("PART" not in line), line) for line in lines if len(line) < 60]
    assert with_titles(text, headings) == headings


def test_page_numbers_above_titles_are_no_chapters() -> None:
    titles = ["The Landing", "Of Clocks and Bells", "What the Moon Saw", "The Sea"]
    found = joined(["Front.", *chapters(["12", "31", "47", "80"], titles)], titles)
    assert [title for title, _ in found] == titles


def test_places_below_scenes_are_no_titles() -> None:
    numbers = [f"SCENE {n}" for n in NUMBERS]
    places = ["A street", "Another street", "The palace", "Before the gates"]
    assert [title for title, _ in joined(chapters(numbers, places), numbers)] == numbers


def test_a_word_documents_chapters_have_number_and_title(tmp_path: Path) -> None:
    document = docx.Document()
    for number, title in zip(NUMBERS, TITLES[:2] + TITLES[3:] + ["Home"], strict=True):
        document.add_heading(number, level=1)
        document.add_paragraph(title)
        document.add_paragraph(SENTENCE * 8)
    document.save(str(tmp_path / "a.docx"))
    book = read_book(tmp_path / "a.docx")
    assert [s.title for s in book.sections] == ["I. The Landing", "II. Of Clocks and Bells", "III. The Sea", "IV. Home"]


def test_the_outline_of_a_pdf_gets_the_numbers_of_its_pages(pdf: Callable[..., Path]) -> None:
    titles = ["The Landing", "Clocks", "The Sea"]
    lines = [SENTENCE[:60], SENTENCE[60:]] * 12
    content = [[f"Chapter {i}", title, *lines] for i, title in enumerate(titles, 1)]
    book = read_book(pdf(content, outline=[(title, i) for i, title in enumerate(titles)]))
    assert [s.title for s in book.sections] == [f"Chapter {i}. {title}" for i, title in enumerate(titles, 1)]
    assert all(book.text[s.start :].startswith(f"Chapter {i}") for i, s in enumerate(book.sections, 1))


def test_articles_lie_in_chapters_though_their_titles_look_alike() -> None:
    lines, titles = [], []
    for chapter, kind in enumerate(("Brass", "Iron")):
        lines += [f"CHAPTER {chapter + 1}", f"CLOCKS OF {kind.upper()}"]
        titles.append(lines[-1])
        for n, thing in enumerate(("Clocks", "Bells", "Keys", "Hands", "Springs"), 5 * chapter + 1):
            lines += [f"Article {n}", f"{thing} of {kind}", SENTENCE]
            titles.append(lines[-2])
    text = "\n\n".join(lines)
    found = with_titles(text, [Heading(text.index(f"{title}\n"), 1, title) for title in titles])
    assert [(h.level, h.title) for h in [found[0], found[1], found[5], found[6]]] == [
        (1, "CHAPTER 1. CLOCKS OF BRASS"),
        (2, "Article 1. Clocks of Brass"),
        (2, "Article 5. Springs of Brass"),
        (1, "CHAPTER 2. CLOCKS OF IRON"),
    ]
