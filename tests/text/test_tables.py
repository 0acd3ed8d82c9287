"""Tables in a text."""

from __future__ import annotations

import pytest

from nlb_retriever.text.tables import LONGEST, find_rows, is_row

PRINTED = """\
Five-year summary

£ million 2023 2022 2021

Oil sold 1,284.6 1,173.2 (22.7)

Lamps (average) 31.2p 39.7p +4.3%

The keepers were well paid.
"""
PARTED = """\
Town  People 1911  People 1921  Out of work (%)
Faro  82,431  88,017  5.1
Upper Faro  n/a  9,847  –
"""
NOTED = "Note 2023 £m 2022 £m\n\nOil 3 1.5 1.2\n\nAll oil 4.7 (1.2)\n"


def read(text: str) -> list[tuple[str, list[str], list[str]]]:
    return [(row.label, [text[slice(*cell)] for cell in row.cells], [*row.heads]) for row in find_rows(text)]


def test_rows_of_a_printed_table_have_the_years_above() -> None:
    heads = ["£ million 2023", "2022", "2021"]
    assert read(PRINTED) == [
        ("Oil sold", ["1,284.6", "1,173.2", "(22.7)"], heads),
        ("Lamps (average)", ["31.2p", "39.7p", "+4.3%"], heads),
    ]
    assert all(PRINTED[row.start : row.end].startswith(row.label) for row in find_rows(PRINTED))
    assert {row.head for row in find_rows(PRINTED)} == {PRINTED.index("£ million")}


def test_cells_that_spaces_part_have_the_words_above() -> None:
    heads = ["People 1911", "People 1921", "Out of work (%)"]
    assert read(PARTED) == [("Faro", ["82,431", "88,017", "5.1"], heads), ("Upper Faro", ["n/a", "9,847", "–"], heads)]


def test_signs_may_stand_apart() -> None:
    text = "June 30, 2024 2023\n\nNet sales $ 612,480 $ (0.22)\n\nMargin 7.1 % —\n"
    assert [row[:2] for row in read(text)] == [("Net sales", ["$ 612,480", "$ (0.22)"]), ("Margin", ["7.1 %", "—"])]


def test_a_head_may_stand_above_several() -> None:
    text = "Town  1911  1921\nMen  Women  Men  Women\nFaro  31  42  30  40\n"
    assert read(text)[0][2] == ["1911 Men", "1911 Women", "1921 Men", "1921 Women"]


@pytest.mark.parametrize(
    ("head", "heads"),
    [
        ("£000 1921 Cost 1921 Income 1922 Cost", ["1921 Cost", "1921 Income", "1922 Cost"]),
        ("Officer Salary £ Pension £ Total £", ["Officer Salary £", "Pension £", "Total £"]),
        ("Town 1921 1922 Change", ["Town 1921", "1922", "Change"]),
    ],
)
def test_years_and_units_part_a_head(head: str, heads: list[str]) -> None:
    assert read(f"{head}\n\nFaro 31 42 11\n")[0][2] == heads


def test_numbers_of_notes_have_no_head() -> None:
    assert read(NOTED) == [
        ("Oil", ["3", "1.5", "1.2"], ["", "Note 2023", "£m 2022"]),
        ("All oil", ["4.7", "(1.2)"], ["Note 2023", "£m 2022"]),
    ]


def test_heads_that_are_not_understood_are_none() -> None:
    assert read("Salary Annual bonus Total 2023\n\nAnn Wick 685 32 274 991 2,038\n")[0][2] == []


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("Oil sold 1,284.6 (22.7)", True),
        ("Tax 8 (22.9) (23.3)", True),
        ("He paid 3 or 4", False),
        ("In 1911 1912", False),
        ("12 14 16", False),
        ("She read Acts 2 3.", False),
        (f"{'very ' * 13}old 4 5", False),
        (f"Oil {'4 ' * LONGEST}", False),
    ],
)
def test_only_lines_that_end_with_figures_are_rows(line: str, row: bool) -> None:
    assert is_row(line) is row
