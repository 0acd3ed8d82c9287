"""reStructuredText: its marks are no text."""

from __future__ import annotations

from pathlib import Path

from nlb_retriever.reading import read_book
from nlb_retriever.reading.formats.rst import read_rst
from nlb_retriever.reading.limits import DEFAULT

LINE = "The clock of the town is wound on Mondays, and the bell is rung by whoever has wound it."
SOURCE = f"""\
.. _clock:

.. A comment that nobody reads
   and that goes on.

==============
Clock of Towns
==============

See :ref:`the bell <bell>` and :py:class:`~clock.works.Spring`, or `the makers <http://example.org/a>`_.

The ``Clock.wind()`` method
---------------------------

.. note:: Wind it
   :class: wide

   on **Mondays** *only*, as ``f(*args, **kwargs)``.

.. versionadded:: 1.4
   The bell.

.. code-block:: python
   :linenos:

   wind(clock)

.. toctree::
   :maxdepth: 2

   secret-file

The bell
--------

{LINE} {LINE} [1]_ A plain 'quote' and a ratio 1:2 stay.

.. [1] A footnote of the bell.

Repairs
-------

{LINE} {LINE}
"""


def test_text_and_titles_are_kept_and_marks_left_out(tmp_path: Path) -> None:
    (tmp_path / "clock.rst").write_text(SOURCE)
    book = read_book(tmp_path / "clock.rst")
    assert book.title == "Clock of Towns"
    assert [section.title for section in book.sections] == [
        "Clock of Towns",
        "The Clock.wind() method",
        "The bell",
        "Repairs",
    ]
    for kept in (
        "See the bell and Spring, or the makers.",
        "Wind it",
        "on Mondays only, as f(*args, **kwargs).",
        "wind(clock)",
        "ratio 1:2",
    ):
        assert kept in book.text
    assert "[1] A footnote of the bell." in book.text
    assert "New in version 1.4:\n   The bell.\n" in book.text
    for mark in ("::", "nobody", "secret", "maxdepth", "linenos", "wide", "`", "example.org", "clock.works"):
        assert mark not in book.text
    assert book.warnings == ("boilerplate skipped: marks, options and comments of reStructuredText (34 words)",)


def test_asciidoc_and_restructured_text_without_marks_are_plain_text(tmp_path: Path) -> None:
    for name in ("a.adoc", "a.rst"):
        (tmp_path / name).write_text(f"= The Clock\n\n== Door\n\n{LINE}\n\n== Stair\n\n{LINE}\n\n== Bell\n\n{LINE}\n")
        book = read_book(tmp_path / name)
        assert [section.title for section in book.sections] == ["Door", "Stair", "Bell"]
        assert book.title == "The Clock"
        assert not book.warnings


def test_a_note_may_begin_below_its_mark(tmp_path: Path) -> None:
    path = tmp_path / "book.rst"
    path.write_text("Lamps\n=====\n\nThe lamp burns [1]_ all night.\n\n.. [1]\n   Of brass.\n")
    assert "Of brass." in read_book(path).text


def test_grid_tables_are_read_without_their_rules(tmp_path: Path) -> None:
    table = """\
+------------+---------------+
| Clock      | Wound on      |
+============+===============+
| Town Hall  | Mondays       |
+------------+---------------+
"""
    (tmp_path / "a.rst").write_text(f"Clocks\n======\n\n{LINE}\n\n{table}\n{LINE} |not| cut: a +--+ b.\n\n| a line\n")
    text = read_book(tmp_path / "a.rst").text
    assert "Clock      | Wound on\n" in text and "Town Hall  | Mondays\n" in text
    assert "+-" not in text.replace("a +--+ b", "") and "+=" not in text
    assert "|not| cut: a +--+ b." in text and "\n\na line" in text


def test_two_titles_are_sections_and_a_field_names_the_author(tmp_path: Path) -> None:
    head = "=====\nFlood\n=====\n\n:Author: Hugo Lind <h@example.org>\n:Date: 2022\n\n"
    (tmp_path / "a.rst").write_text(f"{head}Risks\n=====\n\n{LINE}\n\nCosts\n=====\n\n{LINE}\n")
    book = read_book(tmp_path / "a.rst")
    assert (book.title, book.author) == ("Flood", "Hugo Lind")
    assert [section.title for section in book.sections] == ["Risks", "Costs"]


MARKED = f"""\
:orphan:

.. |box| replace:: Heronbox
.. |logo| image:: logo.png
   :alt: A grey heron

=====
Herons
=====

|box| counts them. |logo| See `the makers`_, makers_ and [TARN]_; \\*not* said [1]_ twice::

   count(1)

.. _makers:
.. _the makers: http://example.org

Counts
======

.. list-table:: By year
   :header-rows: 1

   * - Year
     - Herons
   * - 2020
     - 14
       or more

.. csv-table:: Prices
   :header: "Model", "Price"
   :widths: 5, 5

   "Box S", "120"

=====  ======
Town   Egrets
=====  ======
Tarn   3
=====  ======

.. function:: count(box)

   :param box: the box to read

.. figure:: a.png
   :alt: Two herons
   :width: 20

   At dawn.

.. include:: other.txt

Makers
======

{LINE}

.. [1] By Ole.
"""


def test_tables_fields_and_substitutions_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.rst").write_text(MARKED)
    book = read_book(tmp_path / "a.rst")
    assert book.title == "Herons"
    assert [section.title for section in book.sections] == ["Herons", "Counts", "Makers"]
    for kept in (
        "Heronbox counts them. A grey heron See the makers, makers and [TARN]; *not* said twice:\n",
        "Year  Herons\n   2020  14 or more\n",
        "Model  Price\n   Box S  120\n",
        "Town   Egrets\n\nTarn   3\n",
        "param box: the box to read",
        "Two herons",
        "[1] By Ole.",
    ):
        assert kept in book.text
    assert "left out: other.txt: included files are read by themselves" in book.warnings
    for mark in (":orphan:", "|", "_,", "===  =", ":param", ":alt:", "* -", '"'):
        assert mark not in book.text


def test_a_cell_that_is_longer_than_csv_takes_is_text() -> None:
    cell = "wheel " * 25_000
    draft = read_rst(f"Mill\n====\n\n.. csv-table::\n\n   {cell}, 4\n".encode(), DEFAULT)
    assert draft.text.count("wheel") == 25_000


def test_items_that_sphinx_counts_have_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.rst"
    path.write_text(
        "Lamps\n=====\n\n#. Light it.\n#. Trim it:\n\n   #. up\n   #. down\n\n#. Wait.\n\nThen:\n\n3. Go.\n#. Stay.\n"
    )
    text = read_book(path).text
    assert [line.strip() for line in text.splitlines() if line.strip()[:1].isdigit()] == [
        "1. Light it.", "2. Trim it:", "1. up", "2. down", "3. Wait.", "3. Go.", "4. Stay.",
    ]  # fmt: skip


def test_lines_of_verse_have_no_bars(tmp_path: Path) -> None:
    path = tmp_path / "a.rst"
    path.write_text("Lamps\n=====\n\n| Along the road\n|   the keeper goes,\n|\n| and home.\n\n|x| is none.\n")
    assert "Along the road\n  the keeper goes,\n\nand home.\n\n|x| is none." in read_book(path).text
