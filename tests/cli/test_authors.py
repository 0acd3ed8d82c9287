"""Many authors of one paper do not fill each citation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nlb_retriever import book_from_text, index_books
from tests.cli.conftest import InProcess

TEXT = "The lamp is lit at dusk by the keeper. " * 4


@pytest.mark.parametrize(
    ("author", "shown"),
    [
        ("Ann One, Bob Two, Cy Three, Di Four, Eve Five", "On Lamps, Ann One et al.\n"),
        ("Ann One, Bob Two, Cy Three", "On Lamps, Ann One, Bob Two, Cy Three\n"),
        ("Dumas, Alexandre, 1802-1870", "On Lamps, Dumas, Alexandre, 1802-1870\n"),
    ],
)
def test_more_than_four_authors_are_shortened(nlb: InProcess, tmp_path: Path, author: str, shown: str) -> None:
    library = tmp_path / "library"
    index_books([book_from_text(TEXT, source="x", title="On Lamps", author=author)], library)
    command = ["ask", "When is the lamp lit?", "--library", str(library)]
    assert shown in nlb(*command).out
    assert json.loads(nlb(*command, "--json").out)["citations"][0]["author"] == author
