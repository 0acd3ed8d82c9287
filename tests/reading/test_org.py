"""Org files: headlines are sections; drawers, states and comments are no text."""

from __future__ import annotations

from pathlib import Path

from nlb_retriever.reading import read_book

SOURCE = """\
#+TITLE: Bell notes
#+AUTHOR: Greta Holm
#+DATE: <2022-03-04 Fri>
#+OPTIONS: toc:nil

The foundry was founded by Jan Sorel.

* TODO [#A] The big bell [2/3]        :work:bronze:
DEADLINE: <2022-05-01 Sun>
:PROPERTIES:
:ID: 123-abc
:END:

It weighs 840 kg[fn:1] and is of *bronze*, /not/ =iron=. See [[https://example.org][the
site]] and [[*Tuning]].[fn::An inline note.] A path a/b/c and 3*4*5 stay.

** Steps
- [X] Make the mould
  that is dry
- Tin :: the softer metal
1. First

| Metal  | Share |
|--------+-------|
| Copper | 78 %  |

#+CAPTION: The bell before casting
[[./bell.jpg]]

#+BEGIN_SRC python :results output
,* no headline
#+END_SRC

#+RESULTS:
: bong

# a comment
* DONE Tuning
It rings.

* Footnotes

[fn:1] Weighed on the
scale of the town.
"""


def test_an_org_file_is_read_without_its_marks(tmp_path: Path) -> None:
    path = tmp_path / "bells.org"
    path.write_text(SOURCE)
    book = read_book(path)
    assert (book.title, book.author, book.year) == ("Bell notes", "Greta Holm", 2022)
    assert [section.path for section in book.sections] == [
        ("Bell notes",), ("The big bell",), ("The big bell", "Steps"), ("Tuning",), ("Notes",)
    ]  # fmt: skip
    for kept in (
        "It weighs 840 kg and is of bronze, not iron. See the site and Tuning. A path a/b/c and 3*4*5 stay.\n",
        "[X] Make the mould that is dry\nTin: the softer metal\n1. First\n",
        "Metal  Share\nCopper  78 %\n",
        "The bell before casting",
        "\n* no headline\n",
        "\nbong\n",
        "Notes\n\nAn inline note.\n\n1 Weighed on the scale of the town.",
    ):
        assert kept in book.text
    for mark in ("TODO", "DONE", "bronze:", "DEADLINE", "123", "toc:nil", "comment", "[fn", "#+", "python", "|"):
        assert mark not in book.text
    assert "3 headline states (3 words)" in book.warnings[0]


def test_long_lines_of_marks_take_no_time(tmp_path: Path) -> None:
    path = tmp_path / "a.org"
    for mark in (
        "*",
        "/a",
        "[[",
        "[fn:",
        "[[a][",
        "#+",
        ":a:",
        "{{{a(",
        "<2020-01-01 ",
        "=",
        " |",
        "- [",
        "* a\n",
        "CLOCK: ",
    ):
        path.write_text(f"* The Clock\n{mark * 30_000}\n\nIt is wound.\n")
        assert "It is wound." in read_book(path).text
