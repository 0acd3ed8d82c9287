"""A folder of four novels, and where their library will be."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.indexing.novels import write_book


@pytest.fixture
def books(tmp_path: Path) -> Path:
    folder = tmp_path / "books"
    for number in range(4):
        write_book(folder / f"book-{number}.txt", number)
    return folder


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return tmp_path / "library"
