"""Titles and authors on the first page of plain texts in other languages than English."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reading.test_plain import WRAPPED, read


@pytest.mark.parametrize(
    ("front", "title", "author"),
    [
        ("Der Turm\n\nvon Anna Müller\n", "Der Turm", "Anna Müller"),
        ("LE PHARE\n\nPAR JEANNE DE LA TOUR\n", "LE PHARE", "JEANNE DE LA TOUR"),
        ("El faro\n\nNovela\n\npor Ana de la Vega\n", "El faro Novela", "Ana de la Vega"),
        ("Fyren\n\nav Karl Ek\n", "Fyren", "Karl Ek"),
        ("《灯塔》\n\n作者：李明\n", "灯塔", "李明"),
        ("灯台\n\n著者　田中一郎\n", "灯台", "田中一郎"),
        ("등대\n\n지은이: 김철수\n", "등대", "김철수"),
        ("Маяк\n\nАвтор: Иван Петров\n", "Маяк", "Иван Петров"),
        ("Titre : Le Phare\nAuteur : Jeanne Moreau\n", "Le Phare", "Jeanne Moreau"),
        ("书名：灯塔\n作者：李明\n", "灯塔", "李明"),
        ("Die Leiden\nvon Anna Müller\n", "A", None),
        ("Der Turm\n\nvon allen verlassen\n", "A", None),
        ("La vie\n\nde Jean Valjean\n", "A", None),
    ],
)
def test_a_title_page_in_another_language_is_read(tmp_path: Path, front: str, title: str, author: str | None) -> None:
    book = read(tmp_path, f"{front}\n\nThe salt and the water met there.\n\n{WRAPPED * 3}\n", "a.txt")
    assert (book.title, book.author) == (title, author)


@pytest.mark.parametrize("title", ["설치 안내서", "安装手册", "Handbuch"])
def test_the_first_line_of_a_manual_is_its_title_in_any_script(tmp_path: Path, title: str) -> None:
    sections = "\n\n".join(f"{n}.{m}. Salt {n} {m}\n\n{WRAPPED}" for n in (1, 2, 3) for m in (1, 2, 3))
    assert read(tmp_path, f"{title}\n\n{sections}\n", "a.txt").title == title
