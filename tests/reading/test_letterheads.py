"""Lines at the top and the foot of every page of a PDF: letterheads, the sides of slides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nlb_retriever.reading import read_book

Write = Callable[..., Path]
HEAD = ["Penwick Bells Ltd", "Rules of the Tower", "Rules 114, revision 3", "Approved by T. Ringer"]
FOOT = ["Printed copies do not count", "Penwick Bells Ltd, 4 Quay Street", "Tel. 0123 4567"]
TEXT = [
    "The keeper goes up the stair in the",
    "evening and rings the bell twice, and then he",
    "comes down. In the morning nobody rings, as the",
]


def test_all_lines_of_a_letterhead_are_skipped_and_sentences_go_on(pdf: Write) -> None:
    names = ["Ann", "Tom", "Lena", "Hal", "Maud"]
    pages = [
        [
            *HEAD,
            f"Page {n} of 5",
            f"{names[n - 1]} is the keeper, who goes",
            *TEXT,
            f"bell of {names[n - 1]} is being",
            f"oiled by {names[n - 1]} at",
            *FOOT,
        ]
        for n in range(1, 6)
    ]
    book = read_book(pdf(pages, labels="0 << /S /D /St 1 >>"))
    assert "bell of Tom is being oiled by Tom at Lena is the keeper" in book.text.replace("\n\n", " ")
    assert all(book.text.count(f"{line}\n") == 1 for line in [*HEAD, *FOOT])
    said = " ".join(book.warnings)
    assert all(f'"{line}" on 4 pages (running head, ' in said for line in [*HEAD, *FOOT])
    assert [page.label for page in book.pages] == ["1", "2", "3", "4", "5"]


def test_the_labels_of_a_form_that_comes_again_and_pages_of_nothing_else_stay(pdf: Write) -> None:
    names = ["Ann Bell", "Tom Ringer", "Lena Moor", "Hal Quist"]
    forms = [["Tower of Penwick", "Keys lent", "Name:", name, "For how long:", *TEXT] for name in names]
    assert read_book(pdf(forms)).text.count("Name:") == len(names)
    assert read_book(pdf([[*HEAD, *TEXT, name] for name in names])).text.count("evening and rings the bell twice") == 1


def test_items_of_a_list_are_paragraphs(pdf: Write) -> None:
    lines = [
        "The keeper has three keys, which are these:",
        "\x95 the key of the tower, which nobody else may",
        "have,",
        "\x95 the key of the clock.",
    ]
    assert read_book(pdf([[*TEXT, *lines]])).text.endswith(
        "which are these:\n\n• the key of the tower, which nobody else may have,\n\n• the key of the clock.\n"
    )
