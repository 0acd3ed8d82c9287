"""Headings in plain text: chapters are found, tables of contents and running heads are not."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlb_retriever.reading.draft import Heading
from nlb_retriever.reading.headings.outline import find_headings
from nlb_retriever.reading.structure import GIANT_CHARS, partition

PARAGRAPH = "The old clock on the landing struck the hour, and nobody in the house was awake to count it. " * 12
WORDS = [f"{first}{second}ling" for first in "abcdefgh" for second in "aeiouy"]
BODY = f"{PARAGRAPH}\n\n{PARAGRAPH}\n\n{PARAGRAPH}"


def book(*headings: str) -> str:
    return "\n\n".join(f"{heading}\n\n{BODY}" for heading in headings)


def paths(text: str) -> list[tuple[str, ...]]:
    return [section.path for section in partition(text, find_headings(text), "The Clock")]


@pytest.mark.parametrize(
    "headings",
    [
        ["CHAPTER I", "CHAPTER II", "CHAPTER III"],
        ["Chapter 1", "Chapter 2", "Chapter 3"],
        ["CHAPTER THE FIRST", "CHAPTER THE SECOND", "CHAPTER THE THIRD"],
        ["CHAPTER ONE. The Door", "CHAPTER TWO. The Stair", "CHAPTER THREE. The Clock"],
        ["Letter 1", "Letter 2", "Chapter 1", "Chapter 2", "Chapter 3"],
        ["STAVE ONE: MARLEY'S GHOST", "STAVE TWO: THE FIRST OF THE THREE SPIRITS", "STAVE THREE: THE SECOND"],
        ["I", "II", "III", "IV"],
        ["1", "2", "3"],
        ["I. The Door", "II. The Stair", "III. The Clock"],
        ["CANTO I", "CANTO II", "CANTO III"],
        ["Erstes Kapitel", "Zweites Kapitel", "Drittes Kapitel"],
        ["CHAPITRE PREMIER", "CHAPITRE II", "CHAPITRE III"],
        ["CAPÍTULO I", "CAPÍTULO II", "CAPÍTULO III"],
        ["THE DOOR", "THE STAIR", "THE CLOCK", "THE BELL"],
        ["Preface", "CHAPTER I", "CHAPTER II", "Epilogue"],
        ["LIVRE PREMIER", "LIVRE DEUXIÈME"],
    ],
)
def test_each_heading_begins_a_section(headings: list[str]) -> None:
    assert paths(book(*headings)) == [(heading,) for heading in headings]


def test_a_title_on_the_next_line_belongs_to_its_number() -> None:
    text = book("CHAPTER I\n\nThe Door", "CHAPTER II\n\nThe Stair", "CHAPTER III\nTHE CLOCK")
    assert paths(text) == [("CHAPTER I. The Door",), ("CHAPTER II. The Stair",), ("CHAPTER III. THE CLOCK",)]


def test_points_of_a_chapter_do_not_go_on_from_the_numbers_of_parts() -> None:
    points = ["3. Ring The Bells", "4. Wind The Clocks"]
    names = ["PART I", "CHAPTER I", "PART II", "CHAPTER II", *points, "CHAPTER III", "PART III", "CHAPTER IV"]
    assert paths(book(*names))[2:6] == [
        ("PART II",),
        ("PART II", "CHAPTER II"),
        ("PART II", "CHAPTER III"),
        ("PART III",),
    ]


def test_sections_that_begin_anew_lie_within_titles_in_capitals() -> None:
    of_two = [name for title in ("CLOCKS", "DOORS", "STAIRS") for name in (f"{title}\n\nSECTION I", "SECTION II")]
    found = paths(book("BELLS", *of_two, "WINDOWS"))
    assert found[0] == ("BELLS",) and found[-1] == ("WINDOWS",)
    assert found[1:4] == [("CLOCKS", "SECTION I"), ("CLOCKS", "SECTION II"), ("DOORS", "SECTION I")]


def test_a_chapter_s_number_may_stand_before_a_summary_of_several_lines() -> None:
    said = "How the old clock of the town came to stand on the landing, and of those who had wound it before, and of "
    names = [f"CHAP. {number}. {said * lines}the bell." for number, lines in [("I", 1), ("II", 2), ("III", 3)]]
    assert [path[0].split(". H")[0] for path in paths(book(*names))] == ["CHAP. I", "CHAP. II", "CHAP. III"]


def test_parts_hold_their_chapters() -> None:
    text = book("PART ONE\n\nCHAPTER I", "CHAPTER II", "PART TWO\n\nCHAPTER I", "CHAPTER II")
    assert paths(text) == [
        ("PART ONE", "CHAPTER I"), ("PART ONE", "CHAPTER II"), ("PART TWO", "CHAPTER I"), ("PART TWO", "CHAPTER II"),
    ]  # fmt: skip


def test_acts_hold_scenes_even_on_one_line() -> None:
    text = book("ACT I. SCENE I.", "SCENE II.", "ACT II. SCENE I.", "SCENE II.")
    assert [p[0][:6].strip(" .") for p in paths(text)] == ["ACT I", "ACT I", "ACT II", "ACT II"]
    assert [p[1].strip(".") for p in paths(text)] == ["SCENE I", "SCENE II"] * 2


def test_numbers_that_begin_again_imply_parts() -> None:
    found = paths(book("CHAPTER I", "CHAPTER II", "CHAPTER III", "CHAPTER I", "CHAPTER II"))
    assert found[2] == ("Part 1", "CHAPTER III")
    assert found[3] == ("Part 2", "CHAPTER I")


def test_a_title_above_numbers_that_begin_again_names_the_part() -> None:
    text = book("THE CLOCK\n\nI", "II", "III", "THE BELL\n\nI", "II", "III")
    assert paths(text)[0] == ("THE CLOCK", "I")
    assert paths(text)[4] == ("THE BELL", "II")


@pytest.mark.parametrize("between", ["\n\n", "\n"])
def test_a_table_of_contents_makes_no_chapters(between: str) -> None:
    titles = [
        f"CHAPTER {n}. {name}"
        for n, name in zip(["I", "II", "III", "IV"], ["Door", "Stair", "Clock", "Bell"], strict=True)
    ]
    text = (
        "THE CLOCK\n\nCONTENTS\n\n"
        + between.join(f"{t}      {i * 17}" for i, t in enumerate(titles, 1))
        + "\n\n"
        + book(*titles)
    )
    found = paths(text)
    assert [p for p in found if p[0].startswith("CHAPTER")] == [(t,) for t in titles]


def test_a_list_of_titles_at_the_front_makes_no_chapters() -> None:
    names = ["The Door", "The Stair", "The Clock", "The Bell"]
    text = "CONTENTS\n\n" + "\n\n".join(names) + "\n\n" + book(*(f"CHAPTER {i}\n\n{n}" for i, n in enumerate(names, 1)))
    assert [p[0] for p in paths(text)][-4:] == [f"CHAPTER {i}. {n}" for i, n in enumerate(names, 1)]


def test_chapters_that_an_excerpt_has_not_are_known_as_contents() -> None:
    names = [f"CHAPTER {number}. {WORDS[number].title()}" for number in range(1, 13)]
    text = "CONTENTS\n\n" + "\n\n".join(names) + "\n\n\n\n" + book(*names[:3])
    assert [p[-1] for p in paths(text)][-3:] == names[:3]
    assert len(paths(text)) <= 4


def test_running_heads_and_page_numbers_are_no_headings() -> None:
    half = PARAGRAPH[: len(PARAGRAPH) // 2].strip()
    pages = "".join(f"{half}\n\n{n}\n\nTHE CLOCK\n\nand {half}\n\n" for n in range(41, 90))
    assert not any("THE CLOCK" in p or p[-1].isdigit() for p in paths(pages))


def test_chapter_words_inside_prose_are_no_headings() -> None:
    sentences = [
        "Chapter 3 was the one that he liked best of all the chapters in it.",
        "Part of me stayed.",
        "I went out.",
    ]
    text = "\n\n".join([BODY, *sentences, BODY, "Book I read as a child, and Book II later.", BODY])
    assert all(p[0].startswith("Part ") or p == ("The Clock",) for p in paths(text))


def test_speakers_in_capitals_make_no_sections() -> None:
    lines = "\n\n".join(f"{who}\n\n{PARAGRAPH}" for _ in range(20) for who in ["HAMLET", "OPHELIA", "KING"])
    assert all(p[0].startswith("Part ") for p in paths(lines))


def test_numbers_of_speakers_make_no_sections() -> None:
    assert not find_headings(book("I. PORT. Ha, ha, ha!", "II. PORT. A gentle Man is he", "III. PORT. Ho!"))
    assert len(find_headings(book("I. THE DOOR. AND WHO CAME", "II. THE STAIR", "III. THE CLOCK: AN END"))) == 3


def test_short_speeches_make_no_sections() -> None:
    speeches = ["HAMLET. How so?", "THE KING. [Aside] Who Knows?", "OPHELIA: Nothing, My Lord", "FIRST CLOWN. Whose?"]
    lines = book(*(f"{speech[:-1]} {number}?" for number in range(8) for speech in speeches))
    assert all(p[0].startswith("Part ") for p in paths(lines))
    assert ("ACT II",) in paths(book("ACT I", *speeches, "ACT II", *speeches, "ACT III", *speeches))


def test_words_below_illustrations_make_no_sections() -> None:
    picture = "[Illustration: {}]"
    captions = [picture.format(f"_The Clock Strikes {number}_") for number in range(9)]
    assert not any("Strikes" in title for p in paths(book(*captions)) for title in p)
    text = book(*(f"CHAPTER {n}.\n\n[Illustration:\n THE CLOCK\n FROM BELOW]\n\nThe Door" for n in (1, 2, 3)))
    assert paths(text) == [(f"CHAPTER {n}. The Door",) for n in (1, 2, 3)]


def test_titles_have_no_marks_of_footnotes() -> None:
    text = book(
        "CHAPTER I. THE DOOR.[1]", "CHAPTER II[54]", "CHAPTER III. OF THE CLOCK[A] AND BELL", "CHAPTER IV [1066]"
    )
    titles = ["CHAPTER I. THE DOOR.", "CHAPTER II", "CHAPTER III. OF THE CLOCK AND BELL", "CHAPTER IV [1066]"]
    assert paths(text) == [(title,) for title in titles]


def test_a_long_tale_among_short_ones_is_one_section_of_them() -> None:
    tales = [f"THE {name} OF THE {part}" for name in ("DOOR", "STAIR", "BELL", "KEY", "DIAL") for part in "ABCDEF"]
    text = book(*tales[:9]) + f"\n\n{BODY}" * 12 + "\n\n" + book(*tales[9:])
    assert list(dict.fromkeys(p[0] for p in paths(text))) == tales


def test_a_numbered_list_makes_no_chapters() -> None:
    text = BODY + "\n\nI.\n\nBread.\n\nII.\n\nMilk.\n\nIII.\n\nEggs.\n\n" + BODY
    assert len(paths(text)) == 1


def test_titles_behind_a_preface_stand_beside_it() -> None:
    """Of a textbook whose only numbers are those of a law in its appendix."""
    titles = [f"The {name} of the Clock" for name in ("Door", "Stair", "Landing", "Key", "Spring", "Dial", "Bell")] * 4
    titles = [f"{title} {'at' if number % 2 else 'by'} {number} Bells" for number, title in enumerate(titles)]
    law = book(*(f"Section {number}." for number in range(1, 7)))
    found = paths(f"{book('Preface', *titles)}\n\n{law}")
    assert found[: len(titles) + 1] == [("Preface",), *((title,) for title in titles)]


def test_a_book_without_headings_is_cut_at_scene_breaks() -> None:
    scene = "\n\n".join([PARAGRAPH] * 10)
    sections = partition(text := "\n\n* * *\n\n".join([scene] * 12), [], "The Clock")
    assert sections[0].path == (f"Part 1 of {len(sections)}",)
    assert all(text[s.start - 10 : s.start].rstrip().endswith("* * *") for s in sections[1:])
    assert all(4_000 < s.end - s.start < 30_000 for s in sections)


def test_a_chapter_of_a_books_length_is_cut_under_its_title() -> None:
    text = (
        "CHAPTER I\n\n" + f"{PARAGRAPH}\n\n" * (2 * GIANT_CHARS // len(PARAGRAPH)) + book("CHAPTER II", "CHAPTER III")
    )
    found = paths(text)
    assert found[0][0] == "CHAPTER I"
    assert found[0][1].startswith("Part 1 of ")
    assert found[-1] == ("CHAPTER III",)


def test_an_empty_container_joins_its_first_child_and_the_front_stands_alone() -> None:
    text = f"{BODY}\n\nPART I\n\nCHAPTER I\n\n{BODY}"
    headings = [Heading(text.index("PART I"), 1, "PART I"), Heading(text.index("CHAPTER I"), 2, "CHAPTER I")]
    sections = partition(text, headings, "The Clock")
    assert [s.path for s in sections] == [("Front matter",), ("PART I", "CHAPTER I")]
    assert sections[1].start == text.index("PART I")


@pytest.mark.parametrize("levels", [[1], [2, 1], [1, 2], [1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]])
def test_a_book_with_a_heading_on_every_line_has_sections_of_some_length(levels: list[int]) -> None:
    text = "".join(f"Heading {i}\n\nwords\n\n" for i in range(20_000))
    starts = [i for i in range(len(text)) if text.startswith("Heading", i)]
    headings = [Heading(start, level, "H") for start, level in zip(starts, itertools.cycle(levels), strict=False)]
    sections = partition(text, headings, "x")
    assert "".join(text[s.start : s.end] for s in sections) == text
    assert len(sections) < len(text) / 500 * len(set(levels)) + 2


def test_five_thousand_short_sections_are_all_kept() -> None:
    text = "".join(f"{i:05}\n\nverse\n\n" for i in range(5_000))
    size = len(text) // 5_000
    sections = partition(text, [Heading(i * size, 1, f"{i:05}") for i in range(5_000)], "x")
    assert len(sections) == 5_000


def test_marked_headings_of_a_table_of_contents_make_no_sections() -> None:
    names = ["Door", "Stair", "Clock", "Bell", "Moon"]
    text = "\n\n".join(names) + "\n\n" + book(*names)
    places = [text.index(name) for name in names] + [text.index(f"{name}\n\nThe old") for name in names[1:]]
    headings = [Heading(start, 2, text[start:].split("\n", 1)[0]) for start in places]
    assert [s.path for s in partition(text, headings, "x")][-4:] == [(name,) for name in names[1:]]


@settings(max_examples=200, deadline=None)
@given(
    st.text(alphabet="aI.\n *CHAPTER", max_size=400),
    st.lists(st.builds(Heading, st.integers(-5, 500), st.integers(1, 6), st.text(max_size=20)), max_size=12),
)
def test_sections_partition_any_text_under_any_headings(text: str, headings: list[Heading]) -> None:
    for given_headings in (headings, find_headings(text)):
        sections = partition(text, given_headings, "T")
        assert "".join(text[s.start : s.end] for s in sections) == text
        assert sections[0].start == 0
        assert all(a.end == b.start for a, b in itertools.pairwise(sections))
        assert all(s.path and all(s.path) for s in sections)


LIBRARY = {
    "moby-dick.txt": (135, "CHAPTER 1. Loomings", "CHAPTER 135. The Chase.—Third Day"),
    "dracula.txt": (27, "CHAPTER I. Jonathan Harker’s Journal", "CHAPTER XXVII. Mina Harker’s Journal"),
    "secret-garden.txt": (27, "CHAPTER I. THERE IS NO ONE LEFT", "CHAPTER XXVII. IN THE GARDEN"),
    "frankenstein.txt": (23, "CHAPTER I", "CHAPTER VII"),
}


@pytest.mark.parametrize("name", LIBRARY)
def test_the_chapters_of_real_books_are_found(data_dir: Path, name: str) -> None:
    from nlb_retriever.reading import read_book

    count, first, last = LIBRARY[name]
    chapters = [s.path[-1] for s in read_book(data_dir / "library" / name).sections if s.path[-1].startswith("CHAPTER")]
    assert (len(chapters), chapters[0].rstrip("."), chapters[-1].rstrip(".")) == (count, first, last)


def test_real_books_have_their_other_parts(data_dir: Path) -> None:
    from nlb_retriever.reading import read_book

    moby = [s.path[-1].strip(".") for s in read_book(data_dir / "library" / "moby-dick.txt").sections]
    assert moby[-1] == "Epilogue"
    assert "ETYMOLOGY" in moby
    frankenstein = [s.path[-1][:10] for s in read_book(data_dir / "library" / "frankenstein.txt").sections]
    assert frankenstein[2:6] == ["LETTER I. ", "LETTER II.", "LETTER III", "LETTER IV."]
    machine = [s.path[-1] for s in read_book(data_dir / "library" / "time-machine.txt").sections]
    assert len(machine) == 18
    assert machine[1] == "I. Introduction"


def test_the_senses_of_words_and_notes_are_no_chapters() -> None:
    senses = "\n\n".join(
        f"{word}: n.\n\n1. {number} A thing of wood, as most are.\n\n{BODY}" for number, word in enumerate(WORDS)
    )
    text = f"1. Flaky; dubious\n\n{BODY}\n\n2. An intractable problem\n\n{senses}"
    assert find_headings(text) == []
    assert len(find_headings(text.replace("1. ", "1. the ").replace("1. the Flaky", "1. Flaky")[:20_000])) == 2


def test_the_words_of_an_alphabetical_list_are_no_titles() -> None:
    titles = ["THE DOOR", "THE STAIR", "THE CLOCK", "THE LAMP", "THE WELL"]
    listed = "\n\n".join(WORDS).upper()
    found = [heading.title for heading in find_headings(f"{listed}\n\n{PARAGRAPH}\n\n{book(*titles)}")]
    assert found == titles


@pytest.mark.parametrize(
    ("printed", "title"),
    [
        ("_CHAPTER I._ The Inn", "CHAPTER I. The Inn"),
        ("CHAPTER I. May 8_th_, 1775", "CHAPTER I. May 8th, 1775"),
        ("CHAPTER I. =The Inn=", "CHAPTER I. The Inn"),
        ("CHAPTER I. The Ignore_All Option", "CHAPTER I. The Ignore_All Option"),
    ],
)
def test_marks_of_italics_are_no_part_of_a_title(printed: str, title: str) -> None:
    chapters = [f"{each}\n\n{'The rain fell on the road. ' * 60}" for each in (printed, "CHAPTER II.", "CHAPTER III.")]
    assert find_headings("\n\n\n".join(chapters))[0].title == title
