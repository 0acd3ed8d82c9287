"""Manual pages as text."""

from __future__ import annotations

from pathlib import Path

from nlb_retriever.reading import read_book

PAGE = """\
WIND(1)                  Clock Manual                  WIND(1)

NAME
       wind - wind a clock

SYNOPSIS
   Short usage
       wind [-f] CLOCK

   Long usage
       wind --force CLOCK

DESCRIPTION
       Winds the CLOCK of the
       town. A LINE OF CAPITALS IS

       NO TITLE
       where it is indented.

SEE ALSO
       ring(1)

clocks 1.2                    2021-03-04                    WIND(1)
"""


def test_titles_at_the_margin_are_sections_and_those_three_blanks_in_lie_within(tmp_path: Path) -> None:
    (tmp_path / "wind.txt").write_text(PAGE)
    paths = [section.path for section in read_book(tmp_path / "wind.txt").sections]
    within = [("SYNOPSIS", "Short usage"), ("SYNOPSIS", "Long usage")]
    assert paths == [("NAME",), *within, ("DESCRIPTION",), ("SEE ALSO",)]


def test_other_texts_have_none(tmp_path: Path) -> None:
    (tmp_path / "wind.txt").write_text(PAGE.replace("NAME\n", "FORM\n"))
    assert len(read_book(tmp_path / "wind.txt").sections) == 1
