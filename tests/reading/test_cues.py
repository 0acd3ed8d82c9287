"""Subtitles: what is said is read, without numbers, times and styles."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever.reading import read_book

SAID = [
    "Captain, the engine\nis on fire again.",
    "- Where is the map?\n- Under the piano.",
    "<i>Nobody leaves",
    "without the dog.</i>",
]
WORDS = [
    "Captain, the engine is on fire again.",
    "- Where is the map?",
    "- Under the piano.",
    "Nobody leaves without the dog.",
]
SUBRIP = "\n\n".join(f"{n}\n00:03:{n:02},463 --> 00:03:{n:02},998\n{said}" for n, said in enumerate(SAID, 1))
WEBVTT = "WEBVTT - North\n\nNOTE made by hand\n\n" + "\n\n".join(
    f"03:{n:02}.463 --> 03:{n:02}.998 align:left\n{said}" for n, said in enumerate(SAID, 1)
)


@pytest.mark.parametrize(
    ("name", "text"),
    [("north.srt", SUBRIP), ("north.txt", SUBRIP.replace("\n", "\r\n")), ("north.vtt", WEBVTT), ("north.txt", WEBVTT)],
)
def test_of_subtitles_what_is_said_is_read(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    book = read_book(path)
    assert book.text.splitlines() == WORDS
    assert [warning.partition(" (")[0] for warning in book.warnings] == [
        "boilerplate skipped: numbers, times and styles of subtitles"
    ]


def test_a_text_with_a_few_times_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(f"The first lines of a file are these:\n\n{SUBRIP[:60]}\n\nIt has no more.\n", encoding="utf-8")
    assert "-->" in read_book(path).text


def test_who_speaks_stands_before_the_words(tmp_path: Path) -> None:
    path = tmp_path / "talk.vtt"
    path.write_text(
        "WEBVTT\n\n1\n00:01.000 --> 00:02.000\n<v Ada Penwick>The lamp hung\n\n2\n00:02.000 --> 00:03.000\n"
        "<v Ada Penwick>on the north &amp; east wall\n\n3\n00:03.000 --> 00:04.000\n"
        "<v.loud j_hale>I took it.</v> <v Ada Penwick>When?</v>\n",
        encoding="utf-8",
    )
    assert read_book(path).text.splitlines() == [
        "Ada Penwick: The lamp hung on the north & east wall",
        "j_hale: I took it.",
        "Ada Penwick: When?",
    ]


def test_a_line_with_a_speaker_s_name_goes_on_no_other(tmp_path: Path) -> None:
    path = tmp_path / "talk.srt"
    path.write_text(
        "1\n00:00:01,000 --> 00:00:02,000\nADA: The lamp hung\n\n2\n00:00:02,000 --> 00:00:03,000\nfor years\n\n"
        "3\n00:00:03,000 --> 00:00:04,000\nMr. Hale: I took it.\n",
        encoding="utf-8",
    )
    assert read_book(path).text.splitlines() == ["ADA: The lamp hung for years", "Mr. Hale: I took it."]


def test_the_pages_of_subtitles_are_their_times(tmp_path: Path) -> None:
    path = tmp_path / "north.srt"
    path.write_text(SUBRIP.replace("00:03:04", "01:03:04"), encoding="utf-8")
    book = read_book(path)
    begins = [(page.label, book.text[page.start :].partition("\n")[0]) for page in book.pages]
    assert begins == [("3:01", WORDS[0]), ("3:02", WORDS[1]), ("3:02", WORDS[2]), ("3:03", WORDS[3])]
