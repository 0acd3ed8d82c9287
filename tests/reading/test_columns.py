"""The order of lines on pages with columns, and figures in the middle of sentences."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nlb_retriever.reading import read_book
from nlb_retriever.reading.pages.columns import Line, ReadingOrder

WIDTH = 600.0
LEFT, RIGHT = 50.0, 310.0


def column(left: float, words: list[str], top: float = 700.0, size: float = 10.0, wide: float = 240.0) -> list[Line]:
    """Lines below each other."""
    return [Line(f"{line}\r\n", left, left + wide, top - 12 * i, size) for i, line in enumerate(words)]


def text(name: str, count: int = 14) -> list[str]:
    return [f"The bells of the {name} tower rang at {i} in the night" for i in range(count)]


def words(lines: list[Line]) -> list[str]:
    return [line.words for line in lines]


@pytest.mark.parametrize("note", ["1Of brass, as the sexton said.", "Permission to ring these bells is granted"])
def test_small_print_at_the_foot_of_the_left_column_stands_behind_the_right_one(note: str) -> None:
    left, right = column(LEFT, text("north")), column(RIGHT, ["and nobody came.", *text("south")])
    small = column(LEFT, [note, "to all who have a rope."], 500, 8)
    number = column(300, ["7"], 60, 10, 5)
    ordered = ReadingOrder().sort([*left, *small, *right, *number], WIDTH)
    assert words(ordered) == words([*left, *right, *small, *number])


def test_small_print_that_interrupts_nothing_and_references_stay() -> None:
    left, right = column(LEFT, [*text("north"), "It was over at last and all was still."]), column(RIGHT, text("south"))
    small = column(LEFT, ["The table of bells", "and their weights"], 500, 8)
    references = [*column(LEFT, text("old"), 700, 8), *column(RIGHT, ["[9] A. Bell", *text("new")], 700, 8)]
    for page in ([*left, *small, *right], references):
        order = ReadingOrder()
        order.sort([*left, *right], WIDTH)
        assert order.sort(page, WIDTH) == page


def test_a_running_head_that_is_drawn_last_stands_first() -> None:
    body = [*column(LEFT, text("north")), *column(RIGHT, text("south"))]
    head = [Line("A. Bell et al. / Journal of Bells 7 (2015) 1-5\r\n", 150, 450, 760, 8)]
    assert ReadingOrder().sort([*body, *head], WIDTH) == [*head, *body]
    assert ReadingOrder().sort([*head, *body], WIDTH) == [*head, *body]


@pytest.mark.parametrize("left_of", [RIGHT, LEFT])
def test_a_figure_in_the_middle_of_a_sentence_stands_behind_the_paragraph(left_of: float) -> None:
    above = column(LEFT, text("north"), 700)
    figure = [*column(left_of + 30, ["rope", "bell"], 700, 7, 20), *column(left_of, ["Figure 2. The tower"], 650)]
    below = column(left_of, ["when the watch was set, and nobody", "in the town had slept."], 600)
    rest = column(left_of, ["A second paragraph begins here."], 560)
    order = ReadingOrder()
    if left_of == LEFT:  # on the next page
        order.sort(above, WIDTH)
        head = column(LEFT, ["12 The bells of the old north tower"], 750)
        assert order.sort([*head, *figure, *below, *rest], WIDTH) == [*head, *below, *figure, *rest]
    else:
        assert order.sort([*above, *figure, *below, *rest], WIDTH) == [*above, *below, *figure, *rest]


@pytest.mark.parametrize(
    ("end", "begin"),
    [("It rang until the morning came to the town.", "when the watch was set"), ("It rang", "When the watch was set")],
)
def test_a_figure_between_sentences_stays(end: str, begin: str) -> None:
    page = [
        *column(LEFT, [*text("north"), end]),
        *column(RIGHT, ["Figure 2. The tower"]),
        *column(RIGHT, [f"{begin}, and nobody slept", "in the town that night."], 650),
    ]
    assert ReadingOrder().sort(page, WIDTH) == page


def test_text_that_mentions_a_figure_stays_where_it_is() -> None:
    page = [
        *column(LEFT, text("north")),
        *column(RIGHT, ["The ropes of the tower, as in Figure 2, were"]),
        *column(RIGHT, ["old, and nobody knew who had made", "the bells."], 650),
    ]
    assert ReadingOrder().sort(page, WIDTH) == page


@pytest.mark.parametrize("origin", [0, 200])
def test_sentences_of_a_paper_go_on_in_the_next_column(pdf: Callable[..., Path], origin: int) -> None:
    left = [f"{origin + 60},{700 - 12 * i},10\tThe bells of the north tower rang {i} times" for i in range(14)]
    right = [f"{origin + 320},{688 - 12 * i},10\tThe bells of the south tower rang {i} times." for i in range(14)]
    note = [f"{origin + 60},500,7\tPermission to ring is granted"]
    page = [*left, *note, f"{origin + 320},700,10\tand nobody came.", *right]
    path = pdf([page])
    path.write_bytes(path.read_bytes().replace(b"[0 0 612 792]", f"[{origin} 0 {origin + 612} 792]".encode()))
    book = read_book(path)
    assert "rang 13 times and nobody came." in book.text
    assert "Permission to ring is granted" in book.text


def test_short_ends_of_the_right_column_are_in_it_and_notes_at_its_foot_end_it() -> None:
    left, right = column(LEFT, text("north")), column(RIGHT, ["and nobody came.", *text("south")])
    note = column(LEFT, ["1Of brass, as the sexton said."], 520, 6)
    end = [Line("[7]!\r\n", RIGHT, RIGHT + 4, 515, 10), *column(RIGHT, text("new", 2), 503)]
    foot = [right[-1]._replace(height=519.9)]
    ordered = ReadingOrder().sort([*left, *note, *right[:-1], *foot, *end], WIDTH)
    assert words(ordered) == words([*left, *right, *note, *end])


def test_notes_below_a_cited_number_stand_behind_the_right_column() -> None:
    left = [*column(LEFT, text("north")), Line("[3].\r\n", LEFT, LEFT + 12, 532, 10)]
    right, note = column(RIGHT, text("south")), column(LEFT, ["1Of brass, as the sexton said."], 500, 6)
    assert words(ReadingOrder().sort([*left, *note, *right], WIDTH)) == words([*left, *right, *note])


def test_the_number_of_a_page_above_a_figure_stays_at_its_top() -> None:
    order = ReadingOrder()
    order.sort(column(LEFT, text("north")), WIDTH)
    number = [Line("3\r\n", 297, 303, 740, 10)]
    figure = [*column(LEFT + 30, ["rope", "bell"], 700, 7, 20), *column(LEFT, ["Figure 2. The tower"], 650)]
    below = column(LEFT, ["when the watch was set, and nobody", "in the town had slept."], 600)
    assert words(order.sort([*number, *figure, *below], WIDTH)) == words([*number, *below, *figure])
