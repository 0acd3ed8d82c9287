"""Poems, essays and tales without numbers: found by the table of contents at the beginning."""

from __future__ import annotations

from pathlib import Path

from nlb_retriever.reading import read_book

VERSE = "The clock struck one, the clock struck two,\nAnd nobody was there to hear it through.\n\n" * 4
TITLES = ["The Clock", "To a Gull", "On Ink", "Bec's Birth-Day", "The Sea", "To a Gull"]


def read(tmp_path: Path, contents: str, titles: list[str], head: str = "CONTENTS") -> list[str]:
    text = f"POEMS\n\n{head}\n\n{contents}\n\n" + "".join(f"{title}\n\n{VERSE}" for title in titles)
    (tmp_path / "poems.txt").write_text(text)
    titles = [s.title for s in read_book(tmp_path / "poems.txt").sections]
    assert titles[0] in {head, "Front matter", "Poems", "CHAPTER I. The Clock"}
    return titles[titles[0] in {head, "Front matter"} :]


def test_titles_in_capitals_with_notes_and_dates_are_those_of_the_contents(tmp_path: Path) -> None:
    contents = "PAGE\n" + "\n".join(f"{title} {10 * i}" for i, title in enumerate(TITLES))
    titles = ["THE CLOCK[1]", "TO A GULL", "ON INK. 1724", "BEC'S[2] BIRTH-DAY\nNOV. 8, 1726", "THE SEA", "TO A GULL"]
    found = ["THE CLOCK", "TO A GULL", "ON INK. 1724", "BEC'S BIRTH-DAY", "THE SEA", "TO A GULL"]
    assert read(tmp_path, contents, titles, head="Contents of Volume II") == found


def test_authors_and_numbers_of_the_contents_are_not_in_the_titles(tmp_path: Path) -> None:
    contents = "\n\n".join(f"{'I' * (i % 3 + 1)}. {title}--_Ann Author_" for i, title in enumerate(TITLES[:5]))
    assert read(tmp_path, contents, TITLES[:5]) == TITLES[:5]


def test_a_table_that_is_not_found_again_tells_nothing(tmp_path: Path) -> None:
    contents = "\n".join(TITLES + [f"Another {title}" for title in TITLES])
    assert read(tmp_path, contents, TITLES[:5]) == ["Poems"]
    assert read(tmp_path, "\n".join(TITLES[:4]), TITLES[:4]) == ["Poems"]
    assert read(tmp_path, "\n".join(TITLES[:5]), TITLES[:5], head="What it holds") == ["Poems"]


def test_titles_out_of_order_are_lines_of_the_text(tmp_path: Path) -> None:
    titles = [TITLES[0], TITLES[4], *TITLES[1:5]]
    assert read(tmp_path, "\n".join(TITLES[:5]), titles)[:2] == ["The Clock", "To a Gull"]


def test_chapters_keep_their_numbers(tmp_path: Path) -> None:
    titles = [f"CHAPTER {n}\n\n{title}" for n, title in zip(("I", "II", "III", "IV", "V"), TITLES, strict=False)]
    contents = "\n".join(TITLES[:5])
    expected = [f"CHAPTER {n}. {title}" for n, title in zip(("I", "II", "III", "IV", "V"), TITLES, strict=False)]
    assert read(tmp_path, contents, titles) == expected


def test_one_line_over_and_over_takes_no_time(tmp_path: Path) -> None:
    text = "CONTENTS\n\n" + "the sea\n" * 40_000 + "\n" + "x" * 200 + "\n\n" + "the sea\n\n" * 40_000
    (tmp_path / "sea.txt").write_text(text)
    assert read_book(tmp_path / "sea.txt").sections


def test_a_table_that_spells_a_title_otherwise_takes_none_away(tmp_path: Path) -> None:
    titles = [f"THE {thing} AND THE BEE" for thing in ("CLOCK", "GULL", "INK", "SEA", "BEAR", "FOX", "OWL", "HARE")]
    titles.append("THE RING OF THE KING")
    contents = "\n".join([*(title.title() for title in titles[:-1]), "The King's Ring"])
    prose = "The keeper went down to the harbour before the gulls woke, and the boat was gone. " * 20
    text = f"TALES\n\nCONTENTS\n\n{contents}\n\n" + "".join(f"{title}\n\n{prose}\n\n" for title in titles)
    (tmp_path / "tales.txt").write_text(text)
    assert [section.title for section in read_book(tmp_path / "tales.txt").sections][-8:] == titles[1:]
