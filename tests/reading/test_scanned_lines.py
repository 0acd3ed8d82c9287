"""Words that hyphens part at the ends of lines of scanned pages in HTML (hOCR)."""

from __future__ import annotations

from nlb_retriever.reading.formats.html import html_to_text
from nlb_retriever.reading.markup.unwrap import cut_words


def scanned(*lines: str) -> str:
    words = (
        "\n".join(f"<span class='ocrx_word'>{word}</span>" for word in line.split(" ")) + "\n</span>" for line in lines
    )
    return f"<h1>Lamp</h1><p class='ocr_par'>{''.join(f'<span>{line}' for line in words)}</p><h2>End</h2><p>On.</p>"


def test_parted_words_are_joined() -> None:
    page = html_to_text(scanned("The keeper of the light-", "house was old. A lighthouse", "may be un-", "usual."))
    assert page.text == "Lamp\n\nThe keeper of the lighthouse was old. A lighthouse may be unusual.\n\nEnd\n\nOn."
    assert [page.text[h.start :].split("\n")[0] for h in page.headings] == ["Lamp", "End"]


def test_words_with_hyphens_of_their_own_stay() -> None:
    page = html_to_text(
        scanned("He was well-", "known, and a well-known", "man, pre-", "and post-", "war, up-", "Tom.")
    )
    assert "He was well- known, and a well-known man, pre- and post- war, up- Tom." in page.text


def test_other_line_ends_stay() -> None:
    assert html_to_text("<p>A <i>light-</i>\nhouse.</p>").text == "A light- house."
    assert html_to_text("<p>A light-</p><p>house, a lighthouse.</p>").text == "A light-\n\nhouse, a lighthouse."


def test_very_many_hyphens_take_no_time() -> None:
    for text in ("a" * 100_000, "-" * 100_000, "a-" * 50_000, "-\n" * 50_000, "a-\n" + " " * 100_000):
        assert cut_words(text) == set()
