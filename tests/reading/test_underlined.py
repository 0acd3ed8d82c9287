"""Headings with a rule below them."""

from __future__ import annotations

import pytest

from nlb_retriever import book_from_text
from nlb_retriever.reading.headings.underlined import find_marked, find_title, find_underlined, part_titles
from nlb_retriever.reading.markup.unwrap import unwrap
from nlb_retriever.reading.pages.title_page import title_page

PROSE = 8 * "The clock on the landing struck the hour, and nobody was awake to hear it but the cat on the stairs. "
MANUAL = f"""The Clock Manual
****************

{PROSE}

Install
=======

{PROSE}

From source
-----------

{PROSE}

========
 Wind it
========

{PROSE}

Repair
======

{PROSE}
"""


def test_levels_follow_from_the_rules() -> None:
    found = find_underlined(MANUAL)
    assert [(heading.level, heading.title) for heading in found] == [
        (2, "Install"),
        (3, "From source"),
        (4, "Wind it"),  # with a rule above, too: another look
        (2, "Repair"),
    ]
    assert [MANUAL[heading.start :].startswith(heading.title) for heading in found] == [True] * 4


def test_a_file_has_its_sections_and_its_title() -> None:
    book = book_from_text(MANUAL, source="a.txt")
    assert [section.path[-1] for section in book.sections if section.path[-1] != "Front matter"] == [
        "Install", "From source", "Wind it", "Repair",
    ]  # fmt: skip
    assert book.title == "The Clock Manual"


def test_a_first_line_whose_rule_comes_again_is_a_section_and_the_title() -> None:
    text = MANUAL.replace("*" * 16, "=" * 16)
    assert find_underlined(text)[0].title == find_title(text) == "The Clock Manual"


@pytest.mark.parametrize(
    "text",
    [
        "Name\n----\nAnna\n\nAge\n---\n7\n",  # two
        "".join(f"{PROSE}\nA title {i}\n---------\n\n" for i in range(5)),  # no blank line before
        "".join(f"A title {i}\n{'-' * 40}\n\n{PROSE}\n\n" for i in range(5)),  # too long a rule
        "".join(f"A  title  {i}\n-- ----- --\n\n{PROSE}\n\n" for i in range(5)),  # of a table
    ],
)
def test_other_rules_are_no_sections(text: str) -> None:
    assert find_underlined(text) == []


def test_a_few_rules_do_not_replace_many_chapters() -> None:
    chapters = "".join(f"CHAPTER {i}\n\n{PROSE}\n\n{PROSE}\n\n" for i in range(1, 10))
    rules = "".join(f"Note {name}\n------\n\n{PROSE}\n\n" for name in "ABC")
    titles = [section.path[-1] for section in book_from_text(chapters + rules, source="a.txt").sections]
    assert titles[:2] == ["CHAPTER 1", "CHAPTER 2"]


def test_a_centred_line_above_a_rule_is_the_title() -> None:
    text = f"\n{' ' * 20}A Manual of Clocks\n\n\n{'-' * 60}\n\n{' ' * 20}Version 2\n\n{PROSE}\n"
    assert find_title(text) == "A Manual of Clocks"
    assert find_title(f"{PROSE}\n\nInstall\n=======\n") is None
    assert title_page(text) == ("A Manual of Clocks", None)


@pytest.mark.parametrize("mark", ["#", "="])
def test_marked_lines_are_sections(mark: str) -> None:
    lines = ["{0} The Clock Manual", "[[install]]\n{0}{0} Install", "{0}{0}{0} From source {0}{0}{0}", "{0}{0} Wind it"]
    text = "".join(f"{line.format(mark)}\n\n{PROSE}\n\n" for line in lines)
    assert [(each.level, each.title) for each in find_marked(text)] == [
        (2, "Install"),
        (3, "From source"),
        (2, "Wind it"),
    ]
    book = book_from_text(text, source="a.txt")
    assert book.title == "The Clock Manual"
    assert [section.path for section in book.sections][-2:] == [("Install", "From source"), ("Wind it",)]


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"# apt-get install clock{i} --yes\n\n{PROSE}\n\n" for i in range(5)),  # command lines
        "".join(f"# Wind the clock {i}.\n\n{PROSE}\n\n" for i in range(5)),  # comments
        "".join(f"{PROSE}\n# Wind it\n\n" for _ in range(5)),  # no blank line before
        "".join(f"# Wind it\n{PROSE}\n\n" for _ in range(5)),  # nor behind
        "".join(f"#{i} of the clocks\n\n{PROSE}\n\n" for i in range(5)),
        "".join(f"=WIND THE CLOCK=\n\n{PROSE}\n\n" for i in range(5)),
        f"# One\n\n{PROSE}\n\n# Two\n\n{PROSE}",
    ],
)
def test_other_signs_mark_none(text: str) -> None:
    assert find_marked(text) == []
    assert find_title(text) is None


def test_rules_keep_their_lines() -> None:
    lines = ["Work towards the next release of all the clocks that", "-" * 50, *["the clock on the landing struck"] * 3]
    joined = unwrap("\n".join(lines), 52).split("\n")
    assert joined[:2] == lines[:2]


def test_a_paragraph_begins_below_the_rule_of_a_title() -> None:
    text = f"It ends.\n\nName\n----\n{PROSE}\n\nA  table\n--------------\n7\n\nOf rules\n--------\n\n{PROSE}"
    assert part_titles(text) == text.replace("----\nThe clock", "----\n\nThe clock", 1)


def test_it_is_linear_in_the_text() -> None:
    assert find_underlined("=" * 200_000) == find_underlined("a " * 100_000 + "\n---\n") == []
    assert find_underlined("a\n" * 100_000) == find_underlined("---\n" * 100_000) == []
    assert find_title("\n" * 200_000) is None
    assert find_marked("# a" * 100_000) == find_marked("\n\n#" * 100_000) == find_marked("[a]\n" * 100_000) == []


@pytest.mark.parametrize("indent", ["", " " * 26])
@pytest.mark.parametrize("blank", ["", "\n"])
def test_lines_between_two_rules_are_titles_where_there_are_no_others(indent: str, blank: str) -> None:
    rule = "=" * 60
    text = "".join(f"{rule}\n{blank}{indent}{title}\n{rule}\n\n{PROSE}\n\n" for title in ("The Tower", "Storm", "Day"))
    assert [heading.title for heading in find_underlined(text)] == ["The Tower", "Storm", "Day"]
    blocks = "".join(f"Run:\n\n----------\ngit reset --hard --{option}\n----------\n\n{PROSE}\n\n" for option in "abc")
    assert find_underlined(blocks) == []
    assert len(find_underlined(MANUAL + blocks)) == 4
