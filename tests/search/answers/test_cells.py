"""Figures of tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever import Retriever, book_from_text, index_books
from nlb_retriever.records import Section

ACCOUNTS = """\
Five-year summary

£ million 2023 2022 2021

Revenue 1,284.6 1,173.2 1,022.7

Profit/(loss) before tax 96.4 118.9 (14.7)

Profit after tax 73.5 95.6 (11.0)

Other income 4.4 4.1 3.9

"""
HIGHLIGHTS = """\
Highlights 2023 2022 Change

Revenue £1,284.6m £1,173.2m +9.5%

Net debt £412.7m £366.1m +12.7%

Revenue fell in the north, and the board expects revenue to fall there again.

"""
TOWNS = """\
Table 1: Lamps lit in each town, by kind

Town  Oil  Gas  Total
Faro  120  35  155
Upper Faro  17  0  17

Mill  Keeper  Built
Bobbin Mill  Ruth Ainley  1887

All lamps of Faro are lit at dusk by three keepers.
"""


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    library = tmp_path_factory.mktemp("cells") / "library"
    parts = {"Summary": ACCOUNTS, "Highlights": HIGHLIGHTS, "Lamps": TOWNS}
    sections, text = [], ""
    for title, part in parts.items():
        sections.append(Section(path=(title,), start=len(text), end=len(text) + len(part)))
        text += part
    index_books([book_from_text(text, source="report", title="The Report", sections=sections)], library)
    return Retriever(library)


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("What was revenue in 2023?", "£1,284.6m"),
        ("What was revenue in 2021?", "1,022.7"),
        ("What was the profit before tax in 2021?", "(14.7)"),
        ("What was profit after tax?", "73.5"),
        ("How much did revenue grow?", "+9.5%"),
        ("What is the net debt of the company?", "£412.7m"),
        ("How many gas lamps are there in Faro?", "35"),
        ("How many lamps were lit in Upper Faro?", "17"),
        ("How many gas lamps does the council have in Faro?", "35"),
        ("What was the loss before tax in 2021?", "(14.7)"),
        ("Who is the keeper of the Bobbin Mill?", "Ruth Ainley"),
        ("When was Bobbin Mill built?", "1887"),
    ],
)
def test_a_figure_is_that_of_its_row_and_column(retriever: Retriever, question: str, short: str) -> None:
    found = retriever.answer(question, book="The Report")
    assert (found.short, found.confidence) == (short, "likely")
    first = found.citations[0]
    assert first.answer
    assert retriever.store.book_text(first.hit.book_id)[slice(*first.answer)] == short


def test_the_head_of_the_table_is_quoted(retriever: Retriever) -> None:
    quote = retriever.answer("What was revenue in 2022?", book="The Report").citations[0].quote
    assert quote.startswith("Highlights 2023 2022 Change")
    assert quote.endswith("Revenue £1,284.6m £1,173.2m +9.5%")


@pytest.mark.parametrize(
    "question",
    [
        "What was revenue in 1999?",
        "What was the income?",
        "What was profit before interest?",
        "How much did revenue fall in all?",
        "How many brass lamps are there in Faro?",
        "Who lights the lamps of Faro?",
    ],
)
def test_no_other_row_or_column_answers(retriever: Retriever, question: str) -> None:
    short = retriever.answer(question, book="The Report").short or ""
    assert not any(figure in short for figure in ("1,284", "1,173", "9.5", "4.4", "96.4", "73.5", "120", "155"))


def test_the_head_of_a_long_table_may_be_in_a_passage_before(tmp_path: Path) -> None:
    rows = "\n".join(f"Upper {chr(65 + n % 26)}{chr(97 + n // 26)}ton {100 + n} {200 + n}" for n in range(120))
    text = f"Lamps in each town\n\nTown 1911 1921\n{rows}\n\nAll of them are lit at dusk by the keepers."
    index_books([book_from_text(text, source="lamps", title="Lamps")], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        assert retriever.answer("How many lamps were there in Upper Dbton in 1921?").short == "229"
