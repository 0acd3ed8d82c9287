"""The order of characters in PDFs in Arabic and Hebrew."""

from __future__ import annotations

from typing import Any

import pytest

from nlb_retriever.reading.pages.pdf_lines import LookReader


@pytest.mark.parametrize(
    ("text", "at_one_place", "read"),
    [
        ("ثالث", {1, 2}, "ثلاث"),
        ("الفصل األول", {7, 8}, "الفصل الأول"),
        ("في سنة .1923 دق", set(), "في سنة 1923. دق"),
        ("בשנת .1923\r\nהפעמון", set(), "בשנת 1923.\r\nהפעמון"),
        ("In the year .1923 it rang", set(), "In the year .1923 it rang"),
    ],
)
def test_letters_of_one_form_and_stops_behind_numbers_are_in_order(
    monkeypatch: pytest.MonkeyPatch, text: str, at_one_place: set[int], read: str
) -> None:
    def edges(_: LookReader, page: Any, index: int) -> tuple[float, float]:
        return (0.0, 1.0) if index in at_one_place else (2.0 + index, 3.0 + index)

    monkeypatch.setattr(LookReader, "_edges", edges)
    assert LookReader().order_right_to_left(object(), text) == read  # type: ignore[arg-type]
