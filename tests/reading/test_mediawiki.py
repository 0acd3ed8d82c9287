"""Pages and exports of MediaWiki."""

from __future__ import annotations

from html import escape
from pathlib import Path

import pytest

from nlb_retriever.reading import discover, read_book
from nlb_retriever.records import Book

PAGE = """{{Infobox place
| name = Harbour of Venn
| population = 4,200
}}
{{Short description|A place by the sea}}
The '''harbour''' of [[Venn|the town]] is {{convert|3|mi|km}} from [https://example.org/a the road].<ref name="a">{{cite
 book |last=Hale|title=The Coast|url=https://example.org|year=1911}}</ref>
It opened in 1820.<ref name="a" /> <!-- no -->

== History ==
{{main|History of Venn}}
[[File:Lamp.jpg|thumb|200px|The [[lamp]] in 1900]]
Built by ''Ada Penwick'' &amp; sons.

=== Tolls ===
* Boats: 2 pence
** Small: 1 penny
# First
# Second
; Toll : a fee
{| class="wikitable"
|+ Dues
! Year !! Sum
|-
| 1820 || align="right" | 4
|-
| 1830
| 7
|}
<syntaxhighlight lang="python">
x = {{ 1: "[[a]]" }}
</syntaxhighlight>
{{Note|Do not moor at the north wall.}}
Say <nowiki>''this''</nowiki>.

== References ==
{{reflist}}
[[Category:Places]]
[[de:Hafen]]
"""
TEXT = """name: Harbour of Venn
population: 4,200

The harbour of the town is 3 mi from the road. It opened in 1820.

History

The lamp in 1900

Built by Ada Penwick & sons.

Tolls

Boats: 2 pence
Small: 1 penny
1. First
2. Second
Toll: a fee

Dues
Year  Sum
1820  4
1830  7

 x = {{ 1: "[[a]]" }}

Do not moor at the north wall. Say ''this''.

Notes

1. Hale. The Coast. 1911"""


def read(tmp_path: Path, text: str, name: str = "harbour.wiki") -> Book:
    (tmp_path / name).write_text(text)
    return read_book(tmp_path / name)


def export(*pages: tuple[str, str, str]) -> str:
    return (
        '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" xml:lang="en"><siteinfo><sitename>Salt Wiki'
        + (
            "</sitename></siteinfo>"
            + "".join(
                f"<page><title>{title}</title><ns>{space}</ns><revision><timestamp>2020</timestamp><text>Old."
                "</text></revision><revision><timestamp>2021</timestamp>"
                f"<text>{escape(text)}</text></revision></page>"
                for title, space, text in pages
            )
            + "</mediawiki>"
        )
    )


def test_a_page_is_read_without_its_marks(tmp_path: Path) -> None:
    book = read(tmp_path, PAGE)
    assert book.text.strip() == TEXT
    assert [section.path[-1] for section in book.sections] == ["Harbour", "History", "Tolls", "Notes"]
    assert any("heading without text" in warning and "template" in warning for warning in book.warnings)


def test_an_export_has_a_section_for_each_page_in_its_newest_version(tmp_path: Path) -> None:
    text = export(
        ("Harbour", "0", "The harbour lies below the town of Venn.\n\n== Use ==\nBoats lie in it."),
        ("Talk:Harbour", "1", "I do not agree."),
        ("Template:Note", "10", "{{{1}}}"),
        ("Haven", "0", "#REDIRECT [[Harbour]]"),
        ("Appendix:Ropes", "100", "Ropes are long."),
    )
    book = read(tmp_path, text, "dump.xml")
    assert (book.title, book.language) == ("Salt Wiki", "en")
    assert [section.path for section in book.sections] == [
        ("Harbour",), ("Harbour", "Use"), ("Appendix:Ropes",),
    ]  # fmt: skip
    assert not {"Old", "agree", "REDIRECT"} & {*book.text.replace(".", "").split()}
    assert [path.name for path in discover([tmp_path]).files] == ["dump.xml"]


def test_an_export_of_one_page_is_called_as_that_page(tmp_path: Path) -> None:
    assert read(tmp_path, export(("Harbour", "0", PAGE)), "dump.xml").title == "Harbour"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "{{Infobox x\n| born = {{birth date|1952|12|8}}\n| in = [[Venn]],<br />Coast\n}}",
            "born: 1952-12-08\nin: Venn, Coast",
        ),
        ("It burns.{{citation needed|date=May 2020}}", "It burns."),
        ("It burns.{{sfn|Hale|1911}}", "It burns.\n\nNotes\n\n1. Hale 1911"),
        ("<gallery>\nFile:A.jpg|A lamp\nFile:B.jpg|A boat\n</gallery>", "A lamp\n\nA boat"),
        (
            '{|\n!rowspan=2|Team\n!style="a:b"|\n|-\n| Venn<br>town ||\n* one\n|| [[Hale|him]]\n|}',
            "Team\nVenn town  one  him",
        ),
        ("Water is H<sub>2</sub>O, <math>a < b</math>.", "Water is H2O, a < b."),
    ],
)
def test_templates_pictures_and_tables(tmp_path: Path, text: str, shown: str) -> None:
    assert read(tmp_path, text).text.strip() == shown


@pytest.mark.parametrize(
    "piece",
    ["{{a|", "<ref>a ", "<nowiki>", "[[a|", "{|\n|", "= ", "{{a}}", "a |" + " " * 20, "<!-- ", "[http://a ", "''"],
)
def test_hostile_pages_are_read_in_no_time(tmp_path: Path, piece: str) -> None:
    assert read(tmp_path, "Words. " + piece * 30_000).text
