"""Jupyter notebooks: Markdown, code and what it printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nlb_retriever.errors import NotABook
from nlb_retriever.reading import read_book


def _cell(kind: str, source: str | list[str], *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": kind, "source": source, **({"outputs": [*outputs]} if kind == "code" else {})}


def _write(path: Path, *cells: dict[str, Any], **metadata: Any) -> Path:
    path.write_text(json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4}), encoding="utf-8")
    return path


def test_cells_and_outputs_are_read_in_order(tmp_path: Path) -> None:
    table = "<style>p {}</style><table><tr><th>Town</th><th>Tide</th></tr><tr><td>Ostra</td><td>3.2</td></tr></table>"
    figure = {"image/png": "iVBORw0", "text/plain": "<Figure size 640x480 with 1 Axes>"}
    path = _write(
        tmp_path / "tides.ipynb",
        _cell("markdown", ["# Tides of Ostra\n", "\n", "The **gauge** stands at the pier.\n", "```\nnot closed"]),
        _cell("code", "# no heading\nprint(1)", {"output_type": "stream", "name": "stdout", "text": ["mean 2.4 m\n"]}),
        _cell("markdown", "## Results\n\nBy town:"),
        _cell("code", "table", {"output_type": "execute_result", "data": {"text/html": [table], "text/plain": "x"}}),
        _cell("code", "plot()", {"output_type": "display_data", "data": figure}),
        _cell(
            "code", "", {"output_type": "error", "ename": "ValueError", "evalue": "no tide", "traceback": ["a\x1b[0m"]}
        ),
        authors=[{"name": "Ina Brandt"}],
    )
    book = read_book(path)
    assert (book.title, book.author) == ("Tides of Ostra", "Ina Brandt")
    assert [section.title for section in book.sections] == ["Tides of Ostra", "Results"]
    for kept in (
        "The gauge stands at the pier.",
        "# no heading\nprint(1)",
        "mean 2.4 m",
        "Town  Tide\nOstra  3.2",
        "no tide",
    ):
        assert kept in book.text
    assert "Figure" not in book.text and "iVBOR" not in book.text
    assert book.warnings[0].endswith("1 object without text (6 words), 1 traceback (2 words)")


def test_a_notebook_of_format_3_is_read(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "heading", "level": 1, "source": "Tides"},
        {"cell_type": "code", "input": "1 + 1", "outputs": [{"output_type": "pyout", "text": ["two"]}]},
    ]
    path = tmp_path / "old.ipynb"
    path.write_text(json.dumps({"worksheets": [{"cells": cells}], "metadata": {"name": ""}, "nbformat": 3}))
    book = read_book(path)
    assert book.title == "Tides" and book.text == "Tides\n\n1 + 1\n\ntwo"


@pytest.mark.parametrize("content", ["[]", "{}", '{"cells": 3}', '{"cells": [3]}', "[" * 100_000, "no JSON"])
def test_what_is_no_notebook_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(content)
    with pytest.raises(NotABook, match="is no Jupyter notebook"):
        read_book(path)
