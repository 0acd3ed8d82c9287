"""AsciiDoc: its header says title and author, and its comments are no text."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever.reading import read_book

LINE = "The clock of the town is wound on Mondays, and the bell is rung by whoever has wound it."
SOURCE = f"""\
// A comment above.
= Bridge Inspection
Nora Falk <nora@example.org>; Bo Ek
v1.2, 2021-05-06
:toc:
:note: hidden

// A comment.

Findings
--------

{LINE}

////
A block of them.

----
////

----
// A comment in code.
----

== Actions

{LINE} // not one
"""


def test_the_header_is_read_and_comments_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "report.adoc"
    path.write_text(SOURCE.replace("Findings\n--------", "== Findings"))
    book = read_book(path)
    assert (book.title, book.author) == ("Bridge Inspection", "Nora Falk, Bo Ek")
    assert [section.title for section in book.sections] == ["Findings", "Actions"]
    assert "A comment in code." in book.text
    assert f"{LINE} // not one" in book.text
    for mark in ("above", "block", "////", ":toc:", "hidden", "A comment."):
        assert mark not in book.text
    assert book.warnings == ("boilerplate skipped: header, comments and marks of AsciiDoc (24 words)",)


def test_a_rule_below_a_title_begins_no_code(tmp_path: Path) -> None:
    path = tmp_path / "report.asciidoc"
    path.write_text(SOURCE)
    assert "A block of them" not in read_book(path).text


@pytest.mark.parametrize("below", [LINE, ":revdate: 2020", "", "include::a.adoc[]"])
def test_what_is_no_name_is_no_author(tmp_path: Path, below: str) -> None:
    path = tmp_path / "report.adoc"
    path.write_text(f"= The Clock\n{below}\n\n{LINE}\n")
    book = read_book(path)
    assert (book.title, book.author) == ("The Clock", None)
    assert LINE in book.text


def test_long_lines_of_marks_take_no_time(tmp_path: Path) -> None:
    path = tmp_path / "a.adoc"
    for mark in ("=", "/", "-", ":", "//\n", "////\n", "= a\n", ":a\n", "<", " "):
        path.write_text(f"= The Clock\n{mark * 100_000}\n\n{LINE}\n")
        assert LINE in read_book(path).text


MARKED = """\
= Lanterns
:product: Lamp S

The {product} was made by *Ruth* in 2018.footnote:[It won 900 crowns. See https://example.org[the list].]

[[install]]
== Installing

Read <<install,this section>> or link:a.html[the page^], and press kbd:[Ctrl+C]; `*p` stays.

[NOTE]
====
It needs 12 volts.

* An item
.. A step
====

Wick::
  A string of cotton
  in the oil.

.Prices
[cols="1,2",options="header"]
|===
|Model |Price

|Lamp S
|40 crowns
2+|Sold in Ostra
|===

include::other.adoc[]

image::lamp.png[The lamp at night,300]

[source,ruby]
----
== no title
a *b* c
----

=== Boats

A brass screw holds it.
"""


def test_marks_are_left_out_and_footnotes_stand_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "lamps.adoc"
    path.write_text(MARKED)
    book = read_book(path)
    assert [section.path for section in book.sections] == [
        ("Lanterns",), ("Installing",), ("Installing", "Boats"), ("Notes",)
    ]  # fmt: skip
    for kept in (
        "The Lamp S was made by Ruth in 2018.\n",
        "Read this section or the page, and press Ctrl+C; *p stays.",
        "It needs 12 volts.\n\nAn item\n1. A step\n",
        "Wick: A string of cotton in the oil.",
        "Prices\n\nModel  Price\nLamp S  40 crowns\nSold in Ostra\n",
        "The lamp at night",
        "== no title\na *b* c\n",
        "Notes\n\n1 It won 900 crowns. See the list.",
    ):
        assert kept in book.text
    assert "left out: other.adoc: included files are read by themselves" in book.warnings
    for mark in ("footnote", "<<", "[[", "|===", "====", "[NOTE]", "cols", "lamp.png", ":product:"):
        assert mark not in book.text
