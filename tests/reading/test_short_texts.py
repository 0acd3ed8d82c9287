"""A short text above a section's first heading is its own in notes and manuals; in novels it is a motto."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever.reading import read_book

LINE = "The clock of the town is wound on Mondays, and the bell is rung by whoever has wound it."
MARKDOWN = """\
Bags are free.

# Ferry guide

The ferry leaves at 7:40 from the old quay.

## Tickets

A ticket costs 12 crowns.

### Children

They ride free.

## Luggage

### Bicycles

A bicycle costs 5 crowns.
"""
HTML = "<h1>Ferry</h1><p>It leaves at 7:40.</p><h2>Tickets</h2><p>They cost 12 crowns.</p><h3>Children</h3><p>Free.</p>"


def _sections(path: Path, text: str) -> list[tuple[str, str]]:
    path.write_text(text)
    book = read_book(path)
    return [(section.title, " ".join(book.text[section.start : section.end].split())) for section in book.sections]


@pytest.mark.parametrize("name", ["guide.md", "guide.rst"])
def test_short_texts_of_notes_stand_under_their_own_headings(tmp_path: Path, name: str) -> None:
    text = MARKDOWN
    if name.endswith("rst"):
        text = text.replace("# Ferry guide", "Ferry guide\n===========", 1).replace(
            "### Children", "Children\n~~~~~~~~"
        )
        text = text.replace("### Bicycles", "Bicycles\n~~~~~~~~").replace("## Tickets", "Tickets\n-------")
        text = text.replace("## Luggage", "Luggage\n-------")
    sections = _sections(tmp_path / name, text)
    assert sections.pop(0) == ("Guide" if name.endswith("rst") else "Ferry guide", "Bags are free.")
    assert [title for title, _ in sections] == ["Ferry guide", "Tickets", "Children", "Bicycles"]
    assert sections[1][1].endswith("A ticket costs 12 crowns.")
    assert sections[3][1].startswith("Luggage")


def test_short_texts_of_html_stand_under_their_own_headings(tmp_path: Path) -> None:
    assert [title for title, _ in _sections(tmp_path / "a.html", HTML)] == ["Ferry", "Tickets", "Children"]


def test_a_motto_of_a_novel_stands_in_its_first_chapter(tmp_path: Path) -> None:
    chapter = f"{LINE} " * 60
    parts = "# The Clock\n\n## Book I\n\nTime is a river.\n", "1\n", "2\n", "## Book II\n\n### 3\n"
    text = f"{parts[0]}\n### {parts[1]}\n{chapter}\n\n### {parts[2]}\n{chapter}\n\n{parts[3]}\n{chapter}\n"
    sections = _sections(tmp_path / "a.md", text)
    assert [title for title, _ in sections] == ["1", "2", "3"]
    assert "Time is a river." in sections[0][1]
